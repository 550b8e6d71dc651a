import { z } from "zod";
import { parsedJson } from "../../base/json.ts";
import { forModels } from "../../words/words.ts";
import type { DoneCall, TalkFacts } from "./facts.ts";
import { type DemoWords, paragraphs, type WantedCall } from "./intent.ts";
import { profileCode } from "./profile-code.ts";
import { cellText, formatted } from "./profile-text.ts";

const tool = "execute_code";
/** A file of the largest size that can be sent takes a minute. */
const timeoutSeconds = 300;

/** Looks into tables by real code, once in a turn and where that tool is offered. */
export function profileCalls(
  { tools, done, written }: TalkFacts,
  paths: readonly string[],
  words: DemoWords,
): readonly WantedCall[] {
  const isTried = done.some(({ name }) => name === tool || name === "read_file");
  if (!tools.has(tool) || isTried || paths.length === 0) return [];
  const code = profileCode(paths, written, words.chart);
  return [{ name: tool, arguments: { code, timeout: timeoutSeconds } }];
}

/** Tables that the code could not look into, or all of them where it did not come to its end. */
export function unprofiled(done: readonly DoneCall[], paths: readonly string[]): readonly string[] {
  const known = new Set(profilesIn(done).map(({ path }) => path));
  return paths.filter((path) => !known.has(path));
}

/** The profiles that code made, with why there are none where it was tried in vain. */
export function profilesText(done: readonly DoneCall[], words: DemoWords): string {
  const call = done.find(({ name }) => name === tool);
  if (call === undefined) return "";
  return isTold(call) ? paragraphs(...profilesIn(done).map((table) => chartedText(table, words))) : whyNot(call, words);
}

const number = z.number();
const Column = z.object({
  name: z.string(),
  kind: z.enum(["number", "date", "text", "empty"]),
  filled: number,
  gaps: number,
  distinct: number.optional(),
  ...{ min: number.optional(), max: number.optional(), mean: number.optional() },
  ...{ median: number.optional(), sum: number.optional() },
  ...{ often: z.string().optional(), times: number.optional() },
  ...{ first: z.string().optional(), last: z.string().optional() },
});
const Table = z.object({ path: z.string(), rows: number, columns: z.array(Column), width: number });
const Charted = Table.extend({
  chart: z.string().nullable(),
  why: z.enum(["matplotlib", "nothing"]).optional(),
});
const Failed = z.object({ path: z.string(), failed: z.literal(true) });
type Column = z.infer<typeof Column>;
export type Table = z.infer<typeof Table>;
type Charted = z.infer<typeof Charted>;

function isTold({ result }: DoneCall): boolean {
  return toldIn(result) !== undefined;
}

function profilesIn(done: readonly DoneCall[]): readonly Charted[] {
  const call = done.find(({ name }) => name === tool);
  return toldIn(call?.result ?? "") ?? [];
}

/** What the code printed last; undefined where it did not get so far. */
function toldIn(result: string): readonly Charted[] | undefined {
  const json = /^profile:(.+)$/m.exec(result)?.[1];
  if (json === undefined) return undefined;
  const told = z.array(z.union([Charted, Failed])).safeParse(parsedJson(json));
  return told.data?.flatMap((table) => ("failed" in table ? [] : [table]));
}

type WhyWords = Pick<DemoWords, "codeRejected" | "codeFailed" | "codeUnavailable">;

/** Why a program did not run, and what was done instead. */
export function whyNot({ result, failure }: DoneCall, words: WhyWords): string {
  if (failure === "tool_rejected") return words.codeRejected;
  if (failure !== "sandbox_unavailable") return words.codeFailed;
  const [before = "", after = ""] = forModels.nextSteps.sandbox_unavailable?.split("{fix}") ?? [];
  const [reason = "", rest = ""] = result.replace(/^Error: \w+: (Code cannot be run here: )?/, "").split(` ${before}`);
  return words.codeUnavailable(reason, rest.split(after)[0] ?? "");
}

function chartedText(table: Charted, words: DemoWords): string {
  const { chart, why } = table;
  return paragraphs(
    tableText(table, words),
    chart === null ? words.chartNone[why ?? "nothing"] : words.chartMade(chart),
  );
}

export function tableText({ path, rows, columns, width }: Table, words: DemoWords): string {
  const withGaps = columns.filter(({ gaps }) => gaps > 0);
  const cells = withGaps.reduce((sum, { gaps }) => sum + gaps, 0);
  const names = withGaps.map((column) => nameOf(column, columns, words)).join(", ");
  const often = columns.filter(({ kind, often: value }) => kind === "text" && value !== undefined).slice(0, oftenMax);
  return paragraphs(
    words.tableHead(path, rows, width),
    columns.length === 0 ? "" : [headOf(words), ...columns.map((column) => lineOf(column, columns, words))].join("\n"),
    width > columns.length ? words.tableMore(width - columns.length) : "",
    columns.length === 0 ? "" : words.tableGaps(cells, names),
    often
      .map((column) => {
        const { distinct, often: value = "", times = 0 } = column;
        return `- ${words.tableOften(nameOf(column, columns, words), distinct, cellText(value), times)}`;
      })
      .join("\n"),
  );
}

const oftenMax = 5;
/** Digits after the point of what was computed. */
const decimalsMax = 4;

function headOf({ tableColumns }: DemoWords): string {
  return `| ${tableColumns.join(" | ")} |\n| --- | --- |${" ---: |".repeat(tableColumns.length - 2)}`;
}

function lineOf(column: Column, columns: readonly Column[], words: DemoWords): string {
  const { kind, filled, gaps, min, max, mean, median, sum, first, last } = column;
  const shown = (value: number | undefined) => (value === undefined ? "" : formatted(value, decimalsMax));
  const cells = [
    ...[nameOf(column, columns, words), words.tableKinds[kind], formatted(filled, 0), formatted(gaps, 0)],
    ...(kind === "date" ? [cellText(first ?? ""), cellText(last ?? "")] : [shown(min), shown(max)]),
    ...[shown(mean), shown(median), shown(sum)],
  ];
  return `| ${cells.join(" | ")} |`;
}

function nameOf(column: Column, columns: readonly Column[], words: DemoWords): string {
  return column.name === "" ? words.profileColumn(columns.indexOf(column) + 1) : cellText(column.name);
}
