import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { CallerPart, GivenMessage } from "../../protocol/given.ts";
import { type OwnerId, shownId } from "../../protocol/ids.ts";
import { hasVisible } from "../../protocol/message.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Call, Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import { goOn } from "./go-on.ts";
import type { ResponsePlace } from "./ids.ts";
import type { Since } from "./pieces.ts";
import { type AnswerPlace, placeFor } from "./place.ts";
import { resultsAtEnd, strayResult } from "./sent.ts";
import { newestTurn } from "./turns.ts";

type AnyCall = Pick<Call<"createResponse">, "once" | "signal" | "closing" | "language" | "requestId">;

/** One request of a caller. */
export type Asked = {
  readonly call: AnyCall;
  readonly owner: OwnerId;
  /** The id of the agent. */
  readonly agent: string;
  readonly messages: readonly GivenMessage[];
  readonly callerPart: CallerPart;
  /** The conversation to work in, by its id or by an earlier answer in it. */
  readonly named: string | undefined;
  readonly previous: { readonly id: string; readonly place: ResponsePlace | undefined } | undefined;
  /** Nothing of it is to be kept. */
  readonly isPassing: boolean;
};

/** Where the answer to it is found. */
export type Begun = {
  readonly conversation: ConversationRow;
  readonly message: { readonly id: string; readonly seq: number };
  readonly since: Since;
};

/** Starts a turn for what a caller asks, or goes on with the one that waits for its results. */
export async function begin(parts: Parts, asked: Asked): Promise<Result<Begun, Failure>> {
  const { messages, previous } = asked;
  const results = resultsAtEnd(messages);
  const goingOn = results.length === 0 ? undefined : await goOn(parts, asked, results);
  if (goingOn !== undefined) return goingOn;
  const stray = strayResult(messages);
  if (stray !== undefined) return failure("function_call_unknown", { id: shownId(stray) });
  const last = messages.at(-1);
  if (last === undefined && previous === undefined) return failure("message_blank", {});
  if (last === undefined || last.role === "assistant")
    return failure("parameter_unsupported", { parameter: "messages", hint: "last_is_user" });
  const place = await placeFor(parts, asked);
  return place.ok ? say(parts, asked, place.value) : place;
}

/** Stores the last message; what a person is to decide first is told instead. */
async function say(
  parts: Parts,
  asked: Asked,
  { conversation, instead, isNew }: AnswerPlace,
): Promise<Result<Begun, Failure>> {
  const { engine, storage, ids } = parts;
  const { call, messages, callerPart, agent } = asked;
  const id = idFor(call, ids, "message");
  const seq = call.once?.isRetry === true ? await storage.received(conversation.number, id) : undefined;
  if (seq !== undefined) return ok({ conversation, message: { id, seq }, since: undefined });
  if (!isNew) {
    const chosen = await engine.chooseAgent(conversation, { agentId: agent });
    if (!chosen.ok) return chosen;
    const waiting = await waitingFor(parts, conversation);
    if (waiting !== undefined) return ok(waiting);
  }
  const last = messages.at(-1);
  const isWords = last?.role === "user" && (hasVisible(last.text) || (last.images ?? []).length > 0);
  const history = isWords || last === undefined ? instead : [...(instead ?? []), last];
  const stored = await engine.send(conversation, {
    ...{ id, mode: "queue", language: call.language },
    text: isWords ? last.text : "",
    ...(isWords && last.images !== undefined && { images: last.images }),
    ...(history !== undefined && { instead: history }),
    ...(Object.keys(callerPart).length > 0 && { callerPart }),
  });
  return stored.ok ? ok({ conversation, message: { id, seq: stored.value.seq }, since: undefined }) : stored;
}

/** A turn that waits for a person goes before; one that only waits for the caller's own functions is given up. */
async function waitingFor({ engine, log }: Parts, conversation: ConversationRow): Promise<Begun | undefined> {
  const { status, decisions, head } = await engine.state(conversation);
  const [first] = decisions;
  if (status !== "waiting" || first === undefined) return undefined;
  if (decisions.every(({ kind }) => kind === "function")) {
    // Unless a result comes at this very moment: then it goes on, and what is said now waits for it.
    await engine.cancel(conversation, { decision: first.id });
    return undefined;
  }
  const turn = await newestTurn(log, conversation);
  return turn && { conversation, message: turn.message, since: head };
}
