import { statSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type OpenWorkspace, openSources } from "../guest/sources.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import { type Attached, readAttached } from "./attached.ts";
import { type ContainerWanted, containerBody } from "./container.ts";
import type { Engine, EngineFault } from "./engine.ts";
import { followContainer, removeContainer, removeUnconfirmed } from "./gone.ts";
import { makeStage } from "./stage.ts";

/** What all containers of a provider are started with. */
export type LaunchHost = {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly image: string;
  readonly runtime: string | undefined;
  /** Marks this installation: two of them with one engine leave each other's containers alone. */
  readonly mark: string;
  /** Where the small files of containers lie. */
  readonly folder: string;
  readonly isRemapped: boolean;
  readonly startTimeoutMs: number;
};

/** What runs as a container's first process. */
export type ContainerProgram = {
  readonly command: readonly string[];
  /** By their place below `/run/agentyard`. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Resolves when it said that it is ready; with what is wrong when it said something else. */
  greet(stdio: Duplex, opened: Opened): Promise<SandboxFault | undefined>;
};

/** `marks`: which folders were mounted, by their places inside. */
type Opened = { readonly marks: Readonly<Record<string, string>>; readonly stage: string };

export type Launched = {
  /** As the engine calls it. */
  readonly container: string;
  /** Its first process, as the engine's machine counts. */
  readonly pid: number;
  /** Never rejects; by then the container is gone, as far as anybody can tell. */
  readonly ended: Promise<{ readonly code: number | null }>;
  /** At once, with everything inside. */
  kill(): void;
};

export const labels = { mark: "agentyard.mark", guest: "agentyard.guest" };

/** For a root that names nobody: a guest without a workspace has no files that could be another's. */
const sharedUid = 64_999;

/** The user of a guest's programs. There is no other numbering inside: files belong to whom they are given. */
export function userOf(uid: number | undefined): number {
  const own = process.geteuid?.() ?? sharedUid;
  return uid ?? (own === 0 ? sharedUid : own);
}

/**
 * Starts a container: folders are opened first, then it is made, attached to, and started. The engine mounts by name; that
 * these were the folders which we opened is seen from inside.
 */
export async function launchContainer(
  wanted: GuestWanted,
  program: ContainerProgram,
  host: LaunchHost,
): Promise<Result<Launched, SandboxFault>> {
  const isRoot = process.geteuid?.() === 0;
  const user = userOf(wanted.uid);
  const opened = openSources({ ...wanted, programs: [], uid: isRoot ? user : undefined });
  if (!opened.ok) return failed({ why: "start_failed", said: opened.failure });
  const sources = opened.value;
  const stage = makeStage({
    folder: host.folder,
    id: wanted.id,
    files: program.files,
    user,
    workspace: wanted.workspace,
  });
  if (!stage.ok) {
    sources.close();
    return failed({ why: "start_failed", said: stage.failure });
  }
  const { mounts, remove } = stage.value;
  const body = containerBody({
    ...{ image: host.image, runtime: host.runtime, isRemapped: host.isRemapped },
    ...{ command: program.command, user, limits: wanted.limits, mounts, sources },
    folder: wanted.workspace?.inside ?? "/tmp",
    labels: { [labels.mark]: host.mark, [labels.guest]: wanted.id },
  } satisfies ContainerWanted);
  try {
    const marks = sources.workspace === undefined ? {} : marksOf(sources.workspace);
    const greet = (stdio: Duplex) => program.greet(stdio, { marks, stage: mounts["/run/agentyard"] ?? "" });
    const launched = await begin({ ...host, name: `agentyard-${host.mark}-${wanted.id}`, body, greet });
    if (launched.ok) void launched.value.ended.then(remove);
    else remove();
    return launched;
  } finally {
    sources.close();
  }
}

/** Device and inode of what is held open, as the supervisor reads them inside. */
function marksOf({ inside, root, writable }: OpenWorkspace): Record<string, string> {
  const below = writable === "all" ? [] : writable.map(({ name, opened }) => [name, opened.fd] as const);
  const folders = [[".", root.fd] as const, ...below];
  return Object.fromEntries(
    folders.map(([name, fd]) => {
      const { dev, ino } = statSync(`/proc/self/fd/${fd}`);
      return [join(inside, name), `${dev}:${ino}`];
    }),
  );
}

type Order = LaunchHost & {
  readonly name: string;
  readonly body: unknown;
  readonly greet: (stdio: Duplex) => Promise<SandboxFault | undefined>;
};

const created = z.object({ Id: z.string().regex(/^[0-9a-f]{12,64}$/) });
const inspected = z.object({ State: z.object({ Pid: z.number() }) });

async function begin(order: Order): Promise<Result<Launched, SandboxFault>> {
  const { engine, name, body } = order;
  const made = await engine.ask("POST", `/containers/create?name=${name}`, { body });
  const container = made.ok ? created.safeParse(made.value).data?.Id : undefined;
  if (container === undefined) {
    const mayExist = made.ok || made.failure.why === "late" || made.failure.why === "broken_off";
    if (mayExist) await removeUnconfirmed(order, name);
    return failed(made.ok ? { why: "start_failed", said: "no id" } : startFault(made.failure));
  }
  const attached = await engine.attach(container);
  if (!attached.ok) {
    await removeContainer(engine, container);
    return failed(startFault(attached.failure));
  }
  const stdio = readAttached(attached.value);
  const { ended, kill } = followContainer(order, container);
  const fault = await greeted(order, container, stdio);
  if (fault === undefined) {
    const looked = await engine.ask("GET", `/containers/${container}/json`);
    const pid = looked.ok ? (inspected.safeParse(looked.value).data?.State.Pid ?? 0) : 0;
    return ok({ container, pid, ended, kill });
  }
  kill();
  stdio.stdio.destroy();
  await ended;
  return failed({ why: fault.why, said: fault.said === "" ? stdio.said() : fault.said });
}

/** Undefined when the program runs and has said so. */
async function greeted(order: Order, container: string, attached: Attached): Promise<SandboxFault | undefined> {
  const { engine, clock, startTimeoutMs } = order;
  const over = new AbortController();
  const late = clock.wait(startTimeoutMs, over.signal).then((): SandboxFault => ({ why: "start_timeout", said: "" }));
  const gone = new Promise<SandboxFault>((resolve) => {
    attached.stdio.once("close", () => resolve({ why: "start_failed", said: "" }));
  });
  const start = async (): Promise<SandboxFault | undefined> => {
    const started = await engine.ask("POST", `/containers/${container}/start`);
    // The stream of one that was not started ends as well; the engine has the reason.
    return started.ok ? Promise.race([order.greet(attached.stdio), gone]) : startFault(started.failure);
  };
  try {
    return await Promise.race([start(), late]);
  } finally {
    over.abort();
  }
}

/** An engine that is away has to be seen to before anything can be started; what it refuses is about this guest. */
function startFault({ why, status, said }: EngineFault): SandboxFault {
  const isAway = why !== "refused" || /no such image/i.test(said);
  return { why: isAway ? "unavailable" : "start_failed", said: status === 0 ? `${why} ${said}`.trim() : said };
}
