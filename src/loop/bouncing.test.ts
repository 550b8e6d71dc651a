import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bouncingIn, type Deed, plainWords } from "./bouncing.ts";

const mail = (agent: string, to: string, text: string): Deed => ({ agent, to, words: plainWords(text) });
const work = (agent: string): Deed => ({ agent });

test("the same mail for the third time among ten is a circle, whatever numbers and blanks it has [A1]", () => {
  const ping = (n: number) => mail("a", "b", `Are you  done? (${n})`);
  assert.equal(bouncingIn([ping(1), mail("b", "a", "no"), work("b"), ping(2)]), undefined);
  const circle = [ping(1), mail("b", "a", "no"), work("b"), ping(2), mail("b", "a", "not yet"), ping(33)];
  assert.deepEqual(bouncingIn(circle), { because: "same_mail", times: 3 });
  const others = Array.from({ length: 10 }, (_, n) => mail("b", "a", `part ${"x".repeat(n)}`)).flatMap((one) => [
    one,
    work("b"),
  ]);
  assert.equal(bouncingIn([ping(1), ping(2), ...others, ping(3)]), undefined, "long ago is no circle");
});

test("twelve mails between two agents that do nothing else are a circle; any work of either begins anew [A1]", () => {
  const talk = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      n % 2 === 0 ? mail("a", "b", "x".repeat(n)) : mail("b", "a", "y".repeat(n)),
    );
  assert.equal(bouncingIn(talk(11)), undefined);
  assert.deepEqual(bouncingIn(talk(12)), { because: "only_mail", times: 12 });
  assert.equal(bouncingIn([...talk(11), work("a"), ...talk(11)]), undefined);
  assert.equal(
    bouncingIn([...talk(6), mail("c", "a", "hello"), work("c"), ...talk(5)]),
    undefined,
    "others count for themselves",
  );
  assert.equal(bouncingIn([...talk(12), work("c")]), undefined, "only mail is held back");
  const ring = Array.from({ length: 34 }, (_, n) => mail("abc"[n % 3] ?? "", "bca"[n % 3] ?? "", "x".repeat(n)));
  assert.deepEqual(bouncingIn(ring), { because: "only_mail", times: 12 }, "a third one in between makes no work of it");
});

test("agents that work between their mails are never stopped for writing much, and those that only write always are [A1]", () => {
  const text = fc.string({ minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 12, maxLength: 40 }), (texts) => {
      const only = texts.map((said, n) => (n % 2 === 0 ? mail("a", "b", said) : mail("b", "a", said)));
      const first = only.findIndex((_, n) => bouncingIn(only.slice(0, n + 1)) !== undefined);
      assert.ok(first >= 2 && first <= 11, `stopped at mail ${first + 1}`);
      const unlike = only.map((one, n) => ({ ...one, words: "abcdefgh"[n % 8]?.repeat(1 + Math.trunc(n / 8)) }));
      const busy = unlike.flatMap((one) => [work(one.agent), one]);
      assert.ok(busy.every((_, n) => bouncingIn(busy.slice(0, n + 1)) === undefined));
    }),
  );
});
