import type { z } from "zod";
import type { Client, ClientFailure } from "../../../src/client/client.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import type { routes } from "../../../src/protocol/routes.ts";
import { createStore } from "../app/store.ts";

export type Verdict = z.input<(typeof routes)["decide"]["body"]>;

/** One that was decided on this page, while it was open. */
export type DecidedHere = {
  readonly decision: Decision;
  readonly verdict: Verdict["verdict"];
  readonly reason: string;
  readonly at: number;
};

export type InboxView = {
  readonly phase: "loading" | "ready" | "failed";
  /** Oldest first. */
  readonly items: readonly Decision[];
  readonly decided: readonly DecidedHere[];
};

/** Other clients, and agents in other conversations, ask and decide, too. */
const refreshMs = 4_000;
const decidedMax = 50;

/** What waits for this person in all their conversations; tabs of one browser tell each other of changes. */
export class DecisionInbox {
  readonly view = createStore<InboxView>({ phase: "loading", items: [], decided: [] });
  readonly #client: () => Client;
  readonly #tabs = new BroadcastChannel("agentyard.decisions");
  readonly #listeners = new Set<(decision: Decision) => void>();
  #known: Set<string> | undefined;

  constructor(client: () => Client) {
    this.#client = client;
    this.#tabs.addEventListener("message", () => void this.#load());
    setInterval(() => void this.#load(), refreshMs);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.#load();
    });
    void this.#load();
  }

  /** Something new waits: `listener` hears of each once. */
  onNew(listener: (decision: Decision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  refresh(): Promise<void> {
    return this.#load();
  }

  /** Undefined: it is decided. */
  async decide(decision: Decision, verdict: Verdict): Promise<ClientFailure | undefined> {
    const answer = await this.#client().call("decide", {
      params: { id: decision.conversation, decision: decision.id },
      body: verdict,
    });
    if (answer.ok) {
      const { verdict: said, reason = verdict.answer ?? "" } = verdict;
      const entry = { decision, verdict: said, reason, at: Date.now() };
      const { items, decided } = this.view.get();
      const gone = new Set([decision.id, ...answer.value.also]);
      this.#change({
        items: items.filter(({ id }) => !gone.has(id)),
        decided: [entry, ...decided].slice(0, decidedMax),
      });
    }
    this.#tabs.postMessage("changed");
    void this.#load();
    return answer.ok ? undefined : answer.failure;
  }

  async #load(): Promise<void> {
    const answer = await this.#client().call("listDecisions");
    if (!answer.ok) {
      if (this.view.get().phase === "loading") this.#change({ phase: "failed" });
      return;
    }
    const items = answer.value.items.filter(({ kind }) => kind !== "function");
    const before = this.#known;
    this.#known = new Set(items.map(({ id }) => id));
    const isSame = sameIds(items, this.view.get().items);
    if (!isSame || this.view.get().phase !== "ready") this.#change({ phase: "ready", items });
    if (before === undefined) return;
    for (const decision of items)
      if (!before.has(decision.id)) for (const listener of this.#listeners) listener(decision);
  }

  #change(changed: Partial<InboxView>): void {
    this.view.set({ ...this.view.get(), ...changed });
  }
}

function sameIds(a: readonly Decision[], b: readonly Decision[]): boolean {
  return a.length === b.length && a.every(({ id }, index) => id === b[index]?.id);
}
