import { z } from "zod";
import { failed, ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import type { LogEvent } from "../protocol/events.ts";
import { limits } from "../protocol/route.ts";
import { answer, defineTool, refused } from "./offer.ts";
import { conversationId } from "./talk.ts";

const messagesUsual = 20;
const messagesMax = 200;

/** What there is to talk with and to go on with. */
export const conversationTools = [
  defineTool({
    name: "list_agents",
    title: "List agents",
    description: "The agents of the yard, the main one first. start_conversation and send_message take the id of one.",
    input: z.object({}),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run(_, { client }) {
      const agents = await client.call("listAgents", {});
      if (!agents.ok) return refused(agents.failure);
      const items = agents.value.items.map(({ id, name, description }) => ({ id, name, description }));
      return answer(items.map(({ id, description }) => `${id}: ${description}`).join("\n"), { agents: items });
    },
  }),
  defineTool({
    name: "list_conversations",
    title: "List conversations",
    description: "Your conversations, the newest first, with their last words.",
    input: z.object({
      limit: z.int().min(1).max(limits.pageMax).default(20),
      before: z.string().max(200).optional().describe("`next` of the page before."),
    }),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run({ limit, before }, { client, words }) {
      const page = await client.call("listConversations", {
        query: { limit, ...(before !== undefined && { before }) },
      });
      if (!page.ok) return refused(page.failure);
      const { items, next } = page.value;
      const lines = items.map(({ id, title, updatedAt }) => `${id} · ${new Date(updatedAt).toISOString()} · ${title}`);
      const text = items.length === 0 ? words.mcpServer.noConversations() : lines.join("\n");
      return answer(text, { conversations: items, next });
    },
  }),
  defineTool({
    name: "start_conversation",
    title: "Start a conversation",
    description:
      "A new, empty conversation with files of its own: to put files into it before the first message. send_message starts one by itself where none is named.",
    input: z.object({
      title: z.string().min(1).max(limits.titleCharactersMax).optional(),
      agent: z.string().min(1).max(200).optional().describe("The id of an agent, as list_agents has it."),
    }),
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ title, agent }, { client }) {
      const body = { ...(title !== undefined && { title }), ...(agent !== undefined && { agent }) };
      const made = await client.call("createConversation", { body });
      return made.ok ? answer(made.value.id, { conversation: made.value.id }) : refused(made.failure);
    },
  }),
  defineTool({
    name: "read_conversation",
    title: "Read a conversation",
    description: "What was said in a conversation, the newest messages last. Calls of tools are left out.",
    input: z.object({
      conversation: conversationId,
      limit: z.int().min(1).max(messagesMax).default(messagesUsual).describe("How many messages, from the end."),
    }),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run({ conversation, limit }, { client, words }) {
      const said = await readMessages(client, conversation, limit);
      if (!said.ok) return refused(said.failure);
      const text = said.value.map(({ from, text: words }) => `${from}: ${words}`).join("\n\n");
      return answer(text === "" ? words.mcpServer.nothingSaid() : text, { messages: said.value });
    },
  }),
  defineTool({
    name: "stop_turn",
    title: "Stop a turn",
    description: "Stop what an agent does in a conversation right now. What it has done stays.",
    input: z.object({ conversation: conversationId }),
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ conversation }, { client, words }) {
      const stopped = await client.call("cancelTurn", { params: { id: conversation } });
      return stopped.ok ? answer(words.mcpServer.outcome.cancelled) : refused(stopped.failure);
    },
  }),
];

type Said = { readonly from: "user" | "agent"; readonly text: string };

/** The end of a log that is looked at; a turn of many tools has many events. */
const eventsReadMax = 4_000;
const pageMax = 1_000;

/** The newest messages of a conversation, without what was taken back. */
export async function readMessages(
  client: Client,
  conversation: string,
  limit: number,
): Promise<Result<readonly Said[], ClientFailure>> {
  const state = await client.call("getState", { params: { id: conversation } });
  if (!state.ok) return state;
  const said = new Map<number, Said & { readonly id?: string }>();
  let after = Math.max(0, state.value.head - eventsReadMax);
  for (;;) {
    const page = await client.call("readEvents", { params: { id: conversation }, query: { after, limit: pageMax } });
    if (!page.ok) return failed(page.failure);
    for (const event of page.value.items) noteSaid(said, event);
    if (page.value.next === null) break;
    after = page.value.next;
  }
  const messages = [...said.values()].slice(-limit);
  return ok(messages.map(({ from, text }) => ({ from, text })));
}

function noteSaid(said: Map<number, Said & { readonly id?: string }>, event: AnyRecord): void {
  if (!isOfMessages(event)) return;
  if (event.type === "rewound") for (const seq of said.keys()) if (seq > event.to) said.delete(seq);
  if (event.type === "message.withdrawn") for (const [seq, { id }] of said) if (id === event.id) said.delete(seq);
  if (event.type === "message.user" && event.agent === undefined) {
    const text = event.own === undefined ? event.text : event.text.slice(0, event.own);
    said.set(event.seq, { from: "user", text, id: event.id });
  }
  if (event.type === "message.assistant" && event.agent === undefined && event.text !== "")
    said.set(event.seq, { from: "agent", text: event.text });
}

type AnyRecord = { readonly type: string; readonly seq: number };

/** The server checked it when it was written. */
function isOfMessages(event: AnyRecord): event is LogEvent {
  return ["rewound", "message.withdrawn", "message.user", "message.assistant"].includes(event.type);
}
