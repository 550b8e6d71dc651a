import { statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import type { Problem } from "./problems.ts";

/** A file that may hold settings; `shown` is its name for people. */
export type ConfigFile = { readonly path: string; readonly shown: string };

/** The text of a file; undefined where there is none, or where it cannot be used. */
export async function readText({ path, shown }: ConfigFile, problems: Problem[]): Promise<string | undefined> {
  const place = { file: shown, line: 1 };
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = systemCodeOrThrow(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") problems.push({ fault: "unreadable", why: code, place });
    return undefined;
  }
  if (!/[\0\uFFFD]/.test(text)) return text.replace(/^\uFEFF/, "");
  problems.push({ fault: "not_utf8", place });
  return undefined;
}

/**
 * The programs in a folder, by name, so that they are asked in the same order at every start. A folder that is there and
 * cannot be listed is a mistake: without its programs, less would be asked than was meant.
 */
export async function programsIn({ path, shown }: ConfigFile, problems: Problem[]): Promise<ConfigFile[]> {
  let names: string[];
  try {
    names = await readdir(path);
  } catch (error) {
    const why = systemCodeOrThrow(error);
    if (why !== "ENOENT") problems.push({ fault: "unlisted", why, place: { file: shown, line: 1 } });
    return [];
  }
  return names
    .filter((name) => /^[^.].*\.(ts|js|mjs)$/.test(name) && !/\.(test|d)\.ts$/.test(name))
    .sort()
    .map((name) => ({ path: join(path, name), shown: `${shown}/${name}` }));
}

/** Differs when the file was changed, made or removed since. */
export function stampOf({ path }: ConfigFile): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "none";
  }
}
