import type { EventOf, LogEvent, NewEvent } from "../../src/protocol/events.ts";
import type { ToolCall } from "../../src/protocol/message.ts";

/** One thing that happens in a turn: a fact, or a piece of the running answer. */
export type Play =
  | { readonly play: "fact"; readonly event: LogEvent }
  | { readonly play: "piece"; readonly step: number; readonly kind: "text" | "reasoning"; readonly text: string };

const usage = { input: 100, output: 7, cachedInput: 40 };
const start = 1_700_000_000_000;

export const messageEvent = {
  ...{ type: "message.user", id: "m", text: "what is in it?", mode: "queue", reply: "a", run: "r" },
  ...{ seq: 1, at: start },
} as const satisfies EventOf<"message.user">;

/** What each number may choose: texts of every kind, some of them long. */
const texts = [
  "",
  "so ",
  "the answer is ",
  "42",
  "天气 ",
  "😀",
  '"quoted" \\ ',
  "x".repeat(30),
  "\n",
  "长".repeat(25_000),
];
const results = ["noon", '{"rows":[1,2,{"a":null}]}', "[]", "not { json", "y".repeat(70_000), '{"a":', ""];
const argumentTexts = [
  '{"path":"a.csv","n":3}',
  "{}",
  "broken",
  `{"content":"${"z".repeat(70_000)}","deep":{"a":[1]}}`,
];

type CallStage = { readonly call: ToolCall; stage: "new" | "asked" | "decided" | "started"; decision: string };
type World = {
  step: number;
  attempt: number;
  isOpen: boolean;
  shown: string;
  isAnswered: boolean;
  calls: CallStage[];
};

/** A turn that could be: each number chooses among what can happen next. `isEnded`: it comes to its end. */
export function anyTurn(chosen: readonly number[], { isEnded }: { readonly isEnded: boolean }): Play[] {
  const plays: Play[] = [{ play: "fact", event: messageEvent }];
  let seq = 1;
  const add = (...events: readonly NewEvent[]) => {
    for (const event of events) {
      seq += 1;
      plays.push({ play: "fact", event: { ...event, seq, at: start + seq * 10 } });
    }
  };
  add({ type: "turn.started", turn: 1, message: "m", epoch: 1 });
  const world: World = { step: 0, attempt: 0, isOpen: false, shown: "", isAnswered: false, calls: [] };
  for (const number of chosen) {
    const possible = moves.filter(({ can }) => can(world));
    const move = possible[number % possible.length];
    const n = Math.floor(number / Math.max(1, possible.length));
    for (const made of move?.make(world, n) ?? []) {
      if ("play" in made) plays.push(made);
      else add(made);
    }
  }
  if (isEnded) add(...endOf(world, chosen.length));
  return plays;
}

type Move = {
  readonly can: (world: World) => boolean;
  readonly make: (world: World, n: number) => (NewEvent | Extract<Play, { play: "piece" }>)[];
};

const pick = <V>(list: readonly V[], n: number): V => {
  const one = list[n % list.length];
  if (one === undefined) throw new Error("nothing to choose from");
  return one;
};
const callsIn = ({ calls }: World, ...stages: CallStage["stage"][]) =>
  calls.filter(({ stage }) => stages.includes(stage));

const piece: Move = {
  can: ({ isOpen }) => isOpen,
  make(world, n) {
    const kind = n % 3 === 0 ? "reasoning" : "text";
    const text = pick(texts, Math.floor(n / 3));
    if (kind === "text") world.shown += text;
    return text === "" ? [] : [{ play: "piece", step: world.step, kind, text }];
  },
};

