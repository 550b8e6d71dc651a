import type { Client } from "../../../src/client/client.ts";
import type { Conversation } from "../../../src/protocol/resources.ts";
import { createStore } from "../app/store-value.ts";

/** What the rail shows of the user's conversations. */
export type ListView = {
  readonly phase: "loading" | "ready" | "failed";
  /** Newest first, and below them what is pinned and older than that; without those that are about to be deleted. */
  readonly items: readonly Conversation[];
  readonly hasMore: boolean;
};

const pageItems = 50;
/** What one answer of the server holds at most. */
const answerItemsMax = 200;
export const undoMs = 8_000;

type Change = { readonly title?: string; readonly pinned?: boolean; readonly seenAt?: number };

/** The user's conversations. Others are told of each change that is made here. */
export class ConversationList {
  readonly view = createStore<ListView>({ phase: "loading", items: [], hasMore: false });
  readonly #client: () => Client;
  readonly #tell: () => void;
  readonly #removing = new Map<string, ReturnType<typeof setTimeout>>();
  /** What is on its way to the server, and shown already. */
  readonly #changing = new Set<{ readonly id: string; readonly change: Change }>();
  /** How many of them were answered. */
  #answered = 0;
  /** How often the list was asked for, and the last of these questions whose answer is shown. */
  #asked = 0;
  #shown = 0;
  #next: string | null = null;
  #wanted = pageItems;

  constructor(client: () => Client, tell: () => void) {
    this.#client = client;
    this.#tell = tell;
  }

  async refresh(): Promise<void> {
    await this.load();
    this.#tell();
  }

  async loadMore(): Promise<void> {
    if (this.#next === null) return;
    this.#wanted += pageItems;
    if (this.#wanted <= answerItemsMax) return this.load();
    const answer = await this.#client().call("listConversations", {
      query: { limit: pageItems, before: this.#next },
    });
    if (!answer.ok) return;
    this.#next = answer.value.next;
    const { items } = this.view.get();
    // What is pinned stands there already, however old it is.
    const known = new Set([...items.map(({ id }) => id), ...this.#removing.keys()]);
    const more = answer.value.items.filter(({ id }) => !known.has(id));
    this.#change({ items: this.#asChanged([...items, ...more]), hasMore: this.#next !== null });
  }

  async pin(id: string, pinned: boolean): Promise<boolean> {
    return this.#changeOne(id, { pinned });
  }

  /** Somebody looks at it as it is now. Told by the server's clock, and once for each change. */
  see(id: string): void {
    const item = this.view.get().items.find((one) => one.id === id);
    if (item !== undefined && (item.seenAt ?? 0) < item.updatedAt) void this.#changeOne(id, { seenAt: item.updatedAt });
  }

  async rename(id: string, title: string): Promise<boolean> {
    return this.#changeOne(id, { title });
  }

  /** Hides it, and deletes it for good after a while; the answer undoes that. */
  remove(id: string): () => void {
    const timer = setTimeout(() => void this.#removeNow(id), undoMs);
    this.#removing.set(id, timer);
    this.#change({ items: this.view.get().items.filter((item) => item.id !== id) });
    return () => {
      clearTimeout(timer);
      this.#removing.delete(id);
      void this.load();
    };
  }

  /** Nobody undoes it any more. */
  removeAllNow(): void {
    for (const id of this.#removing.keys()) void this.#removeNow(id);
  }

  async load(): Promise<void> {
    const answered = this.#answered;
    this.#asked += 1;
    const question = this.#asked;
    const limit = Math.min(this.#wanted, answerItemsMax);
    const [answer, pinned] = await Promise.all([
      this.#client().call("listConversations", { query: { limit } }),
      this.#client().call("listConversations", { query: { limit: answerItemsMax, pinned: true } }),
    ]);
    if (!answer.ok || !pinned.ok) {
      if (this.view.get().phase === "loading") this.#change({ phase: "failed" });
      return;
    }
    // It may be from before a change.
    if (answered !== this.#answered) return this.load();
    // A later one was quicker: what has come since must not go again.
    if (question < this.#shown) return;
    this.#shown = question;
    const newest = new Set(answer.value.items.map(({ id }) => id));
    const all = [...answer.value.items, ...pinned.value.items.filter(({ id }) => !newest.has(id))];
    const items = all.filter(({ id }) => !this.#removing.has(id));
    const known = new Set(all.map(({ id }) => id));
    // What was loaded beyond one answer stays below it.
    const isBeyond = this.#wanted > answerItemsMax;
    const older = isBeyond ? this.view.get().items.filter(({ id }) => !known.has(id)) : [];
    if (!isBeyond) this.#next = answer.value.next;
    this.#change({ phase: "ready", items: this.#asChanged([...items, ...older]), hasMore: this.#next !== null });
  }

  /** Shown at once, and told to the server: it is so in the user's other browsers, too. */
  async #changeOne(id: string, change: Change): Promise<boolean> {
    const entry = { id, change };
    this.#changing.add(entry);
    this.#change({ items: this.#asChanged(this.view.get().items) });
    const answer = await this.#client().call("changeConversation", { params: { id }, body: change });
    this.#changing.delete(entry);
    this.#answered += 1;
    if (!answer.ok) {
      void this.load();
      return false;
    }
    const items = this.view.get().items.map((item) => (item.id === id ? answer.value : item));
    this.#change({ items: this.#asChanged(items) });
    this.#tell();
    return true;
  }

  #asChanged(items: readonly Conversation[]): readonly Conversation[] {
    const changes = (of: string) => [...this.#changing].filter(({ id }) => id === of).map(({ change }) => change);
    return this.#changing.size === 0 ? items : items.map((item) => Object.assign({}, item, ...changes(item.id)));
  }

  async #removeNow(id: string): Promise<void> {
    clearTimeout(this.#removing.get(id));
    this.#removing.delete(id);
    await this.#client().call("deleteConversation", { params: { id } });
    this.#tell();
  }

  #change(changed: Partial<ListView>): void {
    this.view.set({ ...this.view.get(), ...changed });
  }
}
