import { createHash, type Hash } from "node:crypto";

/** How much of a text a reader has, without the text: its length and a digest. */
export type ShownText = {
  readonly length: () => number;
  /** The reader gets this, too. */
  readonly add: (text: string) => void;
  /** What is still missing of the whole text; undefined when the reader has something else than its beginning. */
  readonly restOf: (whole: string) => string | undefined;
};

export function shownText(): ShownText {
  // Made with the first text: most are read from the log, and nothing of them was shown before.
  let digest: Hash | undefined;
  let length = 0;
  return {
    length: () => length,
    add(text) {
      digest ??= createHash("sha256");
      // A character may be cut in two between pieces, so not as UTF-8.
      digest.update(text, "utf16le");
      length += text.length;
    },
    restOf(whole) {
      if (digest === undefined) return whole;
      if (whole.length < length) return undefined;
      const begins = createHash("sha256").update(whole.slice(0, length), "utf16le").digest("hex");
      return begins === digest.copy().digest("hex") ? whole.slice(length) : undefined;
    },
  };
}
