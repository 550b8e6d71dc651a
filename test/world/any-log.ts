import assert from "node:assert/strict";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import type { GivenMessage, Selection } from "../../src/protocol/given.ts";

const usage = { input: 10, output: 1 };

/** As much of the state as is needed to write only what can happen. */
type World = {
  /** `instead`: how many messages it brings along in place of the history. */
  queue: { id: string; isSteer: boolean; instead: number | undefined }[];
  turns: number;
  turn: { step: number; attempt: number; isOpen: boolean; calls: CallStage[]; instead: number | undefined } | undefined;
  /** Where the last messages stand of which results are known, and compactions that were not undone. */
  places: number[];
  compacted: number[];
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

export const peopleMoves: readonly Move[] = [
  {
    can: () => true,
    make: ({ queue }, n, id) => {
      const isSteer = n % 3 === 0;
      const instead = !isSteer && n % 4 === 1 ? givenBy(id, n % 6) : undefined;
      queue.push({ id, isSteer, instead: instead?.length });
      const selected = n % 5 === 0 ? { selected: selectionOf(n) } : {};
      const given = instead === undefined ? {} : { instead };
      return [{ type: "message.user", id, text: id, mode: isSteer ? "steer" : "queue", ...selected, ...given }];
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
      const { id = "", instead } = world.queue.shift() ?? {};
      world.turn = { step: 0, attempt: 0, isOpen: false, calls: [], instead };
      return [{ type: "turn.started", turn: world.turns, message: id, epoch: 1 }];
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

/** Room is made between steps; what is left out, and what is shorter, is named by its place. */
const roomMove: Move = {
  can: (world) => isBetweenSteps(world) && world.places.length > 0,
  make: ({ places, turn }, n) => {
    const upTo = oneOf([...givenPlaces(turn?.instead ?? 0), ...places], n);
    const trims = places.filter((seq) => seq > upTo && n % 2 === 0).map((seq) => ({ seq, text: `short ${n}` }));
    const sizes = { messagesBefore: 9, messagesAfter: 2, tokensAfter: n % 7 };
    const summary = n % 3 === 0 ? "" : `summary ${n}`;
    const prose = { at: 0, length: 3 };
    return [{ type: "compacted", turn: 1, strategy: "compact", upTo, summary, prose, ...sizes, trims, by: "window" }];
  },
};

/** Before room is made everything is stored: others write nothing in between. */
export const turnMoves = [
  ...stepMoves,
  ...stepMoves,
  asides,
  { can: ({ turn }: World) => turn !== undefined, make: endTurn },
];

const engineMoves = [roomMove, ...turnMoves];

/** What the engine would see only after folding anew: a message is withdrawn, a place is saved or forgotten. */
const quietMoves: readonly Move[] = [
  {
    can: ({ queue }) => queue.length > 0,
    make: ({ queue }, n) => {
      const { id } = oneOf(queue, n);
      queue.splice(n % queue.length, 1);
      return [{ type: "message.withdrawn", id }];
    },
  },
  {
    can: ({ turn, compacted }) => turn === undefined && compacted.length > 0,
    make: ({ compacted }) => [{ type: "compaction.undone", compacted: compacted.pop() ?? 0, by: "me" }],
  },
  { can: ({ turn }) => turn === undefined, make: (_, n) => [{ type: "checkpoint.saved", name: `${n}` }] },
  { can: ({ turn }) => turn === undefined, make: (_, n) => [{ type: "checkpoint.deleted", checkpoint: n % 50 }] },
];

const emptyWorld: World = { queue: [], turns: 0, turn: undefined, places: [], compacted: [] };

/** `worlds` has the state after each event, and before the first. */
type Written = { readonly events: LogEvent[]; readonly worlds: World[] };
type WriteOptions = { after?: Written; moves?: readonly Move[]; name?: string; isEnded?: boolean };

/** A log that could be: each number chooses among what can happen next. */
export function write(chosen: readonly number[], options: WriteOptions = {}): Written {
  const { after = { events: [], worlds: [emptyWorld] }, name = "e", isEnded } = options;
  const moves = options.moves ?? [...peopleMoves, ...engineMoves, ...quietMoves];
  const events = [...after.events];
  const worlds = [...after.worlds];
  let places = [...worlds.keys()]; // Those one can go back to: what was left out once stays out.
  let world = structuredClone(worlds.at(-1) ?? assert.fail("there is a first world"));
  const add = (made: readonly NewEvent[]) => {
    for (const event of made) {
      events.push({ ...event, seq: events.length + 1, at: 0 });
      if (event.type === "compacted") world.compacted.push(events.length);
      if (isPlace(event, world)) world.places.push(events.length);
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

/** A call and its results are left out together. */
function isPlace(event: NewEvent, { turn }: World): boolean {
  if (event.type === "message.assistant") return event.calls?.length === 0;
  return event.type === "turn.started" || (event.type === "call.finished" && turn?.calls.length === 0);
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

/** The first `count` of a few messages; a call without its result is given one by the fold. */
function givenBy(name: string, count: number): GivenMessage[] {
  const call = { id: `g-${name}`, name: "look", arguments: "{}" };
  const all: GivenMessage[] = [
    { role: "user", text: `${name} said before` },
    { role: "assistant", text: "", toolCalls: [call] },
    { role: "tool", toolCallId: call.id, text: `${name} was told before` },
    { role: "assistant", text: `${name} was answered before` },
    { role: "user", text: `${name} said last` },
  ];
  return all.slice(0, count);
}

/** Places of so many given messages, but for a call that has its result behind it. */
function givenPlaces(count: number): number[] {
  const sent = count === 2 ? 3 : count;
  return Array.from({ length: sent }, (_, index) => index - sent).filter((_, index) => index !== 1);
}

function selectionOf(n: number): Selection {
  const root = "/workspace/c/uploads/temparea/";
  return { root, session: "sess-me", files: [`${root}${n % 3}.csv`, `${root}${n % 7}.py`] };
}

export function numbered(events: readonly NewEvent[]): LogEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, at: 0 }));
}

export function step(number: number, more: object = {}): NewEvent {
  const place = { turn: 1, step: number, attempt: 1, slot: "base", model: "m", reason: "r" } as const;
  return { type: "step.started", ...place, hash: "", bytes: 0, reused: 0, ...more };
}

export function answer(number: number, ids: readonly string[]): NewEvent {
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
