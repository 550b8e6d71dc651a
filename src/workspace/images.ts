import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { readFile, rm, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { DiskFault } from "../words/words.ts";
import type { Books } from "./books.ts";
import { syncAndClose } from "./descend.ts";
import { attemptDisk } from "./faults.ts";
import { fillImage, mountImage, runProgram, sizesOf } from "./image-programs.ts";
import type { Layout } from "./layout.ts";
import { type Locks, openLocks } from "./locks.ts";
import type { WorkspaceLimits } from "./one-workspace.ts";
import { removeTree } from "./remove-tree.ts";

/**
 * Workspaces that are file systems of their own: an ext4 image in `images/`, which is mounted in `mounted/` while
 * somebody uses it, and shown at the place where a folder would be. Names are those of rows: `workspace/{id}`.
 */
export interface Images {
  has(name: string): boolean;
  /** Where the files of an image are once it is mounted. */
  foldersOf(name: string): ImageFolders;
  /**
   * Mounts it, unless it is mounted; undefined when there is none. Cheap when it is, and until the caller waits for
   * something else it stays so; then whatever is open in it keeps it.
   */
  open(name: string): Promise<Result<ImageFolders | undefined, DiskFault>>;
  /** Makes one that has in it what is laid out; one that is there stays as it is. */
  make(name: string, layOut: (folder: string) => void): Promise<Result<void, DiskFault>>;
  /**
   * Gives it another name. False: somebody works with it, or the name is taken. `moved` is called before anybody else
   * gets at either name. One at a time.
   */
  move(from: string, to: string, moved?: () => Promise<void>): Promise<Result<boolean, DiskFault>>;
  /** With everything in it, at once, whoever works with it. */
  remove(name: string): Promise<Result<void, DiskFault>>;
  /** Takes all mounts away. */
  close(): Promise<void>;
}

export type ImageFolders = {
  readonly files: string;
  /** On the same file system, seen by nobody else. */
  readonly staging: string;
  /** On the disk that the image itself lies on. */
  readonly disk: string;
};

export type ImagesOptions = {
  readonly layout: Layout;
  readonly limits: WorkspaceLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly books: Books;
  /** Mounted at the same time; beyond that the one that was used the longest ago goes. */
  readonly mountedMax?: number;
};

/** After so long without use it is unmounted. */
const idleMs = 600_000;
/** Where nothing else is said. */
const usuallyMountedMax = 256;

type State = ImagesOptions & {
  /** When it was last used, the longest ago first. */
  readonly mounted: Map<string, number>;
  readonly locks: Locks;
  /** Resolves when nothing of an earlier process is mounted. */
  readonly reaped: Promise<void>;
  stopTimer: (() => void) | undefined;
  isClosed: boolean;
};

export function openImages(options: ImagesOptions): Images {
  const locks = openLocks();
  const reaped = reap(options);
  const state: State = { ...options, locks, reaped, mounted: new Map(), stopTimer: undefined, isClosed: false };
  return {
    has: (name) => existsSync(imageOf(options, name)),
    foldersOf: (name) => foldersOf(options, name),
    async open(name) {
      if (isMounted(state, name)) return ok(use(state, name));
      if (!existsSync(imageOf(options, name))) return ok(undefined);
      await reaped;
      return locks(name, async () => {
        if (!existsSync(imageOf(options, name))) return ok(undefined);
        const done = isMounted(state, name) ? ok(undefined) : await mount(state, name);
        return done.ok ? ok(use(state, name)) : done;
      });
    },
    make: (name, layOut) => locks(name, () => make(options, name, layOut)),
    move: (from, to, moved) => locks(from, () => locks(to, () => move(state, { from, to, moved }))),
    remove: (name) =>
      locks(name, async () => {
        await reaped;
        await unmount(state, name, { isForced: true });
        return attemptDisk(async () => {
          // A sandbox of somebody else may have been started while it was mounted: it holds the image until it ends.
          if (existsSync(imageOf(options, name))) await truncate(imageOf(options, name));
          await rm(imageOf(options, name), { force: true });
        });
      }),
    async close() {
      state.isClosed = true;
      state.stopTimer?.();
      await reaped;
      const places = [...state.mounted.keys()].flatMap((name) => placesOf(options, name));
      state.mounted.clear();
      await takeAway(places);
    },
  };
}

type Ground = Pick<ImagesOptions, "layout">;

function imageOf({ layout }: Ground, name: string): string {
  return join(layout.dataDir, "images", name);
}

function mountOf({ layout }: Ground, name: string): string {
  return join(layout.dataDir, "mounted", name);
}

/** Where people look for the files of a workspace; what lies in the trash is shown nowhere. */
function viewOf({ layout }: Ground, name: string): string | undefined {
  return name.startsWith("workspace") ? layout.hostPath(name) : undefined;
}

/** The files are one level deeper, so that there is a place beside them that no program sees. */
function foldersOf(ground: Ground, name: string): ImageFolders {
  const mounted = mountOf(ground, name);
  return { files: join(mounted, "files"), staging: join(mounted, "staging"), disk: dirname(imageOf(ground, name)) };
}

/** Somebody else may have unmounted it. */
function isMounted(state: State, name: string): boolean {
  return state.mounted.has(name) && existsSync(foldersOf(state, name).files);
}

function use(state: State, name: string): ImageFolders {
  const { mounted, mountedMax = usuallyMountedMax } = state;
  note(state, name, state.clock.monotonic());
  const [oldest] = mounted.keys();
  if (mounted.size > mountedMax && oldest !== undefined) void state.locks(oldest, () => unmount(state, oldest));
  return foldersOf(state, name);
}

function note(state: State, name: string, usedAt: number): void {
  state.mounted.delete(name);
  state.mounted.set(name, usedAt);
  state.stopTimer ??= state.clock.after(idleMs, () => dropIdle(state));
}

function dropIdle(state: State): void {
  const { mounted, clock, locks } = state;
  state.stopTimer = mounted.size === 0 ? undefined : clock.after(idleMs, () => dropIdle(state));
  const isIdle = (name: string) => clock.monotonic() - (mounted.get(name) ?? clock.monotonic()) >= idleMs;
  for (const name of mounted.keys())
    if (isIdle(name)) void locks(name, async () => void (isIdle(name) && (await unmount(state, name))));
}

async function mount(state: State, name: string): Promise<Result<void, DiskFault>> {
  if (state.isClosed) return failed("broken_off");
  const [folder, view] = [mountOf(state, name), viewOf(state, name)];
  const ready = await attemptDisk(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (view === undefined) return;
    mkdirSync(dirname(view), { recursive: true, mode: 0o700 });
    mkdirSync(view, { recursive: true, mode: 0o755 });
  });
  if (!ready.ok) return ready;
  const mounted = await mountImage(imageOf(state, name), folder);
  if (!mounted.ok) return refused(state, name, mounted.failure);
  const shown = view === undefined ? ok(undefined) : await runProgram("mount", ["--bind", join(folder, "files"), view]);
  const tidied = shown.ok ? await removeStaged(state, name) : refused(state, name, shown.failure);
  if (!tidied.ok || state.isClosed) await unmount(state, name, { isForced: true });
  return state.isClosed ? failed("broken_off") : tidied;
}

