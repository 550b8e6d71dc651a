/** Something to be done for somebody's sake; `leave` is called instead where it is never begun. */
export type Errand = { readonly work: () => Promise<void>; readonly leave: () => void };

/** Does a few things at a time, in the order they came, but for those that somebody waits for. */
export type WorkQueue = {
  add(name: object, errand: Errand, options: { readonly isFirst: boolean }): void;
  /** It is next, unless it was begun. */
  hasten(name: object): void;
  /** It is not done any more, unless it was begun. */
  remove(name: object): void;
  /** Begins nothing any more, and waits for what was begun. */
  close(): Promise<void>;
};

export function openWorkQueue(atOnceMax: number): WorkQueue {
  let waiting: { readonly name: object; readonly errand: Errand }[] = [];
  const begun = new Set<Promise<void>>();
  let isClosed = false;

  const advance = () => {
    while (begun.size < atOnceMax && !isClosed) {
      const next = waiting.shift();
      if (next === undefined) return;
      const done = next.errand.work().finally(() => {
        begun.delete(done);
        advance();
      });
      begun.add(done);
    }
  };
  const take = (name: object) => {
    const taken = waiting.filter((each) => each.name === name);
    if (taken.length > 0) waiting = waiting.filter((each) => each.name !== name);
    return taken;
  };

  return {
    add(name, errand, { isFirst }) {
      if (isFirst) waiting.unshift({ name, errand });
      else waiting.push({ name, errand });
      advance();
    },
    hasten(name) {
      const hastened = take(name);
      waiting.unshift(...hastened);
    },
    remove(name) {
      for (const { errand } of take(name)) errand.leave();
    },
    async close() {
      isClosed = true;
      for (const { errand } of waiting.splice(0)) errand.leave();
      await Promise.all(begun);
    },
  };
}
