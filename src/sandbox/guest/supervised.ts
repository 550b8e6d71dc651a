import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { GuestWanted } from "../provider.ts";
import { connectGuest, type GuestConnection } from "./connection.ts";
import { type ContainedProgram, containedPython, guestFiles } from "./contained.ts";
import { keyBytes } from "./covered.ts";
import { guestEnvironment, marksInside, noWorkspace } from "./environment.ts";
import { linksOver, type StdioLinks } from "./stdio.ts";
import { supervisorProgram } from "./supervisor-program.ts";

/** What of a folder is the same inside: device and inode, the inode alone, or nothing. gVisor has numbers of its own. */
export type Likeness = "device" | "inode" | "none";

type Host = {
  /** The filter of calls. */
  readonly calls: Uint8Array;
  readonly hasNode: boolean;
  readonly startTimeoutMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
};

type Own = {
  /** Run by `sh -c` with the command of the supervisor behind it. */
  readonly script: string;
  readonly likeness: Likeness;
  /** Limited for all of the guest together; else for each process. */
  readonly isLimited: { readonly memory: boolean; readonly pids: boolean };
  readonly oomKills: () => number;
  /** What the supervisor says is covered, see `covered.ts`. */
  readonly isCovered?: boolean;
};

/** The supervisor as the first process of a container. `connected` when it has greeted, and only then. */
export function superviseGuest(
  wanted: GuestWanted,
  { calls, hasNode, startTimeoutMs, clock, ids }: Host,
  { script, likeness, isLimited, oomKills, isCovered = false }: Own,
): { readonly program: ContainedProgram; connected(): GuestConnection } {
  const { limits } = wanted;
  const ways = { hasNetwork: wanted.network !== undefined, isOverStdio: true, isCovered };
  const { command } = supervisorProgram(containedPython, "/run/agentyard/guest", ways);
  // The kernel counts the processes of a user on the whole machine: of one that others have too, theirs as well.
  const hasOwnUser = process.geteuid?.() === 0 && wanted.uid !== undefined;
  let held: { readonly connection: GuestConnection; readonly links: StdioLinks } | undefined;
  const program: ContainedProgram = {
    command: ["/bin/sh", "-c", script, "sandbox", ...command],
    files: guestFiles(calls),
    async greet(stdio, { marks }) {
      const key = isCovered ? Buffer.from(ids.hex(2 * keyBytes), "hex") : undefined;
      if (key !== undefined) stdio.write(key);
      const links = linksOver(stdio, { key });
      const connected = await connectGuest(links.control, {
        id: wanted.id,
        workspace: wanted.workspace?.inside ?? noWorkspace,
        // Those that others know it by count; what we opened ourselves is only added.
        marks: likeness === "none" ? {} : { ...marks, ...marksInside(wanted) },
        areMarksInodes: likeness === "inode",
        javascript: hasNode ? ["node"] : undefined,
        env: guestEnvironment(wanted),
        limits,
        processLimits: {
          memoryBytes: isLimited.memory ? null : limits.memoryBytes,
          processesMax: isLimited.pids || !hasOwnUser ? null : limits.processesMax,
        },
        ...{ oomKills, helloTimeoutMs: startTimeoutMs, clock, ids },
      });
      if (!connected.ok) return connected.failure;
      held = { connection: connected.value, links };
      return undefined;
    },
  };
  return {
    program,
    connected() {
      assert(held !== undefined, "a guest that is ready has greeted");
      wanted.network?.(held.links.network);
      return held.connection;
    },
  };
}
