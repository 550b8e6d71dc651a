import { existsSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Words } from "../../words/words.ts";
import {
  brokenWalls,
  canaryLimits,
  canaryProgram,
  factsIn,
  type GuestFacts,
  readCanary,
  sayLack,
} from "../guest/canary.ts";
import { readText } from "../guest/group-places.ts";
import { architectureOf, seccompProgram } from "../guest/seccomp.ts";
import type { LackName, Probe } from "../provider.ts";
import type { Bwrap } from "./bwrap.ts";
import type { Groups } from "./groups.ts";
import { asRoot, installCommand } from "./install.ts";
import { launchGuest } from "./launch.ts";
import { canStage } from "./stage.ts";

type Machine = {
  readonly bwrap: Bwrap | undefined;
  readonly groups: Groups;
  readonly installation: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly words: Words["sandbox"];
  /** Another one in tests. */
  readonly python?: string;
};

/** Starts a guest that looks around from inside: that a program is installed says nothing about what it can do here. */
export async function probeMachine(machine: Machine): Promise<Probe> {
  const say = (name: LackName, detail = "") =>
    sayLack(machine.words, name, { detail, sudo: asRoot(), install: installFor(name) });
  const { bwrap, python = pythonPath } = machine;
  const architecture = architectureOf(process.arch);
  if (bwrap === undefined) return { missing: [say("no_bwrap")], degraded: [] };
  if (bwrap.lacking.length > 0) return { missing: [say("old_bwrap", bwrap.lacking.join(" "))], degraded: [] };
  if (architecture === undefined) return { missing: [say("no_seccomp", process.arch)], degraded: [] };
  if (!existsSync(python)) return { missing: [say("no_python")], degraded: [] };

  const told = await sendCanary(machine, { bwrap, seccomp: seccompProgram(architecture), python });
  if (typeof told === "string") return { missing: [say(lackOf(told), told)], degraded: [] };
  return {
    missing: brokenWalls(told, guestWalls, "no_userns").map(([name, detail]) => say(name, detail)),
    degraded: missingLimits(machine, bwrap, told).map(([name, detail]) => say(name, detail)),
  };
}

const pythonPath = "/usr/bin/python3";
const canaryTimeoutMs = 20_000;

/** What the canary found; a text when it could not be started. */
async function sendCanary(
  { groups, installation, clock, ids }: Machine,
  { bwrap, seccomp, python }: { bwrap: Bwrap; seccomp: Uint8Array; python: string },
): Promise<GuestFacts | string> {
  let told = "";
  const inside = "/run/agentyard/canary.py";
  const launched = await launchGuest(
    {
      id: `canary-${ids.hex(16)}`,
      workspace: undefined,
      limits: canaryLimits,
      uid: undefined,
      env: { LANG: "C.UTF-8" },
    },
    {
      command: [python, "-I", inside],
      files: { [inside]: canaryProgram() },
      programs: [],
      greet: async (control) => {
        told = await readCanary(control);
        return undefined;
      },
    },
    { bwrap, seccomp, groups, installation, clock, startTimeoutMs: canaryTimeoutMs },
  );
  if (!launched.ok) return launched.failure.said === "" ? launched.failure.why : launched.failure.said;
  launched.value.kill();
  await launched.value.ended;
  return factsIn(told);
}

/** Of its own user namespace, and of the descriptors that bwrap hands on. */
const guestWalls = { user: [1000, 1000, 1], descriptors: [1, 2, 3] };

function missingLimits({ groups: { has } }: Machine, bwrap: Bwrap, found: GuestFacts): [LackName, string][] {
  const isRoot = process.geteuid?.() === 0;
  const lacks: readonly (readonly [isMissing: boolean, name: LackName, detail?: string])[] = [
    [!has.memory, "no_cgroup_memory"],
    [!has.pids, "no_cgroup_pids"],
    [!has.cpu, "no_cgroup_cpu"],
    [!has.kill, "no_cgroup_kill"],
    [!isRoot, "shared_uid"],
    [!bwrap.hasBindFd && !(isRoot && canStage()), "no_bind_fd", bwrap.version],
    [!bwrap.hasDisableUserns, "old_bwrap", bwrap.version],
    [found.libraries.length > 0, "no_data_libraries", found.libraries.join(", ")],
    [!found.hasChinese, "no_cjk_fonts"],
  ];
  return lacks.flatMap(([isMissing, name, detail = ""]) => (isMissing ? [[name, detail]] : []));
}

/** Which wall cannot be built, by what bwrap says when it fails. */
export function lackOf(said: string, marks: HostMarks = readHostMarks()): LackName {
  if (/seccomp/i.test(said)) return "no_seccomp";
  if (marks.isContainer) return "in_container";
  // Ubuntu lets anybody make a user namespace, but one that can do nothing in it.
  const isRestricted = /setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/.test(said);
  return isRestricted || marks.isRestricted ? "apparmor_userns" : "no_userns";
}

type HostMarks = { readonly isContainer: boolean; readonly isRestricted: boolean };

function readHostMarks(): HostMarks {
  return {
    isContainer: ["/.dockerenv", "/run/.containerenv"].some((path) => existsSync(path)),
    isRestricted: readText("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")?.trim() === "1",
  };
}

function installFor(name: LackName): string {
  if (name === "no_python") return installCommand("python");
  if (name === "no_data_libraries") return installCommand("libraries");
  return installCommand(name === "no_cjk_fonts" ? "fonts" : "bubblewrap");
}
