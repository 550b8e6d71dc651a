import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { GuestWorkspace } from "../provider.ts";

/** Small files that a container finds, in a folder of the host that is mounted into it and gone with it. */
export type Stage = {
  /** What is mounted of it, by its place inside. */
  readonly mounts: Readonly<Record<string, string>>;
  remove(): void;
};

type Wanted = {
  /** For all guests of this installation. The engine has to find it by the same path. */
  readonly folder: string;
  readonly id: string;
  /** By their place below `/run/agentyard`. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly user: number;
  readonly workspace: Pick<GuestWorkspace, "inside" | "writable"> | undefined;
};

const etcFiles = ["passwd", "group", "hosts", "hostname", "resolv.conf"];
const python = "/usr/bin/python3";

export function makeStage({ folder, id, files, user, workspace }: Wanted): Result<Stage, string> {
  const root = join(folder, id);
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content, { mode: 0o444 });
  };
  const link = (path: string, target: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    mkdirSync(root);
    for (const [path, content] of Object.entries(files)) put(`run/${path}`, content);
    link("run/bin/python", python);
    // Where other things are mounted there has to be a folder; nobody inside can make one.
    mkdirSync(join(root, "run/packages"));
    put("etc/passwd", `guest:x:${user}:${user}::/tmp:/bin/bash\n`);
    put("etc/group", `guest:x:${user}:\n`);
    // In place of what engines write there, which tells of the network around them.
    put("etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n");
    put("etc/hostname", "sandbox\n");
    put("etc/resolv.conf", "");
    mkdirSync(join(root, "workspace"));
    if (workspace !== undefined) mountPoints(join(root, "workspace"), workspace, link);
    // Whatever mask this process has: programs inside read it.
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
      if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o444);
  } catch (error) {
    removeStage(folder, id);
    return failed(`the files of a container cannot be written: ${systemCodeOrThrow(error)}`);
  }
  return ok({
    mounts: {
      "/run/agentyard": join(root, "run"),
      ...Object.fromEntries(etcFiles.map((name) => [`/etc/${name}`, join(root, "etc", name)])),
      "/workspace": join(root, "workspace"),
    },
    remove: () => removeStage(folder, id),
  });
}

/** Links and not mounts: a file can be moved from one name of a folder to the other. */
function mountPoints(
  folder: string,
  { inside, writable }: Pick<GuestWorkspace, "inside" | "writable">,
  link: (path: string, target: string) => void,
): void {
  mkdirSync(join(folder, inside.slice("/workspace/".length)), { recursive: true });
  if (writable === "all") return;
  for (const name of writable) if (`/workspace/${name}` !== inside) link(`workspace/${name}`, `${inside}/${name}`);
}

/** What guests left whose server was killed; those of spared ones stay. How many there were. */
export function reapStages(folder: string, spared: ReadonlySet<string>): number {
  const left = namesIn(folder).filter((id) => !spared.has(id));
  for (const id of left) removeStage(folder, id);
  return left.length;
}

/** Nobody inside can write there, so there is nothing in it but what we made. */
function removeStage(folder: string, id: string): void {
  rmSync(join(folder, id), { recursive: true, force: true });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // No guest was ever opened.
  }
}
