import type { Client } from "../../../src/client/client.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import { createStore, type Store } from "./store.ts";

/** Everything that waits for this person, in all conversations. */
export type Waiting = {
  readonly decisions: Store<readonly Decision[]>;
  readonly refresh: () => Promise<void>;
};

const refreshMs = 4_000;

export function openWaiting(client: () => Client): Waiting {
  const decisions = createStore<readonly Decision[]>([]);
  const refresh = async () => {
    const answer = await client().call("listDecisions");
    if (!answer.ok) return;
    const before = decisions.get();
    const isSame =
      before.length === answer.value.items.length && before.every(({ id }, at) => id === answer.value.items[at]?.id);
    if (!isSame) decisions.set(answer.value.items);
  };
  // Also where nobody looks: the title of the tab tells of it.
  setInterval(() => void refresh(), refreshMs);
  void refresh();
  return { decisions, refresh };
}
