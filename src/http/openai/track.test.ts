import assert from "node:assert/strict";
import { test } from "node:test";
import { openTrack } from "./track.ts";

/** Words of one kind, and how what is new of them is told. */
function track(parts = { count: 0 }) {
  const { add } = openTrack(parts);
  let at = { step: 1, attempt: 1 };
  return {
    at: (step: number, attempt: number) => {
      at = { step, attempt };
    },
    says: (text: string, offset = 0) => told(add({ ...at, offset }, text)),
    whole: (text: string) => told(add({ ...at, offset: 0, isWhole: true }, text)),
  };
}

function told(said: { readonly part: number; readonly text: string } | undefined): string | undefined {
  return said && `${said.part} ${said.text}`;
}

test("of what a step says each word is told once, what was missed comes with the whole of it, and the next step begins anew [C5]", () => {
  const { says, whole, at } = track();
  assert.deepEqual([says("ab"), says("bc", 1), says("bc", 1)], ["1 ab", "1 c", undefined]);
  assert.equal(says("x", 5), undefined, "behind words that nobody has");
  assert.deepEqual([whole("abcdefx"), whole("abcdefx")], ["1 defx", undefined]);
  at(2, 1);
  assert.deepEqual([says("abc"), says("d", 3)], ["2 abc", "2 d"]);
});

test("a second try says what goes beyond the first where it begins alike, and is a new part where it does not [C5][R1]", () => {
  const alike = track();
  assert.equal(alike.says("hello wor"), "1 hello wor");
  alike.at(1, 2);
  assert.deepEqual([alike.says("hel"), alike.says("lo world", 3), alike.says("!", 11)], [undefined, "1 ld", "1 !"]);
  const shorter = track();
  shorter.says("hello world");
  shorter.at(1, 2);
  assert.equal(shorter.says("hel"), undefined);
  shorter.at(1, 3);
  assert.equal(shorter.says("hello world!"), "1 !", "a third try goes beyond the longest");
  const other = track();
  other.says("hello wor");
  other.at(1, 2);
  assert.deepEqual([other.says("hel"), other.says("p", 3), other.says(" me", 4)], [undefined, "2 help", "2  me"]);
  other.at(1, 3);
  assert.equal(other.says("help me out"), "2  out");
});

test("a whole answer that is another one than was told is a new part, also beside words of another kind [C5]", () => {
  const parts = { count: 0 };
  const [text, thoughts] = [track(parts), track(parts)];
  assert.deepEqual([thoughts.says("hm"), text.says("abc"), thoughts.says("!", 2)], ["1 hm", "2 abc", "1 !"]);
  assert.deepEqual([text.whole("xyz"), text.whole("xyz")], ["3 xyz", undefined]);
  assert.deepEqual([text.whole(""), text.whole("new")], [undefined, "3 new"]);
});
