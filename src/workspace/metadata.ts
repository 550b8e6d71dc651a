import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { systemCode } from "../base/fault.ts";
import { parsedJson } from "../base/json.ts";
import type { WorkspaceRow } from "../storage/storage.ts";

/** What every workspace of a conversation has from the beginning. */
const folders = ["skills", "uploads", "outputs", "temp"];
const metadataName = ".metadata.json";

/** What a folder of a conversation has at its top that no user put there, or that nobody would miss. */
export const notTheUsers: readonly string[] = [metadataName, "skills", "temp"];

const metadataBytesMax = 64 * 1024;

/** Lays out a new folder of a conversation that nobody sees yet. */
export function layOut(folder: string, { id, kind, createdAt }: WorkspaceRow): void {
  for (const name of folders) mkdirSync(join(folder, name), { mode: 0o755 });
  const metadata = { session_id: id, created_at: new Date(createdAt).toISOString(), kind };
  writeFileSync(join(folder, metadataName), `${JSON.stringify(metadata, null, 2)}\n`, { mode: 0o644, flush: true });
}

/** The folder says by itself that it is the one of this row: what somebody else put there is not ours to move. */
export function isLaidOutFor(folder: string, { id }: Pick<WorkspaceRow, "id">): boolean {
  const text = readSmall(join(folder, metadataName));
  return Metadata.safeParse(parsedJson(text ?? "")).data?.session_id === id;
}

const Metadata = z.object({ session_id: z.string() });

/** A regular file that is no larger than ours are; a pipe in its place does not hold us up. */
function readSmall(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    if (!fstatSync(file).isFile() || size > metadataBytesMax) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, size, 0));
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** Takes a folder away in which there is nothing but what we laid out. False, and nothing is lost, when there is more. */
export function removeLaidOut(folder: string, { kind }: Pick<WorkspaceRow, "kind">): boolean {
  try {
    if (kind === "conversation") {
      if (!isBare(folder)) return false;
      for (const name of linksIn(folder)) unlinkSync(join(folder, "skills", name));
      for (const name of folders) unless("ENOENT", () => rmdirSync(join(folder, name)));
      unless("ENOENT", () => unlinkSync(join(folder, metadataName)));
    }
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

function isBare(folder: string): boolean {
  const countOf = (name: string) =>
    readdirSync(join(folder, name)).length - (name === "skills" ? linksIn(folder).length : 0);
  const isOurs = (name: string) => name === metadataName || (folders.includes(name) && countOf(name) === 0);
  return readdirSync(folder).every(isOurs);
}

/** Links to skills are placed again when they are needed. */
function linksIn(folder: string): string[] {
  const path = join(folder, "skills");
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const links = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return links.map(({ name }) => name);
}

function unless(code: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) !== code) throw error;
  }
}
