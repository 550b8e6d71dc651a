import { closeSync, fstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { checkedNames } from "../guest/names-below.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import { markOf, openBelow } from "./files-folder.ts";
import type { GuestOrder, Likeness } from "./wire.ts";

type Folders = Pick<GuestWanted, "workspace" | "packages" | "uid">;

/**
 * The folders of an order as this machine has them. Each is looked at name by name and must be the one that the server
 * means; the guest itself then sees whether that one was mounted.
 */
export function foldersOf(order: GuestOrder, root: string): Result<Folders, SandboxFault> {
  const { workspace, packages, likeness } = order;
  const marks: Record<string, string> = {};
  try {
    const real = realpathSync(root);
    const packagesFound = packages && lookAt(real, packages);
    if (workspace === undefined)
      return ok({ workspace: undefined, uid: order.uid, ...(packagesFound && { packages: packagesFound.path }) });
    const { inside, writable, skills, skillCopies } = workspace;
    const found = lookAt(real, workspace.folder);
    for (const [name, mark] of Object.entries(workspace.marks)) {
      const seen = name === "." ? found : lookAt(real, [...workspace.folder, name]);
      if (!isAlike(seen.mark, mark, likeness))
        return failed({ why: "wrong_workspace", said: `another folder: ${name}` });
      marks[name] = seen.mark;
    }
    const skillsFound = skills && lookAt(real, skills);
    const copiesFound = skillCopies && lookAt(real, skillCopies);
    return ok({
      workspace: {
        ...{ folder: found.path, inside, writable },
        ...(skillsFound && { skills: skillsFound.path }),
        ...(copiesFound && { skillCopies: copiesFound.path }),
        marks: {
          ...{ ...marks, ".": found.mark },
          // By their places inside, seen from the workspace.
          ...(skillsFound && { skills: skillsFound.mark }),
          ...(copiesFound && { [upFrom(inside, "/skills")]: copiesFound.mark }),
          ...(packagesFound && { [upFrom(inside, "/run/agentyard/packages")]: packagesFound.mark }),
        },
      },
      uid: order.uid ?? ownerOf(found.owner),
      ...(packagesFound && { packages: packagesFound.path }),
    });
  } catch (error) {
    return failed({ why: "start_failed", said: `a folder cannot be opened: ${systemCodeOrThrow(error)}` });
  }
}

type Seen = { readonly path: string; readonly mark: string; readonly owner: number };

function lookAt(root: string, path: readonly string[]): Seen {
  const names = checkedNames(path);
  // As the system says it of what is not there: below this folder nothing has such a name.
  if (names === undefined) throw Object.assign(new Error("no such place"), { code: "ENOENT", syscall: "open" });
  const fd = openBelow(root, names);
  try {
    return { path: join(root, ...names), mark: markOf(fd), owner: fstatSync(fd).uid };
  } finally {
    closeSync(fd);
  }
}

/** A server without root names nobody: the files are its own, and stay so where this process could give them away. */
function ownerOf(owner: number): number | undefined {
  return process.geteuid?.() === 0 && owner !== 0 ? owner : undefined;
}

function upFrom(inside: string, place: string): string {
  return `${"../".repeat(inside.split("/").length - 1)}${place.slice(1)}`;
}

/** Devices have other numbers on other machines, and with some disks inodes have, too. */
function isAlike(seen: string, mark: string, likeness: Likeness): boolean {
  if (likeness === "none") return true;
  return likeness === "device" ? seen === mark : inodeOf(seen) === inodeOf(mark);
}

export function inodeOf(mark: string): string {
  return mark.slice(mark.indexOf(":") + 1);
}
