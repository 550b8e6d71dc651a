import { statSync } from "node:fs";
import { z } from "zod";
import type { Ids } from "../../base/ids.ts";
import type { Words } from "../../words/words.ts";
import { brokenWalls, canaryLimits, canaryProgram, factsIn, type GuestFacts, readCanary } from "../guest/canary.ts";
import { architectureOf, seccompProgram } from "../guest/seccomp.ts";
import { supervisorProgram } from "../guest/supervisor-program.ts";
import type { Lack, LackName, Probe } from "../provider.ts";
import type { EngineFault } from "./engine.ts";
import { type LaunchHost, launchContainer, userOf } from "./launch.ts";

/** What is known about an engine, as the next guest needs it. No host: no code runs there. */
export type Looked = { readonly probe: Probe; readonly host: GuestHost | undefined };

export type GuestHost = LaunchHost & {
  /** The filter of calls, for the engine's kind of machine. */
  readonly calls: Uint8Array;
  readonly hasNode: boolean;
  /** Folders have the same device and inode inside. gVisor has its own. */
  readonly hasMarks: boolean;
  readonly limits: Readonly<Record<"memory" | "pids" | "cpu", boolean>>;
};

type Settings = Omit<LaunchHost, "isRemapped"> & {
  readonly ids: Ids;
  readonly words: Words["sandbox"];
  /** Where the engine is, as a person would write it. */
  readonly shownAddress: string;
  /** Has the ids of guests that look around, while they do. */
  readonly canaries: Set<string>;
};

/** Asks the engine, and then starts a container that looks around from inside: what an engine says of itself is not enough. */
export async function probeEngine(settings: Settings): Promise<Looked> {
  const say = (name: LackName, detail = "") => lackOf(settings, name, detail);
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
  const { ids, canaries } = settings;
  const host = { ...settings, isRemapped: options.some((option) => option.startsWith("name=userns")) };
  const calls = seccompProgram(architecture);
  const id = `canary-${ids.hex(16)}`;
  canaries.add(id);
  const seen = await sendCanary(id, host, calls).finally(() => canaries.delete(id));
  if (typeof seen === "string") return lacking(say("engine_start", seen));
  const broken = brokenWalls(seen.facts, wallsOf(), "engine_walls");
  if (broken.length > 0) return lacking(...broken.map(([name, detail]) => say(name, detail)));
  const limits = { memory: info.MemoryLimit, pids: info.PidsLimit, cpu: info.CpuCfsQuota };
  const degraded = missingLimits(limits, seen.facts).map(([name, detail]) => say(name, detail));
  const { hasNode } = seen.facts;
  return { probe: { missing: [], degraded }, host: { ...host, calls, hasNode, hasMarks: seen.hasMarks, limits } };
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

/** With the number of the first process, and with its standard descriptors. */
function wallsOf() {
  const user = userOf(undefined);
  return { user: [user, user, 1], descriptors: [0, 1, 2] };
}

function detailOf({ why, said, status }: EngineFault): string {
  return status === 0 ? said || why : `${status} ${said}`;
}

type Seen = { readonly facts: GuestFacts; readonly hasMarks: boolean };

/** What the canary found; a text when it could not be started. */
async function sendCanary(id: string, host: LaunchHost, calls: Uint8Array): Promise<Seen | string> {
  let told = "";
  let hasMarks = false;
  const launched = await launchContainer(
    {
      ...{ id, workspace: undefined, limits: canaryLimits },
      ...{ uid: undefined, env: {} },
    },
    {
      command: ["/usr/bin/python3", "-I", "/run/agentyard/guest/canary.py", "1"],
      files: { ...guestFiles(calls), "guest/canary.py": canaryProgram() },
      async greet(stdio, { stage }) {
        told = await readCanary(stdio);
        const { dev, ino } = statSync(stage);
        hasMarks = told.includes(`"${dev}:${ino}"`);
        return undefined;
      },
    },
    host,
  );
  if (!launched.ok) return launched.failure.said === "" ? launched.failure.why : launched.failure.said;
  launched.value.kill();
  await launched.value.ended;
  const facts = factsIn(told);
  return typeof facts === "string" ? facts : { facts, hasMarks };
}

/** The supervisor, and the filter that it puts in force before all else, by their places below `/run/agentyard`. */
export function guestFiles(calls: Uint8Array): Record<string, Uint8Array> {
  return { ...supervisorProgram("/usr/bin/python3", "guest").files, "guest/calls.bpf": calls };
}

function missingLimits(limits: GuestHost["limits"], facts: GuestFacts): [LackName, string][] {
  const lacks: readonly (readonly [isMissing: boolean, name: LackName, detail?: string])[] = [
    [!limits.memory, "no_cgroup_memory"],
    [!limits.pids, "no_cgroup_pids"],
    [!limits.cpu, "no_cgroup_cpu"],
    [process.geteuid?.() !== 0, "shared_uid"],
    [facts.libraries.length > 0, "no_data_libraries", facts.libraries.join(", ")],
    [!facts.hasChinese, "no_cjk_fonts"],
    [!facts.hasNode, "no_node"],
  ];
  return lacks.flatMap(([isMissing, name, detail = ""]) => (isMissing ? [[name, detail]] : []));
}

function lackOf({ words, image }: Settings, name: LackName, detail: string): Lack {
  const about = { detail, sudo: "", install: `docker build -t ${image} deploy/sandbox` };
  const [reason, fix] = words.lacks[name](about);
  return { name, reason, fix, about };
}
