import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type DatabaseCopies, openDatabaseCopies } from "../world/database-copies.ts";
import { inLanes } from "../world/lanes.ts";
import { modelServer } from "../world/model-server.ts";
import type { PostgresServer } from "../world/postgres-server.ts";
import { type CutCall, type CutCallsWatch, watchCutCalls } from "./cut-calls.ts";
import { type Finished, finish, type Heads, inFolders } from "./killed.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/scenarios.ts";
import { keepStates, type State, yardName } from "./states.ts";

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
  /** Of which kinds of writes it is shown already: only the first one of each other kind is looked at. Undefined: every single write. */
  readonly shown?: ReadonlySet<string>;
  /** Which ones are cut a second time on their way, and where, moves with this. Undefined: none is. */
  readonly turn?: number;
  /** A database server in place of the file of the data directory. */
  readonly server?: PostgresServer;
};

/** One in so many is cut a second time. */
const againEvery = 3;

/**
 * Plays a scenario once and copies, after each single write of it, what a kill would leave there: both when the write is stored
 * and before the next one. A new yard goes on from each of these copies: what is there then is what the undisturbed run has left.
 */
export async function goOnFromEveryWrite(
  name: keyof typeof scenarios,
  { shown, turn, server }: Ways,
): Promise<Resumed> {
  const scenario: Scenario = scenarios[name];
  await using model = await modelServer(scenario.answer);
  await using copies = server === undefined ? undefined : await openDatabaseCopies(server);
  return await inFolders(1, async ([root = ""]) => {
    const begun = { scenario, modelUrl: model.url, copies };
    const data = join(root, "whole", yardName);
    await mkdir(data, { recursive: true });
    const place = { data, database: server?.newPlace() };
    const into = join(root, "states");
    const whole = await finishKeeping({ ...begun, ...place, into, isWanted: firstOf(shown) });
    const stored = whole.states.filter(({ moment }) => moment === "as it is stored");
    const wanted = whole.writes.filter(firstOf(shown));
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
function firstOf(shown: ReadonlySet<string> | undefined): (write: string) => boolean {
  const met = new Set(shown);
  return (write) => {
    const isFirst = !met.has(write);
    met.add(write);
    return shown === undefined || isFirst;
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
  readonly copies: DatabaseCopies | undefined;
  readonly into: string;
};
type Keeping = Begun & { readonly isWanted: (write: string) => boolean };
type Place = { readonly data: string; readonly database: string | undefined };

type Kept = { readonly states: readonly State[]; readonly cut: readonly CutCall[] };

/** What a scenario leaves, and what it would have left if it had been killed at the writes that are wanted. */
async function finishKeeping(
  { scenario, modelUrl, data, database, copies, into, isWanted }: Keeping & Place,
  acknowledged: Heads = new Map(),
): Promise<Finished & Kept> {
  let kept: ReturnType<typeof keepStates> | undefined;
  let cut: readonly CutCall[] = [];
  let watch: CutCallsWatch | undefined;
  const copyDatabase = database === undefined ? undefined : async () => copies?.copy(database) ?? assert.fail();
  const finished = await finish(
    scenario,
    {
      ...{ data, database, modelUrl },
      wrapStorage(storage) {
        watch = watchCutCalls(storage, { data, numbers: [...acknowledged.keys()] });
        kept = keepStates(storage, { data, into, isWanted, copyDatabase, begin: watch.hasLooked });
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
async function goOn({ data, acknowledged, ...state }: State, { label, expected, ...keeping }: GoingOn): Promise<Kept> {
  const { scenario, copies } = keeping;
  const onDatabase = async (database?: string) => {
    const { outcome, ...kept } = await finishKeeping({ ...keeping, data, database }, acknowledged);
    if (scenario.check === undefined) assert.deepEqual(outcome, expected);
    else scenario.check(outcome);
    return kept;
  };
  try {
    const copied = await state.database;
    return await (copied === undefined || copies === undefined ? onDatabase() : copies.withCopy(copied, onDatabase));
  } catch (error) {
    throw new Error(label, { cause: error });
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
