import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentRole } from "../../src/protocol/agent.ts";
import type { BudgetLimits, Spent } from "../../src/protocol/budget.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { firstOf, isRoots, textOf } from "../world/company.ts";
import { all } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { type Answer, type AskedRequest, modelServer } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// Whatever agents make of each other, in whatever order, all of them together spend no more than there is.

/** What an agent does, step by step: each step is the calls of one answer. Told to the model as its brief. */
type Program = readonly (readonly Act[])[];
type Act = { readonly kind: "spawn" | "delegate" | "call" | "transfer" | "work"; readonly below: Program };

const { AGENTYARD_BUDGET_TREES: wanted } = process.env;
const programs = Number(wanted ?? 6);
const atOnce = 8;
const chance = chanceOf(seedFor("budget trees", wanted === undefined ? 1 : undefined));
const kinds = ["tokens", "money", "steps", "agents"] as const;

test("no order of spawning, delegating, calling and handing over spends more than was reserved, anywhere in the tree [A4][A1][A2][A3]", async () => {
  await using model = await modelServer(answerOf);
  const env = { AGENTYARD_SYNCHRONOUS: "normal", AGENTYARD_PRICES: `${model.wire.model} 1 10 0.1` };
  await using yard = await startYard({ model, env, agents: ["a", "b"].map(role) });
  // All of them first: which lane is the quicker one must not decide what is played.
  const cases = Array.from({ length: programs }, () => ({ limits: someLimits(), program: someProgram(0) })).entries();
  const seen = { agents: 0, limited: 0, refused: 0 };
  const lane = async () => {
    for (const [number, one] of cases) await spend(yard, { id: `tree-${number}`, ...one }, seen);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  assert.deepEqual(await yard.faults(), []);
  // The programs are such that limits are met.
  const least = programs / 10;
  assert.ok(seen.agents > programs && seen.limited > least && seen.refused > least, JSON.stringify(seen));
  console.log(`budget trees: ${programs} programs, ${JSON.stringify(seen)}`);
});

test("agents that others make have the limits of the settings, and less where their share is smaller [A4][A1][A2]", async () => {
  await using model = await modelServer(answerOf);
  const ofAgents = { AGENTYARD_AGENT_STEPS: "3", AGENTYARD_AGENT_TOKENS: "500000", AGENTYARD_AGENT_SECONDS: "60" };
  const env = { ...ofAgents, AGENTYARD_AGENT_USD: "0.5", AGENTYARD_PRICES: `${model.wire.model} 1 10 0.1` };
  await using yard = await startYard({ model, env });
  const busy: Program = Array.from({ length: 6 }, () => [{ kind: "work", below: [] }]);
  const program: Program = [(["spawn", "delegate"] as const).map((kind): Act => ({ kind, below: busy }))];
  const play = async (id: string, limits: BudgetLimits) => {
    await spend(yard, { id, limits, program }, { agents: 0, limited: 0, refused: 0 });
    const events = await yard.events(id);
    const given = all(events, "agent.spawned").map(({ budget: { agents: _, depth: __, ...paid } = {} }) => paid);
    return { given, steps: all(events, "agent.ended").map(({ spent }) => spent?.steps) };
  };
  const whole = { tokens: 500_000, money: 0.5, steps: 3, ms: 60_000 };
  assert.deepEqual(await play("free", {}), { given: [whole, whole], steps: [3, 3] });
  // The half of what is left goes to one of them, and half of the rest to the other.
  const { given } = await play("short", { steps: 6 });
  assert.deepEqual(given.map(({ steps }) => steps).toSorted(), [1, 2]);
});

type Case = { readonly id: string; readonly limits: BudgetLimits; readonly program: Program };
type Seen = { agents: number; limited: number; refused: number };

async function spend(yard: TestYard, { id, limits, program }: Case, seen: Seen): Promise<void> {
  await yard.start(id);
  await must(yard.client.call("setBudget", { params: { id }, body: limits }));
  const body = { text: JSON.stringify(program), mode: "queue" } as const;
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  await endOfTurn(yard, id);
  const events = await yard.events(id);
  const what = `${id}: ${JSON.stringify({ limits, program })}`;
  const { spent } = await must(yard.client.call("getBudget", { params: { id } }));
  assertWithin(spent, limits, `the whole of ${what}`);
  const made = all(events, "agent.spawned");
  const ends = new Map(all(events, "agent.ended").map((ended) => [ended.id, ended]));
  for (const { id: agent, mode, budget = {} } of made) {
    const ended = ends.get(agent) ?? assert.fail(`${agent} has not ended: ${what}`);
    if (mode !== "handoff") assertWithin(ended.spent, budget, `${agent} of ${what}`);
  }
  // Counted from the log itself, and not by whoever keeps the books.
  const asked = all(events, "step.started").filter(({ attempt }) => attempt === 1).length;
  const used = all(events, "message.assistant").reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
  assert.ok(
    asked <= (limits.steps ?? asked) && used <= (limits.tokens ?? used),
    `${asked} steps, ${used} tokens: ${what}`,
  );
  assert.ok(made.length <= (limits.agents ?? made.length), `${made.length} agents: ${what}`);
  assert.deepEqual([spent.agents, spent.steps], [made.length, asked], what);
  for (const one of made)
    assert.ok(depthOf(one, made) <= (limits.depth ?? made.length), `${one.id} is too deep: ${what}`);
  const names = made.filter((one) => one.mode === "task" && isRoots(one)).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, `their files lie under their names: ${what}`);
  seen.agents += made.length;
  seen.limited += all(events, "turn.finished").some(({ outcome }) => outcome === "limit") ? 1 : 0;
  seen.refused += all(events, "call.finished").some(({ failure }) => failure?.code === "budget_short") ? 1 : 0;
}

