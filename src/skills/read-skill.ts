import { nearest } from "../base/nearest.ts";
import type { SkillFault } from "../words/words.ts";
import { type Field, type PlainValue, readFrontMatter, type SkillProblem } from "./front-matter.ts";

/** What a SKILL.md says of its skill. */
export type Skill = {
  /** What it goes by: in `@mentions`, in the catalogue and below `skills/`. */
  readonly id: string;
  /** What it does and when to use it, on one line. */
  readonly description: string;
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** What its author would have allowed. Told to people; what a call may do is never read from it. */
  readonly allowedTools: readonly string[];
  /** Keys that we do not know, as they were written. */
  readonly more: Readonly<Record<string, PlainValue>>;
};

export type ReadSkill = { readonly skill: Skill | undefined; readonly problems: readonly SkillProblem[] };

/** The public format's limits (agentskills.io), and how much of it reads well. */
const skillLimits = {
  nameMax: 64,
  descriptionMax: 1024,
  compatibilityMax: 500,
  bodyLinesMax: 500,
} as const;

const known = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/** What other programs read, and we do not: nobody mistyped these. */
const ofOthers = [
  ...["version", "author", "tags", "model", "paths", "hooks", "agent", "context", "id", "title", "category", "type"],
  ...["argument-hint", "arguments", "user-invocable", "disable-model-invocation", "keywords", "dependencies", "effort"],
];

/** Reads the text of a SKILL.md that lies in a folder of this name. Whatever can be understood is; the rest is told. */
export async function readSkillText(text: string, folder: string): Promise<ReadSkill> {
  const front = await readFrontMatter(text);
  if (!front.ok) return { skill: undefined, problems: [front.failure] };
  const { fields, body, warnings } = front.value;
  const problems: SkillProblem[] = [...warnings];
  const warn = (fault: SkillFault, line?: number) => problems.push({ grade: "warning", line, ...fault });
  const id = nameOf(fields.get("name"), folder, warn);
  const described = fields.get("description");
  const description = shortened("description", described, skillLimits.descriptionMax, warn) ?? "";
  if (description === "") problems.push(undescribed(described));
  if (id === undefined) {
    const slug = slugOf(folder);
    problems.push({ grade: "error", fault: "name_unfit", name: folder, id: slug === "" ? "my-skill" : slug });
  }
  const skill = {
    id: id ?? "",
    description,
    license: textOf(fields.get("license")),
    compatibility: shortened("compatibility", fields.get("compatibility"), skillLimits.compatibilityMax, warn),
    metadata: metadataOf(fields.get("metadata"), warn),
    allowedTools: toolsOf(fields.get("allowed-tools"), warn),
    more: moreOf(fields, warn),
  };
  const lines = body.split("\n").length;
  if (body === "") warn({ fault: "body_empty" });
  else if (lines > skillLimits.bodyLinesMax) warn({ fault: "body_long", lines, max: skillLimits.bodyLinesMax });
  return { skill: problems.some(({ grade }) => grade === "error") ? undefined : skill, problems };
}

type Warn = (fault: SkillFault, line?: number) => void;

/** What a name is made of in the public format. */
const isSkillName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

function isName(name: string): boolean {
  return isSkillName.test(name) && name.length <= skillLimits.nameMax;
}

/** The name that is written, where it is one; else the folder's. Undefined where neither can be used. */
function nameOf(field: Field | undefined, folder: string, warn: Warn): string | undefined {
  const written = field === undefined || field.value === null ? undefined : String(field.value).trim();
  const isText = typeof field?.value === "string" || typeof field?.value === "number";
  if (written !== undefined && isText && isName(written)) {
    if (written !== folder) warn({ fault: "name_differs", name: written, id: folder }, field?.line);
    return written;
  }
  const slug = slugOf(folder);
  if (!isName(slug)) return undefined;
  if (written === undefined) warn({ fault: "no_name", name: "", id: slug }, field?.line ?? 2);
  else if (!isText) warn({ fault: "type", key: "name" }, field?.line);
  else warn({ fault: "name_unfit", name: oneLine(written).slice(0, skillLimits.nameMax), id: slug }, field?.line);
  return slug;
}

/** `PDF_Tools` → `pdf-tools`. */
function slugOf(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return words.replaceAll(/^-+|-+$/g, "").slice(0, skillLimits.nameMax);
}

function undescribed(field: Field | undefined): SkillProblem {
  const line = field?.line ?? 2;
  if (typeof field?.value === "object" && field.value !== null)
    return { grade: "error", fault: "type", key: "description", line };
  return { grade: "error", fault: "no_description", line };
}

/** A text on one line, as long as it may be; undefined where there is none. */
function shortened(key: string, field: Field | undefined, max: number, warn: Warn): string | undefined {
  const text = textOf(field);
  if (text === undefined || text.length <= max) return text;
  warn({ fault: "too_long", key, characters: text.length, max }, field?.line);
  return `${text
    .slice(0, max - 1)
    .toWellFormed()
    .trimEnd()}…`;
}

function textOf(field: Field | undefined): string | undefined {
  const { value } = field ?? {};
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value.trim() !== "" ? oneLine(value) : undefined;
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim();
}

function metadataOf(field: Field | undefined, warn: Warn): Readonly<Record<string, string>> {
  const { value } = field ?? {};
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    warn({ fault: "type", key: "metadata" }, field?.line);
    return {};
  }
  const texts = Object.entries(value).map(([key, inside]) => [
    key,
    typeof inside === "string" ? inside : JSON.stringify(inside),
  ]);
  return Object.fromEntries(texts);
}

/** With blanks or commas between them, but not inside brackets (`Bash(git add:*) Read`); or a list. */
function toolsOf(field: Field | undefined, warn: Warn): string[] {
  const { value } = field ?? {};
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return value.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
  if (Array.isArray(value)) return value.map(String);
  warn({ fault: "type", key: "allowed-tools" }, field?.line);
  return [];
}

function moreOf(fields: ReadonlyMap<string, Field>, warn: Warn): Readonly<Record<string, PlainValue>> {
  const others = [...fields].filter(([key]) => !known.includes(key));
  for (const [key, { line }] of others) {
    const near = ofOthers.includes(key) ? undefined : nearest(key, known, 1, { onlyLikely: true })[0];
    if (near !== undefined) warn({ fault: "key_near", key: key.slice(0, skillLimits.nameMax), near }, line);
  }
  return Object.fromEntries(others.map(([key, { value }]) => [key, value]));
}
