/** One measure: what we need, and what it is held against. */
export type Figure = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Undefined where the value itself is judged. */
  readonly against?: { readonly what: string; readonly value: number } | undefined;
  /** Of the ratio, or of the value where there is none; undefined when it is only shown. */
  readonly atMost?: number | undefined;
  /** Why there is no figure. */
  readonly skipped?: string | undefined;
};

export function lineOf({ what, value, unit, against, atMost, skipped }: Figure): string {
  if (skipped !== undefined) return `${what}: not measured, ${skipped}`;
  const judged = against === undefined ? value : value / against.value;
  const ratio =
    against === undefined ? "" : `, ${judged.toFixed(2)}× ${against.what} (${shown(against.value)} ${unit})`;
  const target = against === undefined ? `${atMost} ${unit}` : `${atMost}×`;
  const verdict = atMost === undefined ? "" : `; target ${target}: ${judged <= atMost ? "held" : "missed"}`;
  return `${what}: ${shown(value)} ${unit}${ratio}${verdict}`;
}

function shown(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
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

/** Milliseconds that something takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
