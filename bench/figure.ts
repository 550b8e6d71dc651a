/** Times of one thing in milliseconds, or one number of something else. */
export type Figure = {
  readonly what: string;
  readonly unit: string;
  readonly value: Spread | number;
  readonly against?: { readonly what: string; readonly value: Spread | number } | undefined;
  /** The numbers that it was made of, to be shown beside it. */
  readonly from?: readonly number[] | undefined;
  /** Of the ratio, or of the value where there is none; undefined when it is only shown. */
  readonly atMost?: number | undefined;
  /** Why there is no figure. */
  readonly skipped?: string | undefined;
};

export type Spread = { readonly p50: number; readonly p95: number; readonly p99: number; readonly runs: number };

export function lineOf({ what, unit, value, against, from, atMost, skipped }: Figure): string {
  if (skipped !== undefined) return `${what}: not measured, ${skipped}`;
  const judged = against === undefined ? middle(value) : middle(value) / middle(against.value);
  const ratio =
    against === undefined ? "" : `, ${judged.toFixed(3)}× ${against.what} (${shown(middle(against.value))} ${unit})`;
  const target = against === undefined ? `${atMost} ${unit}` : `${atMost}×`;
  const verdict = atMost === undefined ? "" : `; target ${target}: ${judged <= atMost ? "held" : "missed"}`;
  const origin = from === undefined ? "" : ` (${from.map((each) => Number(each.toFixed(1))).join(", ")})`;
  return `${what}: ${shownSpread(value)} ${unit}${origin}${ratio}${verdict}`;
}

function middle(value: Spread | number): number {
  return typeof value === "number" ? value : value.p50;
}

function shownSpread(value: Spread | number): string {
  if (typeof value === "number") return shown(value);
  return `${shown(value.p50)} (p95 ${shown(value.p95)}, p99 ${shown(value.p99)}, ${value.runs} runs)`;
}

function shown(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
}

export type Job = () => Promise<number>;

/** Runs the jobs in turns, so that a busy moment of the machine falls on all alike. The first round warms up. */
export async function inTurns(rounds: number, jobs: readonly Job[], inARow = 1): Promise<readonly Spread[]> {
  const times: number[][] = jobs.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, job] of jobs.entries()) {
      for (let run = 0; run < inARow; run += 1) {
        const ms = await job();
        if (round > 0) times[index]?.push(ms);
      }
    }
  }
  return times.map(spreadOf);
}

/** Runs the jobs in turns and answers the best of each: what else runs on a machine only adds. The first round warms up. */
export async function bestInTurns(
  rounds: number,
  jobs: readonly (() => Promise<number> | number)[],
): Promise<readonly number[]> {
  const best = jobs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, job] of jobs.entries()) {
      const value = await job();
      if (round > 0) best[index] = Math.min(best[index] ?? value, value);
    }
  }
  return best;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), runs: sorted.length };
}

/** Milliseconds that something takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
