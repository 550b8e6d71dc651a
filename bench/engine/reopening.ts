/** How long a stored conversation takes until it can go on, against merely reading and parsing its rows. */
import { median } from "./meter.ts";
import { question } from "./script.ts";
import type { OpenVariant, World } from "./variant.ts";

/** Both open the database in `folder` (one conversation in it), do their part, and close it again. */
type Reopening = {
  /** Up to the point where the next model request could be sent. */
  openAndFold: () => Promise<void> | void;
  /** `SELECT` every event row of the conversation and `JSON.parse` each body; nothing else. */
  readAndParse: () => Promise<void> | void;
};
export type OpenReopening = (folder: string) => Reopening;

export type ReopeningFigures = { steps: number; openAndFoldMs: number; readAndParseMs: number };

export const reopeningSteps = 800;
const roundsWarmUp = 3;
const rounds = 15;

export async function measureReopening(
  open: OpenVariant,
  openReopening: OpenReopening,
  world: World,
): Promise<ReopeningFigures> {
  const writer = await open(world);
  await writer.run({ question: question(reopeningSteps), steps: reopeningSteps, stepDone: () => {} });
  await writer.close();

  const { openAndFold, readAndParse } = openReopening(world.folder);
  const folds: number[] = [];
  const reads: number[] = [];
  for (let round = -roundsWarmUp; round < rounds; round += 1) {
    const readMs = await timed(readAndParse);
    const foldMs = await timed(openAndFold);
    if (round < 0) continue;
    reads.push(readMs);
    folds.push(foldMs);
  }
  return { steps: reopeningSteps, openAndFoldMs: median(folds), readAndParseMs: median(reads) };
}

async function timed(act: () => Promise<void> | void): Promise<number> {
  const before = performance.now();
  await act();
  return performance.now() - before;
}
