import { join } from "node:path";
import type { GuestUsage } from "../provider.ts";
import { type Controller, type GroupFolder, readText } from "./group-places.ts";

/** What the kernel counts for all processes of a guest together. */
export type GroupCounts = {
  /** How many processes the kernel ended because the memory was used up. */
  oomKills(): number;
  /** Zero where there is no controller that counts. */
  usage(): GuestUsage;
  /** Empty where there is no group. */
  processes(): readonly number[];
};

export function countsOf(places: ReadonlyMap<Controller, GroupFolder>): GroupCounts {
  const count = (name: Controller, file: string) => numberIn(readOf(places.get(name), file));
  const field = (name: Controller, file: string, key: string) =>
    numberIn(new RegExp(`^${key} (\\d+)$`, "m").exec(readOf(places.get(name), file) ?? "")?.[1]);
  const isNew = (name: Controller) => places.get(name)?.version === 2;
  return {
    oomKills: () => field("memory", isNew("memory") ? "memory.events" : "memory.oom_control", "oom_kill"),
    usage: () => ({
      memoryBytes: count("memory", isNew("memory") ? "memory.current" : "memory.usage_in_bytes"),
      processes: count("pids", "pids.current"),
      cpuMs: isNew("cpu") ? field("cpu", "cpu.stat", "usage_usec") / 1e3 : count("cpuacct", "cpuacct.usage") / 1e6,
    }),
    processes: () => Array.from(places.values().take(1), processesIn).flat(),
  };
}

export function processesIn(place: GroupFolder): number[] {
  const text = readOf(place, "cgroup.procs") ?? "";
  // 0 is a process that this one cannot see; as a target it would mean ourselves.
  return text
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 1);
}

function readOf(place: GroupFolder | undefined, file: string): string | undefined {
  return place === undefined ? undefined : readText(join(place.folder, file));
}

function numberIn(text: string | undefined): number {
  const number = Number.parseInt(text ?? "", 10);
  return Number.isSafeInteger(number) ? number : 0;
}
