import { statSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { failed, type Result } from "../../base/result.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import { noWorkspace, packagesFolder } from "./environment.ts";
import { type OpenWorkspace, openSources, type Sources } from "./sources.ts";
import { makeStage } from "./stage.ts";
import { supervisorProgram } from "./supervisor-program.ts";

// What a guest in a container is given, whoever makes the container.

export const containedPython = "/usr/bin/python3";

/** For a root that names nobody: a guest without a workspace has no files that could be another's. */
const sharedUid = 64_999;

/** The user of a guest's programs. There is no other numbering inside: files belong to whom they are given. */
export function userOf(uid: number | undefined): number {
  const own = process.geteuid?.() ?? sharedUid;
  return uid ?? (own === 0 ? sharedUid : own);
}

/** What runs as a container's first process. */
export type ContainedProgram = {
  readonly command: readonly string[];
  /** By their place below `/run/agentyard`. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Variables of a pod that only its node knows. */
  readonly env?: readonly unknown[] | undefined;
  /**
   * Resolves when it said that it is ready; with what is wrong when it said something else. `marks`: which folders were
   * mounted, by their places inside.
   */
  greet(
    stdio: Duplex,
    opened: { readonly marks: Readonly<Record<string, string>>; readonly stage: string },
  ): Promise<SandboxFault | undefined>;
};

type Prepared = {
  readonly user: number;
  /** Where the program begins. */
  readonly folder: string;
  /** Of the host, by their places inside; all of them can only be read. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly sources: Sources;
  readonly greet: (stdio: Duplex) => Promise<SandboxFault | undefined>;
};

/**
 * Starts a container: folders are opened first, then `begin` has it made. Engine and cluster mount by name; that these were
 * the folders which we opened is seen from inside. `stages` has the small files of all guests.
 */
export async function launchContained<T extends { readonly ended: Promise<unknown> }>(
  wanted: GuestWanted,
  { files, greet }: ContainedProgram,
  stages: string,
  begin: (prepared: Prepared) => Promise<Result<T, SandboxFault>>,
): Promise<Result<T, SandboxFault>> {
  const { id, workspace } = wanted;
  const user = userOf(wanted.uid);
  const opened = openSources({ ...wanted, programs: [], uid: process.geteuid?.() === 0 ? user : undefined });
  if (!opened.ok) return failed({ why: "start_failed", said: opened.failure });
  const sources = opened.value;
  try {
    const stage = makeStage({ folder: stages, id, files, user, workspace });
    if (!stage.ok) return failed({ why: "start_failed", said: stage.failure });
    const { mounts, remove } = stage.value;
    const seen = { marks: sources.workspace ? marksOf(sources.workspace) : {}, stage: mounts["/run/agentyard"] ?? "" };
    const folder = workspace?.inside ?? noWorkspace;
    try {
      const launched = await begin({ user, folder, mounts, sources, greet: (stdio) => greet(stdio, seen) });
      if (launched.ok) void launched.value.ended.then(remove);
      else remove();
      return launched;
    } catch (error) {
      remove();
      throw error;
    }
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

type Mount = { readonly path: string; readonly inside: string; readonly isWritable: boolean };

/** Everything that a container sees of the host, what lies in another behind it. */
export function mountsOf(
  mounts: Readonly<Record<string, string>>,
  { workspace, packages }: Pick<Sources, "workspace" | "packages">,
): Mount[] {
  const mount = (path: string, inside: string, isWritable = false): Mount => ({ path, inside, isWritable });
  const small = Object.entries(mounts).map(([inside, path]) => mount(path, inside));
  const installed = packages === undefined ? [] : [mount(packages.path, packagesFolder)];
  if (workspace === undefined) return [...small, ...installed];
  const { inside, root, writable, skills, skillCopies } = workspace;
  return [
    ...small,
    ...installed,
    mount(root.path, inside, writable === "all"),
    ...(writable === "all" ? [] : writable.map(({ name, opened }) => mount(opened.path, `${inside}/${name}`, true))),
    ...(skills === undefined ? [] : [mount(skills.path, `${inside}/skills`)]),
    ...(skillCopies === undefined ? [] : [mount(skillCopies.path, "/skills")]),
  ];
}

/** The supervisor, and the filter that it puts in force before all else, by their places below `/run/agentyard`. */
export function guestFiles(calls: Uint8Array): Record<string, Uint8Array> {
  return { ...supervisorProgram(containedPython, "guest").files, "guest/calls.bpf": calls };
}

/**
 * The list of fonts that the image was built with, where programs look for it; then the program itself, with nothing
 * around it that engine or image brought along. To be run by `sh -c`, with a name and the command after it.
 */
export const enterScript = `mkdir -p /tmp/.cache
cp -r /usr/share/agentyard/matplotlib /tmp/.cache/ 2> /dev/null
exec env -i PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"`;
