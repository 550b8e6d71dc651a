import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import { ConversationId, localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { liveliest, saidMessages } from "./said-messages.ts";

const conversation: ConversationRow = {
  ...{ number: 1, owner: localOwner, id: ConversationId.parse("c"), title: "", lastMessage: "", turns: 0, cursor: "1" },
  ...{ origin: "person", isPassing: false, agentId: undefined, appKey: undefined, readIndex: 0 },
  ...{ isPinned: false, seenAt: undefined, createdAt: 1, updatedAt: 1, deletedAt: undefined },
};
const said = (id: string): NewEvent => ({ type: "message.user", id, text: id, mode: "queue", reply: `to ${id}` });
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const asked = (id: string, turn: number, agent?: string): NewEvent => ({
  ...{ type: "decision.asked", turn, id, call: "c1", kind: "approval", tool: "pay" },
  ...(agent === undefined ? {} : { agent }),
});
const look = (...written: readonly NewEvent[]) => {
  const events = written.map((event, index): LogEvent => ({ ...event, seq: index + 1, at: 1_000 }));
  return saidMessages({ headOf: async () => events.length, effective: async () => events }, conversation);
};

test("what a helper asks is asked in the turn that is open, whatever it counts as its own [A2][H2]", async () => {
  const { all, ofDecision, verdictOn } = await look(
    ...[said("a"), started(1, "a"), asked("d1", 1), finished(1), said("b"), started(2, "b")],
    { type: "turn.started", agent: "h1", turn: 1, message: "h1-brief", epoch: 1 },
    asked("d2", 1, "h1"),
    { type: "turn.finished", agent: "h1", turn: 1, outcome: "done" },
    { type: "decision.made", agent: "h1", id: "d2", verdict: "reject", by: "me", argumentsHash: "", previous: "" },
    ...[asked("d3", 2), said("c")],
  );
  assert.deepEqual(
    all.map(({ message, state, turn }) => [message.id, state, turn]),
    [
      ["a", "ended", 1],
      ["b", "open", 2],
      ["c", "queued", undefined],
    ],
  );
  assert.deepEqual(
    ["d1", "d2", "d3", "d4"].map((id) => [ofDecision(id)?.reply, verdictOn(id)]),
    [
      ["to a", undefined],
      ["to b", "reject"],
      ["to b", undefined],
      [undefined, undefined],
    ],
  );
});

test("of several turns under one name the one that runs is meant, else the first that waits, else the newest [C4]", async () => {
  const names = async (...written: readonly NewEvent[]) => liveliest((await look(...written)).all)?.message.id;
  const [first, second] = [
    [said("a"), started(1, "a"), finished(1)],
    [said("b"), started(2, "b")],
  ];
  assert.equal(await names(...first, ...second, said("c"), said("d")), "b");
  assert.equal(await names(...first, said("c"), said("d")), "c");
  assert.equal(await names(...first, ...second, finished(2)), "b");
  assert.equal(await names(), undefined);
});
