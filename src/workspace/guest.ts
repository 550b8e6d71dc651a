import { closeSync, fstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeFailure } from "../protocol/failure.ts";
import { makeRoot } from "./change.ts";
import { makeFolders, openRoot } from "./descend.ts";
import { Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import type { GuestFolder } from "./one-workspace.ts";
import { giveAll, isGiven } from "./owner.ts";
import { writableFolders } from "./path.ts";
import type { SkillCopies } from "./skill-links.ts";

/** Everything is there and belongs to whom it must before the sandbox mounts it. */
export async function guestFolder(visit: Visit): Promise<GuestFolder> {
  const { id, kind, at, books, skills } = visit;
  const { uid } = at;
  const isTask = kind === "task";
  const { folder, root, release } = await mountedOf(visit);
  const marks: Record<string, string> = { ".": markOf(root) };
  try {
    // Somebody may have taken one away. A link in its place is refused here: the sandbox would follow it.
    if (!isTask) closeSync(makeFolders(root, ["skills"], { uid: undefined }));
    for (const name of isTask ? [] : writableFolders) {
      const made = makeFolders(root, [name], { uid });
      marks[name] = markOf(made);
      closeSync(made);
    }
    if (uid !== undefined)
      await books.locks(`give ${at.folder}`, async () => {
        if (!isGiven(root, uid)) await giveAll(root, uid, isTask ? ["."] : writableFolders);
      });
  } catch (error) {
    release();
    throw error;
  } finally {
    if (visit.root === undefined) closeSync(root);
  }
  return {
    folder,
    inside: `/workspace/${id}`,
    writable: isTask ? "all" : writableFolders,
    skills: isTask ? undefined : join(folder, "skills"),
    ...(isTask || skills === undefined ? {} : { skillCopies: copiesOf(skills) }),
    uid,
    marks,
    release,
  };
}

type Mounted = { readonly folder: string; readonly root: number; readonly release: () => void };

/** What programs find as the workspace, open: its folder, or where nothing was written to a task yet, the one that waits. */
async function mountedOf(visit: Visit): Promise<Mounted> {
  const { at } = visit;
  const release = () => {};
  if (visit.root !== undefined) return { folder: at.folder, root: visit.root, release };
  // An image is its own limit: it is there before anything is written.
  if (at.waiting === undefined || at.image !== undefined)
    return { folder: at.folder, root: await makeRoot(visit), release };
  const { waiting } = at;
  const held = await waiting.hold();
  if (!held.ok) throw new Refused(held.failure);
  const root = openRoot(held.value);
  if (root !== undefined) return { folder: held.value, root, release: () => waiting.release(held.value) };
  waiting.release(held.value);
  throw new Refused(makeFailure("write_failed", { path: ".", why: "changed" }));
}

/** There from the beginning, so that a skill that is linked later is seen by programs that run already. */
function copiesOf({ dir }: SkillCopies): string {
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  return dir;
}

/** The same inside, wherever it is mounted; of another folder it is another. */
function markOf(folder: number): string {
  const { dev, ino } = fstatSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}
