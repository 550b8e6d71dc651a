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
import type { Append, Storage } from "../../src/storage/storage.ts";
import { isRefused, isWrite } from "../world/killing-storage.ts";
import { inLanes } from "../world/lanes.ts";
import { modelServer } from "../world/model-server.ts";
import { finish, type Heads, inFolders } from "./killed.ts";
import { type Scenario, writtenBy } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** From which states it was gone on. No process is killed here: each state is a copy of what a kill in that moment would leave. */
export type Resumed = {
  /** By the last write: how often it was that. */
  readonly after: Readonly<Record<string, number>>;
  readonly writes: number;
  /** Of those, after how many something was done before the next one: there it was gone on both from before and after it. */
  readonly around: number;
};

type Ways = {
  /** Kinds of writes that need no more looks: of each other kind the first one is looked at. Undefined: every single write. */
  readonly shown?: ReadonlySet<string> | undefined;
  /** Kinds of which every write is looked at all the same. */
  readonly every?: readonly string[];
};

/**
 * Plays a scenario once and copies, after each single write of it, what a kill would leave there: both when the write is stored
 * and before the next one. A new yard goes on from each of these copies: what is there then is what the undisturbed run has left.
 */
export async function goOnFromEveryWrite(name: keyof typeof scenarios, { shown, every = [] }: Ways): Promise<Resumed> {
  const scenario: Scenario = scenarios[name];
  await using model = await modelServer(scenario.answer);
  return await inFolders(1, async ([root = ""]) => {
    const data = join(root, "whole", yardName);
    await mkdir(data, { recursive: true });
    const into = join(root, "states");
    const whole = await finishKeeping({ scenario, modelUrl: model.url, data, into, isWanted: firstOf(shown, every) });
    const stored = whole.states.filter(({ moment }) => moment === "as it is stored");
    const wanted = whole.writes.filter(firstOf(shown, every));
    const written = stored.map(({ write }) => write).slice(0, wanted.length);
    assert.deepEqual(written, wanted, `${name}: a state for each write`);
    await inLanes(whole.states, async (state) => {
      const label = `${name}, gone on after write ${state.place} of ${stored.length}, ${state.write}, ${state.moment}`;
      await goOn(state, { scenario, modelUrl: model.url, label, expected: whole.outcome });
    });
    const after = Map.groupBy(stored, ({ write }) => write);
    return {
      after: Object.fromEntries([...after].map(([write, { length }]) => [write, length])),
      writes: stored.length,
      around: whole.states.length - stored.length,
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

type Begun = { readonly scenario: Scenario; readonly modelUrl: string };
type Keeping = Begun & KeepOptions;

/** What a scenario leaves, and what it would have left if it had been killed at the writes that are wanted. */
async function finishKeeping({ scenario, modelUrl, ...options }: Keeping) {
  let kept: ReturnType<typeof keepStates> | undefined;
  const finished = await finish(scenario, {
    ...{ data: options.data, modelUrl },
    wrapStorage(storage) {
      kept = keepStates(storage, options);
      return kept.storage;
    },
    async onPlayed() {
      kept?.end();
    },
  });
  return { ...finished, states: kept?.states ?? [] };
}

type GoingOn = Begun & { readonly label: string; readonly expected: unknown };

async function goOn({ data, acknowledged }: State, { scenario, modelUrl, label, expected }: GoingOn): Promise<void> {
  try {
    const { outcome } = await finish(scenario, { data, modelUrl }, acknowledged);
    if (scenario.check === undefined) assert.deepEqual(outcome, expected);
    else scenario.check(outcome);
  } catch (error) {
    throw new Error(label, { cause: error });
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** What a process leaves that is killed when this write was its last. */
type State = {
  readonly data: string;
  /** Which one it was, from 1. */
  readonly place: number;
  readonly write: string;
  readonly acknowledged: Heads;
  /** How far it came: nobody has heard of the write yet, or all was done that is done before another one is asked for. */
  readonly moment: "as it is stored" | "before the next";
};

type KeepOptions = {
  readonly data: string;
  /** Each state is a folder of its own in it; within that it has the name that it had. */
  readonly into: string;
  readonly isWanted: (write: string) => boolean;
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
function keepStates(storage: Storage, { data, into, isWanted }: KeepOptions) {
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
    const known = { place: writes, write, acknowledged: new Map(heads) };
    const stored = keep({ ...known, moment: "as it is stored" });
    // Where the next one is on its way already, nobody can say when it comes.
    if (asked === 0) due = stored;
  };
  const wrapped = new Proxy(storage, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || !isWrite(String(name))) return method;
      return async (...given: unknown[]) => {
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
