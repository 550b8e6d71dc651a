import { z } from "zod";
import { AllowRule } from "./approval.ts";
import { Empty, type Route } from "./route.ts";

/** What is allowed always: listed, and revoked. */
export const ruleRoutes = {
  listRules: {
    method: "GET",
    path: "/api/v1/rules",
    scope: "chat",
    summary: "Everything you have allowed always, newest first; with a conversation, what counts there.",
    params: Empty,
    query: z.object({ conversation: z.string().optional() }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(AllowRule) }),
  },
  revokeRule: {
    method: "DELETE",
    path: "/api/v1/rules/{rule}",
    scope: "chat",
    summary: "Ask again from now on.",
    params: z.object({ rule: z.string() }),
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["rule_not_found"],
    answer: Empty,
  },
} as const satisfies Record<string, Route>;
