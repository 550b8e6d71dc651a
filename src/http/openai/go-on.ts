import { ok, type Result } from "../../base/result.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import type { Asked, Begun } from "./begin.ts";
import { readCallId } from "./ids.ts";
import { newestTurn } from "./turns.ts";

type ToolResult = Extract<GivenMessage, { role: "tool" }>;
type Given = { readonly decision: string; readonly text: string };

/**
 * Gives the results of a caller's functions to the turn that waits for them. Undefined where none waits: it was stopped,
 * or has them already; then the messages themselves are the history of a new turn.
 */
export async function goOn(
  parts: Parts,
  asked: Asked,
  results: readonly ToolResult[],
): Promise<Result<Begun, Failure> | undefined> {
  const { engine, log } = parts;
  const { owner, call } = asked;
  const waiting = await conversationOf(parts, asked, results);
  if (waiting === undefined) return undefined;
  const { conversation, given } = waiting;
  const turn = await newestTurn(log, conversation);
  const { decisions } = await engine.state(conversation);
  const open = new Set(decisions.flatMap(({ id, kind }) => (kind === "function" ? [id] : [])));
  const answers = given.filter(({ decision }) => open.has(decision));
  if (turn === undefined) return undefined;
  let since: string | undefined;
  for (const { decision, text } of answers) {
    const made = await engine.decide(conversation, decision, { verdict: "answer", answer: text, by: owner });
    if (!made.ok && made.failure.code !== "decision_already_made") return made;
    since = decision;
  }
  // The same request once more: it goes on where it went on before, unless it had to begin anew then.
  if (since === undefined && call.once?.isRetry === true && !(await hasBegunAnew(parts, asked)))
    since = turn.decided.findLast((id) => given.some(({ decision }) => decision === id));
  return since === undefined ? undefined : ok({ conversation, message: turn.message, since });
}

/** All results belong to one conversation of the caller's, or they mean nothing to us. */
async function conversationOf(
  { log }: Parts,
  { owner, named, previous }: Asked,
  results: readonly ToolResult[],
): Promise<{ readonly conversation: ConversationRow; readonly given: readonly Given[] } | undefined> {
  const places = results.map(({ toolCallId, text }) => ({ ...readCallId(toolCallId), text }));
  const [first] = places;
  const id = first?.conversation;
  if (id === undefined || (named ?? id) !== id || (previous?.place?.conversation ?? id) !== id) return undefined;
  const given = places.flatMap(({ conversation, decision, text }) =>
    conversation === id && decision !== undefined ? [{ decision, text }] : [],
  );
  if (given.length !== results.length) return undefined;
  const row = await log.find(owner, id);
  return row.ok ? { conversation: row.value, given } : undefined;
}

async function hasBegunAnew({ log, ids }: Parts, { owner, call }: Asked): Promise<boolean> {
  return (await log.find(owner, idFor(call, ids, "conversation"))).ok;
}
