import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { readText } from "../guest/group-places.ts";
import { nameVariable } from "./bwrap.ts";
import { endProcess, type Groups } from "./groups.ts";

type Leftovers = {
  readonly installation: string;
  readonly groups: Groups;
  readonly clock: Clock;
  /** Ids of guests that somebody looks after. */
  readonly spared?: ReadonlySet<string>;
};

/**
 * Ends guests of this installation that no process looks after any more. They are known by their group, and by the name
 * that bwrap carries among its arguments and the guest's first process in its environment.
 */
export async function reapLeftovers({
  installation,
  groups,
  clock,
  spared = new Set(),
}: Leftovers): Promise<{ readonly processes: number; readonly groups: number; readonly mounts: number }> {
  const isLeft = (pid: number) => {
    const id = guestOf(pid, installation);
    return id !== undefined && !spared.has(id);
  };
  const marked = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isLeft(pid));
  const grouped = await groups.reap(spared);
  for (const pid of marked) if (isLeft(pid)) endProcess(pid);
  for (let look = 1; look <= looksMax && marked.some(isLeft); look += 1) await clock.wait(lookMs);
  // Mounts live in the guest's namespace and end with it.
  return { processes: new Set([...marked, ...grouped.processes]).size, groups: grouped.groups, mounts: 0 };
}

const looksMax = 100;
const lookMs = 20;

/** The guest that a process belongs to. None when it is dead and only waits to be counted: then both texts are empty. */
function guestOf(pid: number, installation: string): string | undefined {
  const read = (file: string) => readText(join("/proc", `${pid}`, file)) ?? "";
  const starts = [
    ["cmdline", `\0--setenv\0${nameVariable}\0${installation}.`],
    ["environ", `\0${nameVariable}=${installation}.`],
  ] as const;
  for (const [file, start] of starts) {
    const text = `\0${read(file)}`;
    const at = text.indexOf(start);
    if (at >= 0) return text.slice(at + start.length).split("\0", 1)[0];
  }
  return undefined;
}
