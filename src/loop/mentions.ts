import { nearest } from "../base/nearest.ts";
import { mentionsIn } from "../context/context.ts";
import type { History } from "../log/log.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { MentionItem, UnknownMention } from "../protocol/skill.ts";
import type { FoundSkill } from "../skills/skills.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { toolkitOf } from "./agent-tools.ts";
import type { Parts } from "./parts.ts";

/** What a message names with `@`: a tool before a skill of the same name, a skill before an agent. */
export type Mentioned = {
  readonly tools: readonly string[];
  readonly skills: readonly FoundSkill[];
  readonly agents: readonly AgentRole[];
  readonly unknown: readonly UnknownMention[];
};

type Known = Pick<Parts, "skills" | "agents" | "toolkit">;
type Whose = { readonly history: Pick<History, "agent" | "stack" | "self">; readonly owner: OwnerId };

const nearMax = 3;

export function mentionedIn(text: string, whose: Whose, parts: Known): Mentioned {
  const tools: string[] = [];
  const skills: FoundSkill[] = [];
  const agents: AgentRole[] = [];
  const unknown: UnknownMention[] = [];
  const toolkit = toolkitOf(whose.history, parts, whose.owner);
  for (const name of mentionsIn(text)) {
    const tool = toolkit.find(name) ?? toolkit.find(underscored(name));
    const skill = parts.skills.find(name) ?? parts.skills.find(hyphened(name));
    const agent = parts.agents().find(({ id }) => id.toLowerCase() === name.toLowerCase());
    if (tool !== undefined) tools.push(tool.name);
    else if (skill !== undefined) skills.push(skill);
    else if (agent !== undefined) agents.push(agent);
    else unknown.push(unknownOf(name, whose, parts));
  }
  return { tools, skills, agents, unknown };
}

/** What a person's words name and is not there. Most name nothing, and then nothing is looked up. */
export async function unknownIn(words: string, conversation: ConversationRow, parts: Parts): Promise<UnknownMention[]> {
  if (mentionsIn(words).length === 0) return [];
  await parts.skills.look();
  const history = await parts.log.history(conversation.number);
  return [...mentionedIn(words, { history, owner: conversation.owner }, parts).unknown];
}

/** `state`: there is a skill of this name, and why it cannot be used. */
function unknownOf(name: string, whose: Whose, parts: Known): UnknownMention {
  const found = parts.skills.found().find(({ id }) => id === name || id === hyphened(name));
  const names = itemsOf(whose, parts).map((item) => item.name);
  const near = nearest(name, names, nearMax, { onlyLikely: true });
  return { name, near, ...(found === undefined ? {} : { state: found.state === "usable" ? "broken" : found.state }) };
}

/** Everything that can be named, in the order in which names count. */
export function itemsOf(whose: Whose, parts: Known): MentionItem[] {
  const toolkit = toolkitOf(whose.history, parts, whose.owner);
  const tools = [...toolkit.offered("full"), ...toolkit.onDemand].map(
    ({ name, description }) => ({ kind: "tool", name, description: firstSentence(description) }) as const,
  );
  const skills = parts.skills
    .usable()
    .map(({ id, skill }) => ({ kind: "skill", name: id, description: skill?.description ?? "" }) as const);
  const agents = parts.agents().map(({ id, description }) => ({ kind: "agent", name: id, description }) as const);
  const taken = new Set<string>();
  return [...tools, ...skills, ...agents].filter(({ name }) => !taken.has(name) && taken.add(name));
}

function firstSentence(text: string): string {
  return /^.*?[.。](?=\s|$)/s.exec(text)?.[0] ?? text;
}

function underscored(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

function hyphened(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}
