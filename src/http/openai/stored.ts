import { mainRole } from "../../protocol/agent.ts";
import type { LogEvent } from "../../protocol/events.ts";
import type { CallerPart } from "../../protocol/given.ts";
import type { OpenResponse } from "../../protocol/openai.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { TurnRest } from "../chat/follow-message.ts";
import { isOthers } from "../chat/open-decisions.ts";
import type { Call, Parts } from "../handler.ts";
import { errorsFor } from "./errors.ts";
import { waitingNote } from "./note.ts";
import { openPieces, type Piece } from "./pieces.ts";
import { openResponse } from "./response.ts";
import { eventsAfter } from "./turns.ts";

type Found = {
  readonly id: string;
  readonly conversation: ConversationRow;
  readonly message: { readonly id: string; readonly seq: number };
  readonly since: string | undefined;
};

/** A response as the log tells it: also one whose caller went away, and one that is being written. */
export async function storedResponse(
  { engine, log }: Parts,
  { id, conversation, message, since }: Found,
  call: Pick<Call<"getResponse">, "language" | "requestId">,
): Promise<OpenResponse> {
  const fold = openPieces(since, (open) => waitingNote(conversation.id, open, call.language));
  const pieces: Piece[] = [];
  const own = ownPart(message.id, since);
  let callerPart: CallerPart = {};
  for await (const event of eventsAfter(log, conversation.number, message.seq - 1)) {
    if (own.isOver(event)) break;
    if (!own.has(event)) continue;
    if (event.type === "message.user") callerPart = event.program ?? {};
    pieces.push(...fold.takeEvent(event));
  }
  // A turn that has not begun waits for nobody, whatever the turn before it does.
  const outcome = own.outcome() ?? (own.isBegun() ? await waitingIn(engine, conversation) : undefined);
  if (outcome !== undefined) pieces.push(...fold.ended(outcome));
  // What came with results of functions is in no message.
  const { metadata = {}, previous = null, toolChoice = "auto" } = (since === undefined && callerPart.request) || {};
  const response = openResponse({
    ...{ id, conversation: conversation.id, model: conversation.agentId ?? mainRole, callerPart, previous },
    ...{ metadata, toolChoice, store: !conversation.isPassing, errorFor: errorsFor(call).short },
  });
  for (const piece of pieces) response.take(piece);
  const end = pieces.find((piece) => piece.piece === "end");
  if (end !== undefined) return response.ended(end);
  return own.isBegun() ? response.running() : { ...response.running(), status: "queued" };
}

async function waitingIn(engine: Parts["engine"], conversation: ConversationRow): Promise<"waiting" | undefined> {
  const { status } = await engine.state(conversation);
  return status === "waiting" ? status : undefined;
}

/** The events of one message's turn, up to where the next answer of the same turn begins. */
function ownPart(message: string, since: string | undefined) {
  const functions = new Set<string>();
  let turn: number | undefined;
  let isBegun = since === undefined;
  let outcome: TurnRest | undefined;
  return {
    isOver(event: LogEvent): boolean {
      if (outcome !== undefined) return true;
      // The results of the functions that this answer asked for begin the next one.
      const isNext = isBegun && event.type === "decision.made" && functions.has(event.id);
      if (isNext) outcome = "waiting";
      return isNext;
    },
    has(event: LogEvent): boolean {
      if (isOthers(event)) return false;
      if (event.type === "message.user") return event.id === message;
      if (event.type === "message.withdrawn" && event.id === message) outcome = "withdrawn";
      if (event.type === "turn.started" && event.message === message) ({ turn } = event);
      if (turn === undefined) return false;
      if (event.type === "decision.made" && event.id === since) isBegun = true;
      if (event.type === "decision.asked" && event.kind === "function") functions.add(event.id);
      if (event.type === "turn.finished" && event.turn === turn) ({ outcome } = event);
      return true;
    },
    outcome: () => outcome,
    isBegun: () => turn !== undefined,
  };
}
