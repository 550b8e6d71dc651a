import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { countsOf, type GroupCounts, processesIn } from "../guest/group-counts.ts";
import type { Controller, GroupFolder } from "../guest/group-places.ts";
import type { GuestLimits } from "../provider.ts";
import { findPlaces, makeFolder, removeFolder, stepBack, writeText } from "./hierarchies.ts";

/** The control groups of one installation's guests. */
export type Groups = {
  /** What can be limited or done here, found out by trying. */
  readonly has: Readonly<Record<"memory" | "pids" | "cpu" | "kill", boolean>>;
  /** With limits where there is a controller for them. */
  make(id: string, limits: GuestLimits): Group;
  /** Has the kernel get ready to move a process, which takes it some milliseconds; then it is done in no time. */
  expect(): Promise<void>;
  /** Ends what earlier processes left in groups of ours, and the groups; those of spared guests stay. */
  reap(spared?: ReadonlySet<string>): Promise<{ readonly processes: readonly number[]; readonly groups: number }>;
  /** Takes away what is left when all guests are gone. */
  close(): void;
};

/** The group of one guest: a process in it cannot leave it. */
export type Group = GroupCounts & {
  /** False: it is not in every group, and must not run. */
  add(pid: number): boolean;
  kill(): void;
  remove(): Promise<void>;
};

type Options = {
  /** Marks this installation: two of them on one machine leave each other's guests alone. */
  readonly installation: string;
  readonly clock: Clock;
  /** Where the kernel tells of itself; another folder in tests. */
  readonly proc?: string;
};

/** Finds what this machine has. No controller is taken for granted: there may be all, some or none. */
export function openGroups({ installation, clock, proc }: Options): Groups {
  const places = findPlaces(installation, proc);
  const groupOf = (id: string) =>
    openGroup(new Map(Array.from(places, ([name, place]) => [name, below(place, id)])), clock);
  return {
    has: tryOut(places),
    make(id, limits) {
      for (const [name, place] of places) {
        makeFolder(place.folder); // Another process of this installation may have taken it away when it ended.
        makeFolder(below(place, id).folder);
        setLimit(name, below(place, id), limits);
      }
      return groupOf(id);
    },
    async expect() {
      const [place] = places.values();
      if (place !== undefined) await stayWhereWeAre(place);
    },
    async reap(spared = new Set()) {
      const ids = new Set(Array.from(places.values(), childrenOf).flat()).difference(spared);
      const processes = new Set<number>();
      for (const id of ids) {
        for (const place of places.values()) for (const pid of processesIn(below(place, id))) processes.add(pid);
        const left = groupOf(id);
        left.kill();
        await left.remove();
      }
      return { processes: [...processes], groups: ids.size };
    },
    close() {
      for (const place of places.values()) if (removeFolder(place.folder) && place.version === 2) stepBack(place);
    },
  };
}

/** Nothing is moved, but the lock that all groups share is taken once. */
async function stayWhereWeAre({ folder }: GroupFolder): Promise<void> {
  // Above the groups of ours, or where this process stepped aside.
  for (const own of [dirname(folder), `${folder}-server`]) {
    const file = join(own, "cgroup.procs");
    const pids = await readFile(file, "utf8").catch(() => "");
    if (pids.split("\n").includes(`${process.pid}`)) return writeFile(file, `${process.pid}`).catch(() => {});
  }
}

function below(place: GroupFolder, id: string): GroupFolder {
  return { ...place, folder: join(place.folder, id) };
}

const trialLimits = { memoryBytes: 64 * 1024 * 1024, processesMax: 8, cpus: 1 };

function tryOut(places: ReadonlyMap<Controller, GroupFolder>): Groups["has"] {
  const isLimited = (name: Controller) => {
    const place = places.get(name);
    if (place === undefined) return false;
    const trial = below(place, "trial");
    const isTaken = makeFolder(trial.folder) && setLimit(name, trial, trialLimits);
    removeFolder(trial.folder);
    return isTaken;
  };
  const unified = places.get("unified");
  return {
    memory: isLimited("memory"),
    pids: isLimited("pids"),
    cpu: isLimited("cpu"),
    kill: places.has("freezer") || (unified !== undefined && hasFile(unified, "cgroup.kill")),
  };
}

const periodUs = 100_000;

/** False: the limit itself was not taken; what only supports it may be missing (a kernel without swap, for one). */
function setLimit(
  name: Controller,
  { folder, version }: GroupFolder,
  { memoryBytes, processesMax, cpus }: Pick<GuestLimits, "memoryBytes" | "processesMax" | "cpus">,
): boolean {
  const put = (file: string, value: number | string) => writeText(join(folder, file), `${value}`);
  const quotaUs = Math.round(cpus * periodUs);
  switch (name) {
    case "memory":
      if (version === 1) {
        const isTaken = put("memory.limit_in_bytes", memoryBytes);
        put("memory.memsw.limit_in_bytes", memoryBytes); // After the limit: it may not be lower.
        return isTaken;
      }
      put("memory.swap.max", 0);
      return put("memory.max", memoryBytes);
    case "pids":
      return put("pids.max", processesMax);
    case "cpu":
      if (version === 2) return put("cpu.max", `${quotaUs} ${periodUs}`);
      return put("cpu.cfs_period_us", periodUs) && put("cpu.cfs_quota_us", quotaUs);
    default:
      return true;
  }
}

function openGroup(places: ReadonlyMap<Controller, GroupFolder>, clock: Clock): Group {
  return {
    ...countsOf(places),
    add: (pid) =>
      Array.from(places.values(), ({ folder }) => writeText(join(folder, "cgroup.procs"), `${pid}`)).every(Boolean),
    kill: () => killAll(places),
    async remove() {
      const left = new Set(Array.from(places.values(), ({ folder }) => folder));
      for (let attempt = 1; attempt <= removeAttemptsMax; attempt += 1) {
        for (const folder of left) if (removeFolder(folder)) left.delete(folder);
        if (left.size === 0) return;
        // Whoever was ended is in the group until the kernel has put it away.
        killAll(places);
        await clock.wait(removeDelayMs);
      }
    },
  };
}

const removeAttemptsMax = 100;
const removeDelayMs = 20;

/** In one stroke where the kernel can; else frozen first, so that nobody forks away; else in rounds. */
function killAll(places: ReadonlyMap<Controller, GroupFolder>): void {
  const unified = places.get("unified");
  if (unified !== undefined && hasFile(unified, "cgroup.kill")) {
    writeText(join(unified.folder, "cgroup.kill"), "1");
    return;
  }
  const freezer = places.get("freezer");
  const setState = (state: string) => freezer !== undefined && writeText(join(freezer.folder, "freezer.state"), state);
  setState("FROZEN");
  for (let round = 1; round <= killRoundsMax; round += 1) {
    const found = new Set(Array.from(places.values(), processesIn).flat());
    if (found.size === 0) break;
    for (const pid of found) endProcess(pid);
  }
  setState("THAWED");
}

const killRoundsMax = 5;

/** At once; one that is gone by itself is as good. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

function childrenOf({ folder }: GroupFolder): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function hasFile(place: GroupFolder, file: string): boolean {
  return existsSync(join(place.folder, file));
}
