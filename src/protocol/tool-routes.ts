import { z } from "zod";
import { ById, Empty, type Route } from "./route.ts";
import { BrokenToolFile, ListedTool } from "./tool.ts";

/** The tools there are, and loading one for a conversation. */
export const toolRoutes = {
  listTools: {
    method: "GET",
    path: "/api/v1/tools",
    scope: "chat",
    summary: "All tools that were found for you, by name: told to models, on demand, or off and why.",
    params: Empty,
    query: z.object({ conversation: z.string().optional() }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(ListedTool), broken: z.array(BrokenToolFile) }),
  },
  loadTool: {
    method: "PUT",
    path: "/api/v1/conversations/{id}/tools/{tool}",
    scope: "chat",
    summary: "Tell the model of this tool in every request of the conversation, from its next turn on.",
    params: ById.extend({ tool: z.string() }),
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["conversation_not_found", "tool_not_found"],
    answer: Empty,
  },
} as const satisfies Record<string, Route>;
