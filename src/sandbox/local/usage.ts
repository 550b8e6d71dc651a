import { readdirSync } from "node:fs";
import { readText } from "../guest/group-places.ts";
import type { GuestUsage } from "../provider.ts";
import type { Group } from "./groups.ts";

/** What a guest uses, as its control group counts it; where no controller does, as its processes add up. */
export function usageOf(firstPid: number, group: Group): GuestUsage {
  const counted = group.usage();
  // Whatever lives has some of each.
  if (counted.memoryBytes > 0 && counted.processes > 0 && counted.cpuMs > 0) return counted;
  const summed = sumUp(firstPid);
  return {
    memoryBytes: counted.memoryBytes || summed.memoryBytes,
    processes: counted.processes || summed.processes,
    cpuMs: counted.cpuMs || summed.cpuMs,
  };
}

/** All of a guest's processes; where there is no group, those that descend from its first one. */
export function processesOf(firstPid: number, group: Group): readonly number[] {
  const grouped = group.processes();
  return grouped.length > 0 ? grouped : [...descendants(firstPid)];
}

function sumUp(firstPid: number): GuestUsage {
  const sum = { memoryBytes: 0, processes: 0, cpuMs: 0 };
  for (const pid of descendants(firstPid)) {
    const fields = statOf(pid);
    if (fields === undefined) continue;
    sum.memoryBytes += memoryOf(pid);
    // Threads, too, as a control group counts.
    sum.processes += fields.threads;
    sum.cpuMs += fields.cpuMs;
  }
  return sum;
}

/** All of a guest's processes descend from its first one, which also takes in the orphans and their times. */
function* descendants(firstPid: number): Generator<number, void> {
  const waiting = [firstPid];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    yield pid;
    waiting.push(...childrenOf(pid));
  }
}

/** The kernel's own clock ticks so on all machines that we run on. */
const ticksPerSecond = 100;

/** The fields after the name, which may hold any character, also ")". */
function statOf(pid: number): { readonly cpuMs: number; readonly threads: number } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // One that has ended and only waits to be counted holds nothing.
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { cpuMs: (ticks * 1000) / ticksPerSecond, threads: Number(fields[17]) };
}

/** Shared pages count for a part only; where that is not told, in full. */
function memoryOf(pid: number): number {
  const kibibytes = (file: string, name: string) =>
    new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readText(`/proc/${pid}/${file}`) ?? "")?.[1];
  return Number(kibibytes("smaps_rollup", "Pss") ?? kibibytes("status", "VmRSS") ?? 0) * 1024;
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid)
    .flatMap((thread) => (readText(`/proc/${pid}/task/${thread}/children`) ?? "").split(" "))
    .filter((text) => text !== "")
    .map(Number);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // It ended in between.
  }
}