async function endOfTurn(yard: TestYard, id: string): Promise<void> {
  const stop = new AbortController();
  for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal }))
    if (frame.frame === "event" && frame.event.type === "turn.finished" && isRoots(frame.event)) return stop.abort();
}

function assertWithin(spent: Spent | undefined, limits: BudgetLimits, what: string): void {
  for (const kind of kinds)
    assert.ok((spent?.[kind] ?? 0) <= (limits[kind] ?? Number.POSITIVE_INFINITY), `${kind} ${spent?.[kind]}: ${what}`);
}

type Made = Extract<LogEvent, { type: "agent.spawned" }>;

/** How many stand one below the other, down to this one; who was handed over to stands below who did it. */
function depthOf({ agent }: Made, made: readonly Made[]): number {
  const parent = made.find(({ id }) => id === agent);
  return 1 + (parent === undefined ? 0 : depthOf(parent, made));
}

function answerOf(request: AskedRequest): Answer {
  const program: Program = JSON.parse(firstOf(request).split("\n")[0] ?? "[]");
  const { max_tokens: longest = 16_384 }: { max_tokens?: number } = Object(request.body);
  // As long as it may be, so that what was held back for it is really used.
  const usage = { prompt_tokens: 300, completion_tokens: longest };
  const steps = request.body.messages.filter(({ role: speaker }) => speaker === "assistant").length;
  const acts = program[steps] ?? [];
  const text = `${"said and done. ".repeat(20)}${textOf(request).length}`;
  if (request.body.tool_choice === "none" || acts.length === 0) return { text, usage };
  return { usage, calls: acts.map((act, place) => callOf(act, `${steps}-${place}`)) };
}

function callOf({ kind, below }: Act, place: string): { name: string; arguments: string } {
  const task = JSON.stringify(below);
  const name = {
    spawn: "spawn_agent",
    delegate: "delegate_task",
    call: "call_agent",
    transfer: "transfer_to_a",
    work: "todo_write",
  };
  const input = {
    spawn: { role: "helper", task },
    delegate: { task },
    call: { agent_id: "b", task },
    transfer: { task: "go on" },
    work: { todos: [{ content: place, status: "pending" }] },
  };
  return { name: name[kind], arguments: JSON.stringify(input[kind]) };
}

function role(id: string): AgentRole {
  const words = { id, name: id.toUpperCase(), description: `Does ${id}`, prompt: `You are ${id}.` };
  return { ...words, tools: undefined, slot: undefined };
}

const depthMax = 3;

function someProgram(depth: number): Program {
  return Array.from({ length: chance.int(1, 3) }, () =>
    Array.from({ length: chance.int(1, 3) }, (): Act => {
      const kind = (["spawn", "delegate", "call", "transfer", "work"] as const)[chance.int(0, 4)] ?? "work";
      const makes = kind === "spawn" || kind === "delegate" || kind === "call";
      return { kind, below: makes && depth < depthMax ? someProgram(depth + 1) : [] };
    }),
  );
}

/** Of each kind some limit or none; never so little that nothing is done. */
function someLimits(): BudgetLimits {
  const some = <T extends object>(limit: T) => (chance.int(0, 1) === 0 ? limit : {});
  return {
    agents: chance.int(1, 12),
    depth: chance.int(1, 4),
    ...some({ tokens: chance.int(20_000, 400_000) }),
    ...some({ money: chance.int(50, 3_000) / 1_000 }),
    ...some({ steps: chance.int(2, 40) }),
  };
}
