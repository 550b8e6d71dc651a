import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import type { ConversationRow, Storage } from "../storage/storage.ts";
import { openCheckpoints } from "./checkpoints.ts";
import { openDriver } from "./driver.ts";
import { goBack } from "./go-back.ts";
import { leftOver, messageOf, waiting } from "./left-over.testing.ts";
import { openUndo } from "./undo.ts";

const turn = (number: number): NewEvent[] => [
  messageOf(`m${number}`),
  { type: "turn.started", turn: number, message: `m${number}`, epoch: 1 },
  { type: "turn.finished", turn: number, outcome: "done" },
];

/** A conversation that rests, and what happens until whoever wants to go back may; `isLost`: another server has it then. */
async function resting(t: TestContext, ...events: readonly NewEvent[]) {
  const state = { meanwhile: [] as readonly NewEvent[], isLost: false, held: 0 };
  const wrap = (real: Storage): Storage => ({
    ...real,
    async claimLease(number, holder, ttlMs) {
      state.held += 1;
      if (state.meanwhile.length > 0) await leave(row, ...state.meanwhile);
      const lease = await real.claimLease(number, holder, ttlMs);
      assert.ok(lease.ok);
      if (state.isLost) await takenAt(real, number, { holder, ...lease.value });
      return lease;
    },
  });
  const { parts, start, leave } = await leftOver(t, { wrap });
  const row = await start("c", ...events);
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const { undo } = openUndo(parts, driver);
  const checkpoints = openCheckpoints(parts, driver);
  const backs = async () => {
    const all = await parts.log.read(row.number, { after: 0, limit: 100 });
    return all.flatMap((event) => (event.type === "rewound" ? [[event.to, event.cause]] : []));
  };
  return { parts, row, state, undo, checkpoints, backs };
}

/** Another server takes a conversation over, and lets go of it again. */
async function takenAt(real: Storage, number: number, lease: { readonly holder: string; readonly epoch: number }) {
  await real.releaseLease(number, lease);
  const other = await real.claimLease(number, "there", 1_000);
  assert.ok(other.ok);
  await real.releaseLease(number, { holder: "there", ...other.value });
}

const codeOf = (answer: { ok: true } | { ok: false; failure: { code: string } }) =>
  answer.ok ? "done" : answer.failure.code;

test("a turn that came and went while undo waited is not undone: another one was meant [W12][L7]", async (t) => {
  const { undo, row, state, backs } = await resting(t, ...turn(1));
  state.meanwhile = turn(2);
  const answer = await undo(row);
  assert.deepEqual(answer.ok || answer.failure.params, { id: "c" });
  assert.deepEqual([codeOf(answer), await backs()], ["conversation_busy", []]);
  state.meanwhile = [];
  assert.deepEqual([codeOf(await undo(row)), await backs()], ["done", [[3, "undo"]]]);
});

test("what is said while undo waits is answered first, and while a turn is about to begin nobody waits for it at all [W12][L7]", async (t) => {
  const { undo, row, state, backs } = await resting(t, ...turn(1));
  state.meanwhile = [messageOf("m2")];
  assert.deepEqual([codeOf(await undo(row)), state.held, await backs()], ["conversation_busy", 1, []]);
  assert.deepEqual([codeOf(await undo(row)), state.held], ["conversation_busy", 1]);
});

test("a server that has lost the conversation undoes nothing in it, and where nothing was said there is nothing to undo [W12][N1]", async (t) => {
  const { undo, row, state, backs } = await resting(t, ...turn(1));
  state.isLost = true;
  assert.deepEqual([codeOf(await undo(row)), await backs()], ["fenced", []]);
  const empty = await resting(t);
  assert.deepEqual([codeOf(await empty.undo(empty.row)), await empty.backs()], ["nothing_to_undo", []]);
});

