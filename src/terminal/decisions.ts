import type { Client, ClientFailure } from "../client/client.ts";
import type { RuleScope } from "../protocol/approval.ts";
import type { FormField } from "../protocol/form.ts";
import type { Decision } from "../protocol/resources.ts";
import { failureWords, type Words } from "../words/words.ts";
import { codeIn } from "./code-call.ts";
import type { Console, Input, ReadOptions } from "./console.ts";
import { decisionCard, isCut, wholeArguments } from "./decision-card.ts";
import { failureText } from "./failure-text.ts";
import { askFields } from "./form-questions.ts";
import { matchText, scopeText } from "./rule-text.ts";
import { safeLine, safeText } from "./safe-text.ts";
import type { Style } from "./style.ts";

export type DecisionParts = {
  readonly client: Client;
  readonly console: Console;
  readonly words: Words;
  readonly style: Style;
  /** The conversation on the screen. */
  readonly here: string;
  /** What else waits by now: those about the same can be answered together. */
  readonly others: () => readonly Decision[];
  /** False once it was decided elsewhere or its turn has ended. */
  readonly isOpen: () => boolean;
  /** Holds its id while the answer is under way: the event that follows is then no news. */
  readonly deciding: Set<string>;
  /** Takes what need not be asked any more. */
  readonly dealtWith: Set<string>;
};

/** `made`, `later` (left open) or `gone` (decided elsewhere); or what the person did instead of answering. */
export type DecisionEnd = "made" | "later" | "gone" | Extract<Input, { kind: "interrupt" | "end" | "line" }>;

type Verdict = {
  readonly verdict: "approve" | "reject" | "edit" | "answer";
  readonly reason?: string;
  readonly arguments?: string;
  readonly answer?: string;
  readonly always?: Always;
  readonly equal?: true;
  /** What the person wrote; the arguments are made of it. */
  readonly typed?: string;
};
type Asked = { readonly equal: number; readonly draft: string | undefined };
type Always = { readonly option: number; readonly scope: RuleScope };
/** Undefined: ask again. */
type Outcome = DecisionEnd | Verdict | undefined;

/** Puts one open decision to the person and sends what they say. */
export async function askDecision(decision: Decision, parts: DecisionParts): Promise<DecisionEnd> {
  let equal = equalTo(decision, parts);
  if (parts.console.screen !== undefined) parts.console.note("");
  for (const line of decisionCard(decision, equal.length, parts)) parts.console.note(line);
  const ask = decision.kind === "approval" ? askApproval : askQuestion;
  /** What was typed in place of the arguments and did not fit. */
  let draft: string | undefined;
  for (;;) {
    const outcome = await ask(decision, { equal: equal.length, draft }, parts);
    const known = equal.length;
    equal = equalTo(decision, parts);
    if (equal.length > known) parts.console.note(`  ${parts.words.terminal.decision.equal({ count: equal.length })}`);
    if (outcome === undefined) continue;
    if (!isVerdict(outcome)) {
      if (outcome === "later") parts.console.note(parts.style.dim(laterWords(decision, parts)));
      return outcome;
    }
    const failure = await send(decision, outcome, equal, parts);
    if (failure === undefined) return "made";
    draft = outcome.typed;
    parts.console.note(parts.style.bad(`✗ ${notTaken(failure, parts.words)}`));
    if (failure.code.startsWith("decision_") || failure.code === "conversation_not_found") return "gone";
  }
}

/** The other approvals about the same; they may come in while the person reads. */
function equalTo(decision: Decision, { others }: DecisionParts): readonly Decision[] {
  const about = ({ conversation, tool, arguments: args }: Decision) => JSON.stringify([conversation, tool, args]);
  const isEqual = (other: Decision) => other.kind === "approval" && about(other) === about(decision);
  if (decision.kind !== "approval") return [];
  return others().filter((other) => other.id !== decision.id && isEqual(other));
}

/** What the words of a failure advise about arguments is meant for models. */
function notTaken(failure: ClientFailure, words: Words): string {
  if (!failure.code.startsWith("tool_arguments_")) return failureText(words, failure);
  const [what] = failureWords(words, failure);
  return `${safeLine(what, 400)}${words.terminal.gap}${words.terminal.decision.editAgain()}`;
}

function laterWords({ conversation }: Decision, { others, words }: DecisionParts): string {
  const open = others().filter((other) => other.conversation === conversation);
  return words.terminal.decision.later({ count: Math.max(1, open.length) });
}

