import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { applyEvent, emptyHistory, foldHistory, type History, insertEvents } from "./history.ts";

const usage = { input: 10, output: 1 };

// A few logs that one can read.

test("a queued message waits, a withdrawn one is gone, and a turn takes the one it names [L7]", () => {
  const history = foldHistory(
    numbered([
      { type: "message.user", id: "a", text: "first", mode: "queue" },
      { type: "message.user", id: "b", text: "second", mode: "queue" },
      { type: "message.user", id: "c", text: "third", mode: "queue" },
      { type: "message.withdrawn", id: "b" },
      { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    ]),
  );
  assert.deepEqual(
    { said: history.messages, queue: history.queue.map(({ id }) => id), turn: history.turn?.turn },
    { said: [{ role: "user", text: "first", images: undefined }], queue: ["c"], turn: 1 },
  );
});

test("a reminder stands at the end of the newest message from then on, after a steering message that joined [L3][L7]", () => {
  const history = foldHistory(
    numbered([
      { type: "message.user", id: "a", text: "go", mode: "queue" },
      { type: "turn.started", turn: 1, message: "a", epoch: 1 },
      { type: "message.user", id: "b", text: "faster", mode: "steer" },
      step(1, { joined: ["b"], reminder: "\n\n[told]", told: ["date:2026-11-15", "todos:"] }),
      step(1, { attempt: 2 }),
    ]),
  );
  assert.deepEqual(
    history.messages.map(({ text }) => text),
    ["go", "faster\n\n[told]"],
  );
  assert.deepEqual(
    [...history.told],
    [
      ["date", { value: "2026-11-15", step: 1 }],
      ["todos", { value: "", step: 1 }],
    ],
  );
  assert.equal(history.steps, 1, "another attempt is no other step");
});

test("results go to the model in the order of the calls, all at once, whichever finished first [L5]", () => {
  const events = numbered([
    { type: "message.user", id: "a", text: "go", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    step(1),
    answer(1, ["x", "y"]),
    { type: "call.finished", call: "y", outcome: "ok", text: "second" },
    { type: "call.finished", call: "y", outcome: "ok", text: "again" },
    { type: "call.finished", call: "x", outcome: "ok", text: "first" },
  ]);
  assert.equal(foldHistory(events.slice(0, -1)).messages.at(-1)?.role, "assistant");
  assert.deepEqual(
    foldHistory(events)
      .messages.slice(2)
      .map(({ text }) => text),
    ["first", "second"],
  );
});

test("after going back the history is as it was there, and turn numbers are not used twice [L9]", () => {
  const events = numbered([
    { type: "message.user", id: "a", text: "one", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    step(1),
    answer(1, []),
    { type: "turn.finished", turn: 1, outcome: "done" },
    { type: "rewound", to: 0, cause: "reset" },
    { type: "conversation.renamed", title: "anew" },
  ]);
  assert.deepEqual(foldHistory(events), { ...emptyHistory(), head: 7, turnsEver: 1 });
});

// The same for any log that the engine and its users could write.

const choices = fc.array(fc.nat({ max: 99_999 }), { maxLength: 100, size: "max" });

test("folding event by event gives what folding the whole log gives [L2]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { events } = write(chosen);
      let history = emptyHistory();
      for (const [index, event] of events.entries()) {
        if (event.type === "rewound") history = foldHistory(events.slice(0, index + 1));
        else applyEvent(history, event);
      }
      assert.deepEqual(history, foldHistory(events));
    }),
  );
});

test("going back leaves out exactly what lies between [L9]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { events } = write(chosen);
      const last = events.findLast((event) => event.type === "rewound");
      if (last === undefined) return;
      const without = [...events.slice(0, last.to), ...events.slice(last.seq - 1)];
      const { turnsEver, ...history } = foldHistory(events);
      const { turnsEver: _, ...expected } = foldHistory(without);
      assert.deepEqual(history, expected);
      assert.equal(turnsEver, events.filter((event) => event.type === "turn.started").length, "numbers come once");
    }),
  );
});

