/** Events for one reader, in order. Nothing waits for the reader: whoever pushes has bounded what it pushes. */
export interface EventQueue<E> {
  push(event: E): void;
  /** After what was pushed so far, the reader's loop ends. */
  end(): void;
  /** `onLeave`: the reader stopped before the end. */
  read(onLeave: () => void): AsyncGenerator<E, void, undefined>;
}

export function createEventQueue<E>(): EventQueue<E> {
  let waiting: E[] = [];
  let isEnded = false;
  let wake = () => {};

  return {
    push(event) {
      waiting.push(event);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    async *read(onLeave) {
      try {
        while (waiting.length > 0 || !isEnded) {
          const batch = waiting;
          waiting = [];
          // Not `yield*`, which would make a second iterator of it, and wait for that.
          for (const event of batch) yield event;
          if (waiting.length === 0 && !isEnded) await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        if (!isEnded) onLeave();
      }
    },
  };
}
