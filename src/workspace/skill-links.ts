import { closeSync, readlinkSync, symlinkSync } from "node:fs";
import { systemCode } from "../base/fault.ts";
import { makeFailure } from "../protocol/failure.ts";
import { inFolder, makeFolders, openRoot, statIn } from "./descend.ts";
import { Refused } from "./faults.ts";
import type { Visit } from "./files.ts";
import { shownPath } from "./path.ts";

/** The skills of this installation, as conversations and programs see them. Host paths: for files and the sandbox alone. */
export interface SkillCopies {
  /** All of them lie here, by name; programs find it at `/skills`. */
  readonly dir: string;
  /** The folder of one as it is now; undefined where there is no such skill. Throws what the system says of the disk. */
  open(id: string): Promise<string | undefined>;
}

/** Where programs find the skills themselves; what stands in a conversation's `skills/` leads there. */
const guestSkills = "/skills";
const linksFolder = "skills";

/**
 * Runs a look at files where they are: below `skills/{id}` that is the skill's own folder. Only a link that we placed
 * stands for one, and what it stands for is asked of those who know the skills, never of the link. The first look at a
 * skill places its link.
 */
export async function inSkill<T>(here: Visit, work: (visit: Visit) => Promise<T> | T): Promise<T> {
  const { skills, root, names, kind, at } = here;
  const [first, id] = names;
  if (
    skills === undefined ||
    root === undefined ||
    kind !== "conversation" ||
    first !== linksFolder ||
    id === undefined
  )
    return work(here);
  const entry = entryAt(root, id);
  if (entry === "other") return work(here);
  const folder = await skills.open(id);
  const opened = folder === undefined ? undefined : openRoot(folder);
  if (folder === undefined || opened === undefined) {
    if (entry === "none") return work(here);
    throw new Refused(makeFailure("file_not_found", { path: shownPath(here.path), near: "" }));
  }
  try {
    if (entry === "none") placeLink(root, id);
    return await work({
      ...here,
      ...{ root: opened, at: { ...at, folder }, names: names.slice(2), above: names.slice(0, 2) },
    });
  } finally {
    closeSync(opened);
  }
}

/** Whether what stands in `skills/` under this name is a link that we placed. */
export function isSkillLink(folder: number, name: string): boolean {
  try {
    return readlinkSync(inFolder(folder, name)) === `${guestSkills}/${name}`;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

function entryAt(root: number, id: string): "ours" | "none" | "other" {
  const folder = makeFolders(root, [linksFolder], { uid: undefined });
  try {
    const found = statIn(folder, id);
    if (found === undefined) return "none";
    return found.isSymbolicLink() && isSkillLink(folder, id) ? "ours" : "other";
  } finally {
    closeSync(folder);
  }
}

function placeLink(root: number, id: string): void {
  const folder = makeFolders(root, [linksFolder], { uid: undefined });
  try {
    symlinkSync(`${guestSkills}/${id}`, `/proc/self/fd/${folder}/${id}`);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error; // Somebody else was faster.
  } finally {
    closeSync(folder);
  }
}