async function askApproval(decision: Decision, { equal, draft }: Asked, parts: DecisionParts): Promise<Outcome> {
  const { decision: texts } = parts.words.terminal;
  const offersRule = (decision.always ?? []).length > 0;
  if (!parts.console.isInteractive) return approvalLine(decision, equal, parts);
  const hasWhole = isCut(decision);
  const more = [...(hasWhole ? ["v"] : []), ...(offersRule ? ["a"] : []), ...(equal > 0 ? ["s", "x"] : [])];
  const keys = ["y", "n", "e", "l", ...more];
  const hasMore = () => equalTo(decision, parts).length > equal;
  const prompt = texts.choices({ offersRule, equal, hasWhole });
  const input = await read({ prompt, want: "key", keys }, parts, hasMore);
  if (input.kind !== "key")
    return hasMore() && parts.isOpen() && input.kind === "woken" ? undefined : aside(input, parts);
  switch (input.key) {
    case "y":
      return { verdict: "approve" };
    case "s":
      return { verdict: "approve", equal: true };
    case "n":
      return reject(parts, {});
    case "x":
      return reject(parts, { equal: true });
    case "e":
      return edit(decision, draft, parts);
    case "v":
      return void parts.console.note(wholeArguments(decision));
    case "a":
      return allowAlways(decision, parts);
    default:
      return "later";
  }
}

async function reject(parts: DecisionParts, more: { readonly equal?: true }): Promise<Outcome> {
  const said = await read({ prompt: parts.words.terminal.decision.rejectReason(), want: "line" }, parts);
  return said.kind === "line" ? rejected(said.text, more) : back(said, parts);
}

function rejected(reason: string, more: { readonly equal?: true }): Verdict {
  // The sentence that the model reads ends with a stop of its own.
  const given = reason.trim().replace(/(?<![.。])[.。]$/, "");
  return { verdict: "reject", ...(given === "" ? {} : { reason: given }), ...more };
}

/** A command of one line is edited as it is; everything else as the JSON that the tool takes. */
async function edit(decision: Decision, draft: string | undefined, parts: DecisionParts): Promise<Outcome> {
  const { decision: texts } = parts.words.terminal;
  const { code } = codeIn(decision.tool, decision.arguments ?? "") ?? {};
  const isCommand = code !== undefined && !code.includes("\n") && code === safeText(code);
  const prefill = draft ?? (isCommand ? code : oneLine(decision.arguments ?? "{}"));
  const prompt = isCommand ? texts.editCommand() : texts.edit();
  const edited = await read({ prompt, want: "line", prefill }, parts);
  if (edited.kind !== "line") return back(edited, parts);
  if (edited.text.trim() === "") return undefined;
  const { text } = edited;
  return { verdict: "edit", arguments: isCommand ? withCode(decision, text) : text, typed: oneLine(text) };
}