test("when a turn has ended every call stands directly before its results, in the order of the calls [L5]", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const { messages, seqs, turn, decisions } = foldHistory(write(chosen, { isEnded: true }).events);
      assert.deepEqual([seqs.length, turn, decisions.size], [messages.length, undefined, 0]);
      const paired = messages.flatMap((message, index) =>
        message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }, place) => [index + 1 + place, id]) : [],
      );
      const results = messages.flatMap((message, index) =>
        message.role === "tool" ? [[index, message.toolCallId]] : [],
      );
      assert.deepEqual(results, paired);
    }),
  );
});

test("what others wrote in between is taken in as if it had been read in its place [L2][L7]", () => {
  fc.assert(
    fc.property(choices, choices, fc.array(fc.nat(), { maxLength: 10 }), (before, own, foreign) => {
      const head = write(before);
      const tail = untilTurnEnds(
        write(own, { after: head, moves: engineMoves, name: "own" }).events.slice(head.events.length),
      );
      const others = write(foreign, { after: head, moves: peopleMoves, name: "other" }).events.slice(
        head.events.length,
      );
      const history = foldHistory([...head.events, ...tail]);
      // Its turn over, a decision finds nothing to decide: then the log is folded anew.
      const isLate = isAny(others, "decision.made") && isAny(tail, "turn.finished");
      fc.pre(insertEvents(history, head.events.length, others) || !isLate);
      const moved = tail.map((event) => ({ ...event, seq: event.seq + others.length }));
      assert.deepEqual(comparable(history), comparable(foldHistory([...head.events, ...others, ...moved])));
    }),
  );
});

test("events whose order matters are not taken in afterwards [L2]", () => {
  const late = numbered([{ type: "message.withdrawn", id: "a" }]);
  assert.equal(insertEvents(emptyHistory(), 0, late), false);
});

/** Events inside the history name the place they were staged at; nobody looks there. */
function comparable({ turn, decisions, ...history }: History) {
  const inside = JSON.stringify([turn, ...decisions], (key, value) => (key === "seq" ? undefined : value));
  return { ...history, inside };
}

/** The end of a turn is stored at once. */
function untilTurnEnds(events: readonly LogEvent[]): LogEvent[] {
  const end = events.findIndex((event) => event.type === "turn.finished");
  return events.slice(0, end < 0 ? events.length : end + 1);
}

function isAny(events: readonly LogEvent[], type: LogEvent["type"]): boolean {
  return events.some((event) => event.type === type);
}

/** As much of the state as is needed to write only what can happen. */
type World = {
  queue: { id: string; isSteer: boolean }[];
  turns: number;
  turn: { step: number; attempt: number; isOpen: boolean; calls: CallStage[] } | undefined;
};
type CallStage = { id: string; stage: "new" | "asked" | "decided" | "started" | "finished" };
type Move = {
  readonly can: (world: World) => boolean;
  /** `n` is any number, for what is left to choose; `id` is new. */
  readonly make: (world: World, n: number, id: string) => NewEvent[];
};

const callsIn = ({ turn }: World, ...stages: CallStage["stage"][]) =>
  turn?.calls.filter(({ stage }) => stages.includes(stage)) ?? [];
const oneOf = <T>(list: readonly T[], n: number): T => list[n % list.length] ?? assert.fail("nothing to choose from");
const isBetweenSteps = ({ turn }: World) => turn !== undefined && !turn.isOpen && turn.calls.length === 0;

const peopleMoves: readonly Move[] = [
  {
    can: () => true,
    make: ({ queue }, n, id) => {
      queue.push({ id, isSteer: n % 3 === 0 });
      return [{ type: "message.user", id, text: id, mode: n % 3 === 0 ? "steer" : "queue" }];
    },
  },
  { can: ({ turn }) => turn !== undefined, make: ({ turns }) => [{ type: "cancel.asked", turn: turns }] },
  {
    can: (world) => callsIn(world, "asked").length > 0,
    make: (world, n) => {
      const call = oneOf(callsIn(world, "asked"), n);
      call.stage = "decided";
      return [
        { type: "decision.made", id: `d-${call.id}`, verdict: "approve", by: "me", argumentsHash: "h", previous: "" },
      ];
    },
  },
  { can: () => true, make: (_, n) => [{ type: "conversation.renamed", title: String(n) }] },
  { can: () => true, make: (_, n) => [file(n % 3, "upload", n)] },
];

