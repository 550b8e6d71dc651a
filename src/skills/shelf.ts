import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import type { Logger } from "../observe/observe.ts";
import { filesOf, type SkillFile } from "./skill-files.ts";

/**
 * The skills as agents and programs see them: copies, so that nobody who reads one sees half of a change, reaches a file
 * beside it, or needs a way into somebody's home folder. `{id}` is a link to the newest copy, switched in one stroke.
 */
export interface Shelf {
  /** Mounted for programs, who can only read it; it is made by the first skill that is opened. */
  readonly dir: string;
  /**
   * Where the newest copy lies; undefined where there is no such skill, or none that can be used. Throws what the
   * system says of the disk.
   */
  open(id: string): Promise<string | undefined>;
}

export type ShelfOptions = {
  readonly dir: string;
  readonly logger: Logger;
  readonly find: (id: string) => { readonly folder: string; readonly shown: string } | undefined;
};

const versions = ".versions";
const digestCharacters = 12;

export function openShelf({ dir, logger, find }: ShelfOptions): Shelf {
  const known = new Map<string, { readonly stamp: string; readonly folder: string }>();
  const opening = new Map<string, Promise<string | undefined>>();

  async function openNow(id: string): Promise<string | undefined> {
    const source = find(id);
    if (source === undefined) return undefined;
    const { files, problems } = await filesOf(source.folder);
    if (files.length === 0) {
      logger.warn("the skill {skill} cannot be copied", { skill: source.shown, why: problems[0]?.fault ?? "empty" });
      return undefined;
    }
    const stamp = [source.folder, ...files.map((file) => file.stamp)].join("\n");
    const before = known.get(id);
    if (before?.stamp === stamp && (await isThere(before.folder))) return before.folder;
    const folder = await copyIn(dir, id, files);
    // What the process before left is no longer read by anybody; what this one replaced may be.
    if (before === undefined) await removeOld(dir, id, folder);
    known.set(id, { stamp, folder });
    return folder;
  }

  return {
    dir,
    async open(id) {
      const running = opening.get(id) ?? openNow(id).finally(() => opening.delete(id));
      opening.set(id, running);
      return running;
    },
  };
}

/** First beside the others under a name that nobody looks for, then in its place, then the link. */
async function copyIn(dir: string, id: string, files: readonly SkillFile[]): Promise<string> {
  const draft = join(dir, versions, `.${id}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o755 });
  const digest = createHash("sha256");
  for (const { name: written, path, isProgram } of files) {
    // Agents are told of `SKILL.md`, however its author wrote it.
    const name = /^skill\.md$/i.test(written) ? "SKILL.md" : written;
    const copy = join(draft, name);
    await mkdir(dirname(copy), { recursive: true, mode: 0o755 });
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    await chmod(copy, isProgram ? 0o755 : 0o644);
    digest.update(JSON.stringify([name, isProgram])).update(await readFile(copy));
  }
  const version = `${id}-${digest.digest("hex").slice(0, digestCharacters)}`;
  const folder = join(dir, versions, version);
  if (await isThere(folder)) await rm(draft, { recursive: true });
  else await rename(draft, folder);
  await pointTo(dir, id, version);
  return folder;
}

async function pointTo(dir: string, id: string, version: string): Promise<void> {
  const target = `${versions}/${version}`;
  const link = join(dir, id);
  if ((await targetOf(link)) === target) return;
  const next = join(dir, versions, `.${id}.link`);
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, link);
}

async function removeOld(dir: string, id: string, current: string): Promise<void> {
  for (const name of await readdir(join(dir, versions))) {
    const isOfThis = name.slice(0, -digestCharacters - 1) === id;
    const folder = join(dir, versions, name);
    if (isOfThis && folder !== current) await rm(folder, { recursive: true, force: true });
  }
}

async function isThere(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch (error) {
    systemCodeOrThrow(error);
    return false;
  }
}

async function targetOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link);
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined;
  }
}
