import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import type { EncodedEvent, Storage } from "../storage/storage.ts";
import { closeCalls, finishTurn } from "./finish.ts";
import { defaultLimits, type LoopLimits, type Parts } from "./parts.ts";
import { keepOne, said, started } from "./tenure.testing.ts";

const calls = ["waits", "runs", "done"].map((id) => ({ id, name: `tool-${id}`, arguments: "{}" }));
const sent = { attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;
const written = { finish: "tool_calls", usage: { input: 1, output: 1 }, durationMs: 1 } as const;
const before: NewEvent[] = [
  ...[said("m1"), started],
  { type: "step.started", turn: 1, step: 1, ...sent },
  { type: "message.assistant", turn: 1, step: 1, text: "", calls, ...written },
  ...["runs", "done"].map((call): NewEvent => ({ type: "call.started", call, class: "unsafe", attempt: 1 })),
  { type: "call.finished", call: "done", outcome: "ok", text: "fine" },
];
const notRun = { tool: "tool-waits", why: "the turn was stopped", because: "stopped" } as const;

test("when a turn ends before its time each open call has one result: not run, stopped, or that nobody knows, and the model can read why [L5][L6]", async (t) => {
  for (const [code, outcome] of [
    ["tool_cancelled", "cancelled"],
    ["tool_interrupted", "unknown"],
  ] as const) {
    const { tenure, log, number } = await keepOne(t, { before });
    closeCalls(tenure.root, code);
    assert.ok((await tenure.root.commit()).ok);
    const ends = await log.read(number, { after: before.length, limit: 10 });
    assert.deepEqual(
      ends.map((event) => event.type === "call.finished" && [event.call, event.outcome, event.failure]),
      [
        ["waits", "not_run", makeFailure("tool_not_run", notRun)],
        ["runs", outcome, makeFailure(code, { tool: "tool-runs" })],
      ],
    );
    const texts = ends.flatMap((event) => (event.type === "call.finished" ? [event.text] : []));
    assert.match(texts[0] ?? "", /^Error: tool_not_run: .*the turn was stopped/);
    assert.equal(texts[1]?.startsWith(`Error: ${code}: `), true);
    closeCalls(tenure.root, code);
    assert.ok((await tenure.root.commit()).ok);
    assert.equal(await log.headOf(number), before.length + 2, "and none has two");
    await tenure.release();
  }
});

type Batch = Parameters<Storage["append"]>[0];

/** A turn that is to end, and what is stored for it. */
async function ending(t: TestContext, events: readonly NewEvent[], budgets: Partial<LoopLimits["budgets"]> = {}) {
  const met = { isFull: false, beforeStored: async (): Promise<unknown> => undefined };
  const batches: Batch[] = [];
  const wrap = (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      if (batch.with !== undefined) batches.push(batch);
      if (batch.with !== undefined) await met.beforeStored();
      return met.isFull ? failure("storage_full", {}) : real.append(batch);
    },
  });
  const kept = await keepOne(t, { before: events, wrap });
  const limits = { ...defaultLimits, budgets: { conversation: {}, turn: {}, agent: {}, ...budgets } };
  const parts: Parts = { ...kept.parts, limits };
  kept.clock.move(6);
  const end = (...how: [Parameters<typeof finishTurn>[2], Parameters<typeof finishTurn>[3]?]) =>
    finishTurn(kept.tenure.root, parts, ...how);
  const bodies = () => batches.map((batch) => batch.events.map(({ type, body }) => [type, JSON.parse(body)]));
  return { ...kept, met, batches, end, bodies };
}

const asked = (id: string, call: string): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call, kind: "approval", tool: "pay" },
});
const open = [...before.slice(0, 4), asked("d1", "waits"), asked("d2", "runs")];
const decided: NewEvent = {
  ...{ type: "decision.made", id: "d2", verdict: "approve", by: "me", argumentsHash: "", previous: "" },
};

test("with its end a turn leaves nothing to be done or to be answered, and the list shows what was said last; how it ended and what is left of its budget is told [L2][H4][C3][A4]", async (t) => {
  const { end, batches, bodies, told, tenure } = await ending(t, [...open, decided], { turn: { tokens: 1_000 } });
  const reason = makeFailure("storage_full", {});
  assert.equal(await end("failed", reason), true);
  const [stored] = bodies();
  const { left, ...rest } = Object(stored?.[0]?.[1]);
  assert.deepEqual([stored?.[0]?.[0], rest], ["turn.finished", { turn: 1, outcome: "failed", failure: reason }]);
  assert.deepEqual([left.length, Object(left[0]).kind], [1, "tokens"]);
  assert.deepEqual(batches[0]?.with, {
    decided: ["d1"],
    row: { lastMessage: "", turns: 1, updatedAt: 7 },
    wake: { doneAtHead: 7 },
  });
  assert.deepEqual(told, ["Session c saved (2 messages)"]);
  assert.equal(await end("done"), true, "a turn that is over ends once");
  assert.equal(batches.length, 1);
  await tenure.release();
});

test("where a message waits the turn's end leaves something to be done, and what comes in the same moment is not taken for done [L7][L2]", async (t) => {
  const waits = await ending(t, [...open, said("m2")]);
  assert.equal(await waits.end("done"), true);
  assert.deepEqual(Object.keys(waits.batches[0]?.with ?? {}), ["decided", "row"]);
  assert.equal(Object(waits.bodies()[0]?.[0]?.[1]).left, undefined);
  await waits.tenure.release();
  const late = await ending(t, open);
  late.met.beforeStored = () => late.real.append({ number: late.number, events: [stored("m2")] });
  assert.equal(await late.end("done"), true);
  assert.deepEqual(late.batches[0]?.with?.wake, { doneAtHead: open.length });
  await late.tenure.release();
});

const stored = (id: string): EncodedEvent => ({
  ...{ type: "message.user", version: 1, at: 1, body: JSON.stringify({ id, text: id, mode: "queue" }) },
});

test("a turn whose end cannot be stored is not over, and nobody reads that it was saved [Q2][O1]", async (t) => {
  const { end, met, told, log, number } = await ending(t, open);
  met.isFull = true;
  assert.equal(await end("done"), false);
  assert.deepEqual([told, (await log.history(number)).turn?.turn], [[], 1]);
});
