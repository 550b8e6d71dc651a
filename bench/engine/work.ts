/** Runs the scripted work through one variant and measures it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cpuMs, diskBytes, rssPeakMb } from "./meter.ts";
import { fullText, question } from "./script.ts";
import { type OpenVariant, type Variant, type VariantName, variantFiles, type World } from "./variant.ts";

/** Steps run before the measure, in the same process, so that growth does not start from code V8 has yet to compile. */
export const warmUpSteps = 50;
/** Growth compares the CPU of this many steps at the end of a conversation with as many at its start. */
const growthSteps = 100;

export type Work = { steps: number; conversations: number };
export type WorkFigures = {
  startCpuMs: number;
  cpuMsPerStep: number;
  wallMsPerStep: number;
  diskBytesPerStep: number | null;
  payloadBytesPerStep: number | null;
  growth: number | null;
  rssPeakMb: number;
};

export async function measureWork(name: VariantName, work: Work, world: World): Promise<WorkFigures> {
  const { open }: { open: OpenVariant } = await import(variantFiles[name]);
  const warmUp = await openIn(open, world, "warm-up");
  const startCpuMs = cpuMs();
  await runOne(warmUp, warmUpSteps);
  await warmUp.close();

  // Opened twice: closing the first time moves the freshly made tables into the database, and out of the measure.
  await (await openIn(open, world, "measured")).close();
  const variant = await openIn(open, world, "measured");
  const diskBefore = diskBytes();
  const cpuBefore = cpuMs();
  const wallBefore = performance.now();
  const runs = Array.from({ length: work.conversations }, () => runOne(variant, work.steps));
  const cpuAfterSteps = await Promise.all(runs);
  const cpu = cpuMs() - cpuBefore;
  const wall = performance.now() - wallBefore;
  const payload = variant.logPayloadBytes?.() ?? null;
  // Closing moves the rest of SQLite's write-ahead log into the database: those bytes belong to the work.
  await variant.close();
  const diskAfter = diskBytes();

  const steps = work.steps * work.conversations;
  return {
    startCpuMs,
    cpuMsPerStep: cpu / steps,
    wallMsPerStep: wall / steps,
    diskBytesPerStep: diskBefore === null || diskAfter === null ? null : (diskAfter - diskBefore) / steps,
    payloadBytesPerStep: payload === null ? null : payload / steps,
    growth: work.conversations === 1 ? growthOf([cpuBefore, ...(cpuAfterSteps[0] ?? [])]) : null,
    rssPeakMb: rssPeakMb(),
  };
}

async function openIn(open: OpenVariant, world: World, name: string): Promise<Variant> {
  const folder = join(world.folder, name);
  mkdirSync(folder, { recursive: true });
  return open({ ...world, folder });
}

/** Runs a conversation, holds the variant to the script, and returns the CPU reading after each step. */
async function runOne(variant: Variant, steps: number): Promise<number[]> {
  const readings: number[] = [];
  const answer = await variant.run({ question: question(steps), steps, stepDone: () => readings.push(cpuMs()) });
  if (readings.length !== steps) throw new Error(`${readings.length} steps were stored instead of ${steps}`);
  if (answer !== fullText) throw new Error(`the conversation ended with "${answer}"`);
  return readings;
}

/** `readings` are CPU readings before the first step and after each one. */
function growthOf(readings: number[]): number | null {
  const [first, atStart, atEnd, last] = [0, growthSteps, -1 - growthSteps, -1].map((index) => readings.at(index));
  if (readings.length <= 2 * growthSteps || first === undefined || atStart === undefined) return null;
  if (atEnd === undefined || last === undefined) return null;
  return (last - atEnd) / (atStart - first);
}
