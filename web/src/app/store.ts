import { useSyncExternalStore } from "react";
import type { Store } from "./store-value.ts";

export { createStore, type Store } from "./store-value.ts";

/** The value as it is now; the part of the page is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}
