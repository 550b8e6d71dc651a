import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { applyToTree, foldHistory, insertEvents } from "./history.ts";
import { emptyHistory, type Tree } from "./history-state.ts";

const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const compacted = { strategy: "compact", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 } as const;
const after = (...events: readonly NewEvent[]) => foldHistory(numbered([said("a"), started, ...events]));
const failed: NewEvent = {
  ...{ type: "step.failed", turn: 1, step: 1, attempt: 1, kind: "network" },
  failure: { code: "model_network", params: {} },
};

test("an answer ends what was counted of failures and of room that was made before it [L2][Z2]", () => {
  const before = [step(1), failed, failed, { type: "compacted", turn: 1, ...compacted, by: "window" } as const];
  const counts = (...events: readonly NewEvent[]) => {
    const { turn } = after(...events);
    return [turn?.failures, turn?.compactions];
  };
  assert.deepEqual(
    [counts(...before), counts(...before, answer(1, []))],
    [
      [2, 1],
      [0, 0],
    ],
  );
});

test("a turn that has an image has it also when a message without one joins [Z1][T1]", () => {
  const images = [{ mime: "image/png", base64: "AA==" }];
  const { turn } = foldHistory(
    numbered([said("a", { images }), started, said("b", { mode: "steer" }), step(1, { joined: ["b"] })]),
  );
  assert.equal(turn?.hasImages, true);
});

test("a turn that is taken up again belongs to who took it up, and how often that was is counted [L2]", () => {
  const recovered = (epoch: number): NewEvent => ({ type: "turn.recovered", turn: 1, epoch });
  const { turn } = after(recovered(2), recovered(5));
  assert.deepEqual([turn?.epoch, turn?.recoveries], [5, 2]);
});

test("when room is undone, what was counted without what is sent again does not count [Z1][Z2]", () => {
  const events = [{ type: "compacted", turn: 1, ...compacted } as const, step(1), answer(1, [])];
  assert.equal(after(...events).counted?.usage.input, 10);
  assert.equal(after(...events, { type: "compaction.undone", compacted: 3, by: "me" }).counted, undefined);
});

test("instructions of the user stand where their upload stands, also when others wrote before it [L4][L2]", () => {
  const upload: NewEvent = {
    ...{ type: "file.changed", path: "uploads/AGENTS.md", by: "upload" },
    after: { hash: "h", bytes: 1, mode: 0o644 },
  };
  const history = after(upload);
  const [, , other] = numbered([said("a"), started, said("b")]);
  assert.ok(other !== undefined && insertEvents(history, 2, [other]));
  assert.deepEqual(
    [...history.guides.values()].map(({ seq }) => seq),
    [4],
  );
});

test("an agent's first decision follows the last one that was made before it, and its end is work of whoever made it [H2][A1]", () => {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  const made = { id: "d", verdict: "approve", by: "me", argumentsHash: "h", previous: "", hash: "last" } as const;
  const events = numbered([
    ...[said("a"), started, step(1), answer(1, ["x"])],
    { type: "decision.asked", turn: 1, id: "d", call: "x", kind: "approval", tool: "look" },
    { type: "decision.made", ...made },
    { type: "agent.spawned", id: "t", mode: "task", role: "writer", brief: "write" },
    { type: "agent.ended", id: "t", outcome: "done" },
  ]);
  for (const event of events) applyToTree(tree, event);
  assert.deepEqual([tree.agents.get("t")?.lastDecision, tree.root.workedAt], ["last", 8]);
});

test("images of a given history count, mail is no work, and what is left out a second time is counted once [C1][A1][Z2]", () => {
  const instead = [{ role: "user", text: "look", images: [{ mime: "image/png", base64: "AA==" }] }];
  assert.equal(foldHistory(numbered([said("a", { instead }), started])).turn?.hasImages, true);
  const calls = [{ id: "x", name: "send_message", arguments: "{}" }];
  const mailed = after(step(1), Object.assign(answer(1, []), { calls }), {
    ...{ type: "call.finished", call: "x", outcome: "ok", text: "" },
  });
  assert.equal(mailed.workedAt, 1, "the user's message was the last");
  const short = (upTo: number): NewEvent => ({ type: "compacted", turn: 1, ...compacted, upTo, summary: "in short" });
  const twice = after(step(1), answer(1, []), short(2), step(2), answer(2, []), short(4));
  assert.deepEqual([twice.summary?.leftOut, twice.messages.length], [2, 2]);
});
