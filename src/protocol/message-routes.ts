import { z } from "zod";
import { ById, Empty, type Route } from "./route.ts";

/** What people do to a turn beside saying something: withdraw it, stop, go on. */
export const messageRoutes = {
  withdrawMessage: {
    method: "DELETE",
    path: "/api/v1/conversations/{id}/messages/{message}",
    scope: "chat",
    summary: "Withdraw a message that no turn has taken up yet.",
    params: ById.extend({ message: z.string() }),
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["conversation_not_found", "message_not_found"],
    answer: Empty,
  },
  cancelTurn: {
    method: "POST",
    path: "/api/v1/conversations/{id}/cancel",
    scope: "chat",
    summary: "Stop the running turn.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 202,
    failures: ["conversation_not_found", "turn_not_running"],
    answer: z.object({ turn: z.number().int() }),
  },
  resumeTurn: {
    method: "POST",
    path: "/api/v1/conversations/{id}/resume",
    scope: "chat",
    summary: "Go on with an interrupted turn, if there is one.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 202,
    failures: ["conversation_not_found"],
    answer: z.object({ turn: z.number().int().nullable() }),
  },
} as const satisfies Record<string, Route>;
