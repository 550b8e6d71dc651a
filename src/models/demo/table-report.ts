import { z } from "zod";
import { parsedJson } from "../../base/json.ts";
import { type Table, tableText, whyNot } from "./code-profile.ts";
import type { DoneCall, TalkFacts } from "./facts.ts";
import { type DemoWords, paragraphs, type WantedCall } from "./intent.ts";
import {
  canFollow,
  hasFailedCommand,
  hasRead,
  quotedForShell,
  readSkill,
  runScripts,
  scriptOf,
  scriptRuns,
} from "./skills.ts";

const skill = "data-analysis";

/** Reads how tables are analysed here, then has the scripts do it: what the table has, and a report with charts. */
export function reportCalls(facts: TalkFacts, paths: readonly string[], words: DemoWords): readonly WantedCall[] {
  if (!canFollow(facts, skill) || paths.length === 0) return [];
  const reading = readSkill(facts, skill);
  if (reading !== undefined) return [reading];
  if (!hasRead(facts, skill) || scriptRuns(facts, skill).length > 0) return [];
  return paths.map((path) => {
    const [table, stem] = [quotedForShell(path), stemOf(path)];
    const out = quotedForShell(`outputs/${stem}-${words.report.file}.md`);
    const title = quotedForShell(words.report.title(stem));
    return runScripts([
      scriptOf(skill, "profile_table.py", table),
      scriptOf(skill, "report.py", table, "--title", title, "--out", out),
    ]);
  });
}

/** Tables that the scripts told nothing of. */
export function unreported(facts: TalkFacts, paths: readonly string[]): readonly string[] {
  const known = new Set(reportsIn(facts).map(({ table }) => table.path));
  return paths.filter((path) => !known.has(path));
}

/** No program at all can be run, or a person does not want it: another one would fare no better. */
export function cannotRun(facts: TalkFacts): boolean {
  return scriptRuns(facts, skill).some(({ failure }) => failure !== undefined);
}

export function reportsText(facts: TalkFacts, words: DemoWords): string {
  const reports = reportsIn(facts);
  const failed = scriptRuns(facts, skill).find(({ failure }) => failure !== undefined);
  return paragraphs(
    reports.length === 0 ? "" : words.followed(skill),
    ...reports.map(({ table, findings, written }) =>
      paragraphs(
        tableText(table, words),
        findings.length === 0 ? "" : words.report.findings(findings.map((line) => `> ${line}`).join("\n")),
        written.length === 0 ? words.report.none : words.report.made(written),
      ),
    ),
    failed === undefined ? "" : whyNot(failed, words),
  );
}

type Report = {
  readonly table: Table;
  /** What the script wants looked at. */
  readonly findings: readonly string[];
  /** The files that it wrote. */
  readonly written: readonly string[];
};

function reportsIn(facts: TalkFacts): readonly Report[] {
  return scriptRuns(facts, skill).flatMap((call) => reportIn(call) ?? []);
}

const findingsMax = 5;

function reportIn(call: DoneCall): Report | undefined {
  const { result } = call;
  const [, path = "", rows = "0", width = "0"] =
    /^(.+): (\d+) rows, (\d+) columns, \d+ duplicate rows \(/m.exec(result) ?? [];
  if (path === "") return undefined;
  const lines = Array.from(result.matchAll(columnLine), ([, ...parts]) => parts);
  const columns = lines.flatMap((parts) => columnOf(parts, Number(rows)) ?? []);
  const findings = Array.from(result.matchAll(/^! (.+)$/gm), ([, line = ""]) => line).slice(0, findingsMax);
  const written = Array.from(
    result.matchAll(/^written: (outputs\/.+?\.(?:md|png))(?:\. |$)/gm),
    ([, file = ""]) => file,
  );
  const isWhole = !hasFailedCommand(call);
  return {
    table: { path, rows: Number(rows), columns, width: Number(width) },
    findings,
    written: isWhole ? written : [],
  };
}

const columnLine = /^- (.*): (number|date|text|yes\/no|id|empty), (\d+) distinct, (\d+) missing; (\{.*\})$/gm;
const number = z.number().optional();
const Told = z.object({
  ...{ min: number, max: number, mean: number, median: number, sum: number },
  ...{ first: z.string().optional(), last: z.string().optional() },
  top: z.record(z.string(), z.number()).optional(),
});

function columnOf([name = "", kind, distinct, missing, json = ""]: readonly string[], rows: number) {
  const told = Told.safeParse(parsedJson(json)).data;
  if (told === undefined) return undefined;
  const { top = {}, ...figures } = told;
  const [often, times] = Object.entries(top)[0] ?? [];
  return {
    ...{ name, kind: kindOf(kind), filled: rows - Number(missing), gaps: Number(missing), distinct: Number(distinct) },
    ...{ ...figures, often, times },
  };
}

function kindOf(kind: string | undefined): Table["columns"][number]["kind"] {
  return kind === "number" || kind === "date" || kind === "empty" ? kind : "text";
}

/** The name of a file without its folder and its ending. */
function stemOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]+$/, "");
}
