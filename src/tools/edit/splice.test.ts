import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeText } from "../../documents/documents.ts";
import { applyEdits, planEdit } from "./match.ts";
import { spliceBytes } from "./splice.ts";

const text = "第一 line\r\n“two” 😀\r\nthree\r\n";
const changed = "第一 line\r\n“2” 😀\r\nthree\r\n";

const kept: readonly [what: string, encode: (text: string) => Buffer][] = [
  ["UTF-8", (words) => Buffer.from(words)],
  ["UTF-8 with a mark", (words) => Buffer.from(`\ufeff${words}`)],
  ["UTF-16", (words) => Buffer.from(`\ufeff${words}`, "utf16le")],
  ["UTF-16, the other way round", (words) => Buffer.from(`\ufeff${words}`, "utf16le").swap16()],
];

for (const [what, encode] of kept) {
  test(`an edited file stays what it was: ${what} [F2]`, () => {
    assert.deepEqual(edited(encode(text)), { bytes: encode(changed), isConverted: false });
  });
}

test("a file in an encoding of old becomes UTF-8, and that is said [F2][F1]", () => {
  const gbk = Buffer.from([
    0xb5, 0xda, 0xd2, 0xbb, 0xd0, 0xd0, 0xa3, 0xba, 0xd6, 0xd0, 0xce, 0xc4, 0x0a, 0x74, 0x77, 0x6f, 0x0a,
  ]);
  const file = decodeText(gbk);
  assert.equal(file?.text, "第一行：中文\ntwo\n");
  assert.deepEqual(edited(gbk, "two", "2"), { bytes: Buffer.from("第一行：中文\n2\n"), isConverted: true });
});

test("edits in bytes are the edits of the text, however many and wherever [F2]", () => {
  const unit = fc.constantFrom("a", "é", "汉", "😀", "\n", "“");
  const arbitrary = fc.string({ unit, minLength: 1, maxLength: 40 });
  const encoding = fc.constantFrom("utf-8", "utf-16le", "utf-16be");
  fc.assert(
    fc.property(
      arbitrary,
      unit,
      fc.string({ unit, maxLength: 3 }),
      encoding,
      fc.boolean(),
      (words, old, change, name, hasBom) => {
        const plan = planEdit(words, { old, new: change, isForAll: true });
        fc.pre(plan.kind === "edits");
        if (plan.kind !== "edits") return;
        const encode = (written: string) => {
          const marked = `${hasBom ? "\ufeff" : ""}${written}`;
          if (name === "utf-8") return Buffer.from(marked);
          const bytes = Buffer.from(marked, "utf16le");
          return name === "utf-16le" ? bytes : bytes.swap16();
        };
        const { bytes } = spliceBytes({ bytes: encode(words), text: words, encoding: name, hasBom }, plan.edits);
        assert.deepEqual(bytes, encode(applyEdits(words, plan.edits)));
      },
    ),
  );
});

function edited(bytes: Buffer, old = '"two"', wanted = '"2"') {
  const file = decodeText(bytes);
  assert.ok(file?.isExact);
  const plan = planEdit(file.text, { old, new: wanted, isForAll: false });
  assert.ok(plan.kind === "edits");
  return spliceBytes({ ...file, bytes }, plan.edits);
}
