import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SearchHit } from "./documents.ts";
import { plansFor } from "./query.ts";
import { newProgress, place, scanFiles } from "./scan.ts";

const words = ["foo", "Foo", "bar", "foobar", " ", "\r", "12", "é", "É", "你好", "🙂", "a-b", ".", "(", "ſ", "K"];
const line = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((chosen) => chosen.join(""));
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));
const query = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((chosen) => chosen.join(""));
const patterns = fc.constantFrom(
  ...["foo", "^foo", "bar$", "foo\\s*bar", "\\d+", "fo{1,2}", "[a-f]+r", "^\\W*$", "(?<!o)b", "foo(?!b)", "(foo|12)+"],
  ...["^$", "x*", ".{3}", "\\S\\s\\S", "[^a]b", "é", "你.", "^.$", "\\bfoo\\b", "(.)\\1", "k", "s", "\\w"],
);

test("a search finds exactly the lines that a reader would find one by one [D3]", () => {
  fc.assert(
    fc.property(text, query, (content, asked) => {
      const wanted = asked.trim();
      const isAscii = /^\p{ASCII}*$/u.test(wanted);
      const pattern = new RegExp(RegExp.escape(wanted), isAscii ? "i" : "iu");
      fc.pre(wanted !== "" && !wanted.includes("\r"));
      assert.deepEqual(scan(content, asked, false), byEye(content, pattern));
    }),
    { numRuns: 500 },
  );
});

test("a pattern finds exactly the lines that match when they stand alone [D3]", () => {
  fc.assert(
    fc.property(text, patterns, (content, pattern) => {
      assert.deepEqual(scan(content, pattern, true), byEye(content, new RegExp(pattern, "iu")));
    }),
    { numRuns: 1_000 },
  );
});

function scan(content: string, asked: string, isRegex: boolean): number[] {
  const plans = plansFor(asked, isRegex);
  assert.ok(plans.ok && plans.value[0] !== undefined);
  const bytes = Buffer.from(content);
  const hits: SearchHit[] = [];
  const progress = newProgress();
  const stopped = scanFiles([{ path: "a.txt", bytes: bytes.length, read: () => bytes }], {
    ...{ plan: plans.value[0], hitsMax: 1_000, contextCharacters: 20, progress },
    isLate: () => false,
    found: (hit) => void hits.push(hit),
  });
  assert.equal(stopped, undefined);
  assert.equal(Atomics.load(progress, place.total), hits.length);
  return hits.map((hit) => hit.line);
}

function byEye(content: string, pattern: RegExp): number[] {
  const lines = content.split("\n");
  // What follows the last line feed is a line only if there is something.
  if (lines.at(-1) === "") lines.pop();
  return lines.flatMap((one, index) => (pattern.test(one.replace(/\r$/, "")) ? [index + 1] : []));
}
