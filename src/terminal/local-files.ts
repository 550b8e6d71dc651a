import { opendir, readdir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, matchesGlob, relative, resolve, sep } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { limits } from "../protocol/route.ts";
import { hasPattern } from "./file-mentions.ts";

/** Where names of files count from. */
export type LocalPlace = {
  readonly folder: string;
  readonly homeDir: string;
  /** Names in folders that are looked at for one pattern or folder. */
  readonly entriesMax?: number;
};

/** A file as somebody named it; see `FileMention`. */
export type WantedFile = {
  readonly path: string;
  readonly readings?: readonly string[];
  readonly isMeant: boolean;
  /** As it was written. */
  readonly label: string;
};

export type LocalFile = {
  readonly path: string;
  /** As people know it: what they wrote, and what is below that. */
  readonly shown: string;
  /** Under which it is stored. */
  readonly name: string;
};

/** Named and there, but it cannot be read. */
export type UnreadableFile = { readonly shown: string; readonly failure: Failure<"permission_denied" | "read_failed"> };

export type LocalFiles = {
  readonly files: readonly LocalFile[];
  readonly unreadables: readonly UnreadableFile[];
  /** Why nothing is to be sent. */
  readonly problems: readonly FileProblem[];
  /** What was probably meant; it stays text. */
  readonly hints: readonly FileHint[];
};
export type FileProblem =
  | { readonly kind: "missing"; readonly label: string; readonly near: string | undefined }
  | { readonly kind: "empty" | "too_many"; readonly label: string }
  | { readonly kind: "too_wide"; readonly label: string; readonly limit: number };
export type FileHint =
  | { readonly kind: "folder"; readonly label: string }
  | { readonly kind: "near"; readonly label: string; readonly near: string };

/** Beside the files of the folder: what lies here need not be named with it. */
const uploadsFolder = "uploads";
const entriesMaxUsual = 50_000;
const namesComparedMax = 1_000;
const leftOut: ReadonlySet<string> = new Set(["node_modules"]);

type Located = { readonly path: string; readonly shown: string };
type Found = {
  readonly files?: readonly Located[];
  readonly unreadables?: readonly UnreadableFile[];
  readonly problem?: FileProblem;
  readonly hint?: FileHint;
};

/** Finds on this machine what was named: files, all files of a folder, all that fit a pattern. Opens none of them. */
export async function findLocalFiles(wanted: readonly WantedFile[], place: LocalPlace): Promise<LocalFiles> {
  const located = new Map<string, Located>();
  const unreadables = new Map<string, UnreadableFile>();
  const problems: FileProblem[] = [];
  const hints: FileHint[] = [];
  for (const one of wanted) {
    const found = await findOne(one, place);
    for (const file of found.files ?? []) if (!located.has(file.path)) located.set(file.path, file);
    for (const file of found.unreadables ?? []) unreadables.set(file.shown, file);
    if (found.hint !== undefined) hints.push(found.hint);
    const isTooMany = located.size > limits.messageFilesMax;
    const problem = found.problem ?? (isTooMany ? { kind: "too_many" as const, label: one.label } : undefined);
    if (problem !== undefined) problems.push(problem);
    if (isTooMany) break;
  }
  return { files: withNames([...located.values()], place), unreadables: [...unreadables.values()], problems, hints };
}

async function findOne(wanted: WantedFile, place: LocalPlace): Promise<Found> {
  const { path, readings = [path], isMeant, label } = wanted;
  const { entriesMax: limit = entriesMaxUsual } = place;
  for (const name of readings) {
    for (const target of targetsOf(name, place)) {
      const kind = await kindOf(target);
      if (kind === "file") return { files: [{ path: target, shown: name }] };
      const isFolderMeant = isMeant || name.endsWith("/");
      if (kind === "folder") return isFolderMeant ? takeFolder(target, name, label, limit) : { hint: { kind, label } };
      // Where nothing can be seen at all, a tag is still a tag.
      const isShut = kind !== "missing" && isMeant && name === path;
      if (kind === "special" || isShut) return { unreadables: [unreadable(name, kind)] };
    }
  }
  const fitting = hasPattern(path) ? await takePattern(path, place, label, limit) : undefined;
  return fitting ?? missing(wanted, await nearOf(path, place));
}

function missing({ path, isMeant, label }: WantedFile, near: string | undefined): Found {
  if (isMeant) return { problem: { kind: "missing", label, near } };
  const isNamedLikeFile = /\.\p{L}[\p{L}\d]{0,7}$/u.test(path);
  return near !== undefined && isNamedLikeFile ? { hint: { kind: "near", label, near } } : {};
}

/** In the folder, then in `uploads/` there. */
export function targetsOf(path: string, { folder, homeDir }: LocalPlace): string[] {
  if (/^~($|[/\\])/.test(path)) return [resolve(join(homeDir, path.slice(1)))];
  return isAbsolute(path) ? [resolve(path)] : [resolve(folder, path), resolve(folder, uploadsFolder, path)];
}

