import { statSync } from "node:fs";
import { z } from "zod";
import { assert } from "../../base/assert.ts";
import { whenOver } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Words } from "../../words/words.ts";
import { connectGuest, type GuestConnection } from "../guest/connection.ts";
import { guestEnvironment, marksInside, noWorkspace } from "../guest/environment.ts";
import { sharedFiles, unnamedBytes } from "../guest/held-files.ts";
import { keepGuests } from "../guest/kept-guests.ts";
import { linksOver, type StdioLinks } from "../guest/stdio.ts";
import { supervisorProgram } from "../guest/supervisor-program.ts";
import { createOomCount, type GuestLife, tieGuest } from "../guest/tie-guest.ts";
import type { Guest, GuestWanted, SandboxFault, SandboxProvider } from "../provider.ts";
import { type ContainerCounts, countsFor } from "./counts.ts";
import { type EngineAddress, openEngine } from "./engine.ts";
import { removeContainer } from "./gone.ts";
import { type Launched, labels, launchContainer } from "./launch.ts";
import { type GuestHost, guestFiles, type Looked, probeEngine } from "./probe.ts";
import { reapStages } from "./stage.ts";

export type DockerSandboxOptions = {
  /** Marks this installation: two of them with one engine leave each other's guests alone. */
  readonly mark: string;
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
  const { clock, mark, folder } = options;
  const engine = openEngine(options);
  /** Guests that look around for us are nobody's leftover. */
  const canaries = new Set<string>();
  const machine = rememberLooks(clock, () => probeEngine({ ...options, engine, canaries }));
  const guests = keepGuests(async (wanted) => {
    const { probe, host } = await machine.look();
    if (guests.isClosed()) return failed({ why: "unavailable", said: "closed" });
    if (host === undefined)
      return failed({ why: "unavailable", said: probe.missing.map(({ name }) => name).join(" ") });
    const started = await startGuest(wanted, host, options);
    // The engine, or its image, went away since we looked.
    if (!started.ok && started.failure.why === "unavailable") machine.forget();
    return started;
  });
  return {
    probe: async (wanted) => (await machine.look(wanted?.fresh)).probe,
    open: guests.open,
    async reap() {
      const filters = encodeURIComponent(JSON.stringify({ label: [`${labels.mark}=${mark}`] }));
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

/** Something that is missing may have been mended meanwhile, and nothing tells. */
const missingAgainMs = 10_000;

/** The same answer until somebody asks anew. */
function rememberLooks(clock: Clock, lookAround: () => Promise<Looked>) {
  let looking: Promise<Looked> | undefined;
  let staleAt = Number.POSITIVE_INFINITY;
  const lookAgain = async () => {
    staleAt = Number.POSITIVE_INFINITY;
    let looked: Looked | undefined;
    try {
      looked = await lookAround();
    } finally {
      if (looked?.host === undefined) staleAt = clock.monotonic() + missingAgainMs;
    }
    return looked;
  };
  return {
    look(isFresh = false) {
      if (looking === undefined || isFresh || clock.monotonic() >= staleAt) looking = lookAgain();
      return looking;
    },
    forget() {
      looking = undefined;
    },
    async settled() {
      if (looking !== undefined) await whenOver(looking);
    },
  };
}

/**
 * The list of fonts that the image was built with, where programs look for it; then the supervisor itself, with nothing
 * around it that engine or image brought along.
 */
const enter = `mkdir -p /tmp/.cache
cp -r /usr/share/agentyard/matplotlib /tmp/.cache/ 2> /dev/null
exec env -i PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"`;

async function startGuest(
  wanted: GuestWanted,
  host: GuestHost,
  { clock, ids, startTimeoutMs }: DockerSandboxOptions,
): Promise<Result<Guest, SandboxFault>> {
  const hasNetwork = wanted.network !== undefined;
  const supervisor = supervisorProgram("/usr/bin/python3", "/run/agentyard/guest", { hasNetwork, isOverStdio: true });
  const held: { connection?: GuestConnection; links?: StdioLinks; counts?: ContainerCounts } = {};
  const oomKills = createOomCount(() => held.counts?.near?.oomKills() ?? 0);
  const { limits } = wanted;
  // The kernel counts the processes of a user on the whole machine: of one that others have too, theirs as well.
  const hasOwnUser = process.geteuid?.() === 0 && wanted.uid !== undefined;
  const launched = await launchContainer(
    wanted,
    {
      command: ["/bin/sh", "-c", enter, "sandbox", ...supervisor.command],
      files: guestFiles(host.calls),
      async greet(stdio, { marks }) {
        const links = linksOver(stdio);
        const connected = await connectGuest(links.control, {
          id: wanted.id,
          workspace: wanted.workspace?.inside ?? noWorkspace,
          // Those that others know it by count; what we opened ourselves is only added.
          marks: host.hasMarks ? { ...marks, ...marksInside(wanted) } : {},
          javascript: host.hasNode ? ["node"] : undefined,
          env: guestEnvironment(wanted),
          limits,
          processLimits: {
            memoryBytes: host.limits.memory ? null : limits.memoryBytes,
            processesMax: host.limits.pids || !hasOwnUser ? null : limits.processesMax,
          },
          oomKills,
          helloTimeoutMs: startTimeoutMs,
          clock,
          ids,
        });
        if (!connected.ok) return connected.failure;
        Object.assign(held, { links, connection: connected.value });
        return undefined;
      },
    },
    host,
  );
  if (!launched.ok) return launched;
  const { connection, links } = held;
  assert(connection !== undefined && links !== undefined, "a guest that is ready has greeted");
  held.counts = countsFor(host.engine, launched.value);
  wanted.network?.(links.network);
  return ok(tieGuest(connection, lifeOf(wanted, launched.value, held.counts, oomKills)));
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
