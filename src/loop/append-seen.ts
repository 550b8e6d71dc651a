import { ok, type Result } from "../base/result.ts";
import type { History, Tree } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import type { SideRows } from "../storage/storage.ts";
import type { Parts } from "./parts.ts";

type Planned = { readonly events: readonly NewEvent[]; readonly epoch?: number; readonly with?: SideRows };

/** Tries until the log stood still for a moment: a running turn moves it on with every step. */
export const looksMax = 50;

/**
 * Appends what follows from the history as it is in the log, and only if the log has not moved since it was read: what
 * is acknowledged is then true. Looks again when it has moved.
 */
export async function appendSeen(
  { log, gates }: Pick<Parts, "log" | "gates">,
  number: number,
  plan: (history: History, tree: Tree) => Result<Planned, Failure>,
): Promise<Result<{ readonly lastSeq: number }, Failure>> {
  const look = async (): Promise<Result<{ readonly lastSeq: number }, Failure>> => {
    const tree = await log.tree(number);
    const { head } = tree.root;
    const planned = plan(tree.root, tree);
    if (!planned.ok) return planned;
    const { events, ...options } = planned.value;
    if (events.length === 0 && options.with === undefined) return ok({ lastSeq: head });
    return log.append(number, events, { expectedHead: head, ...options });
  };
  for (let looks = 1; ; looks += 1) {
    // Many agents at work never leave a log alone for long enough.
    const stored = looks > looksAmongMax ? await gates.alone(number, look) : await look();
    if (stored.ok || stored.failure.code !== "log_moved" || looks === looksMax) return stored;
  }
}

const looksAmongMax = 3;

/** Written with an event that asks for work: found again after a crash, whatever the clock says then. */
export const soon: SideRows = { wake: { notBefore: 0 } };
