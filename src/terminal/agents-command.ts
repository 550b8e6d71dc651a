import type { AgentInfo } from "../protocol/agent-routes.ts";
import type { EventOf, LogEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { Words } from "../words/words.ts";
import { mailText } from "./agent-lines.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";
import { readAll } from "./said-before.ts";

const briefCharacters = 80;

/**
 * `/agents` lists the agents there are, the main one first, and who works for whom in this conversation; `/agents NAME` tells
 * all of one of these, and `/agents stop NAME` ends it, with all that work for it.
 */
export async function agents(chat: Chat, argument: string): Promise<undefined> {
  const [word = "", name = "", ...rest] = argument.split(/\s+/);
  const { console, words } = chat;
  if (word === "") {
    await listRoles(chat);
    return listTeam(chat);
  }
  if (word !== "stop" && name === "") return showAgent(chat, word);
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
  const events = await readAll(client, current.id);
  if (!events.ok) return sayFailure(chat, events.failure);
  const mails = mailsIn(events.value);
  const shown = (agent: AgentInfo, depth: number) =>
    lineOf(chat, agent, { depth, mails: mailsOf(agent, mails).length });
  for (const line of treeLines(items, shown)) console.say(line);
  console.say(chat.words.terminal.team.hint());
}

/** Each below whom it works for, in the order they were made. */
function treeLines(items: readonly AgentInfo[], lineOf: (agent: AgentInfo, depth: number) => string): string[] {
  const below = (parent: string | null, depth: number): string[] =>
    items
      .filter((agent) => agent.parent === parent)
      .flatMap((agent) => [lineOf(agent, depth), ...below(agent.id, depth + 1)]);
  return below(null, 0);
}

function lineOf(
  { words }: Chat,
  agent: AgentInfo,
  { depth, mails }: { readonly depth: number; readonly mails: number },
): string {
  const { team: texts } = words.terminal;
  const { name, state, steps, tokens, brief, folder } = agent;
  const facts = [
    texts.state[state],
    texts.steps({ count: steps }),
    texts.tokens({ count: tokens.input + tokens.output }),
    ...(mails === 0 ? [] : [texts.mails({ count: mails })]),
    ...budgetOf(agent, words),
    ...(folder === null ? [] : [`→ ${safeLine(folder, 80)}/`]),
  ];
  const task = brief === "" ? "" : `  ${safeLine(brief, briefCharacters)}`;
  return `${"  ".repeat(depth + 1)}${safeLine(name, 64)} · ${facts.join(" · ")}${task}`;
}

/** What is left of each kind that ends an agent's work, as long as it works. */
function budgetOf({ budget, state }: AgentInfo, words: Words): string[] {
  if (!isAtWork.has(state)) return [];
  return (["tokens", "money", "steps", "ms"] as const).flatMap((kind) => {
    const [limit, left] = [budget.limits[kind], budget.left[kind]];
    if (limit === undefined || left === undefined) return [];
    return [words.terminal.team.left({ left: words.amount(kind, left), limit: words.amount(kind, limit) })];
  });
}

const isAtWork: ReadonlySet<AgentInfo["state"]> = new Set(["working", "waiting_person", "waiting_agents"]);

type Mail = EventOf<"agent.mailed">;

/** What agents wrote to each other; what is told of an end stands there as its answer. */
function mailsIn(events: readonly LogEvent[]): Mail[] {
  return events.filter(
    (event): event is Mail => event.type === "agent.mailed" && (event.kind ?? "message") === "message",
  );
}

function mailsOf({ id }: AgentInfo, mails: readonly Mail[]): Mail[] {
  return mails.filter(({ agent = "root", to }) => agent === id || to === id);
}

async function showAgent(chat: Chat, name: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const { team: texts } = words.terminal;
  const listed = current.isStored
    ? await client.call("listConversationAgents", { params: { id: current.id } })
    : undefined;
  if (listed?.ok === false) return sayFailure(chat, listed.failure);
  const items = listed?.value.items ?? [];
  const agent = items.findLast((one) => [one.id, one.name, one.context].includes(name));
  if (agent === undefined) return sayFailure(chat, makeFailure("agent_unknown", { name: safeLine(name, 64) }));
  const events = await readAll(client, current.id);
  if (!events.ok) return sayFailure(chat, events.failure);
  const mails = mailsOf(agent, mailsIn(events.value));
  console.say(lineOf(chat, { ...agent, brief: "" }, { depth: 0, mails: mails.length }));
  const names = new Map(items.map((one) => [one.id, one.name]));
  const mailLine = ({ agent: from = "root", to, text }: Mail) =>
    `${safeLine(names.get(from) ?? from, 64)} → ${safeLine(names.get(to) ?? to, 64)}: ${safeLine(mailText(text), 200)}`;
  say(chat, texts.task(), agent.brief.split("\n"));
  say(chat, texts.messages(), mails.slice(-listedMax).map(mailLine));
  say(chat, texts.files(), await filesOf(chat, agent));
  say(chat, texts.answer(), (agent.result ?? "").split("\n"));
}

const listedMax = 20;

function say({ console }: Chat, title: string, lines: readonly string[]): void {
  const filled = lines.filter((line) => line.trim() !== "");
  if (filled.length === 0) return;
  console.say(`  ${title}`);
  for (const line of filled.slice(0, listedMax)) console.say(`    ${safeLine(line, 200)}`);
  if (filled.length > listedMax) console.say("    …");
}

/** Those of its own; one that shares its caller's has none. */
async function filesOf({ client, current }: Chat, agent: AgentInfo): Promise<string[]> {
  if (agent.workspace === null) return [];
  const list = async (path: string) => {
    const query = { path, agent: agent.id, limit: listedMax };
    const listed = await client.call("listFiles", { params: { id: current.id }, query });
    return listed.ok ? listed.value.items : [];
  };
  const lines: string[] = [];
  for (const entry of await list(".")) {
    const below = entry.type === "folder" ? await list(entry.path) : [entry];
    lines.push(...below.map(({ path, type }) => (type === "folder" ? `${path}/` : path)));
  }
  return lines;
}

async function stopAgent(chat: Chat, name: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const stopped = await client.call("stopAgent", { params: { id: current.id, agent: name } });
  if (!stopped.ok) return sayFailure(chat, stopped.failure);
  console.say(words.terminal.team.stopping({ name: safeLine(stopped.value.agent, 64) }));
}
