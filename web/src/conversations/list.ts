import type { Client, ClientFailure } from "../../../src/client/client.ts";
import type { Conversation } from "../../../src/protocol/resources.ts";
import { createStore } from "../app/store-value.ts";

/** What the rail shows of the user's conversations. */
export type ListView = {
  readonly phase: "loading" | "ready" | "failed";
  /** Newest first, and below them what is pinned and older than that; without those that are about to be deleted. */
  readonly items: readonly Conversation[];
  readonly hasMore: boolean;
  /** Why there is nothing to show. */
  readonly failure?: ClientFailure | undefined;
};

const pageItems = 50;
/** What one answer of the server holds at most. */
const answerItemsMax = 200;
export const undoMs = 8_000;

type Change = { readonly title?: string; readonly pinned?: boolean; readonly seenAt?: number };

/** Who hears of what happens here. */
export type ListHearers = {
  /** The user's other tabs: something is otherwise now. */
  readonly changed: () => void;
  /** The user: what they did a while ago could not be done. */
  readonly failed: (failure: ClientFailure) => void;
};

type Removal = { readonly timer: ReturnType<typeof setTimeout>; isAsked: boolean };

/** The user's conversations. Others are told of each change that is made here. */
export class ConversationList {
  readonly view = createStore<ListView>({ phase: "loading", items: [], hasMore: false });
  readonly #client: () => Client;
  readonly #tell: ListHearers;
  /** As the server has them. */
  #all: readonly Conversation[] = [];
  /** What is hidden, until the server has deleted it. */
  readonly #removing = new Map<string, Removal>();
  /** What is on its way to the server, and shown already. */
  readonly #changing = new Set<{ readonly id: string; readonly change: Change }>();
  /** How many of them were answered. */
  #answered = 0;
  /** How often the list was asked for, and the last of these questions whose answer is shown. */
  #asked = 0;
  #shown = 0;
  #next: string | null = null;
  #wanted = pageItems;

  constructor(client: () => Client, tell: ListHearers) {
    this.#client = client;
    this.#tell = tell;
  }

  async refresh(): Promise<void> {
    await this.load();
    this.#tell.changed();
  }