/** Nobody works in an image that is just being mounted: what is staged there was left by a crash. */
async function removeStaged({ layout, ids, books }: State, name: string): Promise<Result<void, DiskFault>> {
  const { staging } = foldersOf({ layout }, name);
  const names = await attemptDisk(() => readdirSync(staging));
  if (!names.ok) return names;
  for (const staged of names.value) {
    const removed = await removeTree(join(staging, staged), { stagingFolder: staging, ids, books });
    if (!removed.ok) return removed;
  }
  return ok(undefined);
}

/** False: somebody has something of it open. From the first moment on whoever comes waits for the end of this. */
async function unmount(state: State, name: string, { isForced = false } = {}): Promise<boolean> {
  const usedAt = state.mounted.get(name);
  state.mounted.delete(name);
  if (usedAt !== undefined && !isForced) {
    const done = await runProgram("umount", [mountOf(state, name)]);
    if (!done.ok && existsSync(foldersOf(state, name).files)) {
      note(state, name, usedAt);
      return false;
    }
  }
  await takeAway(placesOf(state, name));
  return true;
}

type Move = { readonly from: string; readonly to: string; readonly moved: (() => Promise<void>) | undefined };

async function move(state: State, { from, to, moved }: Move): Promise<Result<boolean, DiskFault>> {
  await state.reaped;
  const target = imageOf(state, to);
  const view = viewOf(state, to);
  // A rename would take away what somebody has just made there.
  const isTaken = existsSync(target) || (view !== undefined && existsSync(view));
  if (isTaken || !(await unmount(state, from))) return ok(false);
  return attemptDisk(async () => {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    renameSync(imageOf(state, from), target);
    await moved?.();
    return true;
  });
}

