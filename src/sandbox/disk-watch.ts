import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../observe/observe.ts";
import type { Measured, Workspace } from "../workspace/workspace.ts";

/** Looks after the room that the programs of one guest take up. One for all of them, however many run at once. */
export interface DiskWatch {
  /** `measured`: what is there before it begins. The answer says that the program is over, and what it left. */
  begin(program: WatchedProgram, measured?: Measured): (measured?: Measured) => void;
  /** Nothing runs in the background any more. */
  settle(): void;
  /** How much more there is than there was at any time of the last minute, as far as anybody looked. */
  grownBytes(): number;
  /** Ends what may be writing. */
  end(): Promise<void>;
  stop(): void;
}

export type WatchedProgram = {
  /** There is no room left. */
  onOver(): void;
  /** Another one runs in the same files at the same time. */
  onCompany?(): void;
};

type Options = {
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What files without a name take up: no folder tells of them. */
  unnamedBytes(): Promise<number>;
  /** The disk below is full, for whatever reason: decides who is ended. */
  onDiskFull(): Promise<void>;
  /** Ends what earlier programs left running. */
  endBackground(): Promise<void>;
  endGuest(): void;
};

const everyMs = 1000;
/** While only what was left in the background could write, most looks are left out. */
const idleTicks = 5;

type State = Options & {
  readonly programs: Set<WatchedProgram>;
  /** What may be there: its limits, or more where there was more before. Undefined: the limits. */
  level: Level | undefined;
  /** At the last looks, the newest one last. */
  bytes: number[];
  isStopped: boolean;
  /** Nothing can write any more until the next program. */
  isSettled: boolean;
  isTicking: boolean;
  ticks: number;
  stopTimer: () => void;
};

type Level = { readonly bytes: number; readonly files: number };

export function openDiskWatch(options: Options): DiskWatch {
  const state: State = {
    ...options,
    programs: new Set(),
    level: undefined,
    bytes: [],
    isStopped: false,
    isSettled: true,
    isTicking: false,
    ticks: 0,
    stopTimer: () => {},
  };
  return {
    begin(program, measured) {
      const { programs } = state;
      note(state, measured);
      if (measured !== undefined) remember(state, measured);
      programs.add(program);
      if (programs.size > 1) for (const other of programs) other.onCompany?.();
      state.isSettled = false;
      tick(state);
      return (left) => {
        programs.delete(program);
        note(state, left);
      };
    },
    settle() {
      state.isSettled = true;
    },
    grownBytes: () => Math.max(0, (state.bytes.at(-1) ?? 0) - Math.min(...state.bytes)),
    end: () => end(state),
    stop() {
      state.isStopped = true;
      state.stopTimer();
    },
  };
}

function remember({ bytes }: State, measured: Measured): void {
  bytes.push(measured.bytes);
  if (bytes.length > looksRemembered) bytes.shift();
}

const looksRemembered = 60;

/** What one program leaves there the next may find. While one runs it is looked at only: many would raise it for each other. */
function note(state: State, measured: Measured | undefined): void {
  if (measured !== undefined && state.programs.size === 0) state.level = levelOf(measured);
}

/** Who finds the workspace too full must be able to make room: only what comes on top is too much. */
function levelOf({ bytes, files, folders, bytesMax, filesMax }: Measured): Level {
  return { bytes: Math.max(bytes, bytesMax), files: Math.max(files, folders, filesMax) };
}

function tick(state: State): void {
  const { programs, clock } = state;
  if (state.isTicking || state.isStopped || (programs.size === 0 && state.isSettled)) return;
  state.isTicking = true;
  state.stopTimer = clock.after(everyMs, () => {
    state.ticks += 1;
    const isDue = programs.size > 0 || state.ticks % idleTicks === 0;
    const looked = isDue ? look(state) : Promise.resolve();
    void inBackground(state.logger, "a workspace could not be measured", looked).then(() => {
      state.isTicking = false;
      tick(state);
    });
  });
}

/** Where nothing runs, only the end of the guest stops what writes: a thread in an agent's Python, for one. */
async function look(state: State): Promise<void> {
  const { workspace, logger } = state;
  const unnamedBytes = await state.unnamedBytes();
  const measured = await workspace.measure({ moreBytes: unnamedBytes });
  if (!measured.ok) return logger.warn("a workspace could not be measured", { code: measured.failure.code });
  const isOver = isTooMuch(measured.value, state.level);
  // What was freed may not be taken again.
  state.level = levelOf(measured.value);
  remember(state, measured.value);
  if (!isOver || state.isStopped) return;
  if (measured.value.over === "disk") return state.onDiskFull();
  await end(state);
  // Whoever holds a file without a name may be none of those that were ended.
  if (unnamedBytes > 0 && measured.value.bytes - unnamedBytes <= measured.value.bytesMax) state.endGuest();
}

async function end({ programs, endGuest, endBackground }: State): Promise<void> {
  if (programs.size === 0) return endGuest();
  for (const { onOver } of [...programs]) onOver();
  await endBackground();
}

function isTooMuch(measured: Measured, known: Level | undefined): boolean {
  const { bytes, files, folders, over, isFarOver, bytesMax, filesMax } = measured;
  const level = known ?? { bytes: bytesMax, files: filesMax };
  const isMore = bytes > level.bytes || Math.max(files, folders) > level.files;
  return over === "disk" || isFarOver || (over !== undefined && isMore);
}
