import type { z } from "zod";
import type { Client, ClientFailure } from "../../../src/client/client.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import type { routes } from "../../../src/protocol/routes.ts";
import { createStore } from "../app/store-value.ts";

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

const decidedMax = 50;

/** What waits for this person in all their conversations. Others are told of each decision that is made here. */
export class DecisionInbox {
  readonly view = createStore<InboxView>({ phase: "loading", items: [], decided: [] });
  readonly #client: () => Client;
  readonly #tell: () => void;
  readonly #listeners = new Set<(decision: Decision) => void>();
  #known: Set<string> | undefined;
  /** How often something was asked or decided, and the last of these that the view shows. */
  #asked = 0;
  #shown = 0;

  constructor(client: () => Client, tell: () => void) {
    this.#client = client;
    this.#tell = tell;
  }

  /** Something new waits: `listener` hears of each once. */
  onNew(listener: (decision: Decision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Undefined: it is decided. */
  async decide(decision: Decision, verdict: Verdict): Promise<ClientFailure | undefined> {
    const answer = await this.#client().call("decide", {
      params: { id: decision.conversation, decision: decision.id },
      body: verdict,
    });
    if (answer.ok) {
      // A list that was asked for before it still has what is decided now.
      this.#shown = this.#asked += 1;
      const { verdict: said, reason = verdict.answer ?? "" } = verdict;
      const entry = { decision, verdict: said, reason, at: Date.now() };
      const { items, decided } = this.view.get();
      const gone = new Set([decision.id, ...answer.value.also]);
      this.#change({
        items: items.filter(({ id }) => !gone.has(id)),
        decided: [entry, ...decided].slice(0, decidedMax),
      });
    }
    this.#tell();
    void this.load();
    return answer.ok ? undefined : answer.failure;
  }

  async load(): Promise<void> {
    this.#asked += 1;
    const question = this.#asked;
    const answer = await this.#client().call("listDecisions");
    if (!answer.ok) {
      if (this.view.get().phase === "loading") this.#change({ phase: "failed" });
      return;
    }
    // A later one was quicker.
    if (question < this.#shown) return;
    this.#shown = question;
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
