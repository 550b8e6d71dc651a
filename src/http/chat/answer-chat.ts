import { z } from "zod";
import { ok } from "../../base/result.ts";
import type { ChatDocument } from "../../protocol/chat.ts";
import { failure, makeFailure, storedFailure } from "../../protocol/failure.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Answered, Call, Parts } from "../handler.ts";
import { thrownLine } from "../problem.ts";
import { isFailureCode } from "../status.ts";
import type { ChatPlace } from "./message-numbers.ts";
import type { ChatShown } from "./request.ts";
import { chatDocument, chatStream, chatStreamHeaders } from "./stream.ts";

type Answering = {
  readonly conversation: ConversationRow;
  readonly place: ChatPlace;
  readonly shown: ChatShown;
  /** The last frame that a reader has who was cut off. */
  readonly lastSeqId?: number | undefined;
};

/** The answer to a message in the way the caller wants it. Whoever goes away ends the reading, never the turn. */
export async function answerChat(
  { engine, log, clock, logger }: Pick<Parts, "engine" | "log" | "clock" | "logger">,
  { language, signal, requestId }: Pick<Call<"chatCompletion">, "language" | "signal" | "requestId">,
  { conversation, place, shown, lastSeqId }: Answering,
): Promise<Answered<"chatCompletion">> {
  const view = { engine, log, clock, conversation, place, language, needsProgress: shown.progress };
  if (shown.streams) {
    const onThrown = (error: unknown) => logger?.(thrownLine(requestId, "the stream", error));
    const stream = chatStream(view, { isIncremental: shown.increments, lastSeqId, signal, onThrown });
    return { ...ok(stream), headers: chatStreamHeaders };
  }
  const rested = await chatDocument(view, signal);
  // The server closes: the turn goes on after its next start.
  if (rested === undefined) return failure("server_closing", {});
  const { document } = rested;
  return document.error === null ? ok(document) : failedAnswer(document, requestId);
}

const Details = z.object({ code: z.string(), params: z.looseObject({}) });

/** A turn that failed: its failure in the one error shape, with the document around it. */
function failedAnswer(document: ChatDocument, requestId: string): Answered<"chatCompletion"> {
  const { code, params } = Details.safeParse(document.error?.error_details).data ?? { code: "internal", params: {} };
  const reason = isFailureCode(code) ? storedFailure(code, params) : makeFailure("internal", { id: requestId });
  return { ok: false, failure: reason, beside: document };
}
