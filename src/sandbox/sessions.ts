import { inBackground, whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Homes } from "../homes/homes.ts";
import type { Logger, Tracer } from "../observe/observe.ts";
import { failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { type Storage, toldTopics } from "../storage/storage.ts";
import type { Words } from "../words/words.ts";
import { defaultDomain, ensureSession } from "./ensure-session.ts";
import { unavailable } from "./open-guest.ts";
import type { Probe, SandboxProvider } from "./provider.ts";
import type { NewSession, SandboxSettings, Session, SessionFailure, SessionPackages, Sessions } from "./sandbox.ts";
import { tightenLimits, tightenUploads } from "./tighten.ts";
import { type KeptSession, type RowFailure, rowFailure, sessionOf, sessionRow } from "./to-rows.ts";

/** The sessions, and what only the sandbox itself may do with them. */
export interface OwnSessions extends Sessions {
  /** It was used until now. */
  touch(owner: OwnerId): void;
  /** Whether the last guest of this user saw the files of its place: a session without files is none. */
  noteMount(owner: OwnerId, isRight: boolean): void;
  /** What became of the packages of this one; undefined where it is no more. */
  notePackages(of: SessionNoted, packages: SessionPackages): Promise<Result<Session | undefined, RowFailure>>;
  /** Ends those whose time is over, those of earlier processes included. */
  sweep(): Promise<void>;
  /** Writes down when each was used. */
  close(): Promise<void>;
}

type SessionNoted = Pick<Session, "owner" | "createdAt">;

export type SessionsOptions = {
  readonly provider: Pick<SandboxProvider, "probe">;
  readonly storage: Storage;
  readonly homes: Homes;
  readonly settings: SandboxSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Pick<Tracer, "start"> | undefined;
  /** A program of this user runs or waits. */
  readonly isActive: (owner: OwnerId) => boolean;
  /** Resolves when nothing of this user runs any more and no guest is left. */
  readonly endAll: (owner: OwnerId, why: string) => Promise<void>;
  readonly endGuests: (owner: OwnerId, why: string) => Promise<void>;
  /** The row of this user is gone, with all records of executions. */
  readonly onForgotten: (owner: OwnerId) => Promise<void>;
  /** A new one takes the place of one that was there: what was installed for that one is not for this one. */
  readonly onReplaced: (owner: OwnerId) => Promise<void>;
  readonly isInstalling: (owner: OwnerId) => boolean;
  readonly words: Words;
};

type State = SessionsOptions & {
  /** Those that are alive and were used by this process. */
  readonly live: Map<OwnerId, Live>;
  readonly lastWork: Map<OwnerId, Promise<unknown>>;
  /** Whose last guest did not see the files that are there. */
  readonly astray: Set<OwnerId>;
};
type Live = {
  kept: KeptSession;
  /** The session that programs here belong to; `kept` may be a later one, which another server has made. */
  readonly began: Pick<KeptSession, "generation" | "createdAt">;
  storedAt: number;
  stopTimer: () => void;
};

/** How much later than its last use a row may say that it was used. */
const storeEveryMs = 60_000;
/** How often is looked whether a program that outlives its session's time is over. */
const outlivedEveryMs = 1000;

export function openSessions(options: SessionsOptions): OwnSessions {
  const state: State = { ...options, live: new Map(), lastWork: new Map(), astray: new Set() };
  const find = async (owner: OwnerId) => {
    const kept = await keptOf(state, owner);
    return kept && viewOf(state, kept, await state.provider.probe());
  };
  const deaf = state.storage.onTold(({ topic, key }) => {
    const meant = [...state.live.keys()].filter(
      (owner) => topic === toldTopics.gap || (topic === endTopic && key === owner),
    );
    for (const owner of meant) {
      const heard = inTurn(state, owner, () => endIfReplaced(state, owner));
      void inBackground(state.logger, "a session that ended elsewhere was not ended here", heard);
    }
  });
  const createOne: Sessions["create"] = (owner, wanted) => inTurn(state, owner, () => create(state, owner, wanted));
  return {
    create: createOne,
    find,
    async list(owner) {
      const session = await find(owner);
      return session === undefined ? [] : [session];
    },
    count: () => count(state),
    async use(owner) {
      const live = aliveOf(state, owner);
      if (live === undefined) return inTurn(state, owner, () => use(state, owner));
      touch(state, live);
      return ok(viewOf(state, live.kept, await state.provider.probe()));
    },
    async ensure(owner, { businessDomain = defaultDomain, ...rest }) {
      const wanted = { ...rest, businessDomain };
      const ensured = await ensureSession({ find, create: createOne }, { ...state, ...wanted, owner });
      if (ensured.ok) await inTurn(state, owner, () => noteFirst(state, owner, wanted));
      return ensured;
    },
    stop: (owner, { forget = false } = {}) => inTurn(state, owner, () => stop(state, owner, forget)),
    touch(owner) {
      const live = state.live.get(owner);
      if (live !== undefined) touch(state, live);
    },
    noteMount(owner, isRight) {
      if (isRight) state.astray.delete(owner);
      else state.astray.add(owner);
    },
    notePackages: (of, packages) => inTurn(state, of.owner, () => notePackages(state, of, packages)),
    sweep: () => sweep(state),
    async close() {
      deaf();
      for (const { stopTimer } of state.live.values()) stopTimer();
      const unstored = [...state.live.values()].filter(({ kept, storedAt }) => kept.usedAt > storedAt);
      // Side by side: a storage that is away is waited for once, not by each of them.
      await Promise.all(unstored.map(({ kept }) => inBackground(state.logger, unnoted, noteUse(state, kept))));
      state.live.clear();
    },
  };
}

async function count(state: State): Promise<Record<string, number>> {
  const probe = await state.provider.probe();
  const counts: Record<string, number> = { running: 0, stopped: 0, error: 0 };
  for (const row of await state.storage.listSessions(sweptMax)) {
    const kept = state.live.get(row.owner)?.kept ?? sessionOf(row);
    if (kept === undefined) continue;
    const { status } = viewOf(state, kept, probe);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** What changes the session of a user happens one after another; twenty uses at once make one. */
function inTurn<T>({ lastWork }: State, owner: OwnerId, work: () => Promise<T>): Promise<T> {
  const mine = (lastWork.get(owner) ?? Promise.resolve()).then(work);
  const settled = whenOver(mine);
  lastWork.set(owner, settled);
  void settled.then(() => {
    if (lastWork.get(owner) === settled) lastWork.delete(owner);
  });
  return mine;
}

async function create(state: State, owner: OwnerId, wanted: NewSession): Promise<Result<Session, SessionFailure>> {
  const probe = await state.provider.probe();
  const [lack] = probe.missing;
  if (lack !== undefined) return unavailable(lack);
  const before = await keptOf(state, owner);
  if (before !== undefined && isAlive(state, before) && !state.astray.delete(owner)) {
    const asked = wanted.id === undefined || wanted.id === before.id ? {} : { asked: wanted.id };
    return failure("session_exists", { id: before.id, ...asked });
  }
  await state.endGuests(owner, "session_created");
  const now = state.clock.now();
  const { id = before?.id ?? `sb-session-${owner}`, uploads = {}, limits = {}, env = {}, ...rest } = wanted;
  const times = { createdAt: now, updatedAt: now, usedAt: now, endedAt: undefined };
  const generation = (before?.generation ?? 0) + 1;
  const kept: KeptSession = { ...rest, ...times, owner, id, uploads, limits, env, generation, status: "running" };
  const begun = await begin(state, kept, probe);
  if (begun.ok) await state.onReplaced(owner);
  if (before !== undefined) await tellEnded(state, owner);
  return begun;
}

/** Written first, then told. */
async function begin(state: State, kept: KeptSession, probe: Probe): Promise<Result<Session, RowFailure>> {
  const stored = await state.storage.putSession(sessionRow(kept));
  if (!stored.ok) return rowFailure(stored.failure);
  const live: Live = { kept, began: kept, storedAt: kept.usedAt, stopTimer: () => {} };
  state.live.get(kept.owner)?.stopTimer();
  state.live.set(kept.owner, live);
  armExpiry(state, live);
  return ok(viewOf(state, kept, probe));
}

async function use(state: State, owner: OwnerId): Promise<Result<Session, RowFailure>> {
  const probe = await state.provider.probe();
  const kept = await keptOf(state, owner);
  const known = state.live.get(owner);
  if (known !== undefined && !isSame(known.began, kept)) await state.endAll(owner, "stopped");
  const now = state.clock.now();
  if (kept === undefined) return begin(state, newSession(owner, now), probe);
  if (isAlive(state, kept)) return begin(state, { ...kept, usedAt: now }, probe);
  // Guests of the time before it was revived: the timer that would have ended them comes a moment later.
  await state.endGuests(owner, "session_expired");
  const revived = { status: "running", endedAt: undefined, updatedAt: now, usedAt: now } as const;
  return begin(state, { ...kept, ...revived, generation: kept.generation + 1 }, probe);
}

function newSession(owner: OwnerId, now: number): KeptSession {
  const times = { createdAt: now, updatedAt: now, usedAt: now, endedAt: undefined };
  const settings = { uploads: {}, limits: {}, env: {} };
  return { owner, id: `sb-session-${owner}`, status: "running", dialect: "seed", generation: 1, ...times, ...settings };
}

async function stop(
  state: State,
  owner: OwnerId,
  forget: boolean,
): Promise<Result<Session | undefined, SessionFailure>> {
  await state.endAll(owner, "stopped");
  const kept = await keptOf(state, owner);
  if (kept === undefined) return ok(undefined);
  const now = state.clock.now();
  const stopped: KeptSession = isAlive(state, kept)
    ? { ...kept, status: "stopped", endedAt: now, updatedAt: now }
    : kept;
  const stored = await (forget ? state.storage.forgetSession(owner) : state.storage.putSession(sessionRow(stopped)));
  if (!stored.ok) return rowFailure(stored.failure);
  state.astray.delete(owner);
  await tellEnded(state, owner);
  if (forget) await state.onForgotten(owner);
  state.live.get(owner)?.stopTimer();
  state.live.delete(owner);
  return ok(viewOf(state, stopped, await state.provider.probe()));
}

/** An upload may have made it before anybody said for which agent and domain it is; the first who does counts. */
async function noteFirst(state: State, owner: OwnerId, wanted: Pick<NewSession, "agentId" | "businessDomain">) {
  const kept = await keptOf(state, owner);
  const isKnown = kept?.agentId !== undefined && kept.businessDomain !== undefined;
  if (kept === undefined || isKnown) return;
  const { agentId = wanted.agentId, businessDomain = wanted.businessDomain } = kept;
  await noteInRow(state, { ...kept, agentId, businessDomain });
}

/** Not in the row of one that was made anew meanwhile: what was installed went with the one before. */
async function notePackages(
  state: State,
  { owner, createdAt }: SessionNoted,
  packages: SessionPackages,
): Promise<Result<Session | undefined, RowFailure>> {
  const kept = await keptOf(state, owner);
  if (kept?.createdAt !== createdAt) return ok(undefined);
  const changed = { ...kept, packages, updatedAt: state.clock.now() };
  const stored = await noteInRow(state, changed);
  return stored.ok ? ok(viewOf(state, changed, await state.provider.probe())) : stored;
}

async function noteInRow(state: State, changed: KeptSession): Promise<Result<void, RowFailure>> {
  const stored = await state.storage.putSession(sessionRow(changed));
  if (!stored.ok) return rowFailure(stored.failure);
  const live = state.live.get(changed.owner);
  if (live !== undefined) live.kept = changed;
  return ok(undefined);
}

async function keptOf({ live, storage, homes }: State, owner: OwnerId): Promise<KeptSession | undefined> {
  const known = live.get(owner);
  if (known !== undefined && !homes.isShared) return known.kept;
  const row = await storage.findSession(owner);
  const kept = row && sessionOf(row);
  if (known === undefined || kept === undefined) return kept;
  // Another server has programs of the same user, and may have noted something since.
  known.kept = { ...kept, usedAt: Math.max(kept.usedAt, known.kept.usedAt) };
  return known.kept;
}

/** Told to other servers that have programs of this user: its session ended, or another one has taken its place. */
const endTopic = "session ended";

async function tellEnded({ storage, logger }: State, owner: OwnerId): Promise<void> {
  const told = await storage.tell(endTopic, owner);
  if (!told.ok) logger.warn("the end of a session was not told to other servers", { code: told.failure.code });
}

async function endIfReplaced(state: State, owner: OwnerId): Promise<void> {
  const known = state.live.get(owner);
  if (known === undefined) return;
  const row = await state.storage.findSession(owner);
  const kept = row && sessionOf(row);
  if (kept?.status === "running" && isSame(known.began, kept)) return;
  await state.endAll(owner, "stopped");
  known.stopTimer();
  state.live.delete(owner);
}

/** One that was deleted and made anew counts its generations from the first again. */
function isSame({ generation, createdAt }: Live["began"], other: KeptSession | undefined): boolean {
  return other?.generation === generation && other.createdAt === createdAt;
}

function aliveOf(state: State, owner: OwnerId): Live | undefined {
  const live = state.live.get(owner);
  return live !== undefined && isAlive(state, live.kept) && !state.lastWork.has(owner) ? live : undefined;
}

function isAlive({ clock, settings, isActive }: State, { owner, status, usedAt }: KeptSession): boolean {
  return status === "running" && (clock.now() < usedAt + settings.ttlMs || isActive(owner));
}

/** What counts today: never more than the configuration of today allows. */
function viewOf(state: State, kept: KeptSession, { missing, degraded }: Probe): Session {
  const { settings } = state;
  const { owner, id, dialect, createdAt, updatedAt, usedAt, generation, env } = kept;
  const isExpired = kept.status === "running" && !isAlive(state, kept);
  const error =
    missing.length > 0 ? "sandbox_unavailable" : state.astray.has(owner) ? "sandbox_start_failed" : undefined;
  const isBroken = kept.status === "running" && !isExpired && error !== undefined;
  return {
    ...{ id, owner, dialect, createdAt, updatedAt, usedAt, generation, env },
    status: isBroken ? "error" : isExpired ? "stopped" : kept.status,
    error: isBroken ? error : undefined,
    endedAt: isExpired ? usedAt + settings.ttlMs : kept.endedAt,
    ttlMs: settings.ttlMs,
    agentId: kept.agentId,
    businessDomain: kept.businessDomain,
    templateId: kept.templateId,
    uploads: tightenUploads(settings.uploads, kept.uploads),
    limits: tightenLimits(settings.limits, kept.limits),
    executionTimeoutMs: Math.min(kept.executionTimeoutMs ?? Number.POSITIVE_INFINITY, settings.executionTimeoutMsMax),
    packages: kept.packages && packagesOf(state, owner, kept.packages),
    degraded: [...missing, ...degraded],
  };
}

/** One that nobody works on any more did not come to its end. */
function packagesOf(
  { isInstalling, words }: State,
  owner: OwnerId,
  { error, endedAt, requested, current, ...packages }: NonNullable<KeptSession["packages"]>,
): SessionPackages {
  const asked = (all: typeof requested) => all.map(({ manager, name, version }) => ({ manager, name, version }));
  const known = { ...packages, error, endedAt, requested: asked(requested), current: asked(current) };
  if (packages.status !== "installing" || isInstalling(owner)) return known;
  return { ...known, status: "failed", error: words.sandbox.ends.restarted };
}

function touch(state: State, live: Live): void {
  const { clock, logger } = state;
  const now = clock.now();
  if (now <= live.kept.usedAt) return;
  live.kept = { ...live.kept, usedAt: now };
  if (now - live.storedAt < storeEveryMs) return;
  live.storedAt = now;
  void inBackground(logger, unnoted, noteUse(state, live.kept));
}

const unnoted = "the use of a session could not be written down";

async function noteUse({ storage, logger }: State, { owner, usedAt }: KeptSession): Promise<void> {
  const stored = await storage.touchSession(owner, usedAt);
  if (!stored.ok) logger.warn(unnoted, { code: stored.failure.code });
}

function armExpiry(state: State, live: Live): void {
  const restMs = live.kept.usedAt + state.settings.ttlMs - state.clock.now();
  live.stopTimer = state.clock.after(restMs > 0 ? restMs : outlivedEveryMs, () => {
    if (isAlive(state, live.kept)) {
      // Other servers see by the row that it lives on.
      if (state.homes.isShared && state.isActive(live.kept.owner)) touch(state, live);
      return armExpiry(state, live);
    }
    const expired = inTurn(state, live.kept.owner, () => expire(state, live));
    void inBackground(state.logger, "a session could not be ended", expired);
  });
}

async function expire(state: State, live: Live): Promise<void> {
  const { owner } = live.kept;
  if (state.live.get(owner) !== live) return;
  // Somewhere else it may have been used later.
  if (state.homes.isShared) await keptOf(state, owner);
  if (isAlive(state, live.kept)) return armExpiry(state, live);
  await state.endAll(owner, "session_expired");
  await writeExpired(state, live.kept);
  live.stopTimer();
  state.live.delete(owner);
}

/** Where it cannot be written its time is over all the same: that is told by when it was used. */
async function writeExpired({ settings, clock, storage, logger }: State, kept: KeptSession): Promise<void> {
  const ended = { status: "stopped", endedAt: kept.usedAt + settings.ttlMs, updatedAt: clock.now() } as const;
  const stored = await storage.putSession(sessionRow({ ...kept, ...ended }));
  if (!stored.ok) logger.warn("the end of a session could not be written down", { code: stored.failure.code });
}

async function sweep(state: State): Promise<void> {
  for (const row of await state.storage.listSessions(sweptMax)) {
    await inTurn(state, row.owner, async () => {
      const live = state.live.get(row.owner);
      if (live !== undefined) return isAlive(state, live.kept) ? undefined : expire(state, live);
      const kept = await keptOf(state, row.owner);
      if (kept?.status === "running" && !isAlive(state, kept)) await writeExpired(state, kept);
    });
  }
}

const sweptMax = 10_000;
