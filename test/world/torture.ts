import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { modelServer } from "./model-server.ts";
import { type TortureModel, tortureModel } from "./torture-model.ts";
import { type Dice, diceOf, dot, type RunPlan, saidNext, tortureTools } from "./torture-plan.ts";
import { must, startYard, type TestYard } from "./yard.ts";

// One conversation on the rack, from its first word to its last.

export type TortureReport = {
  readonly plan: RunPlan;
  /** What should not have been; empty is good. */
  readonly problems: readonly string[];
  readonly steps: number;
  readonly turns: number;
  readonly refusals: number;
  readonly summaries: number;
};

export async function torture(plan: RunPlan): Promise<TortureReport> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-torture-"));
  try {
    return { plan, ...(await drive(plan, data)) };
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** The one time limit that nobody waits for here: it is over when the model says so. */
const summaryTimeoutSeconds = 177;

/** What a run stands on. The yard is another one after a restart. */
type Rack = {
  readonly plan: RunPlan;
  readonly dice: Dice;
  readonly model: TortureModel;
  yard: TestYard;
  restart(): Promise<void>;
  readonly id: string;
  readonly number: number;
  /** Called when the model is asked and stays silent. */
  disturb: (() => void) | undefined;
  /** Of the log, so far. */
  readonly seen: Seen;
};

type Seen = {
  seq: number;
  newest: string;
  readonly orders: string[];
  readonly files: Set<string>;
  /** How many decisions wait. */
  open: number;
  /** What a decision is about, by its id. */
  readonly asked: Map<string, string>;
  readonly decided: Set<string>;
  todos: string[];
  outcome: string | undefined;
  turns: number;
};

async function drive(plan: RunPlan, data: string): Promise<Omit<TortureReport, "plan">> {
  const dice = diceOf(plan.seed + 1);
  const timeouts = new Set<() => void>();
  const rackRef: { rack?: Rack } = {};
  const model = tortureModel({
    ...{ plan, dice },
    onDisturb: () => rackRef.rack?.disturb?.(),
    onHang() {
      for (const fire of [...timeouts]) fire();
    },
  });
  await using server = await modelServer();
  server.answerWith((request) => {
    server.asked.length = 0; // They are megabytes.
    return model.script(request);
  });
  const env = {
    MODEL_BASIC_CONTEXT_WINDOW: String(plan.windowTokens),
    CONTEXT_SUMMARY_TIMEOUT_SECONDS: String(summaryTimeoutSeconds),
  };
  const open = () => startYard({ model: server, env, tools: tortureTools, data, clock: impatient(timeouts) });
  const yard = await open();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const found = await yard.log.find(localOwner, id);
  if (!found.ok) throw new Error(found.failure.code);
  const rack: Rack = {
    ...{ plan, dice, model, yard, id, number: found.value.number, disturb: undefined, seen: nothingSeen() },
    async restart() {
      await rack.yard.close();
      rack.yard = await open();
    },
  };
  rackRef.rack = rack;
  if (plan.guide !== undefined) await must(yard.client.upload(id, "AGENTS.md", Buffer.from(plan.guide)));
  try {
    while (model.counts.steps < plan.stepsMax && model.problems.length === 0) await takeTurn(rack);
    if (model.problems.length === 0) await checkFold(rack);
  } finally {
    await rack.yard[Symbol.asyncDispose]();
  }
  const { steps, refusals, summaries } = model.counts;
  return { problems: model.problems, steps, turns: rack.seen.turns, refusals, summaries };
}

/** Time as it is, but for waiting: for a server that is down, and for a summary. */
function impatient(timeouts: Set<() => void>): Clock {
  return {
    ...systemClock,
    wait: (ms, signal) => systemClock.wait(Math.min(ms, 5), signal),
    after(ms, action) {
      if (ms !== summaryTimeoutSeconds * 1_000) return systemClock.after(ms, action);
      timeouts.add(action);
      return () => timeouts.delete(action);
    },
  };
}

async function takeTurn(rack: Rack): Promise<void> {
  const { dice, plan, model, seen } = rack;
  const always = [...(plan.guide === undefined ? [] : [plan.guide]), ...seen.orders];
  const pinned = { always, todos: seen.todos, deeds: [...seen.files, ...seen.decided] };
  const stepsLeft = plan.stepsMax - model.counts.steps;
  const steps = Math.min(dice.chance(0.3) ? 0 : 1 + dice.below(Math.max(plan.stepsMax / 10, 6)), stepsLeft, 95);
  const disturbance = dice.chance(0.12) ? dice.pick(["cancel", "restart", "steer"] as const) : undefined;
  model.begin({ steps, disturbAt: disturbance === undefined ? undefined : dice.below(steps + 1), pinned });
  const said = saidNext(dice, plan, seen.orders.length, model.counts.steps * 100 + seen.turns);
  const images = Array.from({ length: said.images }, () => dot);
  const disturbed = Promise.withResolvers<void>();
  rack.disturb = disturbed.resolve;
  await send(rack, said.text, images.length > 0 ? { images } : {});
  if (disturbance !== undefined) {
    await Promise.race([disturbed.promise, settled(rack)]);
    model.goOn();
    await disturbWith(rack, disturbance);
  }
  const status = await untilIdle(rack);
  if (said.isOrder) seen.orders.push(said.text);
  const isFine = seen.outcome === "done" || seen.outcome === "limit" || disturbance === "cancel";
  if (!isFine) model.problems.push(`turn ${seen.turns} ended: ${seen.outcome}, ${status}`);
  if (disturbance === undefined && seen.outcome === "cancelled") model.problems.push("cancelled by nobody");
  await betweenTurns(rack);
}

async function send({ yard, id }: Rack, text: string, more: object = {}): Promise<void> {
  await must(yard.client.call("sendMessage", { params: { id }, body: { text, ...more } }));
}

/** In the middle of an answer, which never comes to its end. */
async function disturbWith(rack: Rack, how: "cancel" | "restart" | "steer"): Promise<void> {
  const { yard, id } = rack;
  if (how === "restart") return rack.restart();
  if (how === "steer") await send(rack, "And be quick about it.", { mode: "steer" });
  await yard.client.call("cancelTurn", { params: { id } });
}

/** Answers what a person is asked, until the conversation rests. */
async function untilIdle(rack: Rack): Promise<string> {
  const { dice, plan } = rack;
  for (;;) {
    const { status, decisions } = await settled(rack);
    if (status === "idle") return status;
    if (dice.chance(0.2)) await compactNow(rack);
    if (dice.chance(0.1) && plan.stepsMax < 500) await rack.restart();
    for (const { id: decision } of decisions) {
      const verdict = dice.pick(["approve", "approve", "reject"] as const);
      const params = { id: rack.id, decision };
      await must(rack.yard.client.call("decide", { params, body: { verdict, reason: "as you like" } }));
    }
  }
}

async function betweenTurns(rack: Rack): Promise<void> {
  const { dice, yard, id, model } = rack;
  if (dice.chance(0.1)) await compactNow(rack);
  if (!dice.chance(0.06)) return;
  const undone = await yard.client.call("undoCompaction", { params: { id } });
  if (!undone.ok && undone.failure.code !== "compaction_not_found") model.problems.push(`undo: ${undone.failure.code}`);
  await readOn(rack);
}

async function compactNow(rack: Rack): Promise<void> {
  const { dice, yard, id, model } = rack;
  const body = {
    strategy: dice.pick(["auto", "compact", "summarize"] as const),
    ...(dice.chance(0.5) && { focus: dice.pick(["the numbers", "</history> 数字"]) }),
  };
  const made = await yard.client.call("compactConversation", { params: { id }, body });
  if (!made.ok) model.problems.push(`made room for a person: ${made.failure.code}`);
  await readOn(rack);
}

/** Waits until nothing happens any more: the conversation rests, or a person is asked. */
async function settled(rack: Rack) {
  for (let isFirst = true; ; isFirst = false) {
    const { yard, id, number, seen } = rack;
    const moved = Promise.withResolvers<void>();
    const forget = yard.log.onAppend(number, () => moved.resolve());
    try {
      await readOn(rack);
      // To look is dear: the whole log is read for it.
      if (isFirst || seen.newest === "turn.finished" || seen.open > 0) {
        const state = await must(yard.client.call("getState", { params: { id } }));
        await readOn(rack);
        if (state.status !== "running") return state;
      }
      await moved.promise;
    } finally {
      forget();
    }
  }
}

/** Takes in what is new in the log. */
async function readOn({ yard, number, seen }: Rack): Promise<void> {
  for (const event of await yard.log.read(number, { after: seen.seq, limit: 10_000 })) note(seen, event);
}

function note(seen: Seen, event: LogEvent): void {
  if (event.seq <= seen.seq) return; // Two were waiting.
  seen.seq = event.seq;
  seen.newest = event.type;
  if (event.type === "turn.started") seen.turns += 1;
  if (event.type === "decision.asked") seen.open += 1;
  if (event.type === "decision.made") seen.open -= 1;
  if (event.type === "turn.finished") {
    seen.open = 0;
    const { failure, outcome } = event;
    seen.outcome = failure === undefined ? outcome : `${outcome} (${failure.code} ${JSON.stringify(failure.params)})`;
  }
  if (
    event.type === "file.changed" &&
    event.by === "tool" &&
    event.after !== undefined &&
    !event.path.startsWith("temp/")
  )
    seen.files.add(event.path);
  if (event.type === "todo.set")
    seen.todos = event.todos.filter(({ status }) => status !== "completed").map(({ content }) => content);
  if (event.type === "decision.asked") seen.asked.set(event.id, /plum-[\d-]+/.exec(event.arguments ?? "")?.[0] ?? "");
  if (event.type === "decision.made") seen.decided.add(seen.asked.get(event.id) ?? "");
}

/** The history as it was built up step by step is the one that the log says. */
async function checkFold({ yard, id, model, plan }: Rack): Promise<void> {
  if (plan.stepsMax > 100) return;
  const found = await yard.log.find(localOwner, id);
  if (!found.ok) return;
  const { differences } = await yard.engine.replay(found.value);
  if (differences.length > 0) model.problems.push(`replay: ${JSON.stringify(differences[0])}`);
}

function nothingSeen(): Seen {
  return {
    ...{ seq: 0, newest: "", open: 0, orders: [], files: new Set(), asked: new Map(), decided: new Set(), todos: [] },
    ...{ outcome: undefined, turns: 0 },
  };
}
