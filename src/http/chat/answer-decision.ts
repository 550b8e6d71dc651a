import { parsedObject } from "../../base/json.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Verdict } from "../../loop/loop.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { shownId } from "../../protocol/ids.ts";
import type { Decision } from "../../protocol/resources.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { chatForModels } from "../../words/words.ts";
import type { Parts } from "../handler.ts";
import type { Deciding } from "./request.ts";
import { type SaidMessage, saidMessages } from "./said-messages.ts";

/** Says to an open decision what the client's user said; the answer is the message whose turn goes on by it. */
export async function answerDecision(
  { engine, log }: Pick<Parts, "engine" | "log">,
  conversation: ConversationRow,
  wanted: Deciding,
  { isRetry }: { readonly isRetry: boolean },
): Promise<Result<string, Failure>> {
  const { decision: id, assistant } = wanted;
  const said = await saidMessages(log, conversation);
  const place = said.ofDecision(id);
  if (place === undefined) return failure("decision_not_found", { id: shownId(id) });
  // One that waits behind the turn that asks was shown the same question.
  const isMeant = ({ reply, state }: SaidMessage) =>
    reply === assistant && (reply === place.reply || state === "queued");
  if (assistant !== undefined && !said.all.some(isMeant))
    return failure("message_not_found", { id: shownId(assistant) });
  const verdict = said.verdictOn(id);
  if (verdict !== undefined) return isRetry ? ok(place.message.id) : failure("decision_already_made", { id, verdict });
  const { decisions } = await engine.state(conversation);
  const open = decisions.find((one) => one.id === id);
  const made = await engine.decide(conversation, id, { ...verdictOf(open, wanted), by: conversation.owner });
  return made.ok ? ok(place.message.id) : made;
}

type Said = Omit<Verdict, "by">;

/** One that is not open any more, because its turn was stopped, is refused whatever is said to it. */
function verdictOf(open: Decision | undefined, { skips, changed, text }: Deciding): Said {
  if (skips) return { verdict: "reject", reason: chatForModels.skipped };
  if (open === undefined) return { verdict: "approve" };
  if (open.kind !== "approval") return { verdict: "answer", answer: answerOf(changed, text) };
  if (changed.length === 0) return { verdict: "approve" };
  return { verdict: "edit", arguments: JSON.stringify({ ...argumentsOf(open), ...Object.fromEntries(changed) }) };
}

/** The value named `answer`, or the only one there is; else what was said. */
function answerOf(changed: Deciding["changed"], text: string): string {
  const [, value] = changed.find(([name]) => name === "answer") ?? changed[0] ?? [];
  if (value === undefined) return text;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function argumentsOf({ arguments: text = "{}" }: Decision): object {
  return parsedObject(text) ?? {};
}
