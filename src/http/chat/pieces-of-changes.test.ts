import assert from "node:assert/strict";
import { test } from "node:test";
import { inPieces } from "./increments.ts";

/** Six bytes in JSON each: the worst that a text can have. */
const worst = (length: number) => "\u0000".repeat(length);

test("a long list comes empty and then element by element, in the way in which it was to come [C3]", () => {
  const [long, short] = [worst(9_000), "short"];
  for (const action of ["append", "upsert"] as const) {
    const pieces = [...inPieces({ key: ["list"], content: [long, short, long], action })];
    assert.deepEqual(pieces, [
      { key: ["list"], content: [], action },
      { key: ["list", 0], content: long, action: "append" },
      { key: ["list", 1], content: short, action: "append" },
      { key: ["list", 2], content: long, action: "append" },
    ]);
  }
});

test("what is long in an object stands empty in it as what it is, and comes behind it [C3]", () => {
  const content = { text: worst(9_000), list: [worst(9_000)], object: { a: worst(9_000) }, number: 7 };
  const [first, ...rest] = inPieces({ key: ["o"], content, action: "append" });
  assert.deepEqual(first, { key: ["o"], content: { text: "", list: [], object: {}, number: 7 }, action: "append" });
  assert.deepEqual(
    rest.map(({ key, action }) => [key.join("."), action]),
    [
      ["o.text", "upsert"],
      ["o.list", "upsert"],
      ["o.object", "upsert"],
    ],
  );
});

test("an object of as many members as a document has stays below 64 KB in each piece, whatever they are [C3]", () => {
  const members = Array.from({ length: 20 }, (_, at) => [`member${at}`, worst(333)]);
  const longer = Array.from({ length: 20 }, (_, at) => [`member${at}`, worst(3_000)]);
  for (const entries of [members, longer]) {
    const pieces = [...inPieces({ key: ["o"], content: Object.fromEntries(entries), action: "upsert" })];
    for (const piece of pieces) assert.ok(Buffer.byteLength(JSON.stringify(piece)) < 64 * 1024);
  }
});