const stepMoves: readonly Move[] = [
  {
    can: ({ turn, queue }) => turn === undefined && queue.length > 0,
    make: (world) => {
      world.turns += 1;
      world.turn = { step: 0, attempt: 0, isOpen: false, calls: [] };
      return [{ type: "turn.started", turn: world.turns, message: world.queue.shift()?.id ?? "", epoch: 1 }];
    },
  },
  {
    can: isBetweenSteps,
    make: (world, n) => {
      const joined = world.queue.filter(({ isSteer }) => isSteer).map(({ id }) => id);
      world.queue = world.queue.filter(({ isSteer }) => !isSteer);
      Object.assign(world.turn ?? {}, { step: (world.turn?.step ?? 0) + 1, attempt: 1, isOpen: true });
      const reminder = n % 2 === 0 ? { reminder: ` [${n}]`, told: [`kind${n % 3}:${n}`] } : {};
      return [step(world.turn?.step ?? 0, { joined, ...reminder })];
    },
  },
  {
    can: ({ turn }) => turn?.isOpen === true,
    make: ({ turn }) => {
      const place = { turn: 1, step: turn?.step ?? 0, attempt: turn?.attempt ?? 0 };
      Object.assign(turn ?? {}, { attempt: place.attempt + 1 });
      const failure = { code: "model_network", params: {} };
      return [
        { type: "step.failed", ...place, kind: "network", failure },
        step(place.step, { attempt: place.attempt + 1 }),
      ];
    },
  },
  {
    can: ({ turn }) => turn?.isOpen === true,
    make: ({ turn }, n, id) => {
      const ids = Array.from({ length: n % 4 }, (_, index) => `${id}-${index}`);
      Object.assign(turn ?? {}, { isOpen: false, calls: ids.map((call) => ({ id: call, stage: "new" })) });
      return [answer(turn?.step ?? 0, ids)];
    },
  },
  {
    can: (world) => callsIn(world, "new").length > 0,
    make: (world, n) => {
      const call = oneOf(callsIn(world, "new"), n);
      call.stage = "asked";
      return [{ type: "decision.asked", turn: 1, id: `d-${call.id}`, call: call.id, kind: "approval", tool: "look" }];
    },
  },
  {
    can: (world) => callsIn(world, "new", "decided").length > 0,
    make: (world, n) => {
      const call = oneOf(callsIn(world, "new", "decided"), n);
      call.stage = "started";
      return [{ type: "call.started", call: call.id, class: "pure", attempt: 1 }];
    },
  },
  {
    can: (world) => callsIn(world, "new", "decided", "started").length > 0,
    make: (world, n) => [finished(world, oneOf(callsIn(world, "new", "decided", "started"), n))],
  },
];

const asides: Move = {
  can: () => true,
  make: ({ turns }, n) => [
    oneOf<NewEvent>(
      [
        { type: "todo.set", todos: [todo(n)] },
        { type: "turn.recovered", turn: turns, epoch: n },
        file(n % 3, "tool", n),
        { type: "file.known", path: `f${n % 3}`, hash: `${n % 5}`, ...(n % 2 === 0 ? { part: true } : {}) },
        { type: "recipe.set", cause: "start", system: `${n}`, tools: "[]", startedAt: n },
      ],
      n,
    ),
  ],
};

const engineMoves = [
  ...stepMoves,
  ...stepMoves,
  asides,
  { can: ({ turn }: World) => turn !== undefined, make: endTurn },
];

