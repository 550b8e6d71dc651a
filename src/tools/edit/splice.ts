import { assert } from "../../base/assert.ts";
import { applyEdits, type Edit } from "./match.ts";

/** A file that was read whole: every byte of it stands for a part of the text, or for the mark of its byte order. */
export type Decoded = {
  readonly bytes: Buffer;
  readonly text: string;
  readonly encoding: string;
  readonly hasBom: boolean;
};

/**
 * The bytes of the file with the edits made, everything around them as it was. Encodings that cannot be written here
 * become UTF-8: `isConverted`.
 */
export function spliceBytes(file: Decoded, edits: readonly Edit[]): { bytes: Buffer; isConverted: boolean } {
  const { bytes, text, encoding, hasBom } = file;
  const form = forms[encoding];
  if (form === undefined) return { bytes: Buffer.from(applyEdits(text, edits)), isConverted: true };
  const markBytes = hasBom ? form.markBytes : 0;
  assert(markBytes + form.sizeOf(text) === bytes.length, "a text does not lie in its bytes as it should");
  const parts: Buffer[] = [];
  let [at, atByte] = [0, markBytes]; // The same place, in the text and in its bytes.
  let keptFrom = 0;
  for (const edit of edits) {
    const startByte = atByte + form.sizeOf(text.slice(at, edit.start));
    parts.push(bytes.subarray(keptFrom, startByte), form.encode(edit.text));
    keptFrom = startByte + form.sizeOf(text.slice(edit.start, edit.end));
    [at, atByte] = [edit.end, keptFrom];
  }
  return { bytes: Buffer.concat([...parts, bytes.subarray(keptFrom)]), isConverted: false };
}

type Form = {
  readonly markBytes: number;
  readonly sizeOf: (text: string) => number;
  readonly encode: (text: string) => Buffer;
};

const utf16: Form = {
  markBytes: 2,
  sizeOf: (text) => 2 * text.length,
  encode: (text) => Buffer.from(text, "utf16le"),
};

const forms: Readonly<Record<string, Form>> = {
  "utf-8": { markBytes: 3, sizeOf: (text) => Buffer.byteLength(text), encode: (text) => Buffer.from(text) },
  "utf-16le": utf16,
  "utf-16be": { ...utf16, encode: (text) => utf16.encode(text).swap16() },
};
