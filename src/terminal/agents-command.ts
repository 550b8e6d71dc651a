import type { AgentInfo } from "../protocol/agent-routes.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

const briefCharacters = 80;

/**
 * `/agents` lists the agents there are, the main one first, and who works for whom in this conversation; `/agents stop NAME`
 * ends one of these, with all that work for it.
 */
export async function agents(chat: Chat, argument: string): Promise<undefined> {
  const [word = "", name = "", ...rest] = argument.split(/\s+/);
  const { console, words } = chat;
  if (word === "") {
    await listRoles(chat);
    return listTeam(chat);
  }
  if (word !== "stop" || name === "" || rest.length > 0) return void console.say(words.terminal.team.usage());
  return stopAgent(chat, name);
}

async function listRoles(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const texts = words.terminal.agents;
  const listed = await client.call("listAgents");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  for (const { id, name, description, tools, slot } of listed.value.items) {
    const has = tools === null ? texts.allTools : texts.tools({ count: tools.length });
    const more = slot === null ? has : `${has} · ${slot}`;
    console.say(texts.entry({ id: safeLine(id, 64), name: safeLine(name, 64), more }));
    if (description !== "") console.say(`    ${safeLine(description, 200)}`);
  }
  console.say(texts.hint());
}

async function listTeam(chat: Chat): Promise<undefined> {
  const { client, console, current } = chat;
  if (!current.isStored) return;
  const listed = await client.call("listConversationAgents", { params: { id: current.id } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const { items } = listed.value;
  if (items.length === 1) return;
  for (const line of treeLines(items, (agent, depth) => lineOf(chat, agent, depth))) console.say(line);
}

/** Each below whom it works for, in the order they were made. */
function treeLines(items: readonly AgentInfo[], lineOf: (agent: AgentInfo, depth: number) => string): string[] {
  const below = (parent: string | null, depth: number): string[] =>
    items
      .filter((agent) => agent.parent === parent)
      .flatMap((agent) => [lineOf(agent, depth), ...below(agent.id, depth + 1)]);
  return below(null, 0);
}

function lineOf({ words: { terminal } }: Chat, agent: AgentInfo, depth: number): string {
  const { team: texts } = terminal;
  const { name, state, steps, tokens, brief } = agent;
  const facts = [
    texts.state[state],
    texts.steps({ count: steps }),
    texts.tokens({ count: tokens.input + tokens.output }),
  ];
  const task = brief === "" ? "" : `  ${safeLine(brief, briefCharacters)}`;
  return `${"  ".repeat(depth + 1)}${safeLine(name, 64)} · ${facts.join(" · ")}${task}`;
}

async function stopAgent(chat: Chat, name: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const stopped = await client.call("stopAgent", { params: { id: current.id, agent: name } });
  if (!stopped.ok) return sayFailure(chat, stopped.failure);
  console.say(words.terminal.team.stopping({ name: safeLine(stopped.value.agent, 64) }));
}
