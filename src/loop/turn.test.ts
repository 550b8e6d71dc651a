import assert from "node:assert/strict";
import { after, test } from "node:test";
import { z } from "zod";
import { answer as counted, numbered, step } from "../../test/world/any-log.ts";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openApprovals } from "../approvals/approvals.ts";
import { defaultRules } from "../approvals/rules.ts";
import { ok } from "../base/result.ts";
import { sendableTokens, tokenStatus } from "../context/context.ts";
import { applyToTree, type CallState, emptyHistory, type Tree } from "../log/log.ts";
import type { EffectClass, NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { builtins, defineTool, openToolkit } from "../tools/tools.ts";
import { asDecided, inOrder } from "./call-order.ts";
import { defaultLimits, type LoopLimits } from "./parts.ts";
import { type Next, nextOf } from "./turn.ts";

const windowTokens = 16_000;

const clock = manualClock();

const models = await baseModel(clock, windowTokens);

after(() => models.close());

const toolkit = openToolkit(builtins);

const approvals = openApprovals({ rules: defaultRules, checkers: [] });

function treeOf(events: readonly NewEvent[]): Tree {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  for (const event of numbered(events)) applyToTree(tree, event);
  return tree;
}

function next(events: readonly NewEvent[], { agent, ...more }: Partial<LoopLimits> & { agent?: string } = {}): Next {
  const { root, agents } = treeOf(events);
  const history = agent === undefined ? root : (agents.get(agent) ?? assert.fail(agent));
  const limits = { ...defaultLimits, ...more };
  return nextOf(history, { limits, models, clock, approvals, agents: () => [], toolkit: () => toolkit }, localOwner);
}

const said = (id: string, mode: "queue" | "steer" = "queue", text = id): NewEvent => ({
  ...{ type: "message.user", id, text, mode },
});

const begun: NewEvent[] = [said("m1"), { type: "turn.started", turn: 1, message: "m1", epoch: 1 }];

/** Nobody has counted it: what it says itself is what the window has. */
const answer = (number: number, ids: readonly string[], agent?: string): NewEvent =>
  Object.assign(counted(number, ids), { usageEstimated: true, ...(agent === undefined ? {} : { agent }) });

const done = (call: string, more: object = {}): NewEvent => ({
  ...{ type: "call.finished", call, outcome: "ok", text: "seen", ...more },
});

/** So many steps, each with a call and its result. */
const steps = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, index) => [step(index + 1), answer(index + 1, ["c"]), done("c")]).flat();

const answered: NewEvent[] = [...begun, step(1), answer(1, [])];

const stopped: NewEvent = { type: "cancel.asked", turn: 1 };

const crashes = (count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({ type: "turn.recovered", turn: 1, epoch: 2 }) as const);

const made = (mode: "task" | "worker", id = "a"): NewEvent => ({
  ...{ type: "agent.spawned", id, name: id, mode, role: "writer", brief: "write it" },
});

test("a conversation rests, takes up what waits, asks the model, and ends when it has answered; what steers goes on with the turn, what waits does not [L1][L7]", () => {
  assert.equal(next([]), "rest");
  assert.equal(next([said("m1")]), "start");
  assert.equal(next(begun), "step");
  assert.equal(next([...begun, step(1)]), "step");
  assert.equal(next([...begun, step(1), answer(1, ["c"])]), "tools");
  assert.equal(next([...begun, ...steps(1)]), "step");
  assert.equal(next(answered), "finish");
  assert.equal(next([...answered, said("m2")]), "finish");
  assert.equal(next([...answered, said("m2", "steer")]), "step");
  assert.equal(next([...answered, { type: "turn.finished", turn: 1, outcome: "done" }]), "rest");
});

test("a turn that was stopped ends as stopped whatever else is the matter, and one that broke down three times is parked before anything else is done [L6][L2]", () => {
  const open = [...begun, step(1), answer(1, ["c"])];
  assert.equal(next([...open, ...crashes(2)]), "tools");
  assert.equal(next([...open, ...crashes(3)]), "park");
  assert.equal(next([...open, ...crashes(3), stopped]), "cancel");
  assert.equal(next([...answered, stopped]), "cancel");
});

test("at the limit of steps comes the last answer, and after it the end: an attempt at either stays what it was [L1][L8]", () => {
  const limits = { stepsMax: 2 };
  assert.equal(next([...begun, ...steps(1)], limits), "step");
  assert.equal(next([...begun, ...steps(1), step(2)], limits), "step");
  assert.equal(next([...begun, ...steps(1), step(2), answer(2, [])], limits), "finish");
  assert.equal(next([...begun, ...steps(1), step(2), answer(2, []), said("m2", "steer")], limits), "finish");
  assert.equal(next([...begun, ...steps(2)], limits), "finalize");
  assert.equal(next([...begun, ...steps(2), step(3, { final: true })], limits), "finalize");
  const last = [...begun, ...steps(2), step(3, { final: true }), answer(3, [])];
  assert.equal(next(last, limits), "finish");
  assert.equal(next([...last, said("m2", "steer")], limits), "finish");
  const early = [...begun, step(1, { final: true }), answer(1, [])];
  assert.equal(next([...early, said("m2", "steer")]), "finish", "whatever could be done by now");
  assert.equal(next([...answered, step(2, { final: true })]), "finalize", "it is on its way");
  const repeated = { code: "tool_repeated", params: { tool: "look", times: 5 } };
  assert.equal(next([...begun, step(1), answer(1, ["c"]), done("c", { failure: repeated })]), "finalize");
});

