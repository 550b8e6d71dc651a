import { makeFailure } from "../protocol/failure.ts";
import type { ConversationRow, StorageFailure } from "../storage/storage.ts";
import { closeCalls, finishTurn } from "./finish.ts";
import type { Parts } from "./parts.ts";
import { openRun, type Run } from "./run.ts";
import { driveTurns, startTurn } from "./turn.ts";

/** Keeps at most one run per conversation going. */
export interface Driver {
  /** Something may be to be done: starts a run, or lets the running one look again. A lost wake costs a moment only. */
  wake(conversation: ConversationRow): void;
  running(number: number): Run | undefined;
  /** Resolves when no run has the conversation any more. */
  ended(number: number): Promise<void>;
  close(): Promise<void>;
}

type Entry = { run: Run | undefined; isWoken: boolean; isStopped: boolean; ended: Promise<void> };

export function openDriver(parts: Parts): Driver {
  const holder = parts.ids.hex(16);
  const entries = new Map<number, Entry>();
  let isClosing = false;

  function wake(conversation: ConversationRow): void {
    const { number } = conversation;
    const running = entries.get(number);
    if (running !== undefined) running.isWoken = true;
    if (running !== undefined || isClosing) return;
    const entry: Entry = { run: undefined, isWoken: false, isStopped: false, ended: Promise.resolve() };
    entries.set(number, entry);
    const driven = drive(parts, conversation, holder, entry).catch((error) => {
      // Not even the end of the turn could be recorded: it stays open and is taken up at the next start.
      parts.logger.error(`conversation ${conversation.id} was left open`, { error });
    });
    entry.ended = driven.then(() => {
      entries.delete(number);
      // Woken after the run had looked for the last time: look again.
      if (entry.isWoken) wake(conversation);
    });
  }

  return {
    wake,
    running: (number) => entries.get(number)?.run,
    ended: (number) => entries.get(number)?.ended ?? Promise.resolve(),
    async close() {
      isClosing = true;
      for (const entry of entries.values()) {
        entry.isStopped = true;
        entry.run?.stop("closing");
      }
      await Promise.all([...entries.values()].map(({ ended }) => ended));
    },
  };
}

async function drive(parts: Parts, conversation: ConversationRow, holder: string, entry: Entry): Promise<void> {
  const { logger } = parts;
  const opened = await openRun(parts, conversation, holder);
  if (!opened.ok) {
    logger.warn(`cannot take up conversation ${conversation.id}`, { code: opened.failure.code });
    return;
  }
  const run = opened.value;
  entry.run = run;
  if (entry.isStopped) run.stop("closing");
  try {
    do {
      entry.isWoken = false;
      await driveTurns(run, parts);
    } while (entry.isWoken && !run.signal.aborted);
    if (run.failure !== undefined && run.failure.code !== "fenced") await endUnstored(run, parts, run.failure);
  } catch (error) {
    // Our own mistake: the turn ends with an id that the log file has, and the conversation can go on.
    const id = parts.ids.hex(8);
    logger.error(`turn failed (${id})`, { error, conversation: conversation.id });
    closeCalls(run, "tool_interrupted");
    await finishTurn(run, parts, "failed", makeFailure("internal", { id }));
  } finally {
    await run.release();
  }
}

/**
 * Nothing could be stored in the middle of a turn. Storage keeps a little room for this moment: with it the turn ends
 * with words for the user; where even that fails, it stays open and goes on at the next wake.
 */
async function endUnstored(run: Run, parts: Parts, failure: StorageFailure): Promise<void> {
  parts.logger.error(`a turn of ${run.conversation.id} could not be stored`, { code: failure.code });
  await run.startOver();
  if (run.history.turn === undefined) startTurn(run);
  closeCalls(run, "tool_interrupted");
  await finishTurn(run, parts, "failed", failure);
}
