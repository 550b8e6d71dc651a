const lanesMax = 4;

/** Does a few at a time: while one waits for a disk or a database, the others go on. Answers in their order. */
export async function inLanes<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [index, item] of queue) done[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: lanesMax }, lane));
  return done;
}
