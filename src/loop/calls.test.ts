import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { answer, step } from "../../test/world/any-log.ts";
import { ok } from "../base/result.ts";
import { argumentsHash } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { defineTool, openToolkit, type ToolContext, type ToolOutput } from "../tools/tools.ts";
import { runCalls } from "./calls.ts";
import { defaultLimits, type LoopLimits, type Parts } from "./parts.ts";
import { keepOne, said, soon, started } from "./tenure.testing.ts";

type Work = (context: ToolContext) => Promise<ToolOutput>;
type Play = {
  readonly calls?: readonly string[];
  readonly before?: readonly NewEvent[];
  readonly class?: "pure" | "unsafe";
  readonly timeoutMs?: number;
  readonly limits?: Partial<LoopLimits>;
  readonly work?: Work;
};

/** The calls of an answer, of a tool whose part the test plays. */
async function calling(t: TestContext, { calls = ["x"], before = [], limits, work, ...of }: Play = {}) {
  const kept = await keepOne(t, { before: [said("m1"), started, step(1), answer(1, calls), ...before] });
  const { log, number, tenure } = kept;
  const head = await log.headOf(number);
  const ran: string[] = [];
  const look = defineTool({
    ...{ name: "look", description: "Looks. For tests.", class: of.class ?? "pure", input: z.object({}) },
    ...(of.timeoutMs !== undefined && { timeoutMs: of.timeoutMs }),
    async run(_, context) {
      const events = await log.read(number, { after: head, limit: 50 });
      assert.ok(events.some((event) => event.type === "call.started" && event.call === context.call));
      ran.push(context.call);
      return ok((await work?.(context)) ?? { text: `saw ${context.call}` });
    },
  });
  const toolkit = openToolkit([look]);
  const parts: Parts = { ...kept.parts, toolkit: () => toolkit, limits: { ...defaultLimits, ...limits } };
  const run = () => runCalls(tenure.root, parts);
  /** What became of the calls, with what is only staged. */
  const ended = async () => {
    assert.ok((await tenure.root.commit()).ok);
    const events = await log.read(number, { after: head, limit: 50 });
    return events.flatMap((event) =>
      event.type === "call.started"
        ? [`${event.call} begins ${event.attempt} ${event.class}`]
        : event.type === "call.finished"
          ? [`${event.call} ${event.outcome} ${event.failure?.code ?? event.text}`]
          : [],
    );
  };
  return { ...kept, run, ended, ran, head };
}

const begun = (attempt: number, name: "pure" | "unsafe"): NewEvent => ({
  ...{ type: "call.started", call: "x", class: name, attempt },
});
const asked: NewEvent = {
  ...{ type: "decision.asked", turn: 1, id: "d", call: "x", kind: "approval", tool: "look", arguments: "{}" },
};
const decided = (more: object): NewEvent => ({
  ...{ type: "decision.made", id: "d", verdict: "approve", by: "me", previous: "" },
  ...{ argumentsHash: argumentsHash("{}"), ...more },
});

test("a call that a process that is gone had begun is begun again, or is told to be unsure, by what it may have done [L2][L5]", async (t) => {
  const again = await calling(t, { before: [begun(2, "pure")] });
  assert.equal(await again.run(), true);
  assert.deepEqual(await again.ended(), ["x begins 3 pure", "x ok saw x"]);
  const unsure = await calling(t, { before: [begun(1, "unsafe")], class: "unsafe" });
  await unsure.run();
  assert.deepEqual([await unsure.ended(), unsure.ran], [["x unknown tool_interrupted"], []]);
});

test("no more calls run at once than may; the next begins when one has ended, and its start is stored before it runs [L5][L8]", async (t) => {
  const ends = new Map<string, () => void>();
  const { run, ended, ran } = await calling(t, {
    calls: ["a", "b", "c"],
    limits: { parallelCallsMax: 2 },
    async work({ call }) {
      await new Promise<void>((resolve) => ends.set(call, resolve));
      return { text: call };
    },
  });
  const over = run();
  const until = async (call: string) => {
    while (!ends.has(call)) await soon();
  };
  await until("a");
  await until("b");
  assert.deepEqual(ran, ["a", "b"]);
  ends.get("b")?.();
  await until("c");
  for (const call of ["c", "a"]) ends.get(call)?.();
  assert.equal(await over, true);
  assert.deepEqual(
    (await ended()).map((line) => line.split(" ").slice(0, 2).join(" ")),
    ["a begins", "b begins", "b ok", "c begins", ...["c", "a"].map((call) => `${call} ok`)],
  );
});