/** What the engine would see only after folding anew: a message is taken back, a place is saved or forgotten. */
const quietMoves: readonly Move[] = [
  {
    can: ({ queue }) => queue.length > 0,
    make: ({ queue }, n) => {
      const { id } = oneOf(queue, n);
      queue.splice(n % queue.length, 1);
      return [{ type: "message.withdrawn", id }];
    },
  },
  { can: ({ turn }) => turn === undefined, make: (_, n) => [{ type: "checkpoint.saved", name: `${n}` }] },
  { can: ({ turn }) => turn === undefined, make: (_, n) => [{ type: "checkpoint.deleted", checkpoint: n % 50 }] },
];

/** `worlds` has the state after each event, and before the first. */
type Written = { readonly events: LogEvent[]; readonly worlds: World[] };
type WriteOptions = { after?: Written; moves?: readonly Move[]; name?: string; isEnded?: boolean };

/** A log that could be: each number chooses among what can happen next. */
function write(chosen: readonly number[], options: WriteOptions = {}): Written {
  const { after = { events: [], worlds: [{ queue: [], turns: 0, turn: undefined }] }, name = "e", isEnded } = options;
  const moves = options.moves ?? [...peopleMoves, ...engineMoves, ...quietMoves];
  const events = [...after.events];
  const worlds = [...after.worlds];
  let places = [...worlds.keys()]; // Those one can go back to: what was left out once stays out.
  let world = structuredClone(worlds.at(-1) ?? assert.fail("there is a first world"));
  const add = (made: readonly NewEvent[]) => {
    for (const event of made) {
      events.push({ ...event, seq: events.length + 1, at: 0 });
      worlds.push(structuredClone(world));
      places.push(events.length);
    }
  };
  for (const n of chosen) {
    const isBack = options.moves === undefined && n % 23 === 0 && world.turn === undefined && world.queue.length === 0;
    if (isBack) {
      const to = oneOf([0, ...places.filter((seq) => events[seq - 1]?.type === "turn.finished")], n);
      places = places.filter((seq) => seq <= to);
      world = { ...structuredClone(worlds[to] ?? world), turns: world.turns };
      add([{ type: "rewound", to, cause: "checkpoint" }]);
      continue;
    }
    const possible = moves.filter(({ can }) => can(world));
    if (possible.length > 0)
      add(oneOf(possible, n).make(world, Math.floor(n / possible.length), `${name}${events.length}`));
  }
  if (isEnded && world.turn !== undefined) add(endTurn(world));
  return { events, worlds };
}

function endTurn(world: World): NewEvent[] {
  const open = callsIn(world, "new", "asked", "decided", "started");
  const closed = open.map((call) => finished(world, call));
  world.turn = undefined;
  return [...closed, { type: "turn.finished", turn: world.turns, outcome: "cancelled" }];
}

function finished(world: World, call: CallStage): NewEvent {
  call.stage = "finished";
  if (world.turn?.calls.every(({ stage }) => stage === "finished")) world.turn.calls = [];
  return { type: "call.finished", call: call.id, outcome: "ok", text: `result of ${call.id}` };
}

function numbered(events: readonly NewEvent[]): LogEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, at: 0 }));
}

function step(number: number, more: object = {}): NewEvent {
  const place = { turn: 1, step: number, attempt: 1, slot: "base", model: "m", reason: "r" } as const;
  return { type: "step.started", ...place, hash: "", bytes: 0, reused: 0, ...more };
}

function answer(number: number, ids: readonly string[]): NewEvent {
  const calls = ids.map((id) => ({ id, name: "look", arguments: "{}" }));
  const said = { turn: 1, step: number, text: `answer ${number}`, finish: "stop", usage, durationMs: 1 } as const;
  return { type: "message.assistant", ...said, calls };
}

function file(name: number, by: "tool" | "upload" | "undo", content: number): NewEvent {
  return { type: "file.changed", path: `f${name}`, by, after: { hash: `${content}`, bytes: 1, mode: 0o644 } };
}

function todo(n: number) {
  return { id: "00000001", content: `${n}`, status: "pending", priority: "medium" } as const;
}
