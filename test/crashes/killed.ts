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
import { type Scenario, startScenario } from "./scenario.ts";
import { scenarios } from "./scenarios/scenarios.ts";

/** What a child tells in a line: something is on disk now, or this yard came to its end undisturbed. */
const Told = z.object({
  yard: z.number(),
  written: z.string().optional(),
  number: z.number().optional(),
  seq: z.number().optional(),
  ended: z.literal(true).optional(),
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
  place: { readonly data: string; readonly modelUrl: string; readonly wrapStorage?: (storage: Storage) => Storage },
  acknowledged: Heads = new Map(),
): Promise<Finished> {
  const writes: string[] = [];
  let stored: Storage | undefined;
  await using yard = await startScenario(scenario, {
    ...place,
    wrapStorage(storage) {
      stored = killingStorage(place.wrapStorage?.(storage) ?? storage, { onWritten: (name) => writes.push(name) });
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
  /** By the name of the write that was the last. */
  readonly after: Readonly<Record<string, number>>;
  readonly total: number;
  readonly twice: number;
};

export type KilledYards = {
  /** Goes on after the kills, in this process, and finds what an undisturbed run leaves. */
  goOn(name: ScenarioName): Promise<Kills>;
  [Symbol.asyncDispose](): Promise<void>;
};

type ScenarioName = keyof typeof scenarios;
type Undisturbed = { readonly name: ScenarioName; readonly modelUrl: string } & Finished;

/** What is stored together depends on time, so the number of writes differs a little from run to run. */
const placesMore = 1;
const reachedShareMin = 0.9;

/**
 * Kills the process after every single write of each scenario; of every second one the process that goes on is killed as
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
  const places = undisturbed.flatMap(({ name, modelUrl, writes }) =>
    Array.from({ length: writes.length + placesMore }, (_, index) => ({
      ...{ scenario: name, modelUrl, data: join(root, `${name}-${index + 1}`), killAfter: index + 1 },
      again: 1 + ((index + turn) % Math.max(1, writes.length - index)),
    })),
  );
  for (const { data } of places) await mkdir(data);
  const first = await runChild(places);
  const isAgain = (index: number) => (index + turn) % 2 === 0;
  const twice = places.flatMap(({ again, ...place }, index) =>
    isAgain(index) ? [{ ...place, killAfter: again }] : [],
  );
  const second = await runChild(twice);
  assert.deepEqual([first.signal, second.signal], ["SIGKILL", "SIGKILL"]);
  const held = stack.move();
  return {
    async goOn(name) {
      const kills = { after: new Map<string, number>(), twice: 0, total: 0 };
      const { outcome, writes } = undisturbed.find((run) => run.name === name) ?? assert.fail();
      for (const [index, place] of places.entries()) {
        if (place.scenario !== name) continue;
        const before = linesOf(first, index);
        const since = isAgain(index)
          ? linesOf(
              second,
              twice.findIndex(({ data }) => data === place.data),
            )
          : [];
        const label = `${name}, killed after write ${place.killAfter}${isAgain(index) ? `, then ${place.again}` : ""}`;
        await goOn(place, { expected: outcome, acknowledged: headsOf(...before, ...since), label });
        if (before.some(({ ended }) => ended)) continue;
        // Others that were under way may have come to the disk after it.
        const { written = "" } = before[place.killAfter - 1] ?? {};
        kills.after.set(written, (kills.after.get(written) ?? 0) + 1);
        kills.total += 1;
        if (isAgain(index) && !since.some(({ ended }) => ended)) kills.twice += 1;
      }
      assert.ok(
        kills.total >= reachedShareMin * writes.length - 1,
        `only ${kills.total} of ${writes.length} places were reached`,
      );
      return { ...kills, after: Object.fromEntries(kills.after) };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const linesOf = ({ told }: Ended, yard: number) => told.filter((line) => line.yard === yard);

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
