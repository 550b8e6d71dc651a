import type { Client, ClientFailure } from "../client/client.ts";
import type { Decision } from "../protocol/resources.ts";
import type { Words } from "../words/words.ts";
import type { Console, Input, ReadOptions } from "./console.ts";
import { failureText } from "./failure-text.ts";
import { safeLine, safeText } from "./safe-text.ts";
import type { Style } from "./style.ts";

export type DecisionParts = {
  readonly client: Client;
  readonly console: Console;
  readonly words: Words;
  readonly style: Style;
  /** False once it was decided elsewhere or its turn has ended. */
  readonly isOpen: () => boolean;
  /** Holds its id while the answer is under way: the event that follows is then no news. */
  readonly deciding: Set<string>;
};

/** `made`, `later` (left open) or `gone` (decided elsewhere); or what the person did instead of answering. */
export type DecisionEnd = "made" | "later" | "gone" | Extract<Input, { kind: "interrupt" | "end" }>;

type Verdict = {
  readonly verdict: "approve" | "reject" | "edit" | "answer";
  readonly reason?: string;
  readonly arguments?: string;
  readonly answer?: string;
};
/** Undefined: ask again. */
type Step = DecisionEnd | Verdict | undefined;

/** Puts one open decision to the person and sends what they say. */
export async function askDecision(decision: Decision, parts: DecisionParts): Promise<DecisionEnd> {
  for (const line of describeDecision(decision, parts)) parts.console.note(line);
  const ask = decision.kind === "approval" ? askApproval : askQuestion;
  for (;;) {
    const step = await ask(decision, parts);
    if (step === undefined) continue;
    if (!isVerdict(step)) {
      if (step === "later") parts.console.note(parts.style.dim(parts.words.terminal.decision.later()));
      return step;
    }
    const failure = await send(decision, step, parts);
    if (failure === undefined) return "made";
    parts.console.note(parts.style.bad(`✗ ${failureText(parts.words, failure)}`));
    if (failure.code.startsWith("decision_") || failure.code === "conversation_not_found") return "gone";
  }
}

/** One line of what is asked, for the inbox. */
export function decisionTitle({ kind, tool, question, arguments: args }: Decision, { terminal }: Words): string {
  if (kind === "question") return terminal.decision.question({ question: safeLine(question ?? "", 80) });
  return terminal.decision.approval({ tool: `${safeLine(tool, 64)} ${safeLine(args ?? "", 60)}` });
}

function describeDecision(decision: Decision, { words, style }: DecisionParts): string[] {
  const { terminal } = words;
  const { tool, path, risk, reason, context, kind } = decision;
  const isApproval = kind === "approval";
  const title = isApproval
    ? terminal.decision.approval({ tool: safeLine(tool, 64) })
    : terminal.decision.question({ question: safeText(decision.question ?? "") });
  const lines = [style.strong(style.attention(title))];
  if (path.length > 1) lines.push(terminal.decision.asker({ path: safeLine(path.join(" › ")) }));
  if (isApproval) lines.push(safeText(decision.arguments ?? "{}"));
  if (context !== undefined && context !== "") lines.push(safeText(context));
  if (reason !== undefined) lines.push(terminal.decision.reason({ reason: safeLine(reason) }));
  if (isApproval) lines.push(terminal.decision.risk({ risk: riskName(risk, words) }));
  if (decision.default !== undefined) lines.push(terminal.decision.default({ value: safeLine(decision.default) }));
  return lines.map((line, index) => (index === 0 ? line : indent(line)));
}

async function askApproval(decision: Decision, parts: DecisionParts): Promise<Step> {
  const { decision: texts } = parts.words.terminal;
  if (!parts.console.isInteractive) return approvalLine(parts);
  const input = await read({ prompt: texts.choices(), want: "key", keys: ["y", "n", "e", "l"] }, parts);
  if (input.kind !== "key") return aside(input, parts);
  if (input.key === "y") return { verdict: "approve" };
  if (input.key === "l") return "later";
  if (input.key === "n") {
    const said = await read({ prompt: texts.rejectReason(), want: "line" }, parts);
    if (said.kind !== "line") return back(said, parts);
    return said.text.trim() === "" ? { verdict: "reject" } : { verdict: "reject", reason: said.text.trim() };
  }
  const prefill = oneLine(decision.arguments ?? "{}");
  const edited = await read({ prompt: texts.edit(), want: "line", prefill }, parts);
  if (edited.kind !== "line") return back(edited, parts);
  return edited.text.trim() === "" ? undefined : { verdict: "edit", arguments: edited.text };
}

