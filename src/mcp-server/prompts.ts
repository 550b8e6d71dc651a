import { type McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { z } from "zod";
import { readMessages } from "./conversations.ts";
import type { Offer } from "./offer.ts";

const messagesShown = 50;

/** What was said in the yard, to go on with it in the client. */
export function offerPrompts(server: McpServer, offer: Offer): void {
  server.registerPrompt(
    "conversation",
    {
      title: "Go on with a conversation",
      description: "What was said in a conversation of the yard, so that you can go on with it here.",
      argsSchema: z.object({
        conversation: z.string().min(1).max(200).describe("Its id, as list_conversations has it."),
      }),
    },
    async ({ conversation }, context) => {
      const said = await offer.read(context, ({ client }) => readMessages(client, conversation, messagesShown));
      if (!said.ok)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, said.failure.detail, { code: said.failure.code });
      const messages = said.value.map(({ from, text }) => ({
        role: from === "user" ? ("user" as const) : ("assistant" as const),
        content: { type: "text" as const, text },
      }));
      return { messages };
    },
  );
}
