import { z } from "zod";
import { countsOf, type GroupCounts } from "../guest/group-counts.ts";
import { placesOf, readText } from "../guest/group-places.ts";
import type { GuestUsage } from "../provider.ts";
import type { DockerEngine } from "./engine.ts";
import type { Launched } from "./launch.ts";

/** What a container uses. The engine tells it slowly; on one machine the kernel tells it, and more of it. */
export type ContainerCounts = {
  usage(): Promise<GuestUsage>;
  /** Undefined: the container's processes are not on this machine, or not to be seen. */
  readonly near: GroupCounts | undefined;
};

export function countsFor(
  engine: DockerEngine,
  { container, pid }: Pick<Launched, "container" | "pid">,
): ContainerCounts {
  // The number could be of any process, if the engine were on another machine.
  const isNear = pid > 0 && (readText(`/proc/${pid}/cgroup`) ?? "").includes(container);
  const near = isNear ? countsOf(placesOf(pid)) : undefined;
  return { near, usage: async () => near?.usage() ?? (await askUsage(engine, container)) };
}

const stats = z.object({
  memory_stats: z.object({ usage: z.number().optional() }),
  pids_stats: z.object({ current: z.number().optional() }),
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number() }) }),
});
const nanosecondsPerMs = 1e6;

/** Of one that is gone: nothing. */
async function askUsage(engine: DockerEngine, container: string): Promise<GuestUsage> {
  const told = await engine.ask("GET", `/containers/${container}/stats?stream=false&one-shot=true`);
  const found = told.ok ? stats.safeParse(told.value).data : undefined;
  return {
    memoryBytes: found?.memory_stats.usage ?? 0,
    processes: found?.pids_stats.current ?? 0,
    cpuMs: (found?.cpu_stats.cpu_usage.total_usage ?? 0) / nanosecondsPerMs,
  };
}
