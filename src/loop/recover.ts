import { inBackground } from "../base/background.ts";
import { type ConversationRow, StorageAway } from "../storage/storage.ts";
import { isAsking, isAtWork } from "./agents/at-work.ts";
import type { Driver } from "./driver.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

const wakesMax = 10_000;

/** What looking for it takes. */
export type LookParts = Pick<
  Parts,
  "storage" | "homes" | "log" | "clock" | "limits" | "models" | "agents" | "toolkit" | "approvals"
>;

/** What is to be done about a conversation that nobody drives. */
type Interrupted = { readonly conversation: ConversationRow; readonly isOld: boolean };

/** After a start: what was interrupted goes on by itself, a few at a time; what lies long back is only named. */
export async function recoverTurns(
  parts: LookParts & Pick<Parts, "logger">,
  driver: Pick<Driver, "wake" | "ended">,
  options: { ageMsMax: number },
): ReturnType<Engine["recover"]> {
  const { limits, logger } = parts;
  const found: Interrupted[] = [];
  try {
    for await (const one of findInterrupted(parts, options)) found.push(one);
  } catch (error) {
    // A start must not break by it: what was not found yet is found by the looks that follow, each second.
    if (!(error instanceof StorageAway)) throw error;
    logger.error("what was interrupted could not be looked for", { error });
  }
  const due = found.filter(({ isOld }) => !isOld).map(({ conversation }) => conversation);
  const older = found.filter(({ isOld }) => isOld).map(({ conversation }) => conversation);
  const resumed = due.length;
  const next = async (): Promise<void> => {
    for (let conversation = due.shift(); conversation !== undefined; conversation = due.shift()) {
      driver.wake(conversation);
      await driver.ended(conversation.number);
    }
  };
  for (let lane = 0; lane < limits.recoveriesMax; lane += 1)
    void inBackground(logger, "some conversations were not taken up again", next());
  return { resumed, older };
}

/**
 * Conversations in which something is to be done, that nobody drives and that are at home here: they are from now on, where
 * they were nowhere. `lookedAt`: how far their logs had come when they were last looked at; only what has grown since counts.
 * `isOver`: nobody wants to know any more, and a server that ends must take no home from those that could serve it.
 */
export async function* findInterrupted(
  parts: LookParts,
  { ageMsMax, isOver = () => false }: { readonly ageMsMax: number; readonly isOver?: () => boolean },
  lookedAt: Map<number, number> = new Map(),
): AsyncGenerator<Interrupted, void, undefined> {
  const { storage, homes } = parts;
  const wakes = await storage.dueWakes(wakesMax, homes.server);
  const numbers = new Set(wakes.map(({ number }) => number));
  for (const number of lookedAt.keys()) if (!numbers.has(number)) lookedAt.delete(number);
  for (const { number, head } of wakes) {
    if (isOver()) return;
    if (lookedAt.get(number) === head || !(await homes.holds(`c:${number}`))) continue;
    lookedAt.set(number, head);
    try {
      const found = await lookAt(parts, number, ageMsMax);
      if (found !== undefined) yield found;
    } catch (error) {
      // Nobody has seen it. Any other fault would come again with each look.
      if (error instanceof StorageAway) lookedAt.delete(number);
      throw error;
    }
  }
}

async function lookAt(parts: LookParts, number: number, ageMsMax: number): Promise<Interrupted | undefined> {
  const { storage, log, clock } = parts;
  const conversation = await storage.conversationByNumber(number);
  if (conversation === undefined) return undefined;
  const tree = await log.tree(number);
  const { root: history } = tree;
  // Who waits for a person goes on when that person decides, not because a process has started.
  if (history.turn !== undefined && isAsking(tree) && !isAtWork(tree, parts, conversation.owner)) return undefined;
  const [newest] = await storage.readBack(number, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  const isOld = clock.now() - (newest?.at ?? 0) > ageMsMax;
  return { conversation, isOld: isOld && history.turn !== undefined };
}
