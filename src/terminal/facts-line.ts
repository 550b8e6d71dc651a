import type { LogEvent } from "../protocol/events.ts";
import type { Chat } from "./chat-state.ts";
import type { Facts } from "./console.ts";

/** What is worth looking again: how much of the window is used, what waits, whether a turn runs. */
const newsOf: ReadonlySet<string> = new Set([
  ...["turn.started", "turn.finished", "decision.asked", "decision.made", "message.assistant", "compacted", "rewound"],
]);

/** Keeps the line at the bottom of a drawn terminal as the server has it. */
export class FactsLine {
  readonly #chat: () => Chat;
  #isLooking = false;
  #isNews = false;

  constructor(chat: () => Chat) {
    this.#chat = chat;
  }

  take({ type }: LogEvent): void {
    if (newsOf.has(type)) void this.look();
  }

  /** One look at a time; what happens meanwhile is looked at afterwards. */
  async look(): Promise<void> {
    const { console, current } = this.#chat();
    this.#isNews = true;
    if (this.#isLooking || console.screen === undefined) return;
    this.#isLooking = true;
    while (this.#isNews) {
      this.#isNews = false;
      const facts = await readFacts(this.#chat());
      if (facts !== undefined && this.#chat().current === current) console.screen.showFacts(facts);
    }
    this.#isLooking = false;
  }
}

async function readFacts({ client, current, slot = "base" }: Chat): Promise<Facts | undefined> {
  const { id } = current;
  const decisions = await client.call("listDecisions");
  const count = decisions.ok ? decisions.value.items.length : 0;
  if (!current.isStored) {
    const models = await client.call("listModels");
    const model = models.ok ? models.value.slots.find((entry) => entry.slot === slot)?.id : undefined;
    return { state: "idle", conversation: id, model: model ?? "", decisions: count };
  }
  const state = await client.call("getState", { params: { id } });
  if (!state.ok) return undefined;
  const { status, model, tokens } = state.value;
  const percent = Math.round((100 * tokens.used) / tokens.window);
  const isMuch = tokens.level !== "info";
  return { state: status, conversation: id, model: model.id, tokens: { percent, isMuch }, decisions: count };
}