test("undo tells which turn of the main agent is gone, in the person's own words, whatever agents worked in it last [W12][A1]", async (t) => {
  const [said, started, ended] = turn(2);
  assert.ok(said && started && ended);
  const { undo, row, backs, parts } = await resting(
    t,
    ...[...turn(1), { ...said, text: "look: a page", own: 5, untrusted: true } as NewEvent, started],
    { type: "agent.spawned", id: "w", mode: "task", role: "writer", brief: "write" },
    { type: "turn.started", agent: "w", turn: 7, message: "w-brief", epoch: 1 },
    { type: "agent.ended", id: "w", outcome: "done" },
    ended,
  );
  assert.deepEqual(await undo(row), {
    ok: true,
    value: { turn: 2, message: "look:", restored: [], left: [] },
  });
  assert.deepEqual(await backs(), [[3, "undo"]]);
  const { queue, lastTurn } = await parts.log.history(row.number);
  assert.deepEqual([queue, lastTurn?.turn], [[], 1], "its message waits for no turn");
});

test("nobody goes back in the middle of a turn that began in the last moment [L9][L7]", async (t) => {
  const { parts, row, backs } = await resting(t, ...turn(1));
  const events = await parts.log.effective(row.number, 99);
  const started: NewEvent = { type: "turn.started", turn: 2, message: "m2", epoch: 1 };
  assert.ok((await parts.log.append(row.number, [messageOf("m2"), started])).ok);
  const lease = await parts.storage.claimLease(row.number, "here", 1_000);
  assert.ok(lease.ok);
  const gone = await goBack(parts, row, { events, to: 0, cause: "undo", epoch: lease.value.epoch });
  assert.deepEqual([codeOf(gone), await backs()], ["conversation_busy", []]);
});

const restored = async (
  row: ConversationRow,
  { checkpoints, backs }: Pick<Awaited<ReturnType<typeof resting>>, "checkpoints" | "backs">,
  place: number,
) => [codeOf(await checkpoints.restoreCheckpoint(row, place)), await backs()];

test("one goes back only to a place that is there when it is one's turn, at rest, and while one has the conversation [L9][N1]", async (t) => {
  const place = await resting(t, ...turn(1), ...turn(2));
  const { row, state } = place;
  assert.deepEqual([await restored(row, place, 2), state.held], [["checkpoint_not_found", []], 0]);
  state.meanwhile = [{ type: "checkpoint.deleted", checkpoint: 3 }];
  assert.deepEqual([await restored(row, place, 3), state.held], [["checkpoint_not_found", []], 1]);
  state.meanwhile = [];
  state.isLost = true;
  assert.deepEqual(await restored(row, place, 6), ["fenced", []]);
  state.isLost = false;
  state.meanwhile = [waiting];
  assert.deepEqual(await restored(row, place, 6), ["conversation_busy", []]);
  assert.deepEqual([await restored(row, place, 6), state.held], [["conversation_busy", []], 3]);
});

test("a place that is saved is told with its name and the one before it, once under one id, and not while a turn is about to begin [L9]", async (t) => {
  const { row, checkpoints, parts } = await resting(t, ...turn(1));
  const saved = { ok: true, value: { checkpoint: 4, parent: 3, name: "here", at: 0 } };
  assert.deepEqual(await checkpoints.saveCheckpoint(row, "here", "once"), saved);
  assert.deepEqual(await checkpoints.saveCheckpoint(row, "again", "once"), saved);
  assert.deepEqual(
    (await checkpoints.checkpoints(row)).map(({ checkpoint, name }) => [checkpoint, name]),
    [
      [3, ""],
      [4, "here"],
    ],
  );
  assert.equal(codeOf(await checkpoints.deleteCheckpoint(row, 9)), "checkpoint_not_found");
  assert.equal(await parts.log.headOf(row.number), 4);
  assert.equal(codeOf(await checkpoints.deleteCheckpoint(row, 3)), "done");
  assert.deepEqual(
    (await checkpoints.checkpoints(row)).map(({ checkpoint }) => checkpoint),
    [4],
  );
  assert.ok((await parts.log.append(row.number, [messageOf("m2")])).ok);
  assert.equal(codeOf(await checkpoints.saveCheckpoint(row, "later")), "conversation_busy");
});
