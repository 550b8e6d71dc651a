import type { Client, ClientFailure } from "../client/client.ts";
import type { LogEvent, TurnOutcome } from "../protocol/events.ts";
import type { ConversationState, Decision } from "../protocol/resources.ts";
import type { ToolCall } from "./offer.ts";

/** The turn of one message, or the newest one of the conversation. */
export type TurnWanted = {
  readonly conversation: string;
  readonly message?: string | undefined;
  /** A place in the log before it. */
  readonly after: number;
};
/** Nobody was told of it yet: the client hears of its first steps, also where they are over before they are read. */
type Telling = { readonly isNew?: boolean };

export type TurnEnd =
  | {
      readonly how: "finished";
      readonly outcome: TurnOutcome;
      readonly answer: string;
      readonly failure: { readonly code: string; readonly params: object } | undefined;
    }
  | { readonly how: "asked"; readonly decisions: readonly Decision[] }
  /** It goes on, and nobody waits for it here any more: that was all the time there was, or this process ends. */
  | { readonly how: "running" }
  /** The client no longer wants it; it was stopped. */
  | { readonly how: "stopped" }
  | { readonly how: "failed"; readonly failure: ClientFailure };

/** Clients give up on a call that they hear nothing of. */
const heartbeatMs = 10_000;

/** Waits for the end of a turn, for a decision that somebody has to make, or for as long as the caller wants to wait. */
export async function followTurn(
  wanted: TurnWanted,
  call: ToolCall,
  waitMs: number,
  { isNew = false }: Telling = {},
): Promise<TurnEnd> {
  const { client, clock, signal, closing } = call;
  const enough = new AbortController();
  const cancelWait = clock.after(waitMs, () => enough.abort());
  const stopBeating = beat(call);
  const news = new TurnNews(wanted.message);
  const ends = AbortSignal.any([signal, closing, enough.signal]);
  try {
    for await (const frame of client.follow(wanted.conversation, { after: wanted.after, signal: ends })) {
      if (frame.frame === "failed") return { how: "failed", failure: frame.failure };
      if (frame.frame === "caught_up") news.isCaughtUp = true;
      if (frame.frame === "event") news.take(frame.event);
      if (frame.frame === "event" && (isNew || news.isCaughtUp)) tellOf(frame.event, call);
      if (news.isCaughtUp && news.end !== undefined) return news.end;
      const decisions = news.isCaughtUp && news.open.size > 0 ? await waitsFor(wanted, news, client) : undefined;
      if (decisions !== undefined) return { how: "asked", decisions };
    }
  } finally {
    cancelWait();
    stopBeating();
    enough.abort();
  }
  if (!signal.aborted || closing.aborted) return { how: "running" };
  await stopTurn(wanted, news, client);
  return { how: "stopped" };
}

/** What was heard of the turn so far. */
class TurnNews {
  readonly #message: string | undefined;
  #turn: number | undefined;
  #answer = "";
  isCaughtUp = false;
  end: Extract<TurnEnd, { how: "finished" }> | undefined;
  seq = 0;
  readonly open = new Set<string>();

  constructor(message: string | undefined) {
    this.#message = message;
  }

  take(event: LogEvent): void {
    this.seq = event.seq;
    if (event.type === "decision.asked") this.open.add(event.id);
    if (event.type === "decision.made") this.open.delete(event.id);
    if (event.type === "message.withdrawn" && event.id === this.#message) this.#finish("cancelled");
    if ("agent" in event && event.agent !== undefined) return;
    if (event.type === "turn.started" && (this.#message ?? event.message) === event.message) {
      this.#turn = event.turn;
      this.#answer = "";
      this.end = undefined;
    }
    if (!("turn" in event) || event.turn !== this.#turn) return;
    if (event.type === "message.assistant" && event.text !== "") this.#answer = event.text;
    if (event.type === "turn.finished") this.#finish(event.outcome, event.failure);
  }

  #finish(outcome: TurnOutcome, failure?: { readonly code: string; readonly params: object }): void {
    this.open.clear();
    this.end = { how: "finished", outcome, answer: this.#answer, failure };
  }
}

/** What the turn waits for; undefined where our events are not all there are. */
async function waitsFor({ conversation }: TurnWanted, news: TurnNews, client: Client) {
  const state = await client.call("getState", { params: { id: conversation } });
  const isAtRest = state.ok && state.value.status === "waiting" && state.value.head === news.seq;
  return isAtRest ? state.value.decisions : undefined;
}

/** Only what was asked for here: a message that waits behind the turn of somebody else is withdrawn, and that turn goes on. */
async function stopTurn({ conversation: id, message }: TurnWanted, news: TurnNews, client: Client): Promise<void> {
  if (news.end !== undefined) return;
  if (message !== undefined) {
    const withdrawn = await client.call("withdrawMessage", { params: { id, message } });
    if (withdrawn.ok) return;
    await client.call("cancelTurn", { params: { id } });
  }
}

function beat(call: ToolCall): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = call.clock.after(heartbeatMs, () => {
      call.tell(call.words.mcpServer.goesOn());
      next();
    });
  };
  next();
  return () => cancel();
}

function tellOf(event: LogEvent, { tell, words: { mcpServer: texts } }: ToolCall): void {
  if (event.type === "step.started") tell(texts.thinks({ step: event.step }));
  if (event.type === "message.assistant")
    for (const { name } of event.calls ?? []) tell(texts.calls({ tool: name.slice(0, 64) }));
  if (event.type === "decision.asked") tell(texts.asks());
}

/** Where to begin to listen for the newest turn: logs are long, and turns are not. */
const eventsBackMax = 2_000;

export function newestTurn({ conversation, head }: ConversationState): TurnWanted {
  return { conversation: conversation.id, after: Math.max(0, head - eventsBackMax) };
}