/** What is mounted there, if anything, and then the places: a folder that is left would be taken for a workspace. */
async function takeAway(places: readonly string[]): Promise<void> {
  const there = places.filter((place) => existsSync(place));
  // Whoever still looks at it works with nothing of ours.
  if (there.length > 0) await runProgram("umount", ["-l", ...there]);
  for (const place of there) removeIfEmpty(place);
}

function placesOf(ground: Ground, name: string): string[] {
  const view = viewOf(ground, name);
  return [mountOf(ground, name), ...(view === undefined ? [] : [view])];
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

/** Whole or not at all: its file system is made with everything in it, and only then does it get its name. */
async function make(
  { layout, limits, ids, logger }: ImagesOptions,
  name: string,
  layOut: (folder: string) => void,
): Promise<Result<void, DiskFault>> {
  const image = imageOf({ layout }, name);
  if (existsSync(image)) return ok(undefined);
  const draft = join(layout.stagingFolder, `made-${ids.hex(24)}`);
  const sizes = sizesOf(limits);
  try {
    const begun = await attemptDisk(async () => {
      for (const folder of [draft, join(draft, "staging")]) mkdirSync(folder, { recursive: true, mode: 0o700 });
      mkdirSync(join(draft, "files"), { mode: 0o755 });
      layOut(join(draft, "files"));
      writeFileSync(`${draft}.img`, "", { flag: "wx", mode: 0o600 });
      truncateSync(`${draft}.img`, sizes.bytes);
    });
    if (!begun.ok) return begun;
    const filled = await fillImage(`${draft}.img`, draft, sizes);
    if (!filled.ok) return refused({ layout, logger }, name, filled.failure);
    return await attemptDisk(async () => {
      mkdirSync(dirname(image), { recursive: true, mode: 0o700 });
      renameSync(`${draft}.img`, image);
      await syncAndClose(openSync(dirname(image), "r"));
    });
  } finally {
    for (const path of [draft, `${draft}.img`]) rmSync(path, { recursive: true, force: true });
  }
}

/** What the programs of the system say is for the operator, without host paths. */
function refused(
  { layout, logger }: Pick<ImagesOptions, "layout" | "logger">,
  name: string,
  said: string,
): { readonly ok: false; readonly failure: DiskFault } {
  logger.error("the image of {name} cannot be used: {said}", { name, said: said.replaceAll(layout.dataDir, "") });
  return failed(/no space left/i.test(said) ? "full" : /read-only/i.test(said) ? "read_only" : "io");
}

/** Mounts outlive a process that is killed. */
async function reap({ layout, logger }: Pick<ImagesOptions, "layout" | "logger">): Promise<void> {
  const left = await attemptDisk(async () => {
    const base = realpathSync(layout.dataDir);
    const ours = ["mounted/", "workspace/", "workspaces/"].map((folder) => join(base, folder));
    const places = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").map(placeIn);
    return places.filter((place) => ours.some((prefix) => place.startsWith(prefix)));
  });
  if (!left.ok || left.value.length === 0) return;
  await takeAway(left.value);
  logger.info("{count} mounts of an earlier process were taken away", { count: left.value.length });
}

/** The fifth word of a line; blanks and the like stand there as octal numbers. */
function placeIn(line: string): string {
  const [, , , , place = ""] = line.split(" ");
  return place.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
