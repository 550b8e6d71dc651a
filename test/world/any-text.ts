import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };

/** `unit: "binary"` is the same, but makes a list of all 1.1 million characters first, which takes a second and 100 MB. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((code) => String.fromCodePoint(code < surrogates.first ? code : code + surrogates.count));

/** Of any characters that there are, or could be. */
export function anyText({ maxLength }: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, ...(maxLength !== undefined && { maxLength }) });
}
