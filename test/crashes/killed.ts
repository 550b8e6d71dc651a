import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { Storage } from "../../src/storage/storage.ts";
import { killingStorage } from "../world/killing-storage.ts";
import { modelServer } from "../world/model-server.ts";
import type { Order } from "./kill-child.ts";
import { type Scenario, startScenario, writtenBy } from "./scenario.ts";
import { scenarios } from "./scenarios/scenarios.ts";

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

/** Plays a scenario to its end in this process, whatever happened there before, and says what is there then. */
export async function finish(
  scenario: Scenario,
  place: Parameters<typeof startScenario>[1],
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
  for (const [number, seq] of acknowledged) {
    const row = await stored?.conversationByNumber(number);
    const head = (await stored?.headOf(number)) ?? 0;
    assert.ok(row?.deletedAt !== undefined || head >= seq, `${seq} was acknowledged and the log ends at ${head}`);
  }
  return { outcome: await scenario.outcome(yard), writes: played };
}

/** Folders that are gone afterwards. */
export async function inFolders<T>(count: number, work: (folders: readonly string[]) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), "agentyard-crash-"));
  try {
    return await work(await Promise.all(Array.from({ length: count }, () => mkdtemp(join(root, "yard-")))));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

export type Kills = {
  /** By the last write. */
  readonly after: Readonly<Record<string, number>>;
  readonly total: number;
  readonly twice: number;
  /** How often an undisturbed run writes. */
  readonly writes: number;
};

export type KilledYards = {
  /** Goes on after the kills, in this process, and finds what an undisturbed run leaves. */
  goOn(name: ScenarioName): Promise<Kills>;
  /** The events that were stored last when a process was killed: those of one write are there together. */
  readonly lastEvents: readonly (readonly string[])[];
  [Symbol.asyncDispose](): Promise<void>;
};

type ScenarioName = keyof typeof scenarios;
type Undisturbed = { readonly name: ScenarioName; readonly modelUrl: string } & Finished;
type Place = Order[number] & { readonly killAfter: { readonly write: string; readonly times: number } };

/**
 * How often these are written depends on what comes first: calls that end together are stored together, and who is woken
 * before having let go keeps the lease. A place of theirs that was there in one run need not be there in the next.
 */
const varying: ReadonlySet<string> = new Set(["call.started", "call.finished", "claimLease", "releaseLease"]);

/** One in so many is killed a second time. */
const againEvery = 3;

/**
 * Kills the process after every single write of each scenario; of every third one the process that goes on is killed as
 * well, somewhere on its way. Which ones, and where, moves with `turn`.
 */
export async function killEverywhere(names: readonly ScenarioName[], turn: number): Promise<KilledYards> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), "agentyard-crash-"));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const undisturbed: Undisturbed[] = [];
  for (const name of names) {
    const { url: modelUrl } = stack.use(await modelServer(scenarios[name].answer));
    const data = await mkdtemp(join(root, "yard-"));
    undisturbed.push({ name, modelUrl, ...(await finish(scenarios[name], { data, modelUrl })) });
  }
  const places = undisturbed.flatMap((run) => placesOf(run, root));
  for (const { data } of places) await mkdir(data);
  const first = await runChild(places);
  const again = places.flatMap(againAt(turn));
  const second = await runChild(again);
  assert.deepEqual([first.signal, second.signal], ["SIGKILL", "SIGKILL"]);
  const held = stack.move();
  return {
    lastEvents: [...first.told, ...second.told].flatMap(({ last }) => (last === undefined ? [] : [last.events])),
    async goOn(name) {
      const kills = { after: new Map<string, number>(), twice: 0, total: 0 };
      const { outcome, writes } = undisturbed.find((run) => run.name === name) ?? assert.fail();
      for (const place of places.filter(({ scenario }) => scenario === name)) {
        const { write, times } = place.killAfter;
        const [before, since] = [linesOf(first, place.data), linesOf(second, place.data)];
        const then = again.find(({ data }) => data === place.data)?.killAfter;
        const label = `${name}, killed after ${write} ${times}, then after ${JSON.stringify(then)}`;
        await goOn(place, { expected: outcome, acknowledged: headsOf(...before, ...since), label });
        const isReached = before.some(({ last }) => last !== undefined);
        assert.ok(isReached || varying.has(write) || isVarying(name), `${label}: it ended before`);
        if (isReached) kills.after.set(write, (kills.after.get(write) ?? 0) + 1);
        if (isReached) kills.total += 1;
        if (isReached && since.some(({ last }) => last !== undefined)) kills.twice += 1;
      }
      assert.ok(kills.total > writes.length / 2, `${name} was killed ${kills.total} times only`);
      return { ...kills, after: Object.fromEntries(kills.after), writes: writes.length };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Each write of an undisturbed run by its name and how often that came: others may come a little sooner or later. */
function placesOf({ name, modelUrl, writes }: Undisturbed, root: string): Place[] {
  return writes.map((write, index) => ({
    ...{ scenario: name, modelUrl, data: join(root, `${name}-${index + 1}`) },
    killAfter: { write, times: writes.slice(0, index + 1).filter((one) => one === write).length },
  }));
}

/** Half of the second kills come when the process has said that it goes on with a turn, half anywhere on its way. */
const againAt =
  (turn: number) =>
  (place: Place, index: number, places: readonly Place[]): Order => {
    if ((index + turn) % againEvery !== 0) return [];
    const count = Math.floor((index + turn) / againEvery);
    const writesLeft = places.slice(index).filter(({ scenario }) => scenario === place.scenario).length;
    const anywhere = { times: 1 + (Math.floor(count / 2) % writesLeft) };
    return [{ ...place, killAfter: count % 2 === 0 ? { write: "turn.recovered", times: 1 } : anywhere }];
  };

const isVarying = (name: ScenarioName) => "varies" in scenarios[name];

const linesOf = ({ told }: Ended, yard: string) => told.filter((line) => line.yard === yard);

async function goOn(
  { scenario: name, data, modelUrl }: Order[number],
  {
    expected,
    acknowledged,
    label,
  }: { readonly expected: unknown; readonly acknowledged: Heads; readonly label: string },
): Promise<void> {
  const scenario: Scenario = scenarios[name];
  try {
    const { outcome } = await finish(scenario, { data, modelUrl }, acknowledged);
    if (scenario.check === undefined) assert.deepEqual(outcome, expected);
    else scenario.check(outcome);
  } catch (error) {
    throw new Error(label, { cause: error });
  }
}
