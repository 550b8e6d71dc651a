import { asksForWords } from "../protocol/approval.ts";
import type { Decision } from "../protocol/resources.ts";
import { findingWords, type Words } from "../words/words.ts";
import { codeIn } from "./code-call.ts";
import { safeLine, safeText } from "./safe-text.ts";
import type { Style } from "./style.ts";

type Shown = { readonly words: Words; readonly style: Style };

/** What a person reads before they decide: the tool, what it would do, why they are asked, and who asks. */
export function decisionCard(decision: Decision, equal: number, { words, style }: Shown): string[] {
  const { decision: texts } = words.terminal;
  const { tool, path, risk, context, kind } = decision;
  const isApproval = kind === "approval";
  const title = isApproval
    ? texts.approval({ tool: safeLine(tool, 64) })
    : texts.question({ question: safeText(decision.question ?? "") });
  const lines = [style.strong(style.attention(title))];
  if (path.length > 1) lines.push(texts.asker({ path: safeLine(path.join(" › ")) }));
  if (isApproval) lines.push(shortened(writtenArguments(decision), words));
  if (context !== undefined && context !== "") lines.push(safeText(context));
  lines.push(...reasons(decision, words));
  if (isApproval) lines.push(texts.risk({ risk: riskName(risk, words) }));
  if (decision.findings?.some(({ raised }) => raised === true)) lines.push(texts.raised());
  if (decision.default !== undefined) lines.push(texts.default({ value: safeLine(decision.default) }));
  if (equal > 0) lines.push(texts.equal({ count: equal }));
  return lines.map((line, index) => (index === 0 ? line : indent(line)));
}

/** One line of what is asked, for the inbox. */
export function decisionTitle({ kind, tool, question, arguments: args = "", path }: Decision, words: Words): string {
  const { decision: texts } = words.terminal;
  const asker = path.length > 1 ? ` (${safeLine(path.join(" › "), 60)})` : "";
  if (asksForWords(kind)) return texts.question({ question: `${safeLine(question ?? "", 80)}${asker}` });
  const what = codeIn(tool, args)?.code ?? args;
  return texts.approval({ tool: `${safeLine(tool, 64)} ${safeLine(what, 60)}${asker}` });
}

/** More lines than this are shown by their beginning and end: somebody is to read them. */
const linesMax = 200;
const firstLines = 150;
const lastLines = 40;
const lineCharactersMax = 2_000;

/** Every character of what would run. */
export function wholeArguments(decision: Decision): string {
  return indent(writtenArguments(decision));
}

/** The card does not show all of it. */
export function isCut(decision: Decision): boolean {
  const lines = writtenArguments(decision).split("\n");
  return lines.length > linesMax || lines.some((line) => line.length > lineCharactersMax);
}

/** A program as it would be in a file, other arguments as they are. */
function writtenArguments({ tool, arguments: written = "{}" }: Decision): string {
  const { code, others } = codeIn(tool, written) ?? { code: written, others: [] };
  return [...others.map(([name, value]) => safeText(`${name}: ${value}`)), safeText(code)].join("\n");
}

function shortened(text: string, { terminal }: Words): string {
  const { left, cut } = terminal.decision;
  const lines = text.split("\n").map((line) => {
    const more = line.length - lineCharactersMax;
    return more > 0 ? line.slice(0, lineCharactersMax) + cut({ characters: more }) : line;
  });
  if (lines.length <= linesMax) return lines.join("\n");
  const gap = left({ lines: lines.length - firstLines - lastLines });
  return [...lines.slice(0, firstLines), gap, ...lines.slice(-lastLines)].join("\n");
}

const reasonsMax = 8;
const reasonCells = 400;

/** Each finding with where its rule is set; the words of the log where there are no findings. */
function reasons({ findings = [], reason }: Decision, words: Words): string[] {
  const { decision: texts } = words.terminal;
  if (findings.length === 0)
    return reason === undefined ? [] : [texts.reason({ reason: safeLine(reason, reasonCells), source: undefined })];
  const lines = findings.slice(0, reasonsMax).map((finding) => {
    const source = finding.source === undefined ? undefined : safeLine(finding.source, 120);
    return texts.reason({ reason: safeLine(findingWords(words, finding), reasonCells), source });
  });
  const more = findings.length - reasonsMax;
  return more > 0 ? [...lines, words.approvals.verdict.more({ count: more })] : lines;
}

function riskName(risk: string | undefined, { terminal }: Words): string {
  const names: Readonly<Record<string, string>> = terminal.decision.riskLevel;
  return names[risk ?? "medium"] ?? safeLine(risk ?? "");
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}
