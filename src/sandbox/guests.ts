import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { Failure } from "../protocol/failure.ts";
import type { FileChange, Observation, Workspace } from "../workspace/workspace.ts";
import { type DiskWatch, openDiskWatch } from "./disk-watch.ts";
import type { Network } from "./network/network.ts";
import { openGuest } from "./open-guest.ts";
import type { Guest, SandboxProvider } from "./provider.ts";
import type { ProgramPlace, SandboxSettings, Session } from "./sandbox.ts";

/** The guests that live: one a workspace, whoever uses it. */
export interface Guests {
  /**
   * The guest at a place, started when there is none; it stays until it is released. Where there is no room, the one that
   * was idle for the longest makes some; where all are busy, the answer says whose limit is reached.
   */
  take(order: GuestOrder, python?: PythonUse | undefined): Held | NoGuest;
  /** Whether one may be started ahead of its use: few are at a time, and none in place of one that was used just now. */
  isWorthwhile(place: ProgramPlace): boolean;
  /** Forgets an agent's Python, where there is one. */
  reset(place: ProgramPlace): Promise<void>;
  /** Ends what runs in the background, and tells what was done to files since the last report. */
  endTurn(place: ProgramPlace): Promise<readonly FileChange[]>;
  /** Resolves when those that match are gone, those that are just being started included. */
  end(match: (place: ProgramPlace) => boolean, why: string): Promise<void>;
  /** The same for the one at this place. */
  endAt(place: ProgramPlace, why: string): Promise<void>;
  count(): number;
}

export type GuestOrder = { readonly place: ProgramPlace; readonly session: Pick<Session, "limits" | "env"> };

/** `isCell`: runs in it, which one at a time can. */
export type PythonUse = { readonly agent: string; readonly isCell: boolean };

/** Whose limit is reached; `agent`: a cell of the same agent runs. */
export type NoGuest = "owner" | "machine" | "agent";

/** A guest in use. */
export type Held = {
  readonly opened: Promise<Result<Guest, GuestFailure>>;
  readonly watch: DiskWatch | undefined;
  /** Programs ran here since the last turn ended: what they left may be at work. */
  isContinued(): boolean;
  /** What became of files, without what we wrote ourselves. */
  changes(observation: Observation): Promise<readonly FileChange[]>;
  /** We write this one: no program did. */
  ours(path: string): void;
  release(): void;
};

export type GuestFailure = Failure<
  | "sandbox_unavailable"
  | "sandbox_start_failed"
  | "sandbox_full"
  | "workspace_not_assigned"
  | "write_failed"
  | "quota_exceeded"
  | "path_invalid"
  | "path_traversal_blocked"
>;

export type GuestsOptions = {
  readonly provider: SandboxProvider;
  /** Resolves when nothing of earlier processes is left. */
  readonly reaped: Promise<void>;
  readonly settings: SandboxSettings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly network: Network;
  /** What was installed for a user's programs; undefined where nothing can be. */
  readonly folderOf: (owner: ProgramPlace["owner"]) => Promise<string | undefined>;
  /** Called when a guest sees the files of its place as we do, and when one did not and was not started. */
  readonly onMounted?: ((owner: ProgramPlace["owner"], isRight: boolean) => void) | undefined;
  /** Called when one is idle or gone: there may be room now. */
  readonly onRoom: () => void;
};

type Entry = {
  readonly key: string;
  readonly place: ProgramPlace;
  readonly opened: Promise<Result<Guest, GuestFailure>>;
  readonly watch: DiskWatch | undefined;
  /** By agent: how many executions use its Python, and when the last one ended. */
  readonly kernels: Map<string, Use>;
  readonly use: Use;
  /** The agents whose Python runs a cell. */
  readonly cells: Set<string>;
  /** Paths that we wrote and that no report told of yet. */
  readonly ours: Set<string>;
  observation: Observation | undefined;
  /** Programs ran since the last turn ended. */
  isContinued: boolean;
  /** While it is open. */
  guest: Guest | undefined;
  stopTimer: () => void;
};
type Use = { count: number; lastAt: number };

type State = GuestsOptions & {
  readonly live: Map<string, Entry>;
  readonly ending: Map<Promise<void>, ProgramPlace>;
  /** By key: what was done to files by programs whose guest is gone, and no turn told of yet. */
  readonly untold: Map<string, readonly FileChange[]>;
};

/** Workspaces with such changes: where programs are only run over HTTP, no turn ever ends. */
const untoldMax = 64;

/** Many conversations that begin at once would have their sandboxes started one after the other, each in place of another. */
const startsAheadMax = 4;
const idleMsMin = 60_000;

