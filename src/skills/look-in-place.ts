import type { Dirent, Stats } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import type { SkillFault } from "../words/words.ts";
import type { SkillProblem } from "./front-matter.ts";
import { readSkillText, type Skill } from "./read-skill.ts";
import { filesOf } from "./skill-files.ts";

/** A folder in which skills stand side by side. */
export type SkillPlace = {
  readonly path: string;
  /** Its name for people: `.agents/skills`, `~/.claude/skills`. No answer has the path. */
  readonly shown: string;
  readonly kind: "project" | "user" | "built_in";
  /** Somebody chose this folder, so that what lies in it may be followed. */
  readonly isTrusted: boolean;
};

/** Something that stands in such a folder and is a skill, or was meant as one. */
export type Candidate = {
  readonly place: SkillPlace;
  /** The name it goes by; of one that cannot be read, that of its folder. */
  readonly id: string;
  readonly shown: string;
  /** Where it really lies; links to whole skills are followed. */
  readonly folder: string;
  /** `SKILL.md`, however it is written. */
  readonly file: string;
  readonly skill: Skill | undefined;
  readonly problems: readonly SkillProblem[];
  /** It names packages of Python that its scripts want. */
  readonly hasRequirements: boolean;
};

const skillFileBytesMax = 1024 * 1024;
/** Of one folder; whoever has more keeps them elsewhere. */
export const candidatesMax = 500;

/** What lies there, by name. A folder that is not there has none. */
export async function lookInPlace(place: SkillPlace): Promise<Candidate[]> {
  const entries = await entriesOf(place.path);
  if (entries === undefined) return [];
  if (entries === "unreadable") return [broken(place, ".", { fault: "unreadable" })];
  const visible = entries.filter(({ name }) => !name.startsWith(".")).sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: Candidate[] = [];
  for (const { name } of visible.slice(0, candidatesMax)) {
    const candidate = await lookAt(place, name);
    if (candidate !== undefined) found.push(candidate);
  }
  if (visible.length > candidatesMax) found.push(broken(place, ".", { fault: "too_many", max: candidatesMax }));
  return found;
}

/** Differs when something was added, changed or taken away: cheap, for it is asked before every turn. */
export async function stampOf({ path }: SkillPlace): Promise<string> {
  const entries = await entriesOf(path);
  if (entries === undefined || entries === "unreadable") return entries ?? "none";
  const stamps = await Promise.all(
    entries.slice(0, 2 * candidatesMax).map(async ({ name }) => {
      const [file, packages] = await Promise.all([
        statIfThere(join(path, name, skillFile)),
        statIfThere(join(path, name, requirementsFile)),
      ]);
      const inside = file ?? (await statIfThere(join(path, name)));
      return [name, stampOfFile(inside), stampOfFile(packages)].join(" ");
    }),
  );
  return stamps.sort().join("\n");
}

function stampOfFile(found: Stats | "unreadable" | undefined): string {
  return typeof found === "object" ? `${found.mtimeMs} ${found.size} ${found.ino} ${found.mode}` : (found ?? "none");
}

const skillFile = "SKILL.md";
const requirementsFile = "requirements.txt";

/** Undefined for what nobody meant as a skill: a README, a licence, an empty folder of a tool. */
async function lookAt(place: SkillPlace, name: string): Promise<Candidate | undefined> {
  const path = join(place.path, name);
  const found = await statIfThere(path);
  if (found === undefined) return broken(place, name, { fault: "gone" });
  if (found === "unreadable") return broken(place, name, { fault: "unreadable" });
  if (found.isFile()) return /\.md$/i.test(name) ? singleFile(place, name) : undefined;
  if (!found.isDirectory()) return undefined;
  const entries = await entriesOf(path);
  if (entries === undefined) return broken(place, name, { fault: "gone" });
  if (entries === "unreadable") return broken(place, name, { fault: "unreadable" });
  const names = entries.map((entry) => entry.name);
  const file = names.find((one) => one === skillFile) ?? names.find((one) => /^skill\.md$/i.test(one));
  if (file === undefined) return withoutFile(place, name, names);
  const folder = await realpath(path);
  const text = await readSkillFile(folder, file);
  const about = {
    place,
    folder,
    file,
    shown: `${place.shown}/${name}`,
    hasRequirements: names.includes(requirementsFile),
  };
  if (typeof text === "object")
    return { ...about, id: name, skill: undefined, problems: [{ grade: "error", ...text }] };
  const { skill, problems: ofText } = await readSkillText(text, name);
  const renamed: SkillProblem[] = file === skillFile ? [] : [{ grade: "warning", fault: "file_name", name: file }];
  const problems = [...renamed, ...ofText, ...(await filesOf(folder)).problems];
  const isUsable = problems.every(({ grade }) => grade === "warning");
  return { ...about, id: skill?.id ?? name, skill: isUsable ? skill : undefined, problems };
}

/** A file among skills that begins like one; others lie there by chance. */
async function singleFile(place: SkillPlace, name: string): Promise<Candidate | undefined> {
  const text = await readSkillFile(place.path, name);
  const isSkill = typeof text === "string" && /^\uFEFF?---\s*$/m.test(text.slice(0, text.search(/[\r\n]/)));
  return isSkill ? broken(place, name, { fault: "single_file", name }) : undefined;
}

/** Collections of others often have one folder more. */
async function withoutFile(place: SkillPlace, name: string, names: readonly string[]): Promise<Candidate | undefined> {
  for (const inner of names.slice(0, candidatesMax)) {
    const found = await statIfThere(join(place.path, name, inner, skillFile));
    if (typeof found === "object") return broken(place, name, { fault: "nested", name: `${name}/${inner}` });
  }
  const isMeant = names.some((one) => /\.md$/i.test(one) || one === "scripts" || one === "references");
  return isMeant ? broken(place, name, { fault: "no_skill_file" }) : undefined;
}

/** Its text, or why it is none. A file that a link leads to outside of its skill is not read. */
async function readSkillFile(folder: string, name: string): Promise<string | SkillFault> {
  const path = join(folder, name);
  const found = await statIfThere(path);
  if (found === undefined) return { fault: "gone" };
  if (found === "unreadable" || !found.isFile()) return { fault: "unreadable" };
  if (found.size > skillFileBytesMax) return { fault: "too_large", bytes: found.size, max: skillFileBytesMax };
  try {
    const real = await realpath(path);
    if (!real.startsWith((await realpath(folder)) + sep)) return { fault: "link_out", name };
    const text = await readFile(real, "utf8");
    return /[\0\uFFFD]/.test(text) ? { fault: "not_text" } : text;
  } catch (error) {
    return { fault: systemCodeOrThrow(error) === "ENOENT" ? "gone" : "unreadable" };
  }
}

function broken(place: SkillPlace, name: string, fault: SkillFault): Candidate {
  return {
    ...{ place, id: name, folder: join(place.path, name), file: skillFile, skill: undefined, hasRequirements: false },
    shown: name === "." ? place.shown : `${place.shown}/${name}`,
    problems: [{ grade: "error", ...fault }],
  };
}

async function entriesOf(path: string): Promise<Dirent[] | "unreadable" | undefined> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    const code = systemCodeOrThrow(error);
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "unreadable";
  }
}

async function statIfThere(path: string): Promise<Stats | "unreadable" | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const code = systemCodeOrThrow(error);
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "unreadable";
  }
}