/** The same in lines: `y`, `n REASON`, `e ARGUMENTS`; and `l`, where somebody can come back to it. */
async function approvalLine(parts: DecisionParts): Promise<Step> {
  const { console, words } = parts;
  const input = await read({ prompt: words.terminal.decision.choices(), want: "line" }, parts);
  if (input.kind !== "line") return aside(input, parts);
  const [, choice = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(input.text) ?? [];
  if (/^(y|yes)$/i.test(choice)) return { verdict: "approve" };
  if (/^(n|no)$/i.test(choice)) return rest === "" ? { verdict: "reject" } : { verdict: "reject", reason: rest };
  if (/^l(ater)?$/i.test(choice) && console.isAttended) return "later";
  if (/^e(dit)?$/i.test(choice) && rest !== "") return { verdict: "edit", arguments: rest };
  console.note(words.terminal.decision.lineHelp());
  return undefined;
}

async function askQuestion(decision: Decision, parts: DecisionParts): Promise<Step> {
  const { console, words } = parts;
  const input = await read({ prompt: words.terminal.decision.answer(), want: "line" }, parts);
  if (input.kind !== "line") return aside(input, parts);
  const answer = input.text.trim();
  if (answer === "" && decision.required && decision.default === undefined) {
    console.note(words.terminal.decision.answerNeeded());
    return undefined;
  }
  return { verdict: "answer", answer };
}

/** The next input that concerns this decision; `woken` only when it is gone. */
async function read(options: ReadOptions, { console, isOpen }: DecisionParts): Promise<Input> {
  for (;;) {
    const input = await console.read(options);
    if (input.kind !== "woken" || !isOpen()) return input;
  }
}

/** Something else than an answer. Esc leaves the decision open. */
function aside(input: Input, { console }: DecisionParts): Step {
  if (input.kind === "stop") return "later";
  if (input.kind === "woken") return "gone";
  if (input.kind === "end") return input;
  if (input.kind !== "interrupt") return undefined;
  if (!input.isTyped) return input;
  console.clear();
  return undefined;
}

/** The same one question further in: Esc goes back to the choice. */
function back(input: Input, parts: DecisionParts): Step {
  if (input.kind !== "stop") return aside(input, parts);
  parts.console.clear();
  return undefined;
}

async function send(decision: Decision, verdict: Verdict, parts: DecisionParts): Promise<ClientFailure | undefined> {
  parts.deciding.add(decision.id);
  const params = { id: decision.conversation, decision: decision.id };
  const made = await parts.client.call("decide", { params, body: verdict });
  if (!made.ok) {
    parts.deciding.delete(decision.id);
    return made.failure;
  }
  parts.console.note(parts.style.good(doneWords(verdict, parts.words)));
  return undefined;
}

function doneWords({ verdict }: Verdict, { terminal }: Words): string {
  switch (verdict) {
    case "approve":
      return terminal.decision.approved();
    case "reject":
      return terminal.decision.rejected();
    case "edit":
      return terminal.decision.edited();
    case "answer":
      return terminal.decision.answered();
  }
}

function isVerdict(step: DecisionEnd | Verdict): step is Verdict {
  return typeof step === "object" && "verdict" in step;
}

function riskName(risk: string | undefined, { terminal }: Words): string {
  const names: Readonly<Record<string, string>> = terminal.decision.riskLevel;
  return names[risk ?? "medium"] ?? safeLine(risk ?? "");
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}

/** Arguments as they can be edited in one line; line breaks inside strings are escapes already. */
function oneLine(json: string): string {
  return safeText(json.replace(/\s*\n\s*/g, " "));
}
