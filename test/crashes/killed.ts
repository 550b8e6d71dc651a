import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { Storage } from "../../src/storage/storage.ts";
import { killingStorage } from "../world/killing-storage.ts";
import { inLanes } from "../world/lanes.ts";
import { modelServer } from "../world/model-server.ts";
import { type CutCall, watchCutCalls } from "./cut-calls.ts";
import type { Order } from "./kill-child.ts";
import { type Scenario, startScenario, writtenBy } from "./scenario.ts";
import { scenarios } from "./scenarios/scenarios.ts";
import { keepStates, type State, yardName } from "./states.ts";

/** What a child tells in a line: something is on disk now, or this was the last write before the kill. */
const Told = z.object({
  yard: z.string(),
  number: z.number().optional(),
  seq: z.number().optional(),
  last: z.object({ write: z.string(), events: z.array(z.string()) }).optional(),
});
export type Told = z.infer<typeof Told>;
type Ended = { readonly signal: NodeJS.Signals | null; readonly told: readonly Told[] };

/** Plays a scenario in a process of its own; `watch` hears of every line and may kill it. */
export async function runChild(order: Order, watch: (kill: () => void, told: Told) => void = () => {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "kill-child.ts"), JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise<NodeJS.Signals | null>((resolve) => child.once("close", (_, signal) => resolve(signal)));
  const told: Told[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    // A kill may cut the last one off.
    if (!line.endsWith("}")) continue;
    told.push(Told.parse(JSON.parse(line)));
    watch(() => child.kill("SIGKILL"), told.at(-1) ?? assert.fail());
  }
  return { signal: await closed, told };
}

/** What is on disk of each conversation, in its words: its number, and how far its log had come. */
export type Heads = ReadonlyMap<number, number>;

export function headsOf(...told: readonly Told[]): Heads {
  const heads = new Map<number, number>();
  for (const { number, seq } of told)
    if (number !== undefined && seq !== undefined) heads.set(number, Math.max(seq, heads.get(number) ?? 0));
  return heads;
}

type Finished = { readonly outcome: unknown; readonly writes: readonly string[] };
type Place = Parameters<typeof startScenario>[1];

/** Plays a scenario to its end in this process, whatever happened there before, and says what is there then. */
export async function finish(
  scenario: Scenario,
  { onPlayed, ...place }: Place & { readonly onPlayed?: () => Promise<void> },
  acknowledged: Heads = new Map(),
): Promise<Finished> {
  const writes: string[] = [];
  let stored: Storage | undefined;
  await using yard = await startScenario(scenario, {
    ...place,
    wrapStorage(storage) {
      stored = killingStorage(place.wrapStorage?.(storage) ?? storage, {
        onWritten: (name, given) => writes.push(writtenBy(name, given)),
      });
      return stored;
    },
  });
  await scenario.play(yard);
  const played = [...writes];
  await onPlayed?.();
  for (const [number, seq] of acknowledged) {
    const row = await stored?.conversationByNumber(number);
    const head = (await stored?.headOf(number)) ?? 0;
    assert.ok(row?.deletedAt !== undefined || head >= seq, `${seq} was acknowledged and the log ends at ${head}`);
  }
  return { outcome: await scenario.outcome(yard), writes: played };
}

/** Folders that are gone afterwards. */
export async function inFolders<T>(count: number, work: (folders: readonly string[]) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(parentOfYards(), "agentyard-crash-"));
  try {
    return await work(await Promise.all(Array.from({ length: count }, () => mkdtemp(join(root, "yard-")))));
  } finally {
    // Where one lane has failed the others may still write; what failed is what is told.
    await rm(root, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Memory where there is enough: nobody waits for a disk here. */
function parentOfYards(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > memoryBytesMin ? memory : tmpdir();
}

const memoryBytesMin = 2_000_000_000;

export type Kills = {
  /** By the last write: how often it was that. */
  readonly after: Readonly<Record<string, number>>;
  readonly writes: number;
  /** Of those, after how many something was done before the next one: there the process was killed both before and after it. */
  readonly around: number;
  readonly twice: number;
  /** The events that were stored last: those of one write are there together. */
  readonly lastEvents: readonly (readonly string[])[];
  /** Unsafe calls that were cut off by a kill. */
  readonly cut: readonly CutCall[];
};

type ScenarioName = keyof typeof scenarios;

/** One in so many is killed a second time. */
const againEvery = 3;

/**
 * Plays a scenario once, and goes on from what a kill after each single write of it leaves, both when it is stored and before
 * the next one: what is there then is what the undisturbed run has left. Every third one is killed once more, somewhere on
 * its way. Which ones, and where, moves with `turn`.
 */
export async function killEverywhere(name: ScenarioName, turn: number): Promise<Kills> {
  const scenario: Scenario = scenarios[name];
  await using model = await modelServer(scenario.answer);
  return await inFolders(1, async ([root = ""]) => {
    const begun = { name, scenario, modelUrl: model.url };
    const data = join(root, "whole", yardName);
    await mkdir(data, { recursive: true });
    const whole = await finishKeeping({ ...begun, data, into: join(root, "states"), isWanted: () => true });
    const stored = whole.states.filter(({ moment }) => moment === "as it is stored");
    const written = stored.map(({ write }) => write).slice(0, whole.writes.length);
    assert.deepEqual(written, whole.writes, `${name}: a state for each write`);
    const ways = await inLanes(whole.states, async (state, index) => {
      const label = `${name}, killed after write ${state.place} of ${stored.length}, ${state.write}, ${state.moment}`;
      const left = stored.length - state.place + 1;
      const isWanted =
        (index + turn) % againEvery === 0 ? againAt(Math.floor((index + turn) / againEvery), left) : never;
      const into = `${state.data}-again`;
      const { states, cut } = await goOn(state, { ...begun, into, isWanted, label, expected: whole.outcome });
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

/** Half of the second kills come when the process has said that it goes on with a turn, half anywhere on its way. */
function againAt(count: number, writesLeft: number): (write: string) => boolean {
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

type Begun = { readonly scenario: Scenario; readonly modelUrl: string; readonly into: string };
type Keeping = Begun & { readonly isWanted: (write: string) => boolean };

type Kept = { readonly states: readonly State[]; readonly cut: readonly CutCall[] };

/** What a scenario leaves, and what it would have left if it had been killed at the writes that are wanted. */
async function finishKeeping(
  { scenario, modelUrl, data, into, isWanted }: Keeping & { readonly data: string },
  acknowledged: Heads = new Map(),
): Promise<Finished & Kept> {
  let kept: ReturnType<typeof keepStates> | undefined;
  let cut: readonly CutCall[] = [];
  let checkCut: (() => Promise<readonly CutCall[]>) | undefined;
  const finished = await finish(
    scenario,
    {
      ...{ data, modelUrl },
      wrapStorage(storage) {
        checkCut = watchCutCalls(storage, { data, numbers: [...acknowledged.keys()] });
        kept = keepStates(storage, { data, into, isWanted });
        return kept.storage;
      },
      async onPlayed() {
        kept?.end();
        cut = (await checkCut?.()) ?? [];
      },
    },
    acknowledged,
  );
  return { ...finished, states: kept?.states ?? [], cut };
}

/** Answers the states that are wanted of it on its way, and the unsafe calls that it found cut off. */
async function goOn(
  { data, acknowledged }: State,
  { label, expected, ...keeping }: Keeping & { readonly label: string; readonly expected: unknown },
): Promise<Kept> {
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
