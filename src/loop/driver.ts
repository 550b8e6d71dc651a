import { inBackground } from "../base/background.ts";
import { failed, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { type ConversationRow, StorageAway, type StorageFailure } from "../storage/storage.ts";
import { driveTree } from "./agents/drive-tree.ts";
import { stageEnds } from "./agents/end-agent.ts";
import { closeCalls, finishTurn } from "./finish.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { openTenure, type Tenure } from "./tenure.ts";
import { startTurn } from "./turn.ts";

/** Keeps at most one run per conversation going. */
export interface Driver {
  /** Something may be to be done: starts a run, or lets the running one look again. A lost wake costs a moment only. */
  wake(conversation: ConversationRow): void;
  /** The main agent's run. */
  running(number: number): Run | undefined;
  /** Resolves when no run has the conversation any more. */
  ended(number: number): Promise<void>;
  /**
   * Does something between turns: no run begins meanwhile, here or in another process, and whoever wakes the
   * conversation is served afterwards. `conversation_busy` while a run has it.
   */
  hold<T>(conversation: ConversationRow, work: BetweenTurns<T>): Promise<Result<T, Failure>>;
  /** Stops the run of a conversation, also one that is only just opening. */
  stop(number: number): Promise<void>;
  close(): Promise<void>;
}

/** Appends with this epoch, so that nothing is stored once another process has the conversation. */
type BetweenTurns<T> = (lease: { readonly epoch: number }) => Promise<Result<T, Failure>>;

type Entry = { tenure: Tenure | undefined; isWoken: boolean; isStopped: boolean; ended: Promise<void> };

/** How long after storage refused to serve a conversation it is tried again. */
const retryMs = 2_000;
/** A run that has come to rest lets go in a moment: that often, and that long each time, it is waited for. */
const holdLooksMax = 10;
const holdPauseMs = 100;

export function openDriver(parts: Parts): Driver {
  const { clock, ids } = parts;
  const holder = ids.hex(16);
  const entries = new Map<number, Entry>();
  let isClosing = false;

  function wake(conversation: ConversationRow): void {
    const { number } = conversation;
    const running = entries.get(number);
    if (running !== undefined) running.isWoken = true;
    if (running !== undefined || isClosing) return;
    const entry: Entry = { tenure: undefined, isWoken: false, isStopped: false, ended: Promise.resolve() };
    entries.set(number, entry);
    const driven = drive(parts, conversation, holder, entry).catch((error) => {
      // Storage itself broke down: that must not end the process. It is taken up at the next message or start, or when
      // a server that is only away is there again.
      parts.logger.error(`conversation ${conversation.id} was left open`, { error });
      return !(error instanceof StorageAway);
    });
    entry.ended = driven.then((isServed) => {
      entries.delete(number);
      if (!isServed) clock.after(retryMs, () => wake(conversation));
      // Woken after the run had looked for the last time: look again.
      else if (entry.isWoken && !entry.isStopped) wake(conversation);
    });
  }

  async function hold<T>(conversation: ConversationRow, work: BetweenTurns<T>): Promise<Result<T, Failure>> {
    const { number } = conversation;
    for (let looks = 0; looks < holdLooksMax && entries.has(number); looks += 1) {
      await Promise.race([entries.get(number)?.ended, clock.wait(holdPauseMs)]);
    }
    if (entries.has(number) || isClosing) return busy(conversation);
    const entry: Entry = { tenure: undefined, isWoken: false, isStopped: false, ended: Promise.resolve() };
    entries.set(number, entry);
    const worked = withLease(parts, conversation, holder, work);
    const letGo = () => {
      entries.delete(number);
      if (entry.isWoken && !entry.isStopped) wake(conversation);
    };
    entry.ended = worked.then(letGo, letGo);
    return worked;
  }

  const stop = async (entry: Entry | undefined) => {
    if (entry === undefined) return;
    entry.isStopped = true;
    entry.tenure?.close();
    await entry.ended;
  };

  return {
    wake,
    running: (number) => entries.get(number)?.tenure?.root,
    ended: (number) => entries.get(number)?.ended ?? Promise.resolve(),
    hold,
    stop: (number) => stop(entries.get(number)),
    async close() {
      isClosing = true;
      await Promise.all([...entries.values()].map(stop));
    },
  };
}

async function withLease<T>(
  { storage, limits, clock, logger }: Parts,
  conversation: ConversationRow,
  holder: string,
  work: BetweenTurns<T>,
): Promise<Result<T, Failure>> {
  const { number } = conversation;
  const lease = await storage.claimLease(number, holder, limits.leaseMs);
  if (!lease.ok) return lease.failure.code === "fenced" ? busy(conversation) : lease;
  const { epoch } = lease.value;
  // A model may be asked meanwhile, and that takes longer than a lease lasts.
  let forget = () => {};
  const renewLater = () => {
    forget = clock.after(limits.leaseMs / 3, () => {
      renewLater();
      // One that was lost shows at the next append, which carries its epoch.
      const renewed = storage.renewLease(number, { holder, epoch, ttlMs: limits.leaseMs });
      void inBackground(logger, `the lease of ${conversation.id} was not renewed`, renewed);
    });
  };
  renewLater();
  try {
    return await work({ epoch });
  } finally {
    forget();
    await storage.releaseLease(number, { holder, epoch });
  }
}

function busy({ id }: ConversationRow) {
  return failed(makeFailure("conversation_busy", { id }));
}

/** False when storage did not serve: nothing is lost, but somebody has to look again. */
async function drive(parts: Parts, conversation: ConversationRow, holder: string, entry: Entry): Promise<boolean> {
  const opened = await openTenure(parts, conversation, holder);
  if (!opened.ok) {
    parts.logger.warn(`cannot take up conversation ${conversation.id}`, { code: opened.failure.code });
    return opened.failure.code === "conversation_not_found";
  }
  const tenure = opened.value;
  const { root: run } = tenure;
  entry.tenure = tenure;
  if (entry.isStopped) tenure.close();
  try {
    do {
      entry.isWoken = false;
      await driveTree(tenure, parts);
    } while (entry.isWoken && !run.signal.aborted);
    return tenure.failure === undefined || (await endUnstored(run, parts, tenure.failure));
  } catch (error) {
    return await endBroken(run, parts, error);
  } finally {
    await tenure.release();
  }
}

/**
 * Nothing could be stored in the middle of a turn. Storage keeps a little room for this moment: with it the turn ends
 * with words for the user; where even that fails, it stays open and is tried again.
 */
async function endUnstored(run: Run, parts: Parts, failure: StorageFailure): Promise<boolean> {
  parts.logger.error(`a turn of ${run.conversation.id} could not be stored`, { code: failure.code });
  if (failure.code === "fenced" || failure.code === "conversation_not_found") return true;
  // What was on its way may be stored or not: whoever takes it up reads that in the log, and goes on from there.
  if (failure.code === "database_away") return false;
  await run.startOver();
  if (run.history.turn === undefined) startTurn(run);
  stageEnds(run);
  closeCalls(run, "tool_interrupted");
  return finishTurn(run, parts, "failed", failure);
}

/**
 * Our own mistake: the turn ends with an id that the log file has, and the conversation can go on. A storage that is only
 * away is none: the turn stays open.
 */
async function endBroken(run: Run, parts: Parts, error: unknown): Promise<boolean> {
  if (error instanceof StorageAway) {
    parts.logger.error(`conversation ${run.conversation.id} was left open`, { error });
    return false;
  }
  const id = parts.ids.hex(8);
  parts.logger.error(`turn failed (${id})`, { error, conversation: run.conversation.id });
  try {
    await run.startOver();
    stageEnds(run);
    closeCalls(run, "tool_interrupted");
    return await finishTurn(run, parts, "failed", makeFailure("internal", { id }));
  } catch (second) {
    parts.logger.error(`conversation ${run.conversation.id} was left open`, { error: second });
    // Trying again would break again; it is taken up at the next message or start.
    return !(second instanceof StorageAway);
  }
}
