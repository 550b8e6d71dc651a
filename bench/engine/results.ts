/** The figures of all rounds, and their medians by what was measured. */
import { median } from "./meter.ts";
import type { ReopeningFigures } from "./reopening.ts";
import type { VariantName } from "./variant.ts";
import type { Work, WorkFigures } from "./work.ts";

export type Results = {
  works: { variant: VariantName; work: Work; figures: WorkFigures }[];
  appends: { conversations: number; cpuMs: number }[];
  reopenings: ReopeningFigures[];
};

/** The median of one figure of a variant's runs, or null when it was not measured. */
export function workMedian(
  results: Results,
  variant: VariantName,
  work: Work,
  figure: keyof WorkFigures,
): number | null {
  const runs = results.works.filter((run) => run.variant === variant && isSame(run.work, work));
  return medianOrNull(runs.map((run) => run.figures[figure]));
}

export function appendMedian(results: Results, conversations: number): number | null {
  const runs = results.appends.filter((run) => run.conversations === conversations);
  return medianOrNull(runs.map((run) => run.cpuMs));
}

export function reopeningMedian(results: Results, figure: "openAndFoldMs" | "readAndParseMs"): number | null {
  return medianOrNull(results.reopenings.map((run) => run[figure]));
}

export function variantsOf(results: Results, work: Work): VariantName[] {
  return [...new Set(results.works.filter((run) => isSame(run.work, work)).map((run) => run.variant))];
}

function medianOrNull(values: (number | null)[]): number | null {
  const measured = values.filter((value) => value !== null);
  return measured.length === 0 ? null : median(measured);
}

function isSame(one: Work, other: Work): boolean {
  return one.steps === other.steps && one.conversations === other.conversations;
}
