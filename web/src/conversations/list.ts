import type { Client } from "../../../src/client/client.ts";
import type { Conversation } from "../../../src/protocol/resources.ts";
import { keep, readKeptJson } from "../app/kept.ts";
import { createStore } from "../app/store.ts";

/** What the rail shows of the user's conversations. */
export type ListView = {
  readonly phase: "loading" | "ready" | "failed";
  /** Newest first, without those that are about to be deleted. */
  readonly items: readonly Conversation[];
  readonly hasMore: boolean;
  readonly pinned: ReadonlySet<string>;
  /** Up to when each was looked at here. */
  readonly seen: ReadonlyMap<string, number>;
};

const pageItems = 50;
/** What one answer of the server holds at most. */
const answerItemsMax = 200;
/** Other clients change the list, too. */
const refreshMs = 5_000;
export const undoMs = 8_000;

/** The user's conversations, as fresh as the page is looked at; tabs of one browser tell each other of changes. */
export class ConversationList {
  readonly view = createStore<ListView>({
    ...{ phase: "loading", items: [], hasMore: false },
    ...{ pinned: readPinned(), seen: readSeen() },
  });
  readonly #client: () => Client;
  readonly #removing = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #tabs = new BroadcastChannel("agentyard.list");
  #next: string | null = null;
  #wanted = pageItems;

  constructor(client: () => Client) {
    this.#client = client;
    this.#tabs.addEventListener("message", () => {
      this.#change({ pinned: readPinned(), seen: readSeen() });
      void this.#load();
    });
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

  pin(id: string, isPinned: boolean): void {
    const pinned = new Set(this.view.get().pinned);
    if (isPinned) pinned.add(id);
    else pinned.delete(id);
    keep("pinned", JSON.stringify([...pinned]));
    this.#change({ pinned });
    this.#tellTabs();
  }

  /** Somebody has looked at it up to then. */
  see(id: string, at: number): void {
    const { seen: before } = this.view.get();
    if ((before.get(id) ?? 0) >= at) return;
    const seen = new Map(before).set(id, at);
    keep("seen", JSON.stringify([...seen].slice(-seenMax)));
    this.#change({ seen });
  }

  async rename(id: string, title: string): Promise<boolean> {
    const answer = await this.#client().call("renameConversation", { params: { id }, body: { title } });
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

  async #load(): Promise<void> {
    const limit = Math.min(this.#wanted, answerItemsMax);
    const answer = await this.#client().call("listConversations", { query: { limit } });
    if (!answer.ok) {
      if (this.view.get().phase === "loading") this.#change({ phase: "failed" });
      return;
    }
    const items = answer.value.items.filter(({ id }) => !this.#removing.has(id));
    const known = new Set(items.map(({ id }) => id));
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

const seenMax = 2_000;

function readPinned(): Set<string> {
  const kept = readKeptJson("pinned");
  return new Set(Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : []);
}

function readSeen(): Map<string, number> {
  const kept = readKeptJson("seen");
  const pairs: unknown[] = Array.isArray(kept) ? kept : [];
  return new Map(pairs.filter(isPair));
}

function isPair(pair: unknown): pair is [string, number] {
  return Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "number";
}
