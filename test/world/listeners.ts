import type { TestYard, TestYardOptions } from "./yard.ts";

/** Counts everybody who is told when a log of a yard grows or an answer is written. */
export type Listeners = {
  held(): number;
  /** For the log; what the test wraps itself lies behind it. */
  readonly options: Required<Pick<TestYardOptions, "wrapStorage">>;
  /** For the running answers. */
  watchLive(yard: Pick<TestYard, "engine">): void;
};

export function countListeners({ wrapStorage }: Pick<TestYardOptions, "wrapStorage"> = {}): Listeners {
  let held = 0;
  const counting = (stop: () => void) => {
    held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) held -= 1;
      isHeld = false;
      stop();
    };
  };
  return {
    held: () => held,
    options: {
      wrapStorage(opened) {
        const storage = wrapStorage?.(opened) ?? opened;
        return { ...storage, onAppend: (number, listener) => counting(storage.onAppend(number, listener)) };
      },
    },
    watchLive({ engine }) {
      const { live } = engine;
      engine.live = (number, listener) => counting(live(number, listener));
    },
  };
}
