import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventOf } from "../../protocol/events.ts";
import { conversationNoted, waitingNote } from "./note.ts";

const asked = (id: string, more: Partial<EventOf<"decision.asked">>): EventOf<"decision.asked"> => ({
  ...{ type: "decision.asked", seq: 1, at: 1, turn: 1, id, call: "c1", kind: "approval", tool: "pay", ...more },
});

test("all that waits for a person is told, long arguments shortened, each with where to answer it [C5][H2]", () => {
  const [longest, longer] = ["x".repeat(2_000), "x".repeat(2_001)];
  const lines = waitingNote(
    "c",
    [
      asked("d1", { arguments: longest }),
      asked("d2", { arguments: longer }),
      asked("d3", {}),
      asked("d4", { kind: "question", question: "Which city?" }),
    ],
    "en",
  ).split("\n");
  const place = (id: string) => `  POST /api/v1/conversations/c/decisions/${id}`;
  assert.deepEqual(lines.slice(0, -1), [
    "The agent waits for 4 decisions:",
    ...[`- May it call pay with ${longest}?`, place("d1")],
    ...[`- May it call pay with ${longest}…?`, place("d2")],
    ...["- May it call pay with {}?", place("d3")],
    ...["- Which city?", place("d4")],
  ]);
});

test("a note that is sent back names its conversation, if one thing was said since [C5]", () => {
  const answer = { role: "assistant", text: `I pay.\n\n${waitingNote("c-1", [asked("d1", {})], "zh")}` } as const;
  const user = { role: "user", text: "and now?" } as const;
  assert.equal(conversationNoted([user, answer, user]), "c-1");
  assert.equal(conversationNoted([answer]), undefined);
  assert.equal(conversationNoted([answer, user, user]), undefined, "the last answer is another one");
  assert.equal(conversationNoted([answer, { role: "assistant", text: "done" }]), undefined);
  assert.equal(conversationNoted([{ role: "user", text: answer.text }, user]), undefined, "a user wrote it");
  assert.equal(conversationNoted([{ ...answer, text: `${answer.text}\nmore` }, user]), undefined);
});
