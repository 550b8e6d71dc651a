/** The printed form of the results. */
import { appendConversations, works } from "./plan.ts";
import { reopeningSteps } from "./reopening.ts";
import { appendMedian, type Results, reopeningMedian, variantsOf, workMedian } from "./results.ts";
import { judge } from "./targets.ts";
import type { VariantName } from "./variant.ts";
import { type Work, type WorkFigures, warmUpSteps } from "./work.ts";

type Column = { title: string; figure: keyof WorkFigures; digits: number; unit?: number };

const columns: Column[] = [
  { title: "CPU ms/step", figure: "cpuMsPerStep", digits: 2 },
  { title: "wall ms/step", figure: "wallMsPerStep", digits: 2 },
  { title: "disk KB/step", figure: "diskBytesPerStep", digits: 1, unit: 1024 },
  { title: "log KB/step", figure: "payloadBytesPerStep", digits: 2, unit: 1024 },
  { title: "growth", figure: "growth", digits: 2 },
  { title: "RSS peak MB", figure: "rssPeakMb", digits: 0 },
  { title: "start CPU ms", figure: "startCpuMs", digits: 0 },
];

export function report(results: Results, rounds: number, omissions: string[]): string {
  const tables = Object.values(works).filter((work) => variantsOf(results, work).length > 0);
  return [
    `Medians of ${rounds} round${rounds === 1 ? "" : "s"}. Every figure comes from a fresh process, after ${warmUpSteps} steps of warm-up;`,
    "writes are durable (WAL, synchronous=FULL). Growth: CPU of the last 100 steps ÷ the first 100.",
    ...tables.flatMap((work) => ["", workTitle(work), ...workTable(results, work)]),
    ...section("The log by itself", logTable(results)),
    ...section("Targets", verdictTable(results)),
    "",
    ...omissions.map((omission) => `Note: ${omission}.`),
  ].join("\n");
}

function workTitle({ steps, conversations }: Work): string {
  return conversations === 1
    ? `${steps} tool steps`
    : `${conversations} conversations at once, ${steps} tool steps each`;
}

function workTable(results: Results, work: Work): string[] {
  const shown = columns.filter(({ figure }) => figure !== "growth" || work === works.thousand);
  const bareCpu = workMedian(results, "bare", work, "cpuMsPerStep");
  const rowOf = (variant: VariantName) => [
    variant,
    number(workMedian(results, variant, work, "cpuMsPerStep"), 2, bareCpu ?? Number.NaN),
    ...shown.map(({ figure, digits, unit = 1 }) => number(workMedian(results, variant, work, figure), digits, unit)),
  ];
  return aligned([["", "CPU ÷ bare", ...shown.map(({ title }) => title)], ...variantsOf(results, work).map(rowOf)]);
}

function logTable(results: Results): string[] {
  const rows: [string, number | null, number][] = [
    ["CPU ms per append, one conversation", appendMedian(results, 1), 3],
    [`CPU ms per append, ${appendConversations} conversations at once`, appendMedian(results, appendConversations), 3],
    [`ms to open and fold ${reopeningSteps} steps`, reopeningMedian(results, "openAndFoldMs"), 1],
    ["ms to read and parse their rows", reopeningMedian(results, "readAndParseMs"), 1],
  ];
  const measured = rows.filter(([, value]) => value !== null);
  return aligned(measured.map(([name, value, digits]) => [name, number(value, digits)]));
}

/** All targets as soon as one can be judged, so that a figure that is missing shows. */
function verdictTable(results: Results): string[] {
  const verdicts = judge(results);
  if (verdicts.every(({ value }) => value === null)) return [];
  return aligned(
    verdicts.map(({ name, value, atMost, verdict }) => [name, number(value, 3), `≤ ${number(atMost, 3)}`, verdict]),
  );
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}

function number(value: number | null, digits: number, unit = 1): string {
  return value === null || Number.isNaN(unit) ? "–" : (value / unit).toFixed(digits);
}

/** The first column to the left, the others to the right. */
function aligned(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join("  ")}`);
}
