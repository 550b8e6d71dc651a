/** The event loop is held up for no longer than this. */
const sliceMsMax = 12;

/**
 * Runs a synchronous walk to its end in slices, so that streams and requests go on meanwhile. It measures the real time
 * that passes, not the clock of the yard: a test that holds the clock still must not hold up the loop.
 */
export async function inSlices<T>(steps: Iterable<T>, each: (value: T) => void = () => {}): Promise<void> {
  let began = performance.now();
  for (const value of steps) {
    each(value);
    if (performance.now() - began < sliceMsMax) continue;
    await nextTick();
    began = performance.now();
  }
}

/** The same for a consumer that takes the values one by one. */
export async function* sliced<T>(steps: Iterable<T>): AsyncGenerator<T, void> {
  let began = performance.now();
  for (const value of steps) {
    yield value;
    if (performance.now() - began < sliceMsMax) continue;
    await nextTick();
    began = performance.now();
  }
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