/** The arguments with another program in them; JSON stands for itself. */
function withCode({ tool, arguments: written = "{}" }: Decision, code: string): string {
  const found = codeIn(tool, written);
  if (found === undefined || /^\s*\{/.test(code)) return code;
  return JSON.stringify({ ...Object.fromEntries(found.others), [found.name]: code });
}

/** Shows the exact rules and where each would count; the person takes one by its number. */
async function allowAlways(decision: Decision, parts: DecisionParts): Promise<Outcome> {
  const offers = offersOf(decision);
  showOffers(decision, offers, parts);
  const keys = offers.map((_, index) => String(index + 1));
  const prompt = parts.words.terminal.decision.alwaysWhich();
  const input = await read({ prompt, want: "key", keys }, parts);
  if (input.kind !== "key") return back(input, parts);
  const always = offers[Number(input.key) - 1];
  return always === undefined ? undefined : { verdict: "approve", always };
}

function showOffers(decision: Decision, offers: readonly Always[], parts: DecisionParts): void {
  const { decision: texts } = parts.words.terminal;
  parts.console.note(texts.alwaysTitle());
  for (const [index, offer] of offers.entries())
    parts.console.note(texts.alwaysOption({ number: index + 1, ...ruleWords(decision, offer, parts) }));
}

/** The narrowest first, and for this conversation before all of them. */
function offersOf({ always = [] }: Decision): readonly Always[] {
  return always.flatMap((_, option) => [
    { option, scope: "conversation" } as const,
    { option, scope: "user" } as const,
  ]);
}

type RulePlace = Pick<DecisionParts, "words" | "here">;

/** It counts in the conversation that asks, which need not be the one on the screen. */
function ruleWords({ always = [], conversation }: Decision, { option, scope }: Always, { words, here }: RulePlace) {
  const match = always[option];
  const where = scopeText({ scope, conversation }, words, here);
  return { rule: match === undefined ? "" : matchText(match, words), scope: where };
}

/** The same in lines: `y`, `n REASON`, `e ARGUMENTS`, `a`, `a 2`, `s`, `x REASON`, `v`; and `l` for somebody who can come back. */
async function approvalLine(decision: Decision, equal: number, parts: DecisionParts): Promise<Outcome> {
  const { console, words } = parts;
  const { decision: texts } = words.terminal;
  const offersRule = (decision.always ?? []).length > 0;
  const hasWhole = isCut(decision);
  const input = await read({ prompt: texts.choices({ offersRule, equal, hasWhole }), want: "line" }, parts);
  if (input.kind !== "line") return aside(input, parts);
  const [, choice = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(input.text) ?? [];
  if (/^(y|yes)$/i.test(choice)) return { verdict: "approve" };
  if (/^(n|no)$/i.test(choice)) return rejected(rest, {});
  if (/^l(ater)?$/i.test(choice) && console.isAttended) return "later";
  if (/^e(dit)?$/i.test(choice) && rest !== "") return { verdict: "edit", arguments: withCode(decision, rest) };
  if (/^s$/i.test(choice) && equal > 0) return { verdict: "approve", equal: true };
  if (/^x$/i.test(choice) && equal > 0) return rejected(rest, { equal: true });
  if (/^a(lways)?$/i.test(choice) && offersRule) return alwaysLine(decision, rest, parts);
  if (/^v$/i.test(choice) && hasWhole) return void console.note(wholeArguments(decision));
  console.note(texts.lineHelp({ offersRule, equal }));
  return undefined;
}

/** With the numbers of the list that `a` alone prints. */
function alwaysLine(decision: Decision, rest: string, parts: DecisionParts): Outcome {
  const offers = offersOf(decision);
  const always = /^\d+$/.test(rest) ? offers[Number(rest) - 1] : undefined;
  if (always !== undefined) return { verdict: "approve", always };
  const { decision: texts } = parts.words.terminal;
  if (rest !== "") parts.console.note(texts.noSuchRule({ number: safeLine(rest, 20), count: offers.length }));
  showOffers(decision, offers, parts);
  parts.console.note(texts.alwaysLine());
  return undefined;
}

async function askQuestion(decision: Decision, _asked: Asked, parts: DecisionParts): Promise<Outcome> {
  const { console, words } = parts;
  if (decision.fields !== undefined && decision.fields.length > 0) return askForm(decision.fields, parts);
  const input = await read({ prompt: words.terminal.decision.answer(), want: "line" }, parts);
  if (input.kind !== "line") return aside(input, parts);
  const answer = input.text.trim();
  if (answer === "" && decision.required && decision.default === undefined) {
    console.note(words.terminal.decision.answerNeeded());
    return undefined;
  }
  return { verdict: "answer", answer };
}

async function askForm(fields: readonly FormField[], parts: DecisionParts): Promise<Outcome> {
  const asked = await askFields<Input>(fields, parts.words, async (prompt) => {
    const input = await read({ prompt, want: "line" }, parts);
    return input.kind === "line" ? input : { other: input };
  });
  return "other" in asked ? aside(asked.other, parts) : { verdict: "answer", answer: asked.answer };
}

/** The next input that concerns this decision; `woken` only when it is gone, or there is more to show. */
async function read(options: ReadOptions, { console, isOpen }: DecisionParts, hasMore = () => false): Promise<Input> {
  for (;;) {
    const input = await console.read(options);
    if (input.kind !== "woken" || !isOpen() || hasMore()) return input;
  }
}

/** Something else than an answer. Esc leaves the decision open. */
function aside(input: Input, { console }: DecisionParts): Outcome {
  if (input.kind === "stop") return "later";
  if (input.kind === "woken") return "gone";
  if (input.kind === "end" || input.kind === "line") return input;
  if (input.kind !== "interrupt") return undefined;
  if (!input.isTyped) return input;
  console.clear();
  return undefined;
}

/** The same one question further in: Esc goes back to the choice. */
function back(input: Input, parts: DecisionParts): Outcome {
  if (input.kind !== "stop") return aside(input, parts);
  parts.console.clear();
  return undefined;
}

async function send(
  decision: Decision,
  verdict: Verdict,
  equal: readonly Decision[],
  parts: DecisionParts,
): Promise<ClientFailure | undefined> {
  const { client, console, words, style, deciding, dealtWith } = parts;
  const ids = [decision.id, ...(verdict.equal === true ? equal.map(({ id }) => id) : [])];
  for (const id of ids) deciding.add(id);
  const params = { id: decision.conversation, decision: decision.id };
  const { typed: _typed, ...body } = verdict;
  const made = await client.call("decide", { params, body });
  if (!made.ok) {
    for (const id of ids) deciding.delete(id);
    return made.failure;
  }
  for (const id of made.value.also) {
    deciding.add(id);
    dealtWith.add(id);
  }
  console.note(style.good(doneWords(decision, verdict, parts)));
  if (made.value.also.length > 0) console.note(words.terminal.decision.also({ count: made.value.also.length }));
  return undefined;
}

function doneWords(decision: Decision, { verdict, always }: Verdict, place: RulePlace): string {
  const { decision: texts } = place.words.terminal;
  switch (verdict) {
    case "approve":
      return always === undefined ? texts.approved() : texts.allowed(ruleWords(decision, always, place));
    case "reject":
      return texts.rejected();
    case "edit":
      return texts.edited();
    case "answer":
      return texts.answered();
  }
}

function isVerdict(outcome: DecisionEnd | Verdict): outcome is Verdict {
  return typeof outcome === "object" && "verdict" in outcome;
}

/** Arguments as they can be edited in one line; line breaks inside strings are escapes already. */
function oneLine(json: string): string {
  return safeText(json.replace(/\s*\n\s*/g, " "));
}
