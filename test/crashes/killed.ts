import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { Storage } from "../../src/storage/storage.ts";
import { killingStorage } from "../world/killing-storage.ts";
import type { Order } from "./kill-child.ts";
import { type Scenario, startScenario, writtenBy } from "./scenario.ts";

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

export type Finished = { readonly outcome: unknown; readonly writes: readonly string[] };
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

/** Where a process is killed: after the so-many-th write of this name. Others may come a little sooner or later. */
export type KillPlace = { readonly write: string; readonly times: number };

/** Each write of an undisturbed run. */
export function placesIn(writes: readonly string[]): KillPlace[] {
  return writes.map((write, index) => ({
    write,
    times: writes.slice(0, index + 1).filter((one) => one === write).length,
  }));
}

type Placed = { readonly killAfter: KillPlace };

const kindOf = ({ killAfter: { write } }: Placed) => write;

/** The first write of each kind: a fixed choice, where all of them would take too long. */
export function firstOfEachKind<P extends Placed>(places: readonly P[]): P[] {
  return [...Map.groupBy(places, kindOf).values()].flatMap(([first]) => first ?? []);
}

/** How often a place is looked for: calls that end together are stored together, and then a write is not there; next time it is. */
const runsMax = 10;
/** Whoever stands keeps the connections to its database until all of its process are killed. */
const atOnceMax = 24;

type Killing<P> = {
  /** Says of each whether the process came there. */
  readonly run: (places: readonly P[]) => Promise<readonly boolean[]>;
  readonly labelOf: (place: P) => string;
};

/** Kills at each of these places, a few at once. One that no run comes to is a fault: nothing was shown of it. */
export async function killAtEach<P extends Placed>(places: readonly P[], { run, labelOf }: Killing<P>): Promise<void> {
  let missed = places;
  for (let runs = 0; runs < runsMax && missed.length > 0; runs += 1) {
    const looked = missed;
    const isReached: boolean[] = [];
    for (let at = 0; at < looked.length; at += atOnceMax)
      isReached.push(...(await run(looked.slice(at, at + atOnceMax))));
    missed = looked.filter((_, index) => isReached[index] !== true);
  }
  assert.deepEqual(missed.map(labelOf), [], "each of these writes was once the last one");
}
