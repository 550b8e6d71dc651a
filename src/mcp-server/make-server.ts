import { McpServer } from "@modelcontextprotocol/server";
import { codeTools } from "./code.ts";
import { conversationTools } from "./conversations.ts";
import { fileTools } from "./files.ts";
import type { Offer } from "./offer.ts";
import { offerPrompts } from "./prompts.ts";
import { offerResources } from "./resources.ts";
import { talkTools } from "./talk.ts";

const tools = [...talkTools, ...conversationTools, ...fileTools, ...codeTools];

/** A person may be asked that often in one call, and take that long each time; the decision stays open after that. */
const roundsMax = 50;
const answerMsMax = 600_000;

/** None of these lists changes while a server runs. */
const fixed = { listChanged: false };

/** What a yard offers, the same over every transport and in both generations of the protocol. */
export function makeServer(version: string, offer: Offer): McpServer {
  const server = new McpServer(
    { name: "agentyard", title: "AgentYard", version },
    {
      instructions,
      capabilities: { tools: fixed, resources: fixed, prompts: fixed },
      inputRequired: { maxRounds: roundsMax, roundTimeoutMs: answerMsMax },
    },
  );
  for (const offerTool of tools) offerTool(server, offer);
  offerResources(server, offer);
  offerPrompts(server, offer);
  return server;
}

const instructions =
  "AgentYard is a home for agents that work by themselves, with files and a sandbox. Give one of them a task with send_message; name the conversation again to go on with it. To give it files, start_conversation, write_file, then send_message with their paths. What it made lies in outputs/: list_files, read_file. A turn that takes longer than you wait goes on: wait_for_answer. Whether a risky call may be made is for a person to decide, and nobody else.";
