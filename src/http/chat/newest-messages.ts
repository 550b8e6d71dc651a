import type { Log } from "../../log/log.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { type NewestMessage, newestMessage } from "./messages.ts";

/** Conversations of which it is remembered; each is a few numbers. */
const keptMax = 10_000;

/**
 * The newest message of each of these conversations. A log is read again only when it has grown, and others are served
 * between two of them, however many there are.
 */
export function openNewestMessages(log: Pick<Log, "effective" | "headOf">) {
  const kept = new Map<number, { readonly head: number; readonly newest: NewestMessage | undefined }>();
  return async (row: ConversationRow): Promise<NewestMessage | undefined> => {
    const { number } = row;
    const head = await log.headOf(number);
    const known = kept.get(number);
    kept.delete(number);
    if (known?.head !== head) await othersServed();
    const newest = known?.head === head ? known.newest : newestMessage(await log.effective(number, head), row);
    kept.set(number, { head, newest });
    const [oldest] = kept.size > keptMax ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return newest;
  };
}

function othersServed(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
