import { endings, nameLike, toggle } from "./kinds.ts";
import type { Walker } from "./walker.ts";
import type { Entry } from "./yaml-tree.ts";

/** One skill as a file has it; what it does not say is undefined. */
export type SkillEntry = {
  readonly id: string;
  readonly entry: Entry;
  isEnabled?: boolean | undefined;
  /** `config/skills.yaml:4`. */
  enabledSource?: string | undefined;
  fileTypes?: readonly string[] | undefined;
};

/** One `skills.yaml`, checked. */
export function readSkillsFile(entries: readonly Entry[], walker: Walker): SkillEntry[] {
  const skills: SkillEntry[] = [];
  walker.entries(entries, "", {
    skills: (all, name) =>
      walker.named(all, name, "pdf", (entry, key) => {
        const skill = readSkill(entry, key, walker);
        if (skill !== undefined) skills.push(skill);
      }),
  });
  return skills;
}

/** As in the public format: it stands in paths and in messages. */
const isId = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const idKind = nameLike(isId, "pdf");

function readSkill(entry: Entry, name: string, walker: Walker): SkillEntry | undefined {
  const { value, problems, placeOf, sourceOf } = walker;
  const { key: id } = entry;
  if (!isId.test(id)) {
    const setting = { variables: [], kind: idKind };
    problems.push({ fault: "value", name: "skills", value: id, setting, place: placeOf(entry) });
    return undefined;
  }
  const skill: SkillEntry = { id, entry };
  walker.group(entry, name, {
    enabled: (inside, key) => {
      skill.isEnabled = value(inside, key, toggle)?.value;
      skill.enabledSource = sourceOf(inside);
    },
    auto_load_on_file_types: (inside, key) => {
      const items = walker.list(inside, key, "pdf");
      // An empty list is one: no file links it then.
      if (items !== undefined) skill.fileTypes = items.flatMap((item) => value(item, key, endings)?.value ?? []);
    },
  });
  return skill;
}
