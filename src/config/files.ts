import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
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

/** Differs when the file was changed, made or removed since. */
export function stampOf({ path }: ConfigFile): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "none";
  }
}
