import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeCharacters } from "./whole-characters.ts";

test("a piece of a text ends before a character that it cannot hold whole, and never behind the text [C3]", () => {
  const text = "a🌍b";
  assert.deepEqual(
    [1, 2, 3, 4, 5, 99].map((end) => wholeCharacters(text, end)),
    [1, 1, 3, 4, 4, 4],
  );
  const halves = ["x\ud7ffy", "x\ud800y", "x\udbffy", "x\udc00y"];
  assert.deepEqual(
    halves.map((half) => wholeCharacters(half, 2)),
    [2, 1, 1, 2],
  );
  assert.equal(wholeCharacters("a\ud83c", 2), 2, "a half at the end of all of it has nothing to wait for");
});
