import { createHmac } from "node:crypto";
import type { Ids } from "../base/ids.ts";
import type { Outside } from "../tools/tools.ts";
import { forModels, withoutOurTags } from "../words/words.ts";

/** Says where text from outside begins and ends. */
export type Marks = {
  /** The text as a block of data. */
  wrap(source: string, text: string): string;
  /** A result whose parts from outside are blocks of data. */
  inside(text: string, parts: readonly Outside[]): string;
};

const keyCharacters = 32;
const markCharacters = 6;

/**
 * A mark is made of the text it stands around and of a secret of this process: who wrote the text could not know it,
 * and the same result has the same mark, so that who goes round in circles is noticed.
 */
export function openMarks(ids: Ids): Marks {
  const key = ids.hex(keyCharacters);
  function markOf(text: string): string {
    for (let round = 0; ; round += 1) {
      const mark = createHmac("sha256", key).update(`${round}\n${text}`).digest("hex").slice(0, markCharacters);
      if (!text.includes(mark)) return mark;
    }
  }
  const wrap = (source: string, text: string) => forModels.data({ source, mark: markOf(text), text });
  return {
    wrap,
    inside(text, parts) {
      let marked = "";
      let at = 0;
      for (const { source, from, to, isExact } of parts) {
        const part = text.slice(from, to);
        if (part.trim() === "") continue;
        marked += text.slice(at, from) + wrap(source, isExact ? part : withoutOurTags(part));
        at = to;
      }
      return marked + text.slice(at);
    },
  };
}
