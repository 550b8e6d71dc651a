import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { excerpt, placesIn } from "./excerpt.ts";

const line = fc
  .array(fc.constantFrom("a", "ab", "b", "🙂", "-", "--------", "汉"), { maxLength: 60 })
  .map((parts) => parts.join(""));
const marks = fc.constantFrom(/a/g, /ab|b/g, /a*/g, /🙂/gu, /汉.+?-/gu, /-+/g);

test("all matches of a line are shown, none of them twice, and nothing else is marked [D3]", () => {
  fc.assert(
    fc.property(line, marks, fc.nat({ max: 12 }), (text, pattern, characters) => {
      const places = [...placesIn(text, pattern, characters)];
      const matches = [...text.matchAll(pattern)];
      if (matches.length === 0)
        assert.deepEqual(
          places.map(({ start, end }) => [start, end]),
          [[0, 0]],
        );
      for (const { index, 0: match } of matches.filter((one) => one[0] !== ""))
        assert.equal(
          places.filter(({ from, to, start }) => start <= index && from <= index && index < to).length,
          1,
          match,
        );
      for (const [index, { start, to }] of places.entries())
        assert.ok(start >= (places[index - 1]?.to ?? 0) && to >= start);
    }),
  );
});

test("an excerpt without its marks is a part of the line [D3]", () => {
  fc.assert(
    fc.property(line, marks, fc.nat({ max: 12 }), (text, pattern, characters) => {
      for (const place of placesIn(text, pattern, characters)) {
        const shown = excerpt({ before: undefined, line: text, after: undefined }, place, characters);
        assert.equal(shown.replaceAll("**", "").replaceAll("...", ""), text.slice(place.from, place.to));
        assert.ok(shown.isWellFormed());
      }
    }),
  );
});
