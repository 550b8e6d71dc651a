import { createStore, type Store } from "./store.ts";

/** News at the edge of the page. With an action it can be undone for a while. */
export type Toast = {
  readonly id: number;
  readonly text: string;
  readonly kind: "news" | "trouble";
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
};

export type Toasts = {
  readonly shown: Store<readonly Toast[]>;
  /** Answers how to take it away before its time. */
  readonly tell: (toast: Omit<Toast, "id">, lastsMs?: number) => () => void;
};

const shownMax = 4;
const lastsMsUsual = 6_000;

export function openToasts(): Toasts {
  const shown = createStore<readonly Toast[]>([]);
  let last = 0;
  return {
    shown,
    tell(toast, lastsMs = lastsMsUsual) {
      last += 1;
      const id = last;
      const remove = () => shown.set(shown.get().filter((one) => one.id !== id));
      shown.set([...shown.get(), { ...toast, id }].slice(-shownMax));
      setTimeout(remove, lastsMs);
      return remove;
    },
  };
}
