import type { Client, ClientFailure, FollowFrame } from "../../../src/client/client.ts";
import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import type { LogEvent } from "../../../src/protocol/events.ts";
import type { ConversationState } from "../../../src/protocol/resources.ts";
import { createStore } from "../app/store-value.ts";
import { applyEvent, foldEvents } from "./fold.ts";
import { emptyFold, type Folded, type Queued, type RunningTurn } from "./fold-state.ts";
import type { Item } from "./items.ts";
import { openLive } from "./live.ts";
import { preludeOf } from "./prelude.ts";
import { readBefore } from "./read-before.ts";
import { restNowAndThen } from "./rest.ts";
import type { Member } from "./team.ts";

/** What of the log is read at a time: enough for a few screens. */
const pageEvents = 300;
/** As much as one answer holds: on the way to a place that is looked for. */
const pageEventsMax = 1_000;

/** A conversation as the page shows it: a fold over its stream. */
export type ConversationView = {
  readonly phase: "loading" | "ready" | "failed" | "deleted";
  readonly failure: ClientFailure | undefined;
  /** The server is away since then; we go on trying. */
  readonly lostAt: number | undefined;
  readonly items: readonly Item[];
  readonly hasOlder: boolean;
  /** Messages that no turn has taken up yet; the last ones may still be on their way. */
  readonly queue: readonly Queued[];
  readonly todos: Folded["todos"];
  readonly run: RunningTurn | undefined;
  readonly decisions: Folded["decisions"];
  readonly title: string;
  /** As the server has counted it last. */
  readonly state: ConversationState | undefined;
  readonly tokensUsed: number;
  readonly head: number;
  readonly team: ReadonlyMap<string, Member>;
};

const emptyView: ConversationView = {
  ...{ phase: "loading", failure: undefined, lostAt: undefined, items: [], hasOlder: false, queue: [], todos: [] },
  ...{ run: undefined, decisions: [], title: "", state: undefined, tokensUsed: 0, head: 0, team: new Map() },
};

/** Reads the end of its log, then follows it until it is closed. */
export class OpenConversation {
  readonly id: string;
  readonly view = createStore<ConversationView>(emptyView);
  readonly live = openLive();
  /** Grows with every change of a file. */
  readonly filesChanged = createStore(0);
  readonly #client: () => Client;
  readonly #closing = new AbortController();
  #events: LogEvent[] = [];
  #prelude: LogEvent[] = [];
  #folded = emptyFold();
  #sending: readonly Queued[] = [];
  #isPlanned = false;
  #olderAsked: Promise<void> | undefined;

  constructor(id: string, client: () => Client) {
    this.id = id;
    this.#client = client;
    void this.#start();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Asks for what the stream does not tell: tokens, the model, the title. */
  async refresh(): Promise<void> {
    const answer = await this.#client().call("getState", { params: { id: this.id } });
    if (!answer.ok || this.#closing.signal.aborted) return;
    const state = answer.value;
    // A later one was quicker.
    if (state.head < (this.view.get().state?.head ?? 0)) return;
    // The stream may have told of another title since.
    const title = this.#folded.title ?? state.conversation.title;
    this.#publish({ state, title, tokensUsed: state.tokens.used });
  }

  /** Shows a message that is on its way; what it answers takes it away again, where it did not arrive. */
  showSending(id: string, text: string, mode: "queue" | "steer"): () => void {
    const item = { kind: "user", key: `m${id}`, seq: 0, id, text, files: [], images: [], at: Date.now() } as const;
    const sending = { item: { ...item, steered: false }, mode };
    this.#sending = [...this.#sending.filter((one) => one.item.id !== id), sending];
    this.#publish();
    return () => {
      this.#sending = this.#sending.filter((one) => one !== sending);
      this.#publish();
    };
  }

  loadOlder(): Promise<void> {
    return this.#olderAsked ?? this.#readingOlder(() => this.#readOlder(pageEvents));
  }

  /** Reads back as far as this place of the log. */
  loadBackTo(seq: number): Promise<void> {
    return this.#readingOlder(async () => {
      for (let first = this.#events[0]?.seq ?? 1; first > seq && first > 1; ) {
        await this.#readOlder(pageEventsMax);
        const next = this.#events[0]?.seq ?? 1;
        // It cannot be read: what is there is shown.
        if (next >= first || this.#closing.signal.aborted) return;
        first = next;
      }
    });
  }

  /** One after another. */
  #readingOlder(read: () => Promise<void>): Promise<void> {
    const before = this.#olderAsked ?? Promise.resolve();
    const now = before.then(read).finally(() => {
      if (this.#olderAsked === now) this.#olderAsked = undefined;
    });
    this.#olderAsked = now;
    return now;
  }

  async #readOlder(count: number): Promise<void> {
    const first = this.#events[0]?.seq ?? 1;
    if (first <= 1) return;
    const older = await readBefore(this.#client(), this.id, first, count);
    if (this.#closing.signal.aborted) return;
    this.#events = [...older, ...this.#events];
    this.#refold();
    this.#publish();
  }

  async #start(): Promise<void> {
    const answer = await untilAnswered(() => this.#client().call("getState", { params: { id: this.id } }), {
      signal: this.#closing.signal,
      onLost: () => this.#publish({ lostAt: this.view.get().lostAt ?? Date.now() }),
    });
    if (answer === undefined) return;
    if (!answer.ok) return this.#publish({ phase: "failed", failure: answer.failure });
    const state = answer.value;
    this.#events = await readBefore(this.#client(), this.id, state.head + 1, pageEvents);
    if (this.#closing.signal.aborted) return;
    this.#prelude = preludeOf(state, this.#events, await this.#unknownAgents());
    if (this.#closing.signal.aborted) return;
    this.#refold();
    this.#publish({
      ...{ phase: "ready", state, lostAt: undefined },
      ...{ title: this.#folded.title ?? state.conversation.title, tokensUsed: state.tokens.used },
    });
    const { signal } = this.#closing;
    const rest = restNowAndThen();
    for await (const frame of this.#client().follow(this.id, { after: state.head, opens: true, signal })) {
      this.#hear(frame);
      await rest();
    }
  }

  #hear(frame: FollowFrame): void {
    if (frame.frame === "event") this.#take(frame.event);
    if (frame.frame === "delta") this.live.addText(frame);
    if (frame.frame === "output") this.live.addOutput(frame);
    if (frame.frame === "lost") this.#publish({ lostAt: Date.now() });
    if (frame.frame === "found") this.#publish({ lostAt: undefined });
    if (frame.frame === "failed") {
      const isGone = frame.failure.code === "conversation_not_found";
      this.#publish({ phase: isGone ? "deleted" : "failed", failure: frame.failure });
    }
  }

