import { z } from "zod";
import type { Ids } from "../../base/ids.ts";
import type { Words } from "../../words/words.ts";
import { brokenWalls, sayLack } from "../guest/canary.ts";
import { canaryCommand, containedWalls, missingIn, sendCanary } from "../guest/contained-canary.ts";
import type { CallFault } from "../guest/http-call.ts";
import { architectureOf, seccompProgram } from "../guest/seccomp.ts";
import type { Lack, LackName, Probe } from "../provider.ts";
import { type LaunchSettings, launchContainer } from "./launch.ts";

/** What is known about an engine, as the next guest needs it. No host: no code runs there. */
export type Looked = { readonly probe: Probe; readonly host: ProbedSettings | undefined };

export type ProbedSettings = LaunchSettings & {
  /** The filter of calls, for the engine's kind of machine. */
  readonly calls: Uint8Array;
  readonly hasNode: boolean;
  /** Folders have the same device and inode inside. gVisor has its own. */
  readonly hasMarks: boolean;
  readonly limits: Readonly<Record<"memory" | "pids" | "cpu", boolean>>;
};

type Settings = Omit<LaunchSettings, "isRemapped"> & {
  readonly ids: Ids;
  readonly words: Words["sandbox"];
  /** Where the engine is, as a person would write it. */
  readonly shownAddress: string;
  /** Has the ids of guests that look around, while they do. */
  readonly canaries: Set<string>;
};

/** Asks the engine, and then starts a container that looks around from inside: what an engine says of itself is not enough. */
export async function probeEngine(settings: Settings): Promise<Looked> {
  const say = (name: LackName, detail = "") =>
    sayLack(settings.words, name, { detail, sudo: "", install: `docker build -t ${settings.image} deploy/sandbox` });
  const lacking = (...lacks: Lack[]): Looked => ({ probe: { missing: lacks, degraded: [] }, host: undefined });
  const told = await settings.engine.ask("GET", "/info");
  if (!told.ok) return lacking(say("no_engine", `${settings.shownAddress}: ${detailOf(told.failure)}`));
  const info = engineInfo.safeParse(told.value).data;
  if (info === undefined) return lacking(say("no_engine", `${settings.shownAddress}: /info`));
  const architecture = architectureOf(nodeNames[info.Architecture] ?? info.Architecture);
  if (architecture === undefined || info.OSType !== "linux")
    return lacking(say("no_seccomp", `${info.OSType} ${info.Architecture}`));
  const { runtime, image } = settings;
  if (runtime !== undefined && !Object.hasOwn(info.Runtimes, runtime)) return lacking(say("no_runtime", runtime));
  const found = await settings.engine.ask("GET", `/images/${encodeURIComponent(image)}/json`);
  if (!found.ok && found.failure.status === 404) return lacking(say("no_image", image));
  if (!found.ok) return lacking(say("no_engine", `${settings.shownAddress}: ${detailOf(found.failure)}`));
  // The engine would mount each of them, writable and without a limit.
  const volumes = Object.keys(imageFound.safeParse(found.value).data?.Config?.Volumes ?? {});
  if (volumes.length > 0) return lacking(say("image_volumes", `${image}: ${volumes.join(" ")}`));

  const options = info.SecurityOptions ?? [];
  // Users inside are not those outside there: files would belong to nobody.
  if (options.some((option) => option.startsWith("name=rootless"))) return lacking(say("rootless_engine"));
  const host = { ...settings, isRemapped: options.some((option) => option.startsWith("name=userns")) };
  const calls = seccompProgram(architecture);
  const seen = await sendCanary({
    ...{ ids: settings.ids, canaries: settings.canaries, calls, command: canaryCommand },
    launch: (wanted, program) => launchContainer(wanted, program, host),
  });
  if ("why" in seen) return lacking(say("engine_start", seen.said || seen.why));
  const { facts, likeness } = seen;
  const broken = brokenWalls(facts, containedWalls(), "engine_walls");
  if (broken.length > 0) return lacking(...broken.map(([name, detail]) => say(name, detail)));
  const limits = { memory: info.MemoryLimit, pids: info.PidsLimit, cpu: info.CpuCfsQuota };
  const uncounted = missingIn(facts, [
    [!limits.memory, "no_cgroup_memory"],
    [!limits.pids, "no_cgroup_pids"],
    [!limits.cpu, "no_cgroup_cpu"],
  ]);
  return {
    probe: { missing: [], degraded: uncounted.map(([name, detail]) => say(name, detail)) },
    host: { ...host, calls, hasNode: facts.hasNode, hasMarks: likeness === "device", limits },
  };
}

const engineInfo = z.object({
  OSType: z.string(),
  Architecture: z.string(),
  MemoryLimit: z.boolean(),
  PidsLimit: z.boolean(),
  CpuCfsQuota: z.boolean(),
  Runtimes: z.record(z.string(), z.unknown()),
  SecurityOptions: z.array(z.string()).nullish(),
});
const imageFound = z.object({
  Config: z.object({ Volumes: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});
const nodeNames: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64" };

function detailOf({ why, said, status }: CallFault): string {
  return status === 0 ? said || why : `${status} ${said}`;
}
