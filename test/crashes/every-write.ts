import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { Append, Storage, StoredEvent } from "../../src/storage/storage.ts";
import { isRefused, isWrite } from "../world/killing-storage.ts";
import { inLanes } from "../world/lanes.ts";
import { modelServer } from "../world/model-server.ts";
import { type Finished, finish, type Heads, inFolders } from "./killed.ts";
import { eventsIn, type Scenario, writtenBy } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** From which states it was gone on. No process is killed here: each state is a copy of what a kill in that moment would leave. */
export type Resumed = {
  /** By the last write: how often it was that. */
  readonly after: Readonly<Record<string, number>>;
  readonly writes: number;
  /** Of those, after how many something was done before the next one: there it was gone on both from before and after it. */
  readonly around: number;
  /** How often a state on the way of one that went on was taken up once more. */
  readonly twice: number;
  /** The events that were stored last: those of one write are there together. */
  readonly lastEvents: readonly (readonly string[])[];
  /** Unsafe calls that the states have as started and not ended. */
  readonly cut: readonly CutCall[];
};

type Ways = {
  /** Kinds of writes that need no more looks: of each other kind the first one is looked at. Undefined: every single write. */
  readonly shown?: ReadonlySet<string> | undefined;
  /** Kinds of which every write is looked at all the same. */
  readonly every?: readonly string[];
  /** Which ones are cut a second time on their way, and where, moves with this. Undefined: none is. */
  readonly turn?: number;
};

/** One in so many is cut a second time. */
const againEvery = 3;

/**
 * Plays a scenario once and copies, after each single write of it, what a kill would leave there: both when the write is stored
 * and before the next one. A new yard goes on from each of these copies: what is there then is what the undisturbed run has left.
 */
export async function goOnFromEveryWrite(
  name: keyof typeof scenarios,
  { shown, every = [], turn }: Ways,
): Promise<Resumed> {
  const scenario: Scenario = scenarios[name];
  await using model = await modelServer(scenario.answer);
  return await inFolders(1, async ([root = ""]) => {
    const begun = { scenario, modelUrl: model.url };
    const data = join(root, "whole", yardName);
    await mkdir(data, { recursive: true });
    const into = join(root, "states");
    const whole = await finishKeeping({ ...begun, data, into, isWanted: firstOf(shown, every) });
    const stored = whole.states.filter(({ moment }) => moment === "as it is stored");
    const wanted = whole.writes.filter(firstOf(shown, every));
    const written = stored.map(({ write }) => write).slice(0, wanted.length);
    assert.deepEqual(written, wanted, `${name}: a state for each write`);
    const ways = await inLanes(whole.states, async (state, index) => {
      const label = `${name}, gone on after write ${state.place} of ${stored.length}, ${state.write}, ${state.moment}`;
      const left = stored.length - state.place + 1;
      const isWanted = turn === undefined ? never : againAt(index + turn, left);
      const keeping = { ...begun, into: `${state.data}-again`, isWanted };
      const { states, cut } = await goOn(state, { ...keeping, label, expected: whole.outcome });
      const cutThen: CutCall[] = [];
      for (const again of states) {
        const labelThen = `${label}, then after ${again.write}, ${again.moment}`;
        const then = { ...begun, into: "", isWanted: never, label: labelThen, expected: whole.outcome };
        cutThen.push(...(await goOn(again, then)).cut);
      }
      return { states, cut: [...cut, ...cutThen] };
    });
    const again = ways.flatMap(({ states }) => states);
    const after = Map.groupBy(stored, ({ write }) => write);
    return {
      after: Object.fromEntries([...after].map(([write, { length }]) => [write, length])),
      writes: stored.length,
      around: whole.states.length - stored.length,
      twice: again.length,
      lastEvents: [...whole.states, ...again].map(({ events }) => events),
      cut: ways.flatMap(({ cut }) => cut),
    };
  });
}

/** All, or the first of each kind that is not shown yet. */
function firstOf(shown: ReadonlySet<string> | undefined, every: readonly string[]): (write: string) => boolean {
  const met = new Set(shown);
  return (write) => {
    const isFirst = !met.has(write);
    met.add(write);
    return shown === undefined || isFirst || every.includes(write);
  };
}

/** Half of the second cuts come when the process has said that it goes on with a turn, half anywhere on its way. */
function againAt(place: number, writesLeft: number): (write: string) => boolean {
  if (place % againEvery !== 0) return never;
  const count = place / againEvery;
  const anywhere = 1 + (Math.floor(count / 2) % writesLeft);
  let [writes, isOver] = [0, false];
  return (write) => {
    writes += 1;
    const isIt = !isOver && (count % 2 === 0 ? write === "turn.recovered" : writes === anywhere);
    if (isIt) isOver = true;
    return isIt;
  };
}

const never = () => false;

type Begun = {
  readonly scenario: Scenario;
  readonly modelUrl: string;
  readonly into: string;
};
type Keeping = Begun & { readonly isWanted: (write: string) => boolean };

