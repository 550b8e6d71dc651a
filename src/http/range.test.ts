import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeWanted } from "./range.ts";

const ask = (range: string | undefined, sizeBytes = 10, ifRange?: string) => {
  const wanted = rangeWanted({ range, ifRange }, sizeBytes, '"now"');
  return typeof wanted === "object" ? [wanted.offset, wanted.length] : wanted;
};

test("a part of a file is what was asked for of what there is, from its first byte to its last [F3]", () => {
  const parts = { "0-0": [0, 1], "2-4": [2, 3], "9-9": [9, 1], "9-": [9, 1], "0-99": [0, 10], "4-": [4, 6] };
  assert.deepEqual(Object.fromEntries(Object.keys(parts).map((part) => [part, ask(`bytes=${part}`)])), parts);
  const ends = { "-1": [9, 1], "-10": [0, 10], "-11": [0, 10] };
  assert.deepEqual(Object.fromEntries(Object.keys(ends).map((part) => [part, ask(`bytes=${part}`)])), ends);
  assert.deepEqual(ask(" BYTES = 1-2 "), [1, 2]);
  for (const part of ["10-", "10-12", "-0"]) assert.equal(ask(`bytes=${part}`), "unfit", part);
  for (const part of ["0-", "0-0", "-1"]) assert.equal(ask(`bytes=${part}`, 0), "unfit", `${part} of nothing`);
});

test("who asks for no part, for several, backwards or of another content gets all of the file [F3]", () => {
  for (const range of [undefined, "", "bytes=-", "bytes=4-2", "bytes=0-1,4-5", "rows=0-1", "bytes=a-b", "0-1"])
    assert.equal(ask(range), undefined, range ?? "none");
  assert.deepEqual(
    [ask("bytes=1-", 3, '"now"'), ask("bytes=1-", 3, '"before"'), ask("bytes=9-", 3, '"before"')],
    [[1, 2], undefined, undefined],
  );
});
