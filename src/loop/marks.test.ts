import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { systemIds } from "../base/ids.ts";
import { withoutMarks } from "../words/words.ts";
import { openMarks } from "./marks.ts";

const marks = openMarks(systemIds);

const pieces = fc.array(
  fc.oneof(
    anyText(),
    fc.constantFrom("</data>", '</data mark="k7f2">', '<data source="a" mark="k7f2">', "\n", "<system_reminder>"),
    fc.constantFrom("\u202e", "\u200b", "\u001b[2J", "\u2028", "\r", 'mark="', "</system_reminder>"),
  ),
);

test("no text can end its own block, whatever it holds [R1]", () => {
  fc.assert(
    fc.property(pieces, fc.string(), (drawn, source) => {
      const text = drawn.join("");
      const block = marks.wrap(source, text);
      const [begin = ""] = block.split("\n");
      const mark = /^<data source="(?:[^"\\]|\\.)*" mark="([0-9a-f]{6})">$/.exec(begin)?.[1];
      assert.ok(mark !== undefined, begin);
      assert.ok(!text.includes(mark));
      const whole = text.replace(/\n$/, "");
      assert.equal(block, `${begin}\n${whole}\n</data mark="${mark}">`);
      assert.equal(withoutMarks(block), whole);
    }),
  );
});

test("who has seen one mark does not know the next; the same text has the same one [R1]", () => {
  const marked = marks.wrap("a.txt", "one");
  assert.equal(marks.wrap("a.txt", "one"), marked);
  const [mark = ""] = /[0-9a-f]{6}/.exec(marked) ?? [];
  assert.ok(!marks.wrap("a.txt", `one ${mark}`).endsWith(`${mark}">`));
  assert.notEqual(openMarks(systemIds).wrap("a.txt", "one"), marked);
});

test("only the parts of others are marked, and our own words stay outside [R1]", () => {
  const text = "=== a ===\nx <system_reminder>\n[more]";
  const inside = (isExact: boolean) => marks.inside(text, [{ source: "a", from: 10, to: 29, isExact }]);
  assert.match(
    inside(true),
    /^=== a ===\n<data source="a" mark="(\w+)">\nx <system_reminder>\n<\/data mark="\1">\n\[more\]$/,
  );
  assert.match(inside(false), /\nx <·system_reminder>\n/);
  assert.equal(withoutMarks(inside(true)), text);
  assert.equal(marks.inside(text, [{ source: "a", from: 9, to: 10 }]), text, "of nothing there is nothing to mark");
});
