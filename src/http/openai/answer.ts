import { type Failure, makeFailure, storedFailure } from "../../protocol/failure.ts";
import type { FinishReason } from "../../protocol/openai.ts";
import { followMessage } from "../chat/follow-message.ts";
import type { Parts } from "../handler.ts";
import { isFailureCode } from "../status.ts";
import { wholeCharacters } from "../whole-characters.ts";
import type { Asked, Begun } from "./begin.ts";
import { waitingNote } from "./note.ts";
import { type End, openPieces, type Piece } from "./pieces.ts";

export type Pieces = AsyncGenerator<Piece[], void, undefined>;

/**
 * The answer to a request as it comes. A caller who goes away before its end stops its turn and the cost of it: most would
 * never ask for it again. Who named the conversation, or can come back with an Idempotency-Key, may.
 */
export async function* answerTo(parts: Parts, { call, named }: Asked, begun: Begun, gone: AbortSignal): Pieces {
  const { conversation, message, since } = begun;
  const signal = AbortSignal.any([call.signal, gone]);
  const fold = openPieces(since, (open) => waitingNote(conversation.id, open, call.language));
  let isEnded = false;
  try {
    for await (const frames of followMessage({ ...parts, conversation, message, signal })) {
      isEnded = frames.some(({ frame }) => frame === "rest");
      const pieces = frames.flatMap(fold.take);
      if (pieces.length > 0) yield pieces;
    }
  } finally {
    const isAlone = conversation.origin === "program" && named === undefined && call.once === undefined;
    if (!isEnded && isAlone && !call.closing.aborted) await parts.engine.cancel(conversation, { message: message.id });
  }
}

/**
 * Waits until there is something to say, so that a turn that fails at once is refused with a status of its own, as
 * clients expect who try again by it.
 */
export async function opened(pieces: Pieces): Promise<readonly Piece[]> {
  const first: Piece[] = [];
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return first;
    first.push(...value);
    if (value.some(({ piece }) => piece !== "begin")) return first;
  }
}

/** Why there is no answer, if there is none. */
export function failureOf(
  { state, failure }: Pick<End, "state" | "failure">,
  conversation: string,
): Failure | undefined {
  switch (state) {
    case "waiting":
    case "done":
    case "limit":
      return undefined;
    case "cancelled":
    case "withdrawn":
      return makeFailure("turn_cancelled", { id: conversation });
    case "deleted":
      return makeFailure("conversation_not_found", { id: conversation });
    case "failed":
    case "crashed":
      return failure !== undefined && isFailureCode(failure.code)
        ? storedFailure(failure.code, failure.params)
        : makeFailure("turn_crashed", { times: 1 });
  }
}

/** When to come back, for clients that try again by themselves. */
export function retryHeader(end: Pick<End, "retryAfterMs">, failure: Failure): Readonly<Record<string, string>> {
  if (!failure.retryable) return {};
  const { retryAfterMs = retryAfterMsUsual } = end;
  return { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

const retryAfterMsUsual = 5_000;

export function finishOf({ state, finish, open }: End): FinishReason {
  if (open.some(({ kind }) => kind === "function")) return "tool_calls";
  if (state === "limit" || (state === "done" && finish === "length")) return "length";
  return state === "done" && finish === "content_filter" ? "content_filter" : "stop";
}

/** No event of a stream is longer than 64 KB; in JSON a character may take six bytes. */
const pieceCharactersMax = 8_000;

/** A long text in pieces; both halves of a character stay together. */
export function inPieces(text: string): string[] {
  if (text.length <= pieceCharactersMax) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = wholeCharacters(text, at + pieceCharactersMax);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