test("who has made agents, or waits for an answer of one, ends when that has come; mail goes on with the turn at once [A1][A2]", () => {
  const working = [...begun, step(1), answer(1, ["c"]), made("task"), done("c"), step(2), answer(2, [])];
  const ended: NewEvent = { type: "agent.ended", id: "a", outcome: "done" };
  const mail: NewEvent = { type: "agent.mailed", agent: "a", to: "root", id: "x", text: "hello" };
  const asked: NewEvent = { type: "agent.mailed", to: "a", id: "y", text: "well?", awaits: true };
  assert.equal(next(working), "wait");
  assert.equal(next([...working, mail]), "step");
  assert.equal(next([...working, ended]), "finish");
  const asking = [...begun, step(1), answer(1, ["c"]), made("task"), asked, done("c"), step(2), answer(2, [])];
  assert.equal(next([...asking, ended]), "finish");
  const own = (more: readonly NewEvent[]) => next([...begun, made("task"), made("task", "b"), ...more], { agent: "a" });
  const starts: NewEvent = { type: "turn.started", agent: "a", turn: 1, message: "a-brief", epoch: 1 };
  const works = [starts, step(1, { agent: "a" }), answer(1, [], "a")];
  assert.equal(own([]), "start");
  assert.equal(own(works), "finish");
  const asks: NewEvent = { type: "agent.mailed", agent: "a", to: "b", id: "z", text: "well?", awaits: true };
  assert.equal(own([...works, asks]), "wait");
});

test("an agent that was stopped before it began ends without a turn, and one that has ended has nothing to do, whatever waits for it [A1][L6]", () => {
  const working = [...begun, made("worker")];
  const stop: NewEvent = { type: "cancel.asked", agent: "a", turn: 1, by: "root" };
  const ended: NewEvent = { type: "agent.ended", id: "a", outcome: "terminated" };
  const mail: NewEvent = { type: "agent.mailed", to: "a", id: "x", text: "hello" };
  assert.equal(next(working, { agent: "a" }), "start");
  assert.equal(next([...working, stop], { agent: "a" }), "end");
  assert.equal(next([...working, stop, ended, mail], { agent: "a" }), "rest");
  const starts: NewEvent = { type: "turn.started", agent: "a", turn: 1, message: "a-brief", epoch: 1 };
  const short = [...working, starts, step(1, { agent: "a" }), answer(1, [], "a")];
  assert.equal(next(short, { agent: "a" }), "more");
  assert.equal(next([...short, { ...mail, agent: "a", kind: "more" }], { agent: "a" }), "step");
  assert.equal(next(short, { agent: "a", agentStepsMax: 1 }), "finish");
});

/** A message of so many tokens, in a window of 16,000. */
const full = (tokens: number): NewEvent[] => [said("m1", "queue", "word".repeat(tokens)), ...begun.slice(1)];

const roomMade: NewEvent = {
  ...{ type: "compacted", turn: 1, by: "window", strategy: "fallback", upTo: 0 },
  ...{ messagesBefore: 1, messagesAfter: 1, summary: "" },
};

const refused = (attempt: number): NewEvent => ({
  ...{ type: "step.failed", turn: 1, step: 1, attempt, kind: "context_overflow" },
  failure: { code: "model_context_overflow", params: { model: "m", server: "s" } },
});

test("a full window is made room in twice before an answer, and then what can be sent at all is sent; a request on its way is not shortened [L1][Z2]", () => {
  const { used } = tokenStatus(treeOf(full(1_000)).root, windowTokens);
  const sendable = Math.floor(sendableTokens({ windowTokens }));
  const tokensFor = (wanted: number) => 1_000 + wanted - used;
  assert.equal(next(full(5_000)), "step");
  assert.equal(next(full(15_000)), "compact");
  assert.equal(next(full(15_000), { messagesKeptMax: 0 }), "step");
  assert.equal(next([...full(15_000), step(1)]), "step");
  assert.equal(next([...full(15_000), ...steps(2)], { stepsMax: 2 }), "compact");
  assert.equal(next([...full(15_000), step(1), answer(1, []), said("m2", "steer")]), "compact");
  const twice = (tokens: number) => next([...full(tokens), roomMade, roomMade]);
  assert.equal(next([...full(17_000), roomMade]), "compact");
  assert.deepEqual([twice(tokensFor(sendable)), twice(tokensFor(sendable + 1))], ["step", "exhausted"]);
});