type Kept = { readonly states: readonly State[]; readonly cut: readonly CutCall[] };

/** What a scenario leaves, and what it would have left if it had been killed at the writes that are wanted. */
async function finishKeeping(
  { scenario, modelUrl, data, into, isWanted }: Keeping & { readonly data: string },
  acknowledged: Heads = new Map(),
): Promise<Finished & Kept> {
  let kept: ReturnType<typeof keepStates> | undefined;
  let cut: readonly CutCall[] = [];
  let watch: CutCallsWatch | undefined;
  const finished = await finish(
    scenario,
    {
      ...{ data, modelUrl },
      wrapStorage(storage) {
        watch = watchCutCalls(storage, { data, numbers: [...acknowledged.keys()] });
        kept = keepStates(storage, { data, into, isWanted, begin: watch.hasLooked });
        return kept.storage;
      },
      async onPlayed() {
        kept?.end();
        cut = (await watch?.check()) ?? [];
      },
    },
    acknowledged,
  );
  return { ...finished, states: kept?.states ?? [], cut };
}

type GoingOn = Keeping & { readonly label: string; readonly expected: unknown };

/** Answers the states that are wanted of it on its way, and the unsafe calls that it found cut off. */
async function goOn({ data, acknowledged }: State, { label, expected, ...keeping }: GoingOn): Promise<Kept> {
  const { scenario } = keeping;
  try {
    const { outcome, ...kept } = await finishKeeping({ ...keeping, data }, acknowledged);
    if (scenario.check === undefined) assert.deepEqual(outcome, expected);
    else scenario.check(outcome);
    return kept;
  } catch (error) {
    throw new Error(label, { cause: error });
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** What a process leaves that is killed when this write was its last. */
export type State = {
  readonly data: string;
  /** Which one it was, from 1. */
  readonly place: number;
  readonly write: string;
  readonly events: readonly string[];
  readonly acknowledged: Heads;
  /** How far it came: nobody has heard of the write yet, or all was done that is done before another one is asked for. */
  readonly moment: "as it is stored" | "before the next";
};

type KeepOptions = {
  readonly data: string;
  /** Each state is a folder of its own in it; within that it has the name that it had. */
  readonly into: string;
  readonly isWanted: (write: string) => boolean;
  /** Nothing is written before this has come. */
  readonly begin: Promise<unknown>;
};

/**
 * Copies the data directory twice for each write, so that one run gives what a kill at any of its writes leaves: whoever is
 * killed leaves what is there in that moment. The first copy is made when the write is stored, before who asked for it hears
 * of it and does what comes next; the second one when another write is asked for, with all that was done in between. Where
 * nothing was done, the second would be the first, and is left out.
 *
 * SQLite commits within one call in this thread, and a copy is one call, too: it never sees half of a transaction. Writes
 * that share a transaction are in each other's copies, as after a kill.
 */
function keepStates(storage: Storage, { data, into, isWanted, begin }: KeepOptions) {
  const states: State[] = [];
  const heads = new Map<number, number>();
  let due: State | undefined;
  let [writes, asked, isOver] = [0, 0, false];
  const keep = (state: Omit<State, "data">): State => {
    const folder = join(into, String(states.length + 1), yardName);
    mkdirSync(dirname(folder), { recursive: true });
    copyTree(data, folder);
    const kept = { ...state, data: folder };
    states.push(kept);
    return kept;
  };
  const keepDue = () => {
    const before = due;
    due = undefined;
    if (before === undefined || isSameTree(data, before.data)) return;
    keep({ ...before, moment: "before the next" });
  };
  const written = (name: string, given: readonly unknown[], answer: unknown): void => {
    keepDue(); // Of another one that was stored in the same moment.
    if (name === "append") noteHead(heads, given, answer);
    writes += 1;
    const write = writtenBy(name, given);
    if (isOver || !isWanted(write)) return;
    const known = { place: writes, write, events: eventsIn(given), acknowledged: new Map(heads) };
    const stored = keep({ ...known, moment: "as it is stored" });
    // Where the next one is on its way already, nobody can say when it comes.
    if (asked === 0) due = stored;
  };
  const wrapped = new Proxy(storage, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || !isWrite(String(name))) return method;
      return async (...given: unknown[]) => {
        await begin;
        keepDue();
        asked += 1;
        const answer: unknown = await Reflect.apply(method, target, given).finally(() => {
          asked -= 1;
        });
        if (!isRefused(answer)) written(String(name), given, answer);
        return answer;
      };
    },
  });
  const end = () => {
    keepDue();
    isOver = true;
  };
  return { states, storage: wrapped, end };
}

/** All yards have this one: what they say may name it. */
const yardName = "yard";

/**
 * With owners and times, which `cpSync` does not keep; a process for each copy would take longer than the rest. What somebody
 * takes away meanwhile is not there.
 */
function copyTree(from: string, to: string): void {
  try {
    copyOne(from, to);
  } catch (error) {
    if (existsSync(from)) throw error;
  }
}

