import type { OneSkill, SkillSettings } from "../skills/skills.ts";
import { type ConfigFile, readText } from "./files.ts";
import type { Places } from "./places.ts";
import type { Problem } from "./problems.ts";
import { readSkillsFile, type SkillEntry } from "./skills-file.ts";
import { type GivenRow, openWalker } from "./walker.ts";
import { hasSettings } from "./yaml-file.ts";
import { parseTree } from "./yaml-tree.ts";

export type SkillsRead = { readonly skills: SkillSettings; readonly rows: readonly GivenRow[] };

/** What links a skill by itself where no file says otherwise: by the names of those that we ship. */
const usualTypes: Readonly<Record<string, readonly string[]>> = {
  "data-analysis": ["csv", "tsv", "parquet"],
  pdf: ["pdf"],
  slides: ["pptx"],
  spreadsheets: ["xlsx", "xlsm", "xls", "ods"],
};

/** Both files over what holds anyway, value by value: the project's is taken before the user's. */
export async function readSkills(
  { skillPlaces, projectSkills, userSkills }: Places,
  problems: Problem[],
): Promise<SkillsRead> {
  const project = await readFile(projectSkills, problems);
  const user = await readFile(userSkills, problems);
  const byId = new Map(Object.entries(usualTypes).map(([id, fileTypes]) => [id, { ...usual, fileTypes }]));
  for (const entry of [...user.skills, ...project.skills]) byId.set(entry.id, changed(byId.get(entry.id), entry));
  return { skills: { places: skillPlaces, byId: Object.fromEntries(byId) }, rows: [...project.rows, ...user.rows] };
}

const usual: OneSkill = { isEnabled: true, source: undefined, fileTypes: [] };

async function readFile(file: ConfigFile, problems: Problem[]) {
  const text = (await readText(file, problems)) ?? "";
  if (!hasSettings(text)) return { skills: [], rows: [] };
  const { entries, errors } = await parseTree(text);
  for (const { line, why } of errors) problems.push({ fault: "syntax", why, place: { file: file.shown, line } });
  const walker = openWalker(file.shown, "skills", problems);
  return { skills: readSkillsFile(errors.length === 0 ? entries : [], walker), rows: walker.rows };
}

function changed(before: OneSkill = usual, { isEnabled, enabledSource, fileTypes }: SkillEntry): OneSkill {
  return {
    isEnabled: isEnabled ?? before.isEnabled,
    source: isEnabled === undefined ? before.source : enabledSource,
    fileTypes: fileTypes ?? before.fileTypes,
  };
}
