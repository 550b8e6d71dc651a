import type { ChatDocument, ChatIncrement } from "../../protocol/chat.ts";
import type { Language } from "../../words/words.ts";
import { textStream } from "../text-stream.ts";
import { type Change, TurnChanges } from "./changes.ts";
import { applyChange } from "./document.ts";
import { documentPace } from "./document-pace.ts";
import { firstDocument } from "./first-document.ts";
import { type CatchingFrame, followTurn, type MessageView, type TurnRest } from "./follow-message.ts";
import { inPieces, numbered, wholeDocument } from "./increments.ts";
import type { ChatPlace } from "./message-numbers.ts";

type ChatView = Omit<MessageView, "message" | "signal"> & {
  readonly place: ChatPlace;
  readonly needsProgress: boolean;
  readonly language: Language;
};

type StreamOptions = {
  /** Frames with what changes; otherwise each frame is the whole document. */
  readonly isIncremental: boolean;
  /** The last frame that the reader has, if it was cut off: numbers go on behind it. */
  readonly lastSeqId?: number | undefined;
  readonly signal: AbortSignal;
  readonly onThrown: (error: unknown) => void;
};

/** No proxy keeps what is to be seen at once, and nobody keeps it afterwards. */
export const chatStreamHeaders = { "x-accel-buffering": "no", "cache-control": "no-store" } as const;

/**
 * The answer to a message as server-sent events, from its document as it stands to the frame `end`. A stream that
 * stops without it was cut off, and can be taken up again.
 */
export function chatStream(view: ChatView, options: StreamOptions): ReadableStream<Uint8Array> {
  const first = options.lastSeqId === undefined ? 0 : options.lastSeqId + 1;
  const open = options.isIncremental ? increments : wholeDocuments;
  return textStream((signal) => open(view, signal, first), options);
}

/** The document of a turn that has come to rest; undefined when the signal fires before. */
export async function chatDocument(
  view: ChatView,
  signal: AbortSignal,
): Promise<{ readonly document: ChatDocument; readonly rest: TurnRest } | undefined> {
  const document = firstDocument(view.conversation.id, view.place);
  for await (const { changes, frames } of followChanges(view, signal)) {
    for (const change of changes) applyChange(document, change);
    const last = frames.at(-1);
    if (last?.frame === "rest") return { document, rest: last.state };
  }
  return undefined;
}

type News = { readonly frames: readonly CatchingFrame[]; readonly changes: readonly Change[] };

async function* followChanges(view: ChatView, signal: AbortSignal): AsyncGenerator<News, void, undefined> {
  const { place, conversation } = view;
  const { id, seq } = place.message;
  const turn = new TurnChanges(view);
  for await (const frames of followTurn({ ...view, message: { id, seq }, signal })) {
    const changes = frames.flatMap((frame): Change[] => {
      if (frame.frame === "event") return turn.addEvent(frame.event);
      if (frame.frame === "delta") return turn.addText(frame);
      if (frame.frame !== "rest") return [];
      if (frame.behind !== undefined) return turn.addAsked(frame.behind);
      const isDeleted = frame.state === "deleted";
      return isDeleted ? turn.addFailure({ code: "conversation_not_found", params: { id: conversation.id } }) : [];
    });
    yield { frames, changes };
  }
}

/** First the document up to now, then what changes. Nothing of it is kept once it is sent. */
async function* increments(
  view: ChatView,
  signal: AbortSignal,
  first: number,
): AsyncGenerator<string, void, undefined> {
  const number = numbered(first);
  let document: ChatDocument | undefined = firstDocument(view.conversation.id, view.place);
  for await (const { frames, changes } of followChanges(view, signal)) {
    const has = (kind: CatchingFrame["frame"]) => frames.some(({ frame }) => frame === kind);
    if (document !== undefined) {
      for (const change of changes) applyChange(document, change);
      if (!has("caught_up") && !has("rest")) continue;
      yield* inChunks(wholeDocument(document), number.frame);
      document = undefined;
    } else yield* inChunks(allPieces(changes), number.frame);
    if (has("ping")) yield ping;
    if (has("rest")) yield serverSent(number.end());
  }
}

function* allPieces(changes: readonly Change[]): Generator<Change, void> {
  for (const change of changes) yield* inPieces(change);
}

/** Frames that go out together. */
const chunkCharacters = 32 * 1024;

function* inChunks(changes: Iterable<Change>, frame: (change: Change) => ChatIncrement): Generator<string, void> {
  let chunk = "";
  for (const change of changes) {
    chunk += serverSent(frame(change));
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** Whole documents. What happens while the reader is busy is one of them, and a long one comes less often. */
async function* wholeDocuments(
  view: ChatView,
  signal: AbortSignal,
  first: number,
): AsyncGenerator<string, void, undefined> {
  const document = firstDocument(view.conversation.id, view.place);
  const pace = documentPace();
  let seq = first;
  for await (const { frames, changes } of followChanges(view, signal)) {
    const has = (kind: CatchingFrame["frame"]) => frames.some(({ frame }) => frame === kind);
    for (const change of changes) {
      applyChange(document, change);
      pace.note(change);
    }
    const isDue = pace.isDue() || (has("ping") && pace.hasNews());
    if (has("caught_up") || has("rest") || isDue) {
      const text = JSON.stringify(document);
      pace.sent(text.length);
      yield `id: ${seq}\ndata: ${text}\n\n`;
      seq += 1;
    } else if (has("ping")) yield ping;
    if (has("rest")) yield serverSent(numbered(seq).end());
  }
}

/** A comment, which readers of events pass over. */
const ping = ": ping\n\n";

function serverSent(frame: ChatIncrement): string {
  return `id: ${frame.seq_id}\ndata: ${JSON.stringify(frame)}\n\n`;
}
