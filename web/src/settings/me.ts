import type { CallAnswer, Client } from "../../../src/client/client.ts";
import { createStore, type Store } from "../app/store.ts";

export type Me = CallAnswer<"getMe">;

/** Who is looking at the page, as the server sees it; undefined until it has said so. */
export function openMe(client: () => Client): Store<Me | undefined> {
  const store = createStore<Me | undefined>(undefined);
  void client()
    .call("getMe")
    .then((answer) => answer.ok && store.set(answer.value));
  return store;
}
