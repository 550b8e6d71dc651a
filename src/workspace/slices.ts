/**
 * So many steps, then others have their turn. Counted, not timed: each step of a walk is small by itself (an entry, a small
 * file, a run of names), and a number is the same on a slow machine and under a clock that a test holds still.
 */
const sliceStepsMax = 16;

/** Runs a synchronous walk to its end in slices, so that streams and requests go on meanwhile. */
export async function inSlices<T>(steps: Iterable<T>, each: (value: T) => void = () => {}): Promise<void> {
  let count = 0;
  for (const value of steps) {
    each(value);
    count += 1;
    if (count % sliceStepsMax === 0) await othersTurn();
  }
}

/** The same for a consumer that takes the values one by one. */
export async function* sliced<T>(steps: Iterable<T>): AsyncGenerator<T, void> {
  let count = 0;
  for (const value of steps) {
    yield value;
    count += 1;
    if (count % sliceStepsMax === 0) await othersTurn();
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
