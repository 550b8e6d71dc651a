import { statSync } from "node:fs";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Words } from "../../words/words.ts";
import { enterScript } from "../guest/contained.ts";
import { sharedFiles, unnamedBytes } from "../guest/held-files.ts";
import { keepGuestsOf } from "../guest/kept-guests.ts";
import { rememberLooks } from "../guest/remembered-looks.ts";
import { reapStages } from "../guest/stage.ts";
import { superviseGuest } from "../guest/supervised.ts";
import { createOomCount, type GuestLife, tieGuest } from "../guest/tie-guest.ts";
import type { Guest, GuestWanted, SandboxFault, SandboxProvider } from "../provider.ts";
import { type ContainerCounts, countsFor } from "./counts.ts";
import { type EngineAddress, openDockerEngine } from "./engine.ts";
import { removeContainer } from "./gone.ts";
import { type Launched, labels, launchContainer } from "./launch.ts";
import { type ProbedSettings, probeEngine } from "./probe.ts";

export type DockerSandboxOptions = {
  /** Marks this installation: two of them with one engine leave each other's guests alone. */
  readonly installation: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** For what the engine lacks. */
  readonly words: Words["sandbox"];
  readonly address: EngineAddress;
  /** As a person would write it. */
  readonly shownAddress: string;
  readonly image: string;
  /** `runsc`, for one; undefined: the engine's own. */
  readonly runtime: string | undefined;
  /** For small files that are mounted. The engine has to find it, and all workspaces, by the same paths. */
  readonly folder: string;
  readonly startTimeoutMs: number;
};

/** Guests as containers of a Docker engine. Nothing is asked before the first question. */
export function openDockerSandbox(options: DockerSandboxOptions): SandboxProvider {
  const { clock, installation, folder } = options;
  const engine = openDockerEngine(options);
  /** Guests that look around for us are nobody's leftover. */
  const canaries = new Set<string>();
  const machine = rememberLooks(clock, () => probeEngine({ ...options, engine, canaries }));
  const guests = keepGuestsOf(machine, (wanted, host) => startGuest(wanted, host, options));
  return {
    probe: async (wanted) => (await machine.look(wanted?.fresh)).probe,
    open: guests.open,
    async reap() {
      const filters = encodeURIComponent(JSON.stringify({ label: [`${labels.installation}=${installation}`] }));
      const listed = await engine.ask("GET", `/containers/json?all=1&filters=${filters}`);
      const found = listed.ok ? (containers.safeParse(listed.value).data ?? []) : [];
      // Only now, and nothing is waited for in between: one that was asked for meanwhile may be in the list.
      const spared = guests.ids().union(canaries);
      const left = found.filter(({ Labels }) => !spared.has(Labels[labels.guest] ?? ""));
      const mounts = reapStages(folder, spared);
      await Promise.all(left.map(({ Id }) => removeContainer(engine, Id)));
      return { processes: left.length, groups: 0, mounts };
    },
    async close() {
      await guests.close();
      await machine.settled();
    },
  };
}

const containers = z.array(z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()) }));

async function startGuest(
  wanted: GuestWanted,
  host: ProbedSettings,
  { ids }: DockerSandboxOptions,
): Promise<Result<Guest, SandboxFault>> {
  const held: { counts?: ContainerCounts } = {};
  const oomKills = createOomCount(() => held.counts?.near?.oomKills() ?? 0);
  const { program, connected } = superviseGuest(
    wanted,
    { ...host, ids },
    { ...{ script: enterScript, isLimited: host.limits, oomKills }, likeness: host.hasMarks ? "device" : "none" },
  );
  const launched = await launchContainer(wanted, program, host);
  if (!launched.ok) return launched;
  held.counts = countsFor(host.engine, launched.value);
  return ok(tieGuest(connected(), lifeOf(wanted, launched.value, held.counts, oomKills)));
}

function lifeOf(
  { workspace }: GuestWanted,
  { ended, kill }: Launched,
  { near, usage }: ContainerCounts,
  oomKills: () => number,
): GuestLife {
  const device = workspace && statSync(workspace.folder, { throwIfNoEntry: false })?.dev;
  let isOver = false;
  return {
    ended: ended.then(({ code }) => {
      isOver = true;
      return { code, oomKills: oomKills() };
    }),
    kill,
    usage: async () => (isOver ? nothingUsed : usage()),
    sharedFiles: async () => near && sharedFiles(near.processes()),
    unnamedBytes: async () => (near === undefined || device === undefined ? 0 : unnamedBytes(near.processes(), device)),
  };
}

const nothingUsed = { memoryBytes: 0, processes: 0, cpuMs: 0 };