export function openGuests(options: GuestsOptions): Guests {
  const state: State = { ...options, live: new Map(), ending: new Map(), untold: new Map() };
  return {
    take(order, python) {
      const found = usable(state, order.place) ?? start(state, order);
      if (typeof found === "string") return found;
      return python?.isCell && found.cells.has(python.agent) ? "agent" : hold(state, found, python);
    },
    isWorthwhile(place) {
      if (state.live.has(keyOf(place))) return true;
      const starting = [...state.live.values()].filter(({ guest }) => guest === undefined);
      const room = roomFor(state, place);
      if (starting.length >= startsAheadMax || room === "owner" || room === "machine") return false;
      return room === "free" || state.clock.monotonic() - room.use.lastAt > idleMsMin;
    },
    async reset(place) {
      const entry = state.live.get(keyOf(place));
      if (entry === undefined) return;
      const opened = await entry.opened;
      if (opened.ok) await opened.value.reset(place.agent);
      if (entry.kernels.get(place.agent)?.count === 0) entry.kernels.delete(place.agent);
    },
    async endTurn(place) {
      const key = keyOf(place);
      const entry = state.live.get(key);
      const opened = await entry?.opened;
      if (opened?.ok) await opened.value.endTurn();
      // An agent's Python lives on, and a thread in it can write.
      if (entry?.use.count === 0 && entry.kernels.size === 0) entry.watch?.settle();
      // From here on changes are those of others: also of somebody who edits files on this machine between two turns.
      if (entry?.use.count === 0) entry.isContinued = false;
      const changes = entry?.observation === undefined ? [] : await changesOf(state, entry, entry.observation);
      await Promise.all([...state.ending].filter(([, other]) => keyOf(other) === key).map(([gone]) => gone));
      const earlier = state.untold.get(key) ?? [];
      state.untold.delete(key);
      return [...earlier, ...changes];
    },
    async end(match, why) {
      for (const entry of [...state.live.values()].filter(({ place }) => match(place)))
        void endEntry(state, entry, why);
      await Promise.all([...state.ending].filter(([, place]) => match(place)).map(([gone]) => gone));
    },
    async endAt(place, why) {
      const entry = state.live.get(keyOf(place));
      if (entry !== undefined) await endEntry(state, entry, why);
    },
    count: () => state.live.size,
  };
}

function keyOf({ owner, conversation, workspace }: ProgramPlace): string {
  return JSON.stringify([owner, conversation ?? null, workspace?.kind ?? null, workspace?.id ?? null]);
}

/** One that died under a program is there until its last process is gone; nobody waits for that. */
function usable(state: State, place: ProgramPlace): Entry | undefined {
  const entry = state.live.get(keyOf(place));
  if (entry?.guest?.isOpen() !== false) return entry;
  void endEntry(state, entry, "lost");
  return undefined;
}

/** Its room is taken before this answers: whoever asks next finds it. */
function start(state: State, { place, session }: GuestOrder): Entry | "owner" | "machine" {
  const room = roomFor(state, place);
  if (room === "owner" || room === "machine") return room;
  const made = room === "free" ? Promise.resolve() : endEntry(state, room, "room_needed");
  const entry: Entry = {
    key: keyOf(place),
    place,
    opened: made.then(() => state.reaped).then(() => openGuest(state, { place, session })),
    watch: place.workspace && watchOf(state, place.workspace, () => entry),
    kernels: new Map(),
    use: { count: 0, lastAt: state.clock.monotonic() },
    cells: new Set(),
    ours: new Set(),
    observation: undefined,
    isContinued: false,
    guest: undefined,
    stopTimer: () => {},
  };
  state.live.set(entry.key, entry);
  void entry.opened.then(async (opened) => {
    if (opened.ok) {
      entry.guest = opened.value;
      const { why } = await opened.value.ended;
      state.logger.debug("a sandbox ended", { guest: opened.value.id, why });
    }
    forget(state, entry);
    void settle(state, entry, keepUntold(state, entry));
  });
  return entry;
}

function roomFor({ live, settings }: State, { owner }: ProgramPlace): "free" | "owner" | "machine" | Entry {
  const own = [...live.values()].filter(({ place }) => place.owner === owner);
  if (own.length >= settings.guestsPerOwnerMax) return longestIdle(own) ?? "owner";
  if (live.size >= settings.guestsMax) return longestIdle([...live.values()]) ?? "machine";
  return "free";
}

function longestIdle(entries: readonly Entry[]): Entry | undefined {
  const idle = entries.filter(({ guest, use }) => guest !== undefined && use.count === 0);
  return idle.toSorted((a, b) => a.use.lastAt - b.use.lastAt)[0];
}

function watchOf(state: State, workspace: Workspace, entry: () => Entry): DiskWatch {
  return openDiskWatch({
    ...{ workspace, clock: state.clock, logger: state.logger },
    async unnamedBytes() {
      const opened = await entry().opened;
      return opened.ok ? opened.value.unnamedBytes() : 0;
    },
    onDiskFull: () => endGreediest(state, entry()),
    async endBackground() {
      const opened = await entry().opened;
      if (opened.ok) await opened.value.endTurn({ all: true });
    },
    endGuest: () => void endEntry(state, entry(), "disk_full"),
  });
}

