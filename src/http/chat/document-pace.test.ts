import assert from "node:assert/strict";
import { test } from "node:test";
import { documentPace } from "./document-pace.ts";

const fact = { key: ["message", "ext", "ttft"], content: 7, action: "upsert" } as const;
const text = (length: number) =>
  ({
    key: ["message", "content", "final_answer", "answer", "text"],
    content: "x".repeat(length),
    action: "append",
  }) as const;

/** When a document of this length is due again: after these changes, and whether they are news at all. */
function after(sent: number, ...changes: readonly Parameters<ReturnType<typeof documentPace>["note"]>[0][]) {
  const pace = documentPace();
  pace.sent(sent);
  for (const change of changes) pace.note(change);
  return [pace.hasNews(), pace.isDue()];
}

test("a document is sent again for what happens while it is short, and for text by its share of the whole [C3]", () => {
  const longest = 128 * 1024;
  assert.deepEqual(
    [after(longest, fact), after(longest + 1, fact)],
    [
      [true, true],
      [true, false],
    ],
  );
  assert.deepEqual(
    [after(6_400, text(100)), after(6_400, text(101))],
    [
      [true, false],
      [true, true],
    ],
  );
  assert.deepEqual(
    [after(longest, text(2_048)), after(longest, text(2_049))],
    [
      [true, false],
      [true, true],
    ],
  );
  assert.deepEqual(
    [after(160_000, text(20_000)), after(160_000, text(20_000), text(1))],
    [
      [true, false],
      [true, true],
    ],
  );
  assert.deepEqual(after(100), [false, false]);
});

test("what a document was sent with is no news any more [C3]", () => {
  const pace = documentPace();
  pace.note(fact);
  pace.note(text(500));
  assert.deepEqual([pace.hasNews(), pace.isDue()], [true, true]);
  pace.sent(1_000);
  assert.deepEqual([pace.hasNews(), pace.isDue()], [false, false]);
});
