import { readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import type { SkillProblem } from "./front-matter.ts";

/** A file of a skill: where it stands in it, and where its bytes are. */
export type SkillFile = {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly isProgram: boolean;
  /** Differs when it was changed. */
  readonly stamp: string;
};
export type SkillFiles = { readonly files: readonly SkillFile[]; readonly problems: readonly SkillProblem[] };

export const skillFilesMax = 2_000;
const skillBytesMax = 64 * 1024 * 1024;
const depthMax = 16;
/** What tools leave behind, and nobody reads. */
const leftBehind: ReadonlySet<string> = new Set([".git", "node_modules", "__pycache__", ".DS_Store", ".venv"]);

/** Everything that belongs to a skill, by name. What a link brings in from outside of it is left out and told. */
export async function filesOf(folder: string): Promise<SkillFiles> {
  const root = await realpath(folder);
  const files: SkillFile[] = [];
  const problems: SkillProblem[] = [];
  let bytes = 0;
  const waiting: { readonly below: string; readonly depth: number }[] = [{ below: "", depth: 0 }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { below, depth } = next;
    for (const entry of (await namesIn(join(root, below))).filter((name) => !leftBehind.has(name))) {
      const name = below === "" ? entry : `${below}/${entry}`;
      const real = await realOf(join(root, name));
      if (real === undefined) continue;
      if (!real.startsWith(root + sep)) {
        problems.push({ grade: "warning", fault: "link_out", name });
        continue;
      }
      const found = await stat(real);
      if (found.isDirectory() && real === join(root, name) && depth < depthMax)
        waiting.push({ below: name, depth: depth + 1 });
      if (!found.isFile()) continue;
      bytes += found.size;
      if (bytes > skillBytesMax) return over({ fault: "too_large", bytes, max: skillBytesMax });
      if (files.length === skillFilesMax) return over({ fault: "too_many", max: skillFilesMax });
      const stamp = `${name} ${found.mtimeMs} ${found.size} ${found.ino} ${found.mode}`;
      files.push({ name, path: real, bytes: found.size, isProgram: (found.mode & 0o111) !== 0, stamp });
    }
  }
  return { files: files.sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

type Over = { fault: "too_large"; bytes: number; max: number } | { fault: "too_many"; max: number };

function over(fault: Over): SkillFiles {
  return { files: [], problems: [{ grade: "error", ...fault }] };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    systemCodeOrThrow(error);
    return []; // Gone meanwhile, or not for us: as if it were empty.
  }
}

/** Undefined for what leads nowhere, or round in circles. */
async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined;
  }
}