/** Who took the most has to make room, not who noticed first; where nobody took anything, who noticed is the next best. */
async function endGreediest({ live }: State, noticed: Entry): Promise<void> {
  const watches = [noticed, ...live.values()].flatMap(({ watch }) => (watch === undefined ? [] : [watch]));
  const [greediest] = watches.toSorted((a, b) => b.grownBytes() - a.grownBytes());
  await greediest?.end();
}

function forget({ live, onRoom }: State, entry: Entry): void {
  if (live.get(entry.key) === entry) live.delete(entry.key);
  entry.guest = undefined;
  entry.stopTimer();
  entry.watch?.stop();
  onRoom();
}

function endEntry(state: State, entry: Entry, why: string): Promise<void> {
  if (state.live.get(entry.key) === entry) state.live.delete(entry.key);
  entry.stopTimer();
  entry.watch?.stop();
  // Nobody will ask any more, or there will be nothing to look at.
  if (why === "closed" || why === "left") entry.observation = undefined;
  const gone = entry.opened.then(async (opened) => {
    if (opened.ok) await opened.value.close(why);
  });
  // Whoever needs the room does not wait for this.
  void settle(
    state,
    entry,
    gone.then(() => keepUntold(state, entry)),
  );
  return settle(state, entry, gone);
}

/** Never rejects: whoever waits for its end goes on. */
function settle({ ending, logger }: State, { place }: Entry, work: Promise<void>): Promise<void> {
  const done = inBackground(logger, "a sandbox could not be ended", work);
  ending.set(done, place);
  return done.finally(() => ending.delete(done));
}

/** What was left in the background did this to files before the guest was gone; a program that just ends tells it itself. */
async function keepUntold(state: State, entry: Entry): Promise<void> {
  if (entry.observation === undefined || entry.use.count > 0) return;
  const changes = await changesOf(state, entry, entry.observation);
  if (changes.length === 0) return;
  const { untold } = state;
  untold.set(entry.key, [...(untold.get(entry.key) ?? []), ...changes]);
  for (const key of [...untold.keys()].slice(0, Math.max(untold.size - untoldMax, 0))) untold.delete(key);
}

function hold(state: State, entry: Entry, python: PythonUse | undefined): Held {
  const uses = [entry.use, ...(python === undefined ? [] : [kernelOf(entry, python.agent)])];
  for (const use of uses) use.count += 1;
  if (python?.isCell) entry.cells.add(python.agent);
  let isHeld = true;
  return {
    opened: entry.opened,
    watch: entry.watch,
    isContinued: () => entry.isContinued,
    changes(observation) {
      // Where the guest is gone this is the last word.
      if (state.live.get(entry.key) === entry) entry.observation = observation;
      entry.isContinued = true;
      return changesOf(state, entry, observation);
    },
    ours: (path) => void entry.ours.add(path),
    release() {
      if (!isHeld) return;
      isHeld = false;
      for (const use of uses) Object.assign(use, { count: use.count - 1, lastAt: state.clock.monotonic() });
      if (python?.isCell) entry.cells.delete(python.agent);
      if (state.live.get(entry.key) === entry) arm(state, entry);
      state.onRoom();
    },
  };
}

function kernelOf({ kernels }: Entry, agent: string): Use {
  const kernel = kernels.get(agent) ?? { count: 0, lastAt: 0 };
  kernels.set(agent, kernel);
  return kernel;
}

/** Each change is told once, so what we wrote is known by its first report. */
async function changesOf({ logger }: State, { ours }: Entry, observation: Observation): Promise<readonly FileChange[]> {
  const changes = await observation.changes();
  if (!changes.ok) {
    logger.warn("what a program did to files could not be told", { code: changes.failure.code });
    return [];
  }
  return changes.value.filter(({ path }) => !ours.delete(path));
}

/** Wakes when the next Python, or the guest itself, was idle for long enough. */
function arm(state: State, entry: Entry): void {
  const { clock, settings } = state;
  entry.stopTimer();
  const dues = [...entry.kernels.values()]
    .filter(({ count }) => count === 0)
    .map(({ lastAt }) => lastAt + settings.kernelIdleMs);
  if (entry.use.count === 0) dues.push(entry.use.lastAt + settings.guestIdleMs);
  if (dues.length === 0) return;
  entry.stopTimer = clock.after(Math.max(Math.min(...dues) - clock.monotonic(), 0), () => dropIdle(state, entry));
}

function dropIdle(state: State, entry: Entry): void {
  const now = state.clock.monotonic();
  const { kernelIdleMs, guestIdleMs } = state.settings;
  if (entry.use.count === 0 && now - entry.use.lastAt >= guestIdleMs) return void endEntry(state, entry, "idle");
  for (const [agent, kernel] of entry.kernels) {
    if (kernel.count > 0 || now - kernel.lastAt < kernelIdleMs) continue;
    entry.kernels.delete(agent);
    void entry.opened.then((opened) => (opened.ok ? opened.value.reset(agent) : undefined));
  }
  arm(state, entry);
}
