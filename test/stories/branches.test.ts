import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent } from "../../src/protocol/events.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { modelServer, says } from "../world/model-server.ts";
import { undo } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

const sent = { attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;

const usage = { input: 1, output: 1 };

const written = { finish: "stop", usage, durationMs: 1 } as const;

const made = { strategy: "trim", summary: "", messagesBefore: 1, messagesAfter: 1 } as const;

/** A turn with one look at something; between the result and the answer stands what else is given. */
function turnOf(turn: number, ...between: readonly NewEvent[]): NewEvent[] {
  const call = { id: `c${turn}`, name: "look", arguments: "{}" };
  return [
    { type: "message.user", id: `m${turn}`, text: `message ${turn}`, mode: "queue" },
    { type: "turn.started", turn, message: `m${turn}`, epoch: 1 },
    { type: "step.started", turn, step: 1, ...sent },
    { type: "message.assistant", turn, step: 1, text: "", calls: [call], ...written },
    { type: "call.started", call: call.id, class: "pure", attempt: 1 },
    { type: "call.finished", call: call.id, outcome: "ok", text: `result ${turn}` },
    ...between,
    { type: "step.started", turn, step: 2, ...sent },
    { type: "message.assistant", turn, step: 2, text: `answer ${turn}`, ...written },
    { type: "turn.finished", turn, outcome: "done" },
  ];
}

test("a branch is sent what its conversation is: what was made shorter there is, and what was left out and undone is not [L9][Z2]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const shorter: NewEvent = { type: "compacted", turn: 2, upTo: 0, trims: [{ seq: 6, text: "1, in short" }], ...made };
  const without: NewEvent = { type: "compacted", turn: 3, upTo: 8, ...made, strategy: "compact", summary: "in all" };
  // A worker made room for itself, after the main agent had: that is not what a person undoes.
  const workers: NewEvent = { type: "compacted", agent: "worker-1", turn: 1, upTo: 0, ...made };
  const events = [...turnOf(1), ...turnOf(2, shorter), without, ...turnOf(3), workers];
  await must(yard.log.append(row.number, events));
  const place = events.indexOf(without) + 1;
  const undone = await must(yard.engine.undoCompaction(row));
  const [last] = (await yard.events(row.id)).slice(-1);
  assert.deepEqual(last, {
    type: "compaction.undone",
    compacted: place,
    by: localOwner,
    seq: undone.seq,
    at: last?.at,
  });
  await must(yard.log.append(row.number, turnOf(4)));
  const branch = await must(yard.engine.branch(row));
  const textsIn = async (number: number) => (await yard.log.history(number)).messages.map(({ text }) => text);
  const all = [1, 2, 3, 4].flatMap((turn) => [
    ...[`message ${turn}`, "", turn === 1 ? "1, in short" : `result ${turn}`, `answer ${turn}`],
  ]);
  assert.deepEqual([await textsIn(row.number), await textsIn(branch.conversation.number)], [all, all]);
});

test("a branch undoes the turns it came with, but for what they did to files of a task, of which it has none; it is listed where its conversation is [L9][W12][C5]", async () => {
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, isOneProcess: true });
  const row = await must(yard.engine.create(localOwner, { id: "c", origin: "program" }));
  const after = { bytes: 3, mode: 0o644, hash: "h" };
  const changed: NewEvent = {
    ...{ type: "file.changed", by: "tool", agent: "task-1", workspace: "task-1", path: "outputs/a.txt", after },
  };
  await must(yard.log.append(row.number, turnOf(1, changed)));
  const { conversation } = await must(yard.engine.branch(row));
  const { restored, left, message } = await undo(yard, conversation.id);
  assert.deepEqual({ restored, left, message }, { restored: [], left: [], message: "message 1" });
  assert.deepEqual((await must(yard.client.call("listConversations", {}))).items, []);
});

test("what a conversation keeps beside its log is there for a branch when the conversation is gone [L9][Z4]", async () => {
  const opened: Storage[] = [];
  const wrapStorage = (storage: Storage) => {
    opened.push(storage);
    return storage;
  };
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const [storage = assert.fail("there is a storage")] = opened;
  const row = await yard.start("c");
  await must(yard.log.append(row.number, turnOf(1)));
  const { hash } = await must(storage.putBlob(row.number, Buffer.from("a long result")));
  const { conversation } = await must(yard.engine.branch(row));
  await must(yard.client.call("deleteConversation", { params: { id: row.id } }));
  assert.equal(Buffer.from((await storage.getBlob(conversation.number, hash)) ?? "").toString(), "a long result");
});

test("a branch has what joined a turn, the places that were not deleted and the limits, and is made once under its id; one that cannot be stored is told so [L9][L7][Q2]", async () => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    createConversation: async (row) => (isFull ? failure("storage_full", {}) : storage.createConversation(row)),
  });
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  const joins: NewEvent[] = [
    { type: "message.user", id: "s", text: "and this", mode: "steer" },
    { type: "step.started", turn: 2, step: 2, ...sent, joined: ["s"] },
    { type: "message.assistant", turn: 2, step: 2, text: "so be it", ...written },
  ];
  const saved = ["gone", "kept"].map((name): NewEvent => ({ type: "checkpoint.saved", name }));
  const deleted: NewEvent = { type: "checkpoint.deleted", checkpoint: turnOf(1).length + 1 };
  await must(yard.log.append(row.number, [...turnOf(1), ...saved, ...turnOf(2, ...joins), deleted, ...turnOf(3)]));
  await must(yard.log.append(row.number, [{ type: "budget.set", limits: { steps: 7 }, by: "person" }]));
  const shown = async (one: typeof row) => {
    const { by, set } = await yard.engine.budget(one);
    const texts = (await yard.log.history(one.number)).messages.map(({ text }) => text);
    return { texts, names: (await yard.engine.checkpoints(one)).map(({ name }) => name), by, set };
  };
  isFull = true;
  const refused = await yard.engine.branch(row, undefined, "b");
  isFull = false;
  assert.equal(refused.ok ? "made" : refused.failure.code, "storage_full");
  const { conversation: branch } = await must(yard.engine.branch(row, undefined, "b"));
  const { conversation: again } = await must(yard.engine.branch(row, undefined, "b"));
  assert.deepEqual([await shown(branch), again.number], [await shown(row), branch.number]);
  assert.ok((await shown(branch)).texts.includes("and this"));
});
