import type { Clock } from "./base/clock.ts";
import type { Logger } from "./observe/observe.ts";

/** What is ended, by the name that its operator reads in the log. */
export type Closing = Readonly<Record<string, { close(): Promise<unknown> }>>;

/** Shorter than the time after which the files in `deploy/` have a server killed: the log has it by then. */
const saidEveryMs = 30_000;

/**
 * Closes one after another. What takes long is not broken off, for whoever ended us decides how long that may be; but the
 * log names it, and again as often as that time has passed.
 */
export async function closeInOrder(
  parts: Closing,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  const startedAt = clock.monotonic();
  let closing = "";
  let cancel = () => {};
  const sayLater = () => {
    cancel = clock.after(saidEveryMs, () => {
      const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
      logger.warn("it takes long to end: {part} is still closing after {seconds} s", { part: closing, seconds });
      sayLater();
    });
  };
  sayLater();
  try {
    for (const [name, part] of Object.entries(parts)) {
      closing = name;
      await part.close();
    }
  } finally {
    cancel();
  }
}
