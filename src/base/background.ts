type Log = { readonly error: (message: string, fields: { readonly error: unknown }) => void };

/**
 * Work that nobody waits for, or that others wait for who must go on in any case. It is a mouth: what is thrown in it,
 * a mistake of ours or a storage that broke down, is told in the log under `what`, and ends nothing else.
 */
export async function inBackground(log: Log, what: string, work: Promise<unknown>, facts: object = {}): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.error(what, { ...facts, error });
  }
}

/** When it is over, however it ended: for those who only wait for their turn. What came of it hears whoever asked for it. */
export async function whenOver(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}
