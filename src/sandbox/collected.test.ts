import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createCollected } from "./collected.ts";

test("what is shown is never cut inside a character, never longer than asked, and counts what is missing [X1][X4]", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(60), (text, bytesMax) => {
      const collected = createCollected();
      collected.add(Buffer.from(text));
      const { text: shown, cutBytes } = collected.shown(bytesMax);
      const bytes = Buffer.byteLength(text);
      if (bytes <= bytesMax) return assert.deepEqual([shown, cutBytes], [text, 0]);
      const gap = "\n[…]\n";
      const head = text.slice(0, shown.lastIndexOf(gap, text.length));
      assert.ok(shown.startsWith(head) && !shown.includes("\ufffd".repeat(2)));
      const shownBytes = Buffer.byteLength(shown) - Buffer.byteLength(gap);
      assert.ok(shownBytes <= bytesMax);
      assert.equal(cutBytes, bytes - shownBytes);
    }),
  );
});

test("what the guest left out counts as missing, and a mark stands where it was [X4]", () => {
  const collected = createCollected();
  collected.add(Buffer.from("beginning"));
  collected.cut(5000);
  collected.cut(1);
  assert.deepEqual(collected.shown(1000), { text: "beginning\n[…]\n", cutBytes: 5001, keptBytes: 9 });
});

test("what is shown ends with what was said last, also where the middle was not kept [X1][X4]", () => {
  const collected = createCollected();
  collected.add(Buffer.from("0123456789"));
  collected.cut(5000, Buffer.from("é the end"));
  assert.deepEqual(collected.shown(1000), {
    ...{ text: "0123456789\n[…]\né the end", cutBytes: 4990, keptBytes: 10 },
  });
  assert.deepEqual(collected.shown(8), { text: "0123\n[…]\n end", cutBytes: 5002, keptBytes: 10 });
  // Half of its first character is left out, too.
  assert.deepEqual(collected.shown(18), { text: "012345678\n[…]\n the end", cutBytes: 4993, keptBytes: 10 });
  assert.equal(Buffer.from(collected.all()).toString(), "0123456789");
});

test("what was said a little beyond the limit is shown without a gap [X1][X4]", () => {
  const collected = createCollected();
  collected.add(Buffer.from("0123456789"));
  collected.cut(3, Buffer.from("abc"));
  assert.deepEqual(collected.shown(1000), { text: "0123456789abc", cutBytes: 0 });
  assert.deepEqual(collected.shown(10), { text: "01234\n[…]\n89abc", cutBytes: 3, keptBytes: 10 });
});
