import { readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";

/** A package of Python that a skill wants, as `requirements.txt` names it. */
export type Requirement = { readonly name: string; readonly version: string | undefined };
export type Requirements = {
  readonly packages: readonly Requirement[];
  /** Lines that say more than a name and a version: they are for people. */
  readonly leftOut: readonly string[];
};

const fileBytesMax = 64 * 1024;
const packagesMax = 50;
const none: Requirements = { packages: [], leftOut: [] };

/** What a skill's `requirements.txt` names; nothing where there is none. */
export async function readRequirements(folder: string): Promise<Requirements> {
  const path = join(folder, "requirements.txt");
  try {
    const [real, root] = [await realpath(path), await realpath(folder)];
    const found = await stat(real);
    // What a link brings in from elsewhere is nobody's wish, and its lines would be shown.
    const isOwn = real.startsWith(root + sep) && found.isFile() && found.size <= fileBytesMax;
    return isOwn ? parseRequirements(await readFile(real, "utf8")) : none;
  } catch (error) {
    systemCodeOrThrow(error);
    return none;
  }
}

/**
 * Only names with a version: an address, a path or an option of pip would have programs fetched from somewhere that
 * nobody was asked about.
 */
export function parseRequirements(text: string): Requirements {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll(/\\\r?\n/g, " ")
    .split(/\r\n|\n|\r/);
  const wanted = lines.map((line) => line.replace(/(^|\s)#.*$/, "").trim()).filter((line) => line !== "");
  const packages: Requirement[] = [];
  const leftOut: string[] = [];
  for (const line of wanted) {
    const [, name, version] = plainLine.exec(line) ?? [];
    if (name === undefined || packages.length === packagesMax) leftOut.push(line);
    else packages.push({ name, version: version?.replaceAll(/\s+/g, "") || undefined });
  }
  return { packages, leftOut };
}

/** `pandas`, `pandas>=2,<3`, `pandas[excel]==2.2`; what follows a semicolon is about other machines. */
const plainLine =
  /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\s*\[[\w\s,.-]*\])?\s*((?:(?:===?|~=|!=|<=?|>=?)\s*[\w.*+!-]+[\s,]*)*)(?:;.*)?$/;