const moves: readonly Move[] = [
  piece,
  piece,
  piece,
  {
    can: ({ isOpen, calls }) => !isOpen && calls.length === 0,
    make(world) {
      Object.assign(world, { step: world.step + 1, attempt: 1, isOpen: true, shown: "", isAnswered: false });
      return [stepStarted(world)];
    },
  },
  {
    can: ({ isOpen }) => isOpen,
    make(world, n) {
      const seen = world.shown.slice(0, n % 2 === 0 ? undefined : 3);
      const failed: NewEvent = {
        ...{ type: "step.failed", turn: 1, step: world.step, attempt: world.attempt, kind: "network" },
        failure: { code: "model_network", params: { model: "m", server: "s", said: "gone" } },
        ...(seen === "" ? {} : { textSeen: seen }),
      };
      const before: NewEvent = n % 5 === 0 ? { type: "turn.recovered", turn: 1, epoch: 2 } : failed;
      Object.assign(world, { attempt: world.attempt + 1, shown: "" });
      return [before, stepStarted(world)];
    },
  },
  {
    can: ({ isOpen }) => isOpen,
    make(world, n) {
      const calls = Array.from({ length: n % 4 }, (_, index) => ({
        ...{ id: `c${index}`, name: "look", arguments: pick(argumentTexts, n + index) },
      }));
      world.calls = calls.map((call) => ({ call, stage: "new", decision: `d${world.step}-${call.id}` }));
      Object.assign(world, { isOpen: false, isAnswered: calls.length === 0 });
      // What is stored may go on, or be something else than what was shown.
      const text = pick([world.shown, `${world.shown}more`, `another ${world.shown}`], Math.floor(n / 4));
      return [
        {
          ...{ type: "message.assistant", turn: 1, step: world.step, text, finish: "stop", usage },
          ...{ durationMs: 5, ...(n % 2 === 0 ? { firstTokenMs: 3, reasoning: "hm" } : {}) },
          ...(calls.length === 0 ? {} : { calls }),
        },
      ];
    },
  },
  {
    can: (world) => callsIn(world, "new").length > 0,
    make(world, n) {
      const one = pick(callsIn(world, "new"), n);
      one.stage = "asked";
      const about = { turn: 1, id: one.decision, call: one.call.id, tool: "look" };
      const question = { kind: "question", question: "which?", default: "a", required: true } as const;
      const approval = { kind: "approval", arguments: one.call.arguments, reason: "it deletes" } as const;
      return [{ type: "decision.asked", ...about, ...(n % 2 === 0 ? question : approval) }];
    },
  },
  {
    can: (world) => callsIn(world, "asked").length > 0,
    make(world, n) {
      const one = pick(callsIn(world, "asked"), n);
      one.stage = "decided";
      const verdict = pick(["approve", "reject", "edit", "answer"] as const, n);
      const edited = verdict === "edit" ? { arguments: '{"path":"b.csv"}' } : {};
      return [
        { type: "decision.made", id: one.decision, verdict, by: "me", argumentsHash: "h", previous: "", ...edited },
      ];
    },
  },
  {
    can: (world) => callsIn(world, "new", "decided").length > 0,
    make(world, n) {
      const one = pick(callsIn(world, "new", "decided"), n);
      one.stage = "started";
      return [{ type: "call.started", call: one.call.id, class: "pure", attempt: 1 }];
    },
  },
  {
    can: (world) => callsIn(world, "new", "decided", "started").length > 0,
    make: (world, n) => [finished(world, pick(callsIn(world, "new", "decided", "started"), n), n)],
  },
];

function stepStarted({ step, attempt }: World): NewEvent {
  return {
    ...{ type: "step.started", turn: 1, step, attempt, slot: "base", model: "m", reason: "r" },
    ...{ hash: "", bytes: 0, reused: 0 },
  };
}

function finished(world: World, { call }: CallStage, n: number): NewEvent {
  world.calls = world.calls.filter((other) => other.call.id !== call.id);
  const outcome = pick(["ok", "ok", "error", "rejected"] as const, n);
  return { type: "call.finished", call: call.id, outcome, text: pick(results, n) };
}

function endOf(world: World, n: number): NewEvent[] {
  const closed = [...world.calls].map((one) => finished(world, one, 0));
  const failure = { code: "model_network", params: { model: "m", server: "s", said: "gone" } };
  if (world.isAnswered) return [...closed, { type: "turn.finished", turn: 1, outcome: "done" }];
  const outcome = pick(["cancelled", "failed", "crashed"] as const, n);
  return [...closed, { type: "turn.finished", turn: 1, outcome, ...(outcome === "cancelled" ? {} : { failure }) }];
}
