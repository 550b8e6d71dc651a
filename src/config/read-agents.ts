import { type AgentRole, mainRole } from "../protocol/agent.ts";
import { builtInAgents, type Language } from "../words/words.ts";
import { type AgentEntry, readAgentsFile } from "./agents-file.ts";
import { type ConfigFile, readText } from "./files.ts";
import { knownTools } from "./known-tools.ts";
import type { Places } from "./places.ts";
import type { Problem } from "./problems.ts";
import { type GivenRow, openWalker } from "./walker.ts";
import { hasSettings } from "./yaml-file.ts";
import { parseTree } from "./yaml-tree.ts";

export type AgentsRead = { readonly agents: readonly AgentRole[]; readonly rows: readonly GivenRow[] };

/**
 * The agents of both files over those that are always there, value by value: the project's is taken before the user's.
 * The main one comes first. A folder that nobody chose may add agents, but change none.
 */
export async function readAgents(places: Places, language: Language, problems: Problem[]): Promise<AgentsRead> {
  const { projectAgents, userAgents, isTrusted } = places;
  const project = await readFile(projectAgents, places, problems);
  const user = await readFile(userAgents, places, problems);
  const roles = new Map(builtIn(language).map((role) => [role.id, role]));
  for (const entry of user.agents) roles.set(entry.id, changed(roles.get(entry.id), entry));
  for (const entry of project.agents) {
    const before = roles.get(entry.id);
    const place = { file: projectAgents.shown, line: entry.entry.line };
    if (before !== undefined && !isTrusted)
      problems.push({ fault: "changes_agent", name: entry.id, userFile: userAgents.shown, place });
    roles.set(entry.id, changed(before, entry));
  }
  return { agents: [...roles.values()], rows: [...project.rows, ...user.rows] };
}

async function readFile(file: ConfigFile, places: Places, problems: Problem[]) {
  const text = (await readText(file, problems)) ?? "";
  if (!hasSettings(text)) return { agents: [], rows: [] };
  const { entries, errors } = await parseTree(text);
  for (const { line, why } of errors) problems.push({ fault: "syntax", why, place: { file: file.shown, line } });
  // The tools are loaded only where there is a file that may name some.
  const tools = await knownTools(places);
  const walker = openWalker(file.shown, "agents", problems);
  const agents = readAgentsFile(errors.length === 0 ? entries : [], walker, tools);
  return { agents, rows: walker.rows };
}

function builtIn(language: Language): AgentRole[] {
  const { general, simple } = builtInAgents;
  const told = ({ name, description }: typeof general | typeof simple) => ({
    ...{ name: name[language], description: description[language] },
  });
  return [
    { id: mainRole, ...told(general), prompt: undefined, tools: undefined, slot: undefined },
    { id: "simple", ...told(simple), prompt: simple.prompt, tools: simple.tools, slot: undefined },
  ];
}

function changed(
  before: AgentRole | undefined,
  { id, name, description, prompt, tools, skills, slot }: AgentEntry,
): AgentRole {
  const named = skills ?? before?.skills;
  return {
    id,
    name: name ?? before?.name ?? id,
    description: description ?? before?.description ?? "",
    prompt: prompt ?? before?.prompt,
    tools: tools ?? before?.tools,
    ...(named === undefined ? {} : { skills: named }),
    slot: slot ?? before?.slot,
  };
}