test("a call that takes longer than its tool may, or than any may, is told so with its limit; a tool's own limit counts before the usual one [L5]", async (t) => {
  const waiting: Work = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
  for (const [timeoutMs, limitMs] of [
    [undefined, 7_000],
    [3_000, 3_000],
  ] as const) {
    const { run, ended, ran, clock, log, number, head } = await calling(t, {
      ...{ limits: { toolTimeoutMs: 7_000 }, work: waiting },
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    const over = run();
    while (ran.length === 0) await soon();
    clock.move(limitMs - 1);
    await soon();
    clock.move(1);
    await over;
    assert.deepEqual(await ended(), ["x begins 1 pure", "x error tool_timeout"]);
    const last = (await log.read(number, { after: head, limit: 9 })).at(-1);
    assert.ok(last?.type === "call.finished");
    assert.deepEqual(
      [Object(last.failure?.params).seconds, last.durationMs, clock.timers()],
      [limitMs / 1_000, limitMs, 1],
      "only the lease has a clock",
    );
  }
});

test("at the limit of steps, and where nothing is left to spend, calls are not run, and each is told which it was [L8][A4]", async (t) => {
  const because = async (play: Play) => {
    const { run, tenure, log, number, head, ran } = await calling(t, play);
    await run();
    await tenure.root.commit();
    const [event, ...more] = await log.read(number, { after: head, limit: 9 });
    assert.deepEqual([ran, more], [[], []]);
    return event?.type === "call.finished" && [event.outcome, Object(event.failure?.params).because];
  };
  assert.deepEqual(await because({ limits: { stepsMax: 1 } }), ["not_run", "steps"]);
  const budgets = { conversation: {}, turn: { tokens: 11 }, agent: {} };
  assert.deepEqual(await because({ limits: { budgets } }), ["not_run", "budget"]);
  const more = { conversation: {}, turn: { tokens: 12 }, agent: {} };
  const goesOn = await calling(t, { limits: { budgets: more, stepsMax: 2 } });
  await goesOn.run();
  assert.deepEqual(goesOn.ran, ["x"]);
});

test("a call that a person is asked about waits, one they refused is told why, and one that is not what they saw does not run [H2]", async (t) => {
  const told = async (...before: readonly NewEvent[]) => {
    const { run, ended, ran } = await calling(t, { before });
    await run();
    return [await ended(), ran];
  };
  assert.deepEqual(await told(asked), [[], []]);
  assert.deepEqual(await told(asked, decided({ verdict: "reject", reason: "no" })), [["x rejected tool_rejected"], []]);
  assert.deepEqual(await told(asked, decided({})), [["x begins 1 pure", "x ok saw x"], ["x"]]);
  const other = decided({ argumentsHash: argumentsHash("{ }") });
  assert.deepEqual(await told(asked, other), [["x error decision_broken"], []]);
  const shown: NewEvent = { ...asked, arguments: '{"a":1}' } as NewEvent;
  for (const hash of [argumentsHash('{"a":1}'), argumentsHash("{}")])
    assert.deepEqual(await told(shown, decided({ argumentsHash: hash })), [["x error decision_broken"], []]);
});

test("a call that its process leaves stays open, one that a person stops is told so, and what a stopped tool still says is its result [L6][L2]", async (t) => {
  const stopping = async (how: "close" | "stop", says?: string) => {
    const { run, ran, tenure, log, number, head } = await calling(t, {
      work: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => says !== undefined && resolve({ text: says }));
        }),
    });
    const over = run();
    while (ran.length === 0) await soon();
    if (how === "close") tenure.close();
    else tenure.root.stop();
    await over;
    await tenure.root.commit();
    const events = await log.read(number, { after: head, limit: 9 });
    return events.flatMap((event) =>
      event.type === "call.finished" ? [`${event.outcome} ${event.failure?.code ?? event.text}`] : [],
    );
  };
  assert.deepEqual(await stopping("close"), []);
  assert.deepEqual(await stopping("stop"), ["cancelled tool_cancelled"]);
  assert.deepEqual(await stopping("stop", "so far"), ["ok so far"]);
});
