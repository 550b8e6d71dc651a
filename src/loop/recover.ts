import { inBackground } from "../base/background.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { isAsking, isAtWork } from "./agents/at-work.ts";
import type { Driver } from "./driver.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

const wakesMax = 10_000;

/** After a start: what was interrupted goes on by itself, a few at a time; what lies long back is only named. */
export async function recoverTurns(
  parts: Parts,
  driver: Driver,
  options: { ageMsMax: number },
): ReturnType<Engine["recover"]> {
  const { storage, log, clock, limits, logger } = parts;
  const due: ConversationRow[] = [];
  const older: ConversationRow[] = [];
  for (const { number } of await storage.dueWakes(wakesMax)) {
    const conversation = await storage.conversationByNumber(number);
    if (conversation === undefined) continue;
    const tree = await log.tree(number);
    const { root: history } = tree;
    // Who waits for a person goes on when that person decides, not because a process has started.
    if (history.turn !== undefined && isAsking(tree) && !isAtWork(tree, parts, conversation.owner)) continue;
    const [newest] = await storage.readBack(number, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
    const isOld = clock.now() - (newest?.at ?? 0) > options.ageMsMax;
    (isOld && history.turn !== undefined ? older : due).push(conversation);
  }
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
