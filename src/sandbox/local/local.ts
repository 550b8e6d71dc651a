import { existsSync, realpathSync, statSync } from "node:fs";
import { release } from "node:os";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Logger } from "../../observe/observe.ts";
import type { Words } from "../../words/words.ts";
import { connectGuest, type GuestConnection, type ProcessLimits } from "../guest/connection.ts";
import { guestEnvironment, marksInside, noWorkspace, programFolder } from "../guest/environment.ts";
import { sharedFiles, unnamedBytes } from "../guest/held-files.ts";
import { keepGuestsOf } from "../guest/kept-guests.ts";
import { supervisorProgram } from "../guest/supervisor-program.ts";
import { createOomCount, type GuestLife, tieGuest } from "../guest/tie-guest.ts";
import type { Guest, GuestWanted, SandboxFault, SandboxProvider } from "../provider.ts";
import { type Bytecode, createBytecode } from "./bytecode.ts";
import { createFontList, type FontList } from "./font-list.ts";
import type { Group } from "./groups.ts";
import { type Launched, launchGuest } from "./launch.ts";
import { openMachine } from "./machine.ts";
import { reapLeftovers } from "./reap.ts";
import type { LaunchSettings } from "./start.ts";
import { processesOf, usageOf } from "./usage.ts";

export type LocalSandboxOptions = {
  /** Marks this installation: two of them on one machine leave each other's guests alone. */
  readonly installation: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, "error">;
  /** For what the machine lacks. */
  readonly words: Words["sandbox"];
  /** The Node of the host that runs JavaScript inside; without one there is no JavaScript. */
  readonly javascript?: string | undefined;
  /** Below `/usr`, where a guest has it too. */
  readonly python?: string | undefined;
  readonly bwrap?: string | undefined;
  readonly startTimeoutMs: number;
};

type Settings = Omit<LocalSandboxOptions, "javascript" | "python" | "bwrap"> & {
  readonly javascript: Javascript | undefined;
  readonly python: string;
  readonly bwrap: string;
};

const defaults = { python: "/usr/bin/python3", bwrap: "/usr/bin/bwrap" };

/** Guests as processes of this machine, behind bubblewrap. Nothing is touched before the first question. */
export function openLocalSandbox(options: LocalSandboxOptions): SandboxProvider {
  const { installation, clock, python = defaults.python, bwrap = defaults.bwrap } = options;
  const settings: Settings = { ...options, python, bwrap, javascript: javascriptAt(options.javascript) };
  const machine = openMachine(settings);
  const fonts = createFontList(settings);
  const bytecode = createBytecode(settings);
  const guests = keepGuestsOf(machine, (wanted, host) => startGuest(wanted, host, { ...settings, fonts, bytecode }));
  return {
    probe: async (wanted) => (await machine.look(wanted?.fresh)).probe,
    open: guests.open,
    async reap() {
      // The guests that look around for us are nobody's leftovers.
      await Promise.all([machine.settled(), fonts.settled()]);
      return reapLeftovers({ installation, groups: machine.groups(), clock, spared: guests.ids() });
    },
    async close() {
      await guests.close();
      await fonts.settled();
      await machine.close();
    },
  };
}

type Javascript = {
  readonly command: readonly string[];
  readonly programs: readonly { path: string; inside: string }[];
};

/** What lies below `/usr` is inside anyway, at the same place. */
function javascriptAt(path: string | undefined): Javascript | undefined {
  if (path === undefined || !existsSync(path)) return undefined;
  const real = realpathSync(path);
  if (real.startsWith("/usr/")) return { command: [real], programs: [] };
  const inside = `${programFolder}/node`;
  return { command: [inside], programs: [{ path: real, inside }] };
}

const supervisorFolder = "/run/agentyard/guest";

/** What is made once for all guests. */
type Kept = { readonly fonts: FontList; readonly bytecode: Bytecode };

async function startGuest(
  wanted: GuestWanted,
  host: LaunchSettings,
  { javascript, python, startTimeoutMs, clock, ids, fonts, bytecode }: Settings & Kept,
): Promise<Result<Guest, SandboxFault>> {
  const env = guestEnvironment(wanted);
  const supervisor = supervisorProgram(python, supervisorFolder, { hasNetwork: wanted.network !== undefined });
  const held: { connection?: GuestConnection; group?: Group } = {};
  const oomKills = createOomCount(() => held.group?.oomKills() ?? 0);
  const launched = await launchGuest(
    // The supervisor itself starts with what cannot do harm; it hands the rest on to what it starts.
    { ...wanted, env: { LANG: "C.UTF-8", PATH: "/usr/bin:/bin" } },
    {
      command: supervisor.command,
      files: { ...supervisor.files, ...(await bytecode.files(supervisor.files)), ...fonts.files(host) },
      programs: javascript?.programs ?? [],
      links: { [`${programFolder}/python`]: python },
      async greet(control) {
        const connected = await connectGuest(control, {
          id: wanted.id,
          workspace: wanted.workspace?.inside ?? noWorkspace,
          marks: marksInside(wanted),
          javascript: javascript?.command,
          env,
          limits: wanted.limits,
          processLimits: processLimits(wanted, host.groups.has),
          oomKills,
          helloTimeoutMs: startTimeoutMs,
          clock,
          ids,
        });
        if (!connected.ok) return connected.failure;
        held.connection = connected.value;
        return undefined;
      },
    },
    host,
  );
  if (!launched.ok) return launched;
  assert(held.connection !== undefined, "a guest that is ready has greeted");
  held.group = launched.value.group;
  if (launched.value.network !== undefined) wanted.network?.(launched.value.network);
  return ok(tieGuest(held.connection, lifeOf(launched.value, deviceOf(wanted))));
}

/** What no control group limits. Older kernels count the processes of a user on the whole machine: then not those. */
function processLimits(
  { limits: { memoryBytes, processesMax } }: GuestWanted,
  has: LaunchSettings["groups"]["has"],
): ProcessLimits {
  return {
    memoryBytes: has.memory ? null : memoryBytes,
    processesMax: has.pids || !countsPerNamespace(release()) ? null : processesMax,
  };
}

/** Linux 5.14 and later. */
function countsPerNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

function lifeOf({ pid, group, ended, kill }: Launched, device: number | undefined): GuestLife {
  const processes = () => processesOf(pid, group);
  return {
    ended,
    kill,
    usage: async () => usageOf(pid, group),
    sharedFiles: () => sharedFiles(processes()),
    unnamedBytes: async () => (device === undefined ? 0 : unnamedBytes(processes(), device)),
  };
}

/** The device that its workspace is on. */
function deviceOf({ workspace }: GuestWanted): number | undefined {
  return workspace && statSync(workspace.folder, { throwIfNoEntry: false })?.dev;
}
