import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { SandboxSettings } from "./sandbox.ts";

/** Who may run a program now, and who waits: users take turns, whatever one of them asks for at once. */
export interface Admission {
  /** A place in the queue, or why there is none. */
  enter<T>(wanted: Wanted<T>): Result<Ticket<T>, NoRoom>;
  /** Something became free besides an execution: who waits may go on. */
  look(): void;
  count(): { readonly running: number; readonly waiting: number };
}

export type Wanted<T> = {
  readonly owner: OwnerId;
  /** Takes what the execution needs besides a turn, or says whose limit is reached; `agent`: it waits for its own kind. */
  take(): { readonly taken: T } | Reason;
  /** Fires while it waits: it leaves the queue. */
  readonly signal: AbortSignal;
};

export type Ticket<T> = {
  /** Undefined: its signal fired before its turn came. */
  readonly ready: Promise<Result<T | undefined, NoRoom>>;
  /** Its execution is over, or nobody wants it any more. */
  leave(): void;
};

export type NoRoom = Failure<"sandbox_full" | "sandbox_busy">;
type Reason = "owner" | "machine" | "agent";

type Options = { readonly settings: SandboxSettings; readonly clock: Clock };

type Waiting = {
  readonly owner: OwnerId;
  /** What it could not take when it was last looked at. */
  reason: Reason;
  /** False: there is no room for it yet. */
  tryTake(): boolean;
};

type State = Options & {
  /** Users in the order of their next turns, each with what waits, oldest first. */
  readonly queues: Map<OwnerId, Waiting[]>;
  readonly running: Map<OwnerId, number>;
  /** How long executions take lately: tells when it is worth trying again. */
  meanMs: number;
};

export function openAdmission(options: Options): Admission {
  const state: State = { ...options, queues: new Map(), running: new Map(), meanMs: 2000 };
  return {
    enter: (wanted) => enter(state, wanted),
    look: () => look(state),
    count: () => ({ running: runningCount(state), waiting: waitingCount(state) }),
  };
}

function enter<T>(state: State, { owner, take, signal }: Wanted<T>): Result<Ticket<T>, NoRoom> {
  const { promise: ready, resolve } = Promise.withResolvers<Result<T | undefined, NoRoom>>();
  let stopTimer = () => {};
  let leave = () => {};
  const settle = (answer: Result<T | undefined, NoRoom>, next: () => void) => {
    signal.removeEventListener("abort", giveUp);
    stopTimer();
    leave = next;
    resolve(answer);
  };
  const waiting: Waiting = {
    owner,
    reason: "machine",
    tryTake() {
      const answer = take();
      if (typeof answer === "string") waiting.reason = answer;
      else settle(ok(answer.taken), begin(state, owner));
      return typeof answer !== "string";
    },
  };
  const quit = (answer: Result<undefined, NoRoom>) => {
    removeFromQueue(state, waiting);
    settle(answer, () => {});
  };
  const giveUp = () => quit(ok(undefined));

  if (signal.aborted) return ok({ ready: Promise.resolve(ok(undefined)), leave() {} });
  const ownBefore = state.queues.get(owner)?.length ?? 0;
  state.queues.set(owner, [...(state.queues.get(owner) ?? []), waiting]);
  leave = giveUp;
  look(state);
  if (isWaiting(state, waiting)) {
    const refused = refusalOf(state, waiting, ownBefore);
    if (refused !== undefined) {
      quit(ok(undefined));
      return refused;
    }
    signal.addEventListener("abort", giveUp, { once: true });
    const waitOn = () => {
      stopTimer = state.clock.after(state.settings.waitMsMax, () => {
        // The end of what it waits for is its user's own business.
        if (waiting.reason === "agent") waitOn();
        else quit(noRoom(state, waiting, { blocked: blockedBy(state, waiting), isQueueFull: false }));
      });
    };
    waitOn();
  }
  const leaveOnce = () => {
    const last = leave;
    leave = () => {};
    last();
  };
  return ok({ ready, leave: leaveOnce });
}

function isWaiting({ queues }: State, waiting: Waiting): boolean {
  return queues.get(waiting.owner)?.includes(waiting) ?? false;
}

