import type { DoneCall, TalkFacts } from "./facts.ts";
import { resultOf, type WantedCall } from "./intent.ts";

// How the demo model follows a skill: as any model it has the list in the system message, reads SKILL.md, runs a script.

export type ListedSkill = { readonly name: string; readonly description: string };

/** The list as it stands in the system message. */
export function skillsIn(system: string): readonly ListedSkill[] {
  const [, list = ""] = /(?:^|\n\n)# Skills\n([\s\S]*?)(?:\n\n|$)/.exec(system) ?? [];
  return Array.from(list.matchAll(/^- ([\w-]+): (.+)$/gm), ([, name = "", description = ""]) => ({
    name,
    description,
  }));
}

export function canFollow({ skills, tools }: TalkFacts, skill: string): boolean {
  const needed = ["read_file", shell];
  return skills.some(({ name }) => name === skill) && needed.every((name) => tools.has(name));
}

/** What an agent reads before it begins; `undefined` once it was tried. */
export function readSkill({ done }: TalkFacts, skill: string): WantedCall | undefined {
  const path = skillPath(skill);
  return done.some((call) => isReading(call, path)) ? undefined : { name: "read_file", arguments: { path } };
}

export function hasRead({ done }: TalkFacts, skill: string): boolean {
  return done.some((call) => isReading(call, skillPath(skill)) && call.failure === undefined);
}

/** A command as the page of the skill has it: scripts run from the root of the workspace. */
export function scriptOf(skill: string, script: string, ...given: readonly string[]): string {
  return [`python3 skills/${skill}/scripts/${script}`, ...given].join(" ");
}

export function runScripts(commands: readonly string[]): WantedCall {
  return { name: shell, arguments: { command: commands.join(" && "), timeout: timeoutSeconds } };
}

/** The runs of scripts in this turn, in order. */
export function scriptRuns({ done }: Pick<TalkFacts, "done">, skill: string): readonly DoneCall[] {
  return done.filter((call) => isScript(call) && String(call.input.command).includes(`skills/${skill}/`));
}

/** What is done for a skill's sake: where it fails there is another way, or the intent tells of it. */
export function isForSkill(call: DoneCall): boolean {
  return isScript(call) || isReading(call);
}

/** Without what was read to know how to do it: that is no file of the user's. */
export function withoutSkills(facts: TalkFacts): TalkFacts {
  return { ...facts, done: facts.done.filter((call) => !isForSkill(call)) };
}

export function hasFailedCommand({ result, failure }: DoneCall): boolean {
  return failure !== undefined || /^Command (failed|timeout)/m.test(result);
}

export function outputOf({ done }: TalkFacts): string {
  return resultOf(done, shell).replace(/\n\[exit code [\s\S]*$/, "");
}

export const shell = "run_bash_command";
/** A table of the largest size that can be sent takes a minute. */
const timeoutSeconds = 300;

export function quotedForShell(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function skillPath(skill: string): string {
  return `skills/${skill}/SKILL.md`;
}

function isReading({ name, input }: DoneCall, path?: string): boolean {
  if (name !== "read_file") return false;
  return path === undefined ? /^skills\/[\w-]+\/SKILL\.md$/.test(String(input.path)) : input.path === path;
}

function isScript({ name, input }: DoneCall): boolean {
  return name === shell && /^python3 skills\//.test(String(input.command));
}