test("a request that the provider refused as too long is made shorter twice, and then given up [Z2][M3]", () => {
  const overflown = [...begun, step(1), refused(1)];
  assert.equal(next(overflown), "compact");
  assert.equal(next(overflown, { messagesKeptMax: 0 }), "step");
  const shorter: NewEvent = { ...roomMade, by: "overflow" };
  const again = [...overflown, shorter, step(1, { attempt: 2 })];
  assert.equal(next(again), "step");
  const more = [...again, refused(2)];
  assert.equal(next(more), "compact");
  assert.equal(next([...more, shorter, step(1, { attempt: 3 }), refused(3)]), "exhausted");
});

/** `at` is what a call is ordered by; `script` what it runs. */
const tool = (name: string, effects: EffectClass) =>
  defineTool({
    ...{ name, description: name, class: effects },
    input: z.object({ at: z.string().optional(), script: z.string().optional() }),
    order: ({ at }) => at,
    run: () => ok({ text: name }),
  });

const kit = openToolkit([tool("look", "pure"), tool("again", "idempotent"), tool("write", "unsafe")]);

function parts() {
  const read: unknown[] = [];
  const toolkit = () => ({
    ...kit,
    open(call: Parameters<typeof kit.open>[0]) {
      read.push(call.arguments);
      return kit.open(call);
    },
  });
  const approvals = {
    judge: () => assert.fail("nothing is judged here"),
    change: () => assert.fail("no rules are changed here"),
    scriptsOf: ({ arguments: { script } }: { readonly arguments: Readonly<Record<string, unknown>> }) =>
      typeof script === "string" ? [script] : [],
  };
  return { parts: { toolkit, approvals }, read };
}

let calls = 0;

function called(name: string, input: object = {}): CallState {
  calls += 1;
  const call = { id: `c${calls}`, name, arguments: JSON.stringify(input) };
  return { call, decision: undefined, started: undefined, result: undefined };
}

/** Of each call whether it has to wait. */
const behind = (...states: readonly CallState[]) => states.map(inOrder(states, parts().parts, localOwner));

test("calls of one answer that are about the same run one after another, and all others side by side [L5][F2]", () => {
  const [one, two] = [{ at: "a.txt" }, { at: "b.txt" }];
  assert.deepEqual(behind(called("look", one), called("look", two), called("look", one)), [false, false, true]);
  assert.deepEqual(behind(called("write"), called("write"), called("look")), [false, false, false]);
  assert.deepEqual(behind(called("nobody", one), called("write", one), called("nobody", one)), [false, false, false]);
});

test("what runs a script waits for all that could change it, and what could change something waits for scripts; looking waits for nobody [H1][L5]", () => {
  const script = { script: "a.sh" };
  assert.deepEqual(behind(called("write"), called("look", script)), [false, true]);
  assert.deepEqual(behind(called("again"), called("look", script)), [false, true]);
  assert.deepEqual(behind(called("look", script), called("again")), [false, true]);
  assert.deepEqual(behind(called("look", script), called("look", script), called("look")), [false, false, false]);
});

test("a call is ordered by the arguments that a person put in place of the model's, and each is read once; a single one is not read at all [H2][L5]", () => {
  const { parts: given, read } = parts();
  const [first, second] = [called("write", { at: "a" }), called("write", { at: "b" })];
  const isBehind = () => inOrder([first, second], given, localOwner)(second);
  assert.deepEqual([isBehind(), isBehind(), read.length], [false, false, 2]);
  const about = { seq: 1, at: 0, id: "d", time: 0 };
  const asked = {
    type: "decision.asked",
    ...about,
    turn: 1,
    call: second.call.id,
    kind: "approval",
    tool: "write",
  } as const;
  const made = {
    type: "decision.made",
    ...about,
    verdict: "edit",
    by: "local",
    argumentsHash: "",
    previous: "",
  } as const;
  second.decision = { asked, made: { ...made, arguments: '{"at":"a"}' } };
  assert.deepEqual([isBehind(), isBehind(), read.length], [true, true, 3]);
  assert.deepEqual(asDecided(second), { ...second.call, arguments: '{"at":"a"}' });
  // Asked anew, about what the person wrote.
  second.decision = { asked: { ...asked, arguments: '{"at":"c"}', instead: "d0" }, made: undefined };
  assert.equal(asDecided(second).arguments, '{"at":"c"}');
  second.decision = { asked: { ...asked, arguments: '{"at":"c"}' }, made: undefined };
  assert.equal(asDecided(second).arguments, '{"at":"b"}');
  inOrder([called("write")], given, localOwner);
  assert.equal(read.length, 3);
});
