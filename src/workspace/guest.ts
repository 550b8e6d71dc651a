import { closeSync, fstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeRoot } from "./change.ts";
import { makeFolders } from "./descend.ts";
import type { Visit } from "./files.ts";
import type { GuestFolder } from "./one-workspace.ts";
import { giveAll, isGiven } from "./owner.ts";
import { writableFolders } from "./path.ts";
import type { SkillCopies } from "./skill-links.ts";

/** Everything is there and belongs to whom it must before the sandbox mounts it. */
export async function guestFolder(visit: Visit): Promise<GuestFolder> {
  const { id, kind, at, books } = visit;
  const { folder, uid } = at;
  const isTask = kind === "task";
  const root = visit.root ?? (await makeRoot(visit));
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
      await books.locks(`give ${folder}`, async () => {
        if (!isGiven(root, uid)) await giveAll(root, uid, isTask ? ["."] : writableFolders);
      });
  } finally {
    if (visit.root === undefined) closeSync(root);
  }
  return {
    folder,
    inside: `/workspace/${id}`,
    writable: isTask ? "all" : writableFolders,
    skills: isTask ? undefined : join(folder, "skills"),
    ...(isTask || visit.skills === undefined ? {} : { skillCopies: copiesOf(visit.skills) }),
    uid,
    marks,
  };
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