  async loadMore(): Promise<void> {
    if (this.#next === null) return;
    this.#wanted += pageItems;
    const failure = this.#wanted <= answerItemsMax ? await this.load() : await this.#loadBeyond(this.#next);
    if (failure === undefined) return;
    this.#wanted -= pageItems;
    this.#tell.failed(failure);
  }

  /** What it answers is why it could not be done; so does `rename`. */
  async pin(id: string, pinned: boolean): Promise<ClientFailure | undefined> {
    return this.#changeOne(id, { pinned });
  }

  /** Somebody looks at it as it is now. Told by the server's clock, and once for each change. */
  see(id: string): void {
    const item = this.view.get().items.find((one) => one.id === id);
    if (item !== undefined && (item.seenAt ?? 0) < item.updatedAt) void this.#changeOne(id, { seenAt: item.updatedAt });
  }

  async rename(id: string, title: string): Promise<ClientFailure | undefined> {
    return this.#changeOne(id, { title });
  }

  /** Hides it, and deletes it for good after a while; the answer undoes that. */
  remove(id: string): () => void {
    const timer = setTimeout(() => void this.#removeNow(id), undoMs);
    this.#removing.set(id, { timer, isAsked: false });
    this.#show({});
    return () => {
      clearTimeout(timer);
      this.#removing.delete(id);
      this.#show({});
      void this.load();
    };
  }

  /** Nobody undoes it any more. */
  removeAllNow(): void {
    for (const id of this.#removing.keys()) void this.#removeNow(id);
  }

  /** Answers why it could not be asked. */
  async load(): Promise<ClientFailure | undefined> {
    const answered = this.#answered;
    this.#asked += 1;
    const question = this.#asked;
    const limit = Math.min(this.#wanted, answerItemsMax);
    const [answer, pinned] = await Promise.all([
      this.#client().call("listConversations", { query: { limit } }),
      this.#client().call("listConversations", { query: { limit: answerItemsMax, pinned: true } }),
    ]);
    if (!answer.ok) return this.#notLoaded(answer.failure);
    if (!pinned.ok) return this.#notLoaded(pinned.failure);
    // It may be from before a change.
    if (answered !== this.#answered) return this.load();
    // A later one was quicker: what has come since must not go again.
    if (question < this.#shown) return undefined;
    this.#shown = question;
    const newest = new Set(answer.value.items.map(({ id }) => id));
    const all = [...answer.value.items, ...pinned.value.items.filter(({ id }) => !newest.has(id))];
    const known = new Set(all.map(({ id }) => id));
    // What was loaded beyond one answer stays below it.
    const isBeyond = this.#wanted > answerItemsMax;
    const older = isBeyond ? this.#all.filter(({ id }) => !known.has(id)) : [];
    if (!isBeyond) this.#next = answer.value.next;
    this.#all = [...all, ...older];
    this.#show({ phase: "ready", hasMore: this.#next !== null, failure: undefined });
    return undefined;
  }

  #notLoaded(failure: ClientFailure): ClientFailure {
    // What was loaded before is better than nothing.
    if (this.view.get().phase !== "ready") this.#show({ phase: "failed", failure });
    return failure;
  }

  /** What is older than one answer holds comes piece by piece. */
  async #loadBeyond(before: string): Promise<ClientFailure | undefined> {
    const answer = await this.#client().call("listConversations", { query: { limit: pageItems, before } });
    if (!answer.ok) return answer.failure;
    this.#next = answer.value.next;
    // What is pinned stands there already, however old it is.
    const known = new Set(this.#all.map(({ id }) => id));
    this.#all = [...this.#all, ...answer.value.items.filter(({ id }) => !known.has(id))];
    this.#show({ hasMore: this.#next !== null });
    return undefined;
  }

  /** Shown at once, and told to the server: it is so in the user's other browsers, too. */
  async #changeOne(id: string, change: Change): Promise<ClientFailure | undefined> {
    const entry = { id, change };
    this.#changing.add(entry);
    this.#show({});
    const answer = await this.#client().call("changeConversation", { params: { id }, body: change });
    this.#changing.delete(entry);
    this.#answered += 1;
    if (answer.ok) this.#all = this.#all.map((item) => (item.id === id ? answer.value : item));
    this.#show({});
    if (answer.ok) this.#tell.changed();
    else void this.load();
    return answer.ok ? undefined : answer.failure;
  }

  async #removeNow(id: string): Promise<void> {
    const removal = this.#removing.get(id);
    if (removal === undefined || removal.isAsked) return;
    clearTimeout(removal.timer);
    removal.isAsked = true;
    const answer = await this.#client().call("deleteConversation", { params: { id } });
    const isTakenBack = this.#removing.get(id) !== removal;
    if (!isTakenBack) this.#removing.delete(id);
    this.#answered += 1;
    // Where somebody else has deleted it, it is as it was wanted.
    const isGone = answer.ok || answer.failure.code === "conversation_not_found";
    if (isGone) this.#all = this.#all.filter((item) => item.id !== id);
    this.#show({});
    if (isGone) this.#tell.changed();
    else if (!isTakenBack) this.#tell.failed(answer.failure);
  }

  /** The rows are what the server has, with what is on its way to it. */
  #show(changed: Omit<Partial<ListView>, "items">): void {
    const changes = (of: string) => [...this.#changing].filter(({ id }) => id === of).map(({ change }) => change);
    const items = this.#all
      .filter(({ id }) => !this.#removing.has(id))
      .map((item) => (this.#changing.size === 0 ? item : Object.assign({}, item, ...changes(item.id))));
    this.view.set({ ...this.view.get(), ...changed, items });
  }
}
