import { statSync } from "node:fs";
import type { Ids } from "../../base/ids.ts";
import type { Result } from "../../base/result.ts";
import type { GuestWanted, LackName, SandboxFault } from "../provider.ts";
import { canaryLimits, canaryProgram, factsIn, type GuestFacts, readCanary } from "./canary.ts";
import { type ContainedProgram, containedPython, guestFiles, userOf } from "./contained.ts";
import type { Likeness } from "./supervised.ts";

// The canary as the first process of a container: what an engine says of itself, or a manifest asks for, is not enough.

export const canaryCommand = [containedPython, "-I", "/run/agentyard/guest/canary.py", "1"];

type Looking = Pick<ContainedProgram, "command" | "env"> & {
  readonly ids: Ids;
  /** Has the ids of guests that look around, while they do. */
  readonly canaries: Set<string>;
  /** The filter of calls. */
  readonly calls: Uint8Array;
  readonly launch: (
    wanted: GuestWanted,
    program: ContainedProgram,
  ) => Promise<Result<{ kill(): void; readonly ended: Promise<unknown> }, SandboxFault>>;
};

type Seen = { readonly facts: GuestFacts; readonly likeness: Likeness };

/** What the canary found; a fault when it could not be started. */
export async function sendCanary({ ids, canaries, calls, launch, ...started }: Looking): Promise<Seen | SandboxFault> {
  let told = "";
  let likeness: Likeness = "none";
  const id = `canary-${ids.hex(16)}`;
  canaries.add(id);
  try {
    const launched = await launch(
      { id, workspace: undefined, limits: canaryLimits, uid: undefined, env: {} },
      {
        ...started,
        files: { ...guestFiles(calls), "guest/canary.py": canaryProgram() },
        async greet(stdio, { stage }) {
          told = await readCanary(stdio);
          const { dev, ino } = statSync(stage);
          likeness = told.includes(`"${dev}:${ino}"`) ? "device" : told.includes(`:${ino}"`) ? "inode" : "none";
          return undefined;
        },
      },
    );
    if (!launched.ok) return launched.failure;
    launched.value.kill();
    await launched.value.ended;
  } finally {
    canaries.delete(id);
  }
  const facts = factsIn(told);
  return typeof facts === "string" ? { why: "start_failed", said: facts } : { facts, likeness };
}

/** With the number of the first process, and with its standard descriptors. */
export function containedWalls() {
  const user = userOf(undefined);
  return { user: [user, user, 1], descriptors: [0, 1, 2] };
}

type MaybeLack = readonly [isMissing: boolean, name: LackName, detail?: string];

/** What no guest has there; `own`: what only its provider knows. */
export function missingIn(facts: GuestFacts, own: readonly MaybeLack[]): [LackName, string][] {
  const lacks: readonly MaybeLack[] = [
    ...own,
    [process.geteuid?.() !== 0, "shared_uid"],
    [facts.libraries.length > 0, "no_data_libraries", facts.libraries.join(", ")],
    [!facts.hasChinese, "no_cjk_fonts"],
    [!facts.hasNode, "no_node"],
  ];
  return lacks.flatMap(([isMissing, name, detail = ""]) => (isMissing ? [[name, detail]] : []));
}
