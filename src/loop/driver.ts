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

/** Keeps at most one tenure per conversation going. */
export interface Driver {
  /** Something may be to be done: starts a tenure, or lets the running one look again. A lost wake costs a moment only. */
  wake(conversation: ConversationRow): void;
  /** The main agent's run. */
  running(number: number): Run | undefined;
  /** Resolves when no tenure has the conversation any more. */
  ended(number: number): Promise<void>;
  /**
   * Does something between turns: no tenure begins meanwhile, here or in another server, and whoever wakes the
   * conversation is served afterwards. `conversation_busy` while a tenure has it.
   */
  hold<T>(conversation: ConversationRow, work: BetweenTurns<T>): Promise<Result<T, Failure>>;
  /** Stops the tenure of a conversation, also one that is only just opening. */
  stop(number: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Appends with this epoch, so that nothing is stored once another server has the conversation. `signal`: it is to be let
 * go of, and whoever stops it waits for the end of this.
 */
type BetweenTurns<T> = (lease: Lease & { readonly signal: AbortSignal }) => Promise<Result<T, Failure>>;
type Lease = { readonly epoch: number };

type Entry = {
  tenure: Tenure | undefined;
  isWoken: boolean;
  readonly stopping: AbortController;
  ended: Promise<void>;
};

/** How long after storage refused to serve a conversation it is tried again. */
const retryMs = 2_000;
/** Told to the others: there is something to do in the conversation of this number. */
export const wakeTopic = "wake";
/** A run that has come to rest lets go in a moment: that often, and that long each time, it is waited for. */
const holdLooksMax = 10;
const holdPauseMs = 100;

export function openDriver(parts: Parts): Driver {
  const { clock } = parts;
  const holder = parts.homes.server;
  const entries = new Map<number, Entry>();
  let isClosing = false;

  function wake(conversation: ConversationRow): void {
    const { number } = conversation;
    const running = entries.get(number);
    if (running !== undefined) running.isWoken = true;
    if (running !== undefined || isClosing) return;
    const entry = newEntry();
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
      else if (entry.isWoken && !entry.stopping.signal.aborted) wake(conversation);
    });
  }

  async function hold<T>(conversation: ConversationRow, work: BetweenTurns<T>): Promise<Result<T, Failure>> {
    const { number } = conversation;
    for (let looks = 0; looks < holdLooksMax && entries.has(number); looks += 1) {
      await Promise.race([entries.get(number)?.ended, clock.wait(holdPauseMs)]);
    }
    if (entries.has(number) || isClosing) return busy(conversation);
    const entry = newEntry();
    entries.set(number, entry);
    const { signal } = entry.stopping;
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    entry.ended = promise;
    try {
      return await withLease(parts, conversation, holder, ({ epoch }) => work({ epoch, signal }));
    } finally {
      entries.delete(number);
      letGo();
      if (entry.isWoken && !signal.aborted) wake(conversation);
    }
  }

  const stop = async (entry: Entry | undefined) => {
    if (entry === undefined) return;
    entry.stopping.abort();
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

function newEntry(): Entry {
  return { tenure: undefined, isWoken: false, stopping: new AbortController(), ended: Promise.resolve() };
}

async function withLease<T>(
  { storage, limits, clock, logger }: Parts,
  conversation: ConversationRow,
  holder: string,
  work: (lease: Lease) => Promise<Result<T, Failure>>,
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
  if (!(await isAtHome(parts, conversation))) return true;
  const opened = await openTenure(parts, conversation, holder);
  if (!opened.ok) {
    // Whoever had it has not let go of it yet.
    if (opened.failure.code === "fenced") return false;
    parts.logger.warn(`cannot take up conversation ${conversation.id}`, { code: opened.failure.code });
    return opened.failure.code === "conversation_not_found";
  }
  const tenure = opened.value;
  const { root: run } = tenure;
  entry.tenure = tenure;
  if (entry.stopping.signal.aborted) tenure.close();
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

/** Where it lives with another server that one is told to look at it; if it does not hear, it finds the wake by itself. */
async function isAtHome({ homes, storage, logger }: Parts, { number }: ConversationRow): Promise<boolean> {
  if (await homes.holds(`c:${number}`)) return true;
  void inBackground(logger, "a server was not told of something to do", storage.tell(wakeTopic, String(number)));
  return false;
}

/**
 * Nothing could be stored in the middle of a turn. Storage keeps a little room for this moment: with it the turn ends
 * with words for the user; where even that fails, it stays open and is tried again.
 */
async function endUnstored(run: Run, parts: Parts, failure: StorageFailure): Promise<boolean> {
  const [what, { code }] = [`a turn of ${run.conversation.id} could not be stored`, failure];
  // Another server has taken it over, and goes on with it.
  if (code === "fenced") parts.logger.warn(what, { code });
  else parts.logger.error(what, { code });
  if (code === "fenced" || code === "conversation_not_found") return true;
  // It passes. What was on its way may be stored or not: whoever takes it up reads that in the log, and goes on from there.
  if (code === "database_away" || code === "storage_busy") return false;
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