type ReadFault = "special" | "system" | "io" | "changed";

async function kindOf(path: string): Promise<"file" | "folder" | "missing" | Exclude<ReadFault, "changed">> {
  try {
    const found = await stat(path);
    return found.isFile() ? "file" : found.isDirectory() ? "folder" : "special";
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): "missing" | "system" | "io" {
  const code = systemCodeOrThrow(error);
  if (code === "EACCES" || code === "EPERM") return "system";
  return code === "EIO" || code === "EMFILE" || code === "ENFILE" || code === "ELOOP" ? "io" : "missing";
}

/** Why a file of this machine cannot be sent. */
export function unreadable(shown: string, why: ReadFault): UnreadableFile {
  const failure =
    why === "io" || why === "changed"
      ? makeFailure("read_failed", { path: shown, why })
      : makeFailure("permission_denied", { path: shown, folder: "", why });
  return { shown, failure };
}

async function takeFolder(root: string, shown: string, label: string, limit: number): Promise<Found> {
  const below = await filesBelow(root, { depthMax: Number.POSITIVE_INFINITY, limit, accepts: () => true });
  if (below.isTooWide) return { problem: { kind: "too_wide", label, limit } };
  const prefix = shown.endsWith("/") ? shown : `${shown}/`;
  const unreadables = below.closed.map((folder) => unreadable(folder === "" ? shown : `${prefix}${folder}/`, "system"));
  const files = below.files.map((file) => ({ path: join(root, file), shown: `${prefix}${file}` }));
  return files.length + unreadables.length === 0 ? { problem: { kind: "empty", label } } : { files, unreadables };
}

async function takePattern(path: string, place: LocalPlace, label: string, limit: number): Promise<Found | undefined> {
  const parts = path.replaceAll(sep, "/").split("/");
  const at = parts.findIndex(hasPattern);
  const fixed = parts.slice(0, at).map((part) => `${part}/`);
  const pattern = parts.slice(at).join("/");
  const depthMax = pattern.includes("**") ? Number.POSITIVE_INFINITY : parts.length - at;
  for (const root of targetsOf(fixed.join("") || ".", place)) {
    const below = await filesBelow(root, { depthMax, limit, accepts: (file) => matchesGlob(file, pattern) });
    if (below.isTooWide) return { problem: { kind: "too_wide", label, limit } };
    if (below.closed.includes("")) return { unreadables: [unreadable(fixed.join("") || ".", "system")] };
    const files = below.files.map((file) => ({ path: join(root, file), shown: `${fixed.join("")}${file}` }));
    if (files.length > 0) return { files };
  }
  return undefined;
}

type Below = { readonly files: readonly string[]; readonly closed: readonly string[]; readonly isTooWide: boolean };
type Looking = { readonly depthMax: number; readonly limit: number; readonly accepts: (file: string) => boolean };

/** Relative paths, sorted. Hidden entries are left out, and links: they may lead in circles, or to what nobody meant. */
async function filesBelow(root: string, { depthMax, limit, accepts }: Looking): Promise<Below> {
  const files: string[] = [];
  const closed: string[] = [];
  const folders = [{ path: "", depth: 1 }];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for await (const entry of await opendir(join(root, folder.path))) {
        entries += 1;
        if (entries > limit) return { files, closed, isTooWide: true };
        if (entry.name.startsWith(".") || leftOut.has(entry.name)) continue;
        const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
        if (entry.isDirectory() && folder.depth < depthMax) folders.push({ path, depth: folder.depth + 1 });
        if (entry.isFile() && accepts(path)) files.push(path);
        if (files.length > limits.messageFilesMax) return { files, closed, isTooWide: false };
      }
    } catch (error) {
      if (faultOf(error) !== "missing") closed.push(folder.path);
    }
  }
  return { files: files.sort(), closed: closed.sort(), isTooWide: false };
}

/** The name beside it that was probably meant, in the folder that was written. */
async function nearOf(path: string, place: LocalPlace): Promise<string | undefined> {
  const folder = path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);
  for (const target of hasPattern(path) ? [] : targetsOf(path, place)) {
    const names = await readdir(dirname(target)).catch(() => []);
    const [near] = nearest(basename(target), names.slice(0, namesComparedMax), 1, { onlyLikely: true });
    if (near !== undefined) return folder + near;
  }
  return undefined;
}

/** All files of a message lie in one folder there: those of the same name are told apart by where they come from. */
function withNames(files: readonly Located[], { folder }: LocalPlace): LocalFile[] {
  const keyOf = (path: string) => basename(path).toLowerCase();
  const counts = Map.groupBy(files, ({ path }) => keyOf(path));
  return files.map(({ path, shown }) => {
    const isOnly = counts.get(keyOf(path))?.length === 1;
    const steps = relative(folder, path).split(/[\\/:]/);
    return { path, shown, name: isOnly ? basename(path) : steps.filter((step) => step !== "..").join("-") };
  });
}
