import { inBackground, whenOver } from "../base/background.ts";
import { type Driver, wakeTopic } from "./driver.ts";
import type { Parts } from "./parts.ts";
import { findInterrupted, type LookParts } from "./recover.ts";

/** Goes on with what servers left that are gone, and with what others stored for conversations that live here. */
export interface TakeOver {
  /** From now on, each second. Where one server has the storage to itself there is nothing to take over. */
  start(options: { readonly ageMsMax: number }): void;
  close(): Promise<void>;
}

const everyMs = 1_000;

export function openTakeOver(
  parts: LookParts & Pick<Parts, "random" | "logger">,
  driver: Pick<Driver, "wake">,
): TakeOver {
  const { storage, homes, clock, random, logger } = parts;
  const lookedAt = new Map<number, number>();
  let ageMsMax: number | undefined;
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;
  let isClosed = false;
  let cancel = () => {};

  async function look(age: number): Promise<void> {
    // Each as it is found: a storage that goes away in the middle takes none of them along.
    const how = { ageMsMax: age, isOver: () => isClosed };
    for await (const { conversation, isOld } of findInterrupted(parts, how, lookedAt))
      if (!isOld && !isClosed) driver.wake(conversation);
  }
  function lookSoon(): void {
    if (ageMsMax === undefined || isClosed) return;
    isAskedAgain = looking !== undefined;
    looking ??= inBackground(logger, "what others left could not be looked for", look(ageMsMax)).finally(() => {
      looking = undefined;
      if (isAskedAgain) lookSoon();
    });
  }
  function lookOften(): void {
    // Not all processes in one moment.
    cancel = clock.after(everyMs * (0.8 + 0.4 * random()), () => {
      lookSoon();
      lookOften();
    });
  }
  const deaf = [
    homes.onGone(lookSoon),
    // Somebody else may have had all of it, and left it as it was.
    homes.onBack(() => lookedAt.clear()),
    storage.onTold(({ topic }) => (topic === wakeTopic || topic === "gap" ? lookSoon() : undefined)),
  ];

  return {
    start(options) {
      if (!homes.isShared || ageMsMax !== undefined) return;
      ({ ageMsMax } = options);
      lookOften();
    },
    async close() {
      isClosed = true;
      cancel();
      for (const stop of deaf) stop();
      if (looking !== undefined) await whenOver(looking);
    },
  };
}
