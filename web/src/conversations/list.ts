import type { Client } from "../../../src/client/client.ts";
import type { Conversation } from "../../../src/protocol/resources.ts";
import { createStore } from "../app/store.ts";

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
/** Other clients change the list, too. */
const refreshMs = 5_000;
export const undoMs = 8_000;

/** The user's conversations, as fresh as the page is looked at; tabs of one browser tell each other of changes. */
export class ConversationList {
  readonly view = createStore<ListView>({ phase: "loading", items: [], hasMore: false });
  readonly #client: () => Client;
  readonly #removing = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #tabs = new BroadcastChannel("agentyard.list");
  #next: string | null = null;
  #wanted = pageItems;

  constructor(client: () => Client) {
    this.#client = client;
    this.#tabs.addEventListener("message", () => void this.#load());
    const lookAgain = () => {
      if (!document.hidden) void this.#load();
    };
    setInterval(lookAgain, refreshMs);
    document.addEventListener("visibilitychange", lookAgain);
    // Whoever closes the page does not take it back any more.
    addEventListener("pagehide", () => {
      for (const id of this.#removing.keys()) void this.#removeNow(id);
    });
    void this.#load();
  }

  async refresh(): Promise<void> {
    await this.#load();
    this.#tellTabs();
  }

  async loadMore(): Promise<void> {
    if (this.#next === null) return;
    this.#wanted += pageItems;
    if (this.#wanted <= answerItemsMax) return this.#load();
    const answer = await this.#client().call("listConversations", {
      query: { limit: pageItems, before: this.#next },
    });
    if (!answer.ok) return;
    this.#next = answer.value.next;
    this.#change({ items: [...this.view.get().items, ...answer.value.items], hasMore: this.#next !== null });
  }

  async pin(id: string, pinned: boolean): Promise<boolean> {
    return this.#mark(id, { pinned });
  }

  /** Somebody looks at it as it is now. Told by the server's clock, and once for each change. */
  see(id: string): void {
    const item = this.view.get().items.find((one) => one.id === id);
    if (item !== undefined && (item.seenAt ?? 0) < item.updatedAt) void this.#mark(id, { seenAt: item.updatedAt });
  }

  async rename(id: string, title: string): Promise<boolean> {
    const answer = await this.#client().call("changeConversation", { params: { id }, body: { title } });
    if (!answer.ok) return false;
    this.#change({ items: this.view.get().items.map((item) => (item.id === id ? answer.value : item)) });
    this.#tellTabs();
    return true;
  }

  /** Hides it, and deletes it for good after a while; the answer takes that back. */
  remove(id: string): () => void {
    const timer = setTimeout(() => void this.#removeNow(id), undoMs);
    this.#removing.set(id, timer);
    this.#change({ items: this.view.get().items.filter((item) => item.id !== id) });
    return () => {
      clearTimeout(timer);
      this.#removing.delete(id);
      void this.#load();
    };
  }

  /** Shown at once, and told to the server: it is so in the user's other browsers, too. */
  async #mark(id: string, marks: { pinned?: boolean; seenAt?: number }): Promise<boolean> {
    const { items } = this.view.get();
    this.#change({ items: items.map((item) => (item.id === id ? { ...item, ...marks } : item)) });
    const answer = await this.#client().call("changeConversation", { params: { id }, body: marks });
    if (answer.ok) this.#tellTabs();
    else void this.#load();
    return answer.ok;
  }

  async #load(): Promise<void> {
    const limit = Math.min(this.#wanted, answerItemsMax);
    const [answer, pinned] = await Promise.all([
      this.#client().call("listConversations", { query: { limit } }),
      this.#client().call("listConversations", { query: { limit: answerItemsMax, pinned: true } }),
    ]);
    if (!answer.ok || !pinned.ok) {
      if (this.view.get().phase === "loading") this.#change({ phase: "failed" });
      return;
    }
    const newest = new Set(answer.value.items.map(({ id }) => id));
    const all = [...answer.value.items, ...pinned.value.items.filter(({ id }) => !newest.has(id))];
    const items = all.filter(({ id }) => !this.#removing.has(id));
    const known = new Set(all.map(({ id }) => id));
    // What was loaded beyond one answer stays below it.
    const older = this.#wanted > answerItemsMax ? this.view.get().items.filter(({ id }) => !known.has(id)) : [];
    if (older.length === 0) this.#next = answer.value.next;
    this.#change({ phase: "ready", items: [...items, ...older], hasMore: this.#next !== null });
  }

  async #removeNow(id: string): Promise<void> {
    clearTimeout(this.#removing.get(id));
    this.#removing.delete(id);
    await this.#client().call("deleteConversation", { params: { id } });
    this.#tellTabs();
  }

  #change(changed: Partial<ListView>): void {
    this.view.set({ ...this.view.get(), ...changed });
  }

  #tellTabs(): void {
    this.#tabs.postMessage("changed");
  }
}
