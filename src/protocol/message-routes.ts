import { z } from "zod";
import { ById, bodyBytes, Empty, limits, type Route } from "./route.ts";
import { MessageSent } from "./skill.ts";

/** What people do to a turn beside saying something: say it again, withdraw it, stop, go on. */
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
  sayAgain: {
    method: "POST",
    path: "/api/v1/conversations/{id}/messages/{message}/again",
    scope: "chat",
    creates: true,
    bodyBytesMax: bodyBytes.large,
    summary: "Go back to before a message and have it answered anew, in other words where some are given; files stay.",
    params: ById.extend({ message: z.string() }),
    query: Empty,
    status: 202,
    failures: ["conversation_not_found", "conversation_busy", "message_not_found", "message_blank"],
    body: z.object({ text: z.string().min(1).max(limits.messageCharactersMax).optional() }),
    answer: MessageSent,
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
