/** What one durable append costs when many conversations append at once: the gain of group commit, without a model. */
import { cpuMs } from "./meter.ts";

/** A log on an empty folder; `append` stores one step's events of that conversation and resolves when they are durable. */
type Appends = { append: (conversation: number) => Promise<void>; close: () => Promise<void> | void };
export type OpenAppends = (folder: string, conversations: number) => Promise<Appends> | Appends;

const appendsWarmUp = 500;
const appendsMeasured = 3200;

/** CPU ms per append with that many conversations, each waiting for its append before the next. */
export async function measureAppends(open: OpenAppends, conversations: number, folder: string): Promise<number> {
  const log = await open(folder, conversations);
  await appendInAll(log, conversations, appendsWarmUp);
  const before = cpuMs();
  const appended = await appendInAll(log, conversations, appendsMeasured);
  const used = cpuMs() - before;
  await log.close();
  return used / appended;
}

async function appendInAll(log: Appends, conversations: number, total: number): Promise<number> {
  const perConversation = Math.ceil(total / conversations);
  const appendInOne = async (_: unknown, conversation: number) => {
    for (let count = 0; count < perConversation; count += 1) await log.append(conversation);
  };
  await Promise.all(Array.from({ length: conversations }, appendInOne));
  return perConversation * conversations;
}