function copyOne(from: string, to: string): void {
  const found = lstatSync(from);
  if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
  if (found.isDirectory()) {
    mkdirSync(to, { mode: found.mode });
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name));
  } else if (found.isFile()) copyFileSync(from, to);
  else return;
  if (found.uid !== process.getuid?.()) lchownSync(to, found.uid, found.gid);
  utimesSync(to, found.atime, found.mtime);
}

/**
 * Whether nothing was done there since it was copied; where somebody takes something away meanwhile, there was. The database
 * has no other door than this storage: of its files the sizes are enough.
 */
function isSameTree(one: string, copy: string): boolean {
  try {
    return isSameOne(one, copy);
  } catch (error) {
    if (existsSync(one)) throw error;
    return false;
  }
}

function isSameOne(one: string, copy: string): boolean {
  const [found, copied] = [lstatSync(one), lstatSync(copy, { throwIfNoEntry: false })];
  if (copied === undefined || found.mode !== copied.mode) return false;
  if (found.isSymbolicLink()) return readlinkSync(one) === readlinkSync(copy);
  if (found.isDirectory()) {
    const names = readdirSync(one);
    if (names.length !== readdirSync(copy).length) return false;
    return names.every((name) => isSameTree(join(one, name), join(copy, name)));
  }
  if (found.size !== copied.size) return false;
  return basename(one).startsWith(databaseName) || readFileSync(one).equals(readFileSync(copy));
}

const databaseName = "sessions.db";

function noteHead(heads: Map<number, number>, [batch]: readonly unknown[], answer: unknown): void {
  const { number }: Pick<Append, "number"> = Object(batch);
  const { lastSeq }: { readonly lastSeq: number } = Object(answer).value;
  heads.set(number, Math.max(lastSeq, heads.get(number) ?? 0));
}

/** An unsafe call that is started, and whose end is not in the log. `ran`: how often it had left its mark by then. */
export type CutCall = { readonly tool: string; readonly ran: number };

type CallPlace = { readonly data: string; readonly numbers: readonly number[] };

export type CutCallsWatch = {
  /** Once it has looked: nobody may write before. */
  readonly hasLooked: Promise<unknown>;
  readonly check: () => Promise<readonly CutCall[]>;
};

/**
 * Looks, before anybody else does, which unsafe calls are cut off in these conversations. `check` is for the end: it
 * sees that each was told to the model as one of which nobody knows whether it ran, and that it was not run since: neither
 * one that had run, nor one that had not.
 */
function watchCutCalls(storage: Storage, { data, numbers }: CallPlace): CutCallsWatch {
  const read = (number: number) => storage.read(number, { after: 0, limit: eventsMax });
  const logs = numbers.map(read);
  const marks = keysOfMarks(data);
  const check = async () => {
    const cut: CutCall[] = [];
    for (const [index, number] of numbers.entries()) {
      const before = (await logs[index]) ?? [];
      const since = (await read(number)).slice(before.length);
      for (const [call, tool] of cutIn(before)) {
        const ran = countOf(call, marks);
        const told = since.flatMap((event) => (isOf(event, call) ? [`${event.type} ${outcomeOf(event) ?? ""}`] : []));
        assert.deepEqual(told, ["call.finished unknown"], `${tool} was started and cut off`);
        assert.equal(countOf(call, keysOfMarks(data)), ran, `${tool} had run ${ran} times when it was cut off`);
        cut.push({ tool, ran });
      }
    }
    return cut;
  };
  return { hasLooked: Promise.all(logs), check };
}

const eventsMax = 10_000;

/** With the tool of each. */
function cutIn(events: readonly StoredEvent[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const open = new Map<string, string>();
  for (const { type, body } of events) {
    const { call, calls = [], class: effect } = Body.parse(JSON.parse(body));
    for (const { id, name } of type === "message.assistant" ? calls : []) names.set(id, name);
    if (call === undefined) continue;
    if (type === "call.started" && effect === "unsafe") open.set(call, names.get(call) ?? call);
    if (type === "call.finished") open.delete(call);
  }
  return open;
}

function isOf({ type, body }: StoredEvent, call: string): boolean {
  return (type === "call.started" || type === "call.finished") && Body.parse(JSON.parse(body)).call === call;
}

const outcomeOf = ({ body }: StoredEvent) => Body.parse(JSON.parse(body)).outcome;

const Body = z.object({
  call: z.string().optional(),
  calls: z.array(z.object({ id: z.string(), name: z.string() })).optional(),
  class: z.string().optional(),
  outcome: z.string().optional(),
});

/** A tool that leaves marks says with each for which call it is. */
function keysOfMarks(data: string): string[] {
  const file = join(data, "marks.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.flatMap((line) => (line === "" ? [] : [Mark.parse(JSON.parse(line)).key]));
}

const Mark = z.object({ key: z.string() });

const countOf = (call: string, keys: readonly string[]) => keys.filter((key) => key.endsWith(`/${call}`)).length;