  #take(event: LogEvent): void {
    this.#events.push(event);
    if (event.type === "file.changed") this.filesChanged.set(this.filesChanged.get() + 1);
    if (event.type === "message.user") this.#sending = this.#sending.filter(({ item }) => item.id !== event.id);
    if (event.type === "rewound") this.#refold();
    else applyEvent(this.#folded, event);
    this.live.hear(event);
    this.#publishSoon();
    if (event.type === "message.assistant" && this.#isPaid()) void this.refresh();
    if (event.type === "turn.finished" || event.type === "compacted" || event.type === "rewound") void this.refresh();
  }

  /** There is a limit to what may be spent: each step takes some of it. */
  #isPaid(): boolean {
    const { limits = {}, turn = null } = this.view.get().state?.budget ?? {};
    return [limits, turn?.limits ?? {}].some(({ tokens, money, steps, ms }) => [tokens, money, steps, ms].some(Number));
  }

  #refold(): void {
    this.#folded = foldEvents([...this.#prelude, ...this.#events]);
  }

  /** Events come in bursts: they are shown together, before the next frame is drawn. */
  #publishSoon(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#publish();
    });
  }

  #publish(changed: Partial<ConversationView> = {}): void {
    const { items, todos, run, decisions, title, isDeleted, tokensUsed, head, team } = this.#folded;
    const queue = [...this.#folded.queue, ...this.#sending];
    const before = this.view.get();
    this.view.set({
      ...before,
      ...{ items: items.slice(), queue, todos, run, decisions, head },
      team: new Map(team),
      hasOlder: (this.#events[0]?.seq ?? 1) > 1,
      title: title ?? before.title,
      tokensUsed: tokensUsed ?? before.tokensUsed,
      ...(isDeleted && { phase: "deleted" }),
      ...changed,
    });
  }

  /** Agents that work in this part of the log and were made before it. */
  async #unknownAgents(): Promise<AgentInfo[]> {
    const made = new Set(this.#events.flatMap((event) => (event.type === "agent.spawned" ? [event.id] : [])));
    const isUnknown = (event: LogEvent) => "agent" in event && event.agent !== undefined && !made.has(event.agent);
    if (!this.#events.some(isUnknown)) return [];
    const answer = await this.#client().call("listConversationAgents", { params: { id: this.id } });
    return answer.ok ? answer.value.items.filter(({ id }) => !made.has(id)) : [];
  }
}

const retryMs = 2_000;

/** Asks again as long as there is no answer at all. Undefined: nobody waits any more. */
async function untilAnswered<A extends { readonly ok: boolean }>(
  ask: () => Promise<A>,
  { signal, onLost }: { readonly signal: AbortSignal; readonly onLost: () => void },
): Promise<A | undefined> {
  while (!signal.aborted) {
    const answer = await ask();
    const isAway = !answer.ok && "failure" in answer && isNetwork(answer.failure);
    if (!isAway) return signal.aborted ? undefined : answer;
    onLost();
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
  return undefined;
}

function isNetwork(failure: unknown): boolean {
  return typeof failure === "object" && failure !== null && "retryable" in failure && failure.retryable === true;
}
