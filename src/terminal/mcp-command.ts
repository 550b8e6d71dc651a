import type { McpServerInfo } from "../protocol/mcp-routes.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

/** `/mcp` lists the MCP servers; `/mcp SERVER` shows one with its tools; the other words do something with one. */
export async function mcp(chat: Chat, argument: string): Promise<undefined> {
  const [word = "", server = "", ...rest] = argument.split(/\s+/);
  if (word === "") return listServers(chat);
  if (server === "") return word in actions ? void chat.console.say(chat.words.mcp.usage()) : showServer(chat, word);
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
  return action === undefined ? void chat.console.say(chat.words.mcp.usage()) : action(chat, server, rest.join(" "));
}

type Action = (chat: Chat, server: string, rest: string) => Promise<undefined>;

const actions: Readonly<Record<string, Action>> = {
  restart: async (chat, server) => sayDone(chat, await chat.client.call("restartMcpServer", { params: { server } })),
  "sign-in": signIn,
  "sign-out": async (chat, server) =>
    sayDone(chat, await chat.client.call("signOutOfMcpServer", { params: { server } })),
  resources: listResources,
  prompts: listPrompts,
  attach,
};

export const mcpWords: readonly string[] = Object.keys(actions);

const lineMax = 100;

async function listServers(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const listed = await client.call("listMcpServers");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  if (listed.value.items.length === 0) return void console.say(words.mcp.none());
  for (const server of listed.value.items) sayServer(chat, server);
  console.say(words.mcp.hint());
}

function sayServer({ console, words: { mcp: texts } }: Chat, { id, state, reason, tools }: McpServerInfo): void {
  const count = tools.filter(({ left }) => left === null).length;
  console.say(texts.server({ id, state: texts.state[state], count }));
  if (reason !== null) console.say(texts.reason({ reason: safeLine(reason, 4 * lineMax) }));
  if (state === "sign_in_needed") console.say(texts.signInHint({ id }));
}

async function showServer(chat: Chat, id: string): Promise<undefined> {
  const { client, console, words } = chat;
  const listed = await client.call("listMcpServers");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const server = listed.value.items.find((one) => one.id === id);
  if (server === undefined) return void console.say(words.mcp.usage());
  sayServer(chat, server);
  for (const { name, description, left } of server.tools) {
    if (left === null) console.say(words.mcp.tool({ name, about: safeLine(description, lineMax) }));
    else console.say(words.mcp.leftOut({ name, why: words.mcp.left[left] }));
  }
}

/** A server, or the address that the browser was sent back to and could not show. */
async function signIn(chat: Chat, server: string): Promise<undefined> {
  const { client, console, words } = chat;
  if (/^https?:\/\//.test(server))
    return sayDone(chat, await client.call("finishMcpSignIn", { body: { address: server } }));
  const begun = await client.call("signInToMcpServer", { params: { server } });
  if (!begun.ok) return sayFailure(chat, begun.failure);
  const { url, back } = begun.value;
  console.say(words.mcp.link({ url }));
  console.say(words.mcp.comeBack({ back }));
}

function sayDone(chat: Chat, done: Awaited<ReturnType<typeof restart>>): undefined {
  if (!done.ok) return sayFailure(chat, done.failure);
  const { id, state, reason } = done.value;
  const { mcp: texts } = chat.words;
  chat.console.say(texts.done({ id, state: texts.state[state] }));
  if (reason !== null) chat.console.say(texts.reason({ reason: safeLine(reason, 4 * lineMax) }));
}

const restart = ({ client }: Chat, server: string) => client.call("restartMcpServer", { params: { server } });

async function listResources(chat: Chat, server: string): Promise<undefined> {
  const { client, console, words } = chat;
  const listed = await client.call("listMcpResources", { params: { server } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  if (listed.value.items.length === 0) return void console.say(words.mcp.nothing());
  for (const { uri, name } of listed.value.items)
    console.say(words.mcp.resource({ uri: safeLine(uri, 2 * lineMax), name: safeLine(name, lineMax) }));
}

async function listPrompts(chat: Chat, server: string): Promise<undefined> {
  const { client, console, words } = chat;
  const listed = await client.call("listMcpPrompts", { params: { server } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  if (listed.value.items.length === 0) return void console.say(words.mcp.nothing());
  for (const { name, description, arguments: given } of listed.value.items) {
    const wanted = given.map((one) => (one.required ? one.name : `[${one.name}]`)).join(" ");
    const command = `/${server}:${safeLine(name, lineMax)} ${safeLine(wanted, lineMax)}`.trimEnd();
    console.say(words.mcp.prompt({ command, about: safeLine(description, lineMax) }));
  }
}

async function attach(chat: Chat, server: string, uri: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  if (uri === "") return void console.say(words.mcp.usage());
  const stored = current.isStored ? undefined : await client.call("createConversation", { body: { id: current.id } });
  if (stored?.ok === false && stored.failure.code !== "conversation_exists") return sayFailure(chat, stored.failure);
  const attached = await client.call("attachMcpResource", { params: { id: current.id }, body: { server, uri } });
  if (!attached.ok) return sayFailure(chat, attached.failure);
  console.say(words.mcp.attached({ path: safeLine(attached.value.path, lineMax) }));
}

/** `/server:prompt a "b c" name=d` with its arguments by place or by name; undefined where it could not be had. */
export async function fillPrompt(chat: Chat, word: string, argument: string): Promise<string | undefined> {
  const { client } = chat;
  const [server = "", prompt = ""] = word.split(/:(.*)/s);
  const listed = await client.call("listMcpPrompts", { params: { server } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const known = listed.value.items.find(({ name }) => name === prompt)?.arguments.map(({ name }) => name) ?? [];
  const given = Array.from(argument.matchAll(/(?:([\w-]+)=)?(?:"([^"]*)"|(\S+))/g));
  const filled: Record<string, string> = {};
  for (const [, name, quoted, plain = ""] of given) {
    const isNamed = name !== undefined && known.includes(name);
    const place = isNamed ? name : known.find((one) => !(one in filled));
    const value = quoted ?? plain;
    if (place !== undefined) filled[place] = isNamed || name === undefined ? value : `${name}=${value}`;
  }
  const answer = await client.call("fillMcpPrompt", { params: { server, prompt }, body: { arguments: filled } });
  return answer.ok ? answer.value.text : sayFailure(chat, answer.failure);
}