function removeFromQueue({ queues }: State, waiting: Waiting): void {
  const left = (queues.get(waiting.owner) ?? []).filter((other) => other !== waiting);
  if (left.length === 0) queues.delete(waiting.owner);
  else queues.set(waiting.owner, left);
}

/** One user never has the whole queue. */
function refusalOf(state: State, waiting: Waiting, ownBefore: number) {
  const { waitingMax } = state.settings;
  const isOwnShare = waitingMax > 0 && ownBefore >= Math.ceil(waitingMax / 2);
  if (!isOwnShare && waitingCount(state) <= waitingMax) return undefined;
  const blocked = isOwnShare ? "owner" : blockedBy(state, waiting);
  return noRoom(state, waiting, { blocked, isQueueFull: waitingMax > 0 || waiting.reason === "agent" });
}

function blockedBy(state: State, { owner, reason }: Waiting): "owner" | "machine" {
  if (ofOwner(state, owner) >= state.settings.executionsPerOwnerMax) return "owner";
  if (runningCount(state) >= state.settings.executionsMax) return "machine";
  return reason === "machine" ? "machine" : "owner";
}

type Cause = { readonly blocked: "owner" | "machine"; readonly isQueueFull: boolean };

function noRoom(state: State, { owner }: Waiting, { blocked, isQueueFull }: Cause) {
  const { executionsPerOwnerMax, executionsMax, guestsPerOwnerMax } = state.settings;
  const own = state.queues.get(owner)?.length ?? 0;
  const [ahead, slots] = blocked === "owner" ? [own, executionsPerOwnerMax] : [waitingCount(state), executionsMax];
  const seconds = Math.ceil((state.meanMs * ahead) / Math.max(slots, 1) / 1000);
  const retryAfterSeconds = Math.min(Math.max(seconds, 1), retryAfterSecondsMax);
  if (blocked === "machine") return failure("sandbox_full", { retryAfterSeconds });
  const busy = (kind: keyof typeof settingFor, limit: number) =>
    failure("sandbox_busy", { kind, limit, setting: settingFor[kind], retryAfterSeconds });
  // Without the one that is refused.
  if (isQueueFull) return busy("waiting", ofOwner(state, owner) + own - 1);
  if (ofOwner(state, owner) >= executionsPerOwnerMax) return busy("running", executionsPerOwnerMax);
  return busy("sandboxes", guestsPerOwnerMax);
}

const retryAfterSecondsMax = 60;
/** What of a user there is enough of, and what allows more. */
const settingFor = {
  running: "sandbox.executions_per_user_max",
  waiting: "sandbox.waiting_max",
  sandboxes: "sandbox.guests_per_user_max",
} as const;

function look(state: State): void {
  while (admitOne(state)) {}
}

/** One more of the first user in turn who can have one; that user is the last in turn then. */
function admitOne(state: State): boolean {
  const { queues, settings } = state;
  if (runningCount(state) >= settings.executionsMax) return false;
  for (const [owner, queue] of queues) {
    if (ofOwner(state, owner) >= settings.executionsPerOwnerMax) continue;
    const next = takerOf(queue);
    if (next === undefined) continue;
    const others = queue.filter((waiting) => waiting !== next);
    queues.delete(owner);
    if (others.length > 0) queues.set(owner, others);
    return true;
  }
  return false;
}

/** The first one that could take what it needs. One that waits for a cell of its own agent keeps no other from it. */
function takerOf(queue: readonly Waiting[]): Waiting | undefined {
  for (const waiting of queue) {
    if (waiting.tryTake()) return waiting;
    if (waiting.reason !== "agent") return undefined;
  }
  return undefined;
}

/** The answer ends it. */
function begin(state: State, owner: OwnerId): () => void {
  const { running, clock } = state;
  const startedAt = clock.monotonic();
  running.set(owner, ofOwner(state, owner) + 1);
  return () => {
    state.meanMs += (clock.monotonic() - startedAt - state.meanMs) * newestShare;
    const left = ofOwner(state, owner) - 1;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
    look(state);
  };
}

const newestShare = 0.1;

function ofOwner({ running }: State, owner: OwnerId): number {
  return running.get(owner) ?? 0;
}

function runningCount({ running }: State): number {
  return [...running.values()].reduce((sum, count) => sum + count, 0);
}

function waitingCount({ queues }: State): number {
  return [...queues.values()].reduce((sum, queue) => sum + queue.length, 0);
}
