import { z } from "zod";
import { AnyEvent } from "./events.ts";
import type { FailureCode } from "./failure.ts";
import { Image } from "./message.ts";
import {
  Checkpoint,
  Conversation,
  ConversationState,
  Decision,
  LocalServer,
  ModelInfo,
  ReplayReport,
} from "./resources.ts";

/** The one table of native routes: validation, the typed client and the API document are made from it. */
export const protocolVersion = "1";

export const limits = {
  bodyBytesMax: 32 * 1024 * 1024,
  messageCharactersMax: 4_000_000,
  titleCharactersMax: 200,
  pageMax: 200,
} as const;

const Empty = z.object({});
const ById = z.object({ id: z.string() });
const page = { limit: z.coerce.number().int().min(1).max(limits.pageMax).default(20), before: z.string().optional() };

export type Route = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly answer: z.ZodType;
  readonly status: 200 | 201 | 202 | 204;
  /** The answer is a stream of server-sent events; see `StreamFrame`. */
  readonly streams?: true;
  readonly failures: readonly FailureCode[];
};

export const routes = {
  health: {
    method: "GET",
    path: "/api/v1/health",
    summary: "Whether the server is well, and which version it speaks.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({
      status: z.enum(["ok", "degraded"]),
      version: z.string(),
      protocol: z.string(),
      logFile: z.string().optional(),
    }),
  },
  createConversation: {
    method: "POST",
    path: "/api/v1/conversations",
    summary: "Start a conversation.",
    params: Empty,
    query: Empty,
    status: 201,
    failures: ["conversation_exists"],
    body: z.object({ id: z.string().optional(), title: z.string().max(limits.titleCharactersMax).optional() }),
    answer: Conversation,
  },
  listConversations: {
    method: "GET",
    path: "/api/v1/conversations",
    summary: "Conversations, newest first.",
    params: Empty,
    query: z.object(page),
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(Conversation), next: z.string().nullable() }),
  },
  getConversation: {
    method: "GET",
    path: "/api/v1/conversations/{id}",
    summary: "One conversation by id, or by the beginning of its id.",
    params: ById,
    query: z.object({ prefix: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "conversation_ambiguous"],
    answer: Conversation,
  },
  renameConversation: {
    method: "PATCH",
    path: "/api/v1/conversations/{id}",
    summary: "Give a conversation another title.",
    params: ById,
    query: Empty,
    body: z.object({ title: z.string().min(1).max(limits.titleCharactersMax) }),
    status: 200,
    failures: ["conversation_not_found"],
    answer: Conversation,
  },
  deleteConversation: {
    method: "DELETE",
    path: "/api/v1/conversations/{id}",
    summary: "Delete a conversation with everything in it, for good.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["conversation_not_found"],
    answer: Empty,
  },
  getState: {
    method: "GET",
    path: "/api/v1/conversations/{id}/state",
    summary: "What happens in a conversation right now.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: ConversationState,
  },
  resetConversation: {
    method: "POST",
    path: "/api/v1/conversations/{id}/reset",
    summary: "Forget the history; the log and the files stay.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "conversation_busy"],
    answer: Conversation,
  },
  branchConversation: {
    method: "POST",
    path: "/api/v1/conversations/{id}/branch",
    summary: "A new conversation that shares the history up to a place in the log.",
    params: ById,
    query: Empty,
    body: z.object({ at: z.number().int().positive().optional() }),
    status: 201,
    failures: ["conversation_not_found", "checkpoint_not_found"],
    answer: Conversation,
  },
  listCheckpoints: {
    method: "GET",
    path: "/api/v1/conversations/{id}/checkpoints",
    summary: "Places one can go back to: every ended turn and every saved place.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(Checkpoint) }),
  },
  saveCheckpoint: {
    method: "POST",
    path: "/api/v1/conversations/{id}/checkpoints",
    summary: "Save this place under a name.",
    params: ById,
    query: Empty,
    body: z.object({ name: z.string().min(1).max(limits.titleCharactersMax) }),
    status: 201,
    failures: ["conversation_not_found", "conversation_busy"],
    answer: Checkpoint,
  },
  restoreCheckpoint: {
    method: "POST",
    path: "/api/v1/conversations/{id}/checkpoints/{checkpoint}/restore",
    summary: "Go back to a place.",
    params: ById.extend({ checkpoint: z.coerce.number().int() }),
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "conversation_busy", "checkpoint_not_found"],
    answer: Checkpoint,
  },
  deleteCheckpoint: {
    method: "DELETE",
    path: "/api/v1/conversations/{id}/checkpoints/{checkpoint}",
    summary: "Take a place off the list.",
    params: ById.extend({ checkpoint: z.coerce.number().int() }),
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["conversation_not_found", "checkpoint_not_found"],
    answer: Empty,
  },
  sendMessage: {
    method: "POST",
    path: "/api/v1/conversations/{id}/messages",
    summary: "Say something. Answered when the message is stored; the turn runs by itself.",
    params: ById,
    query: Empty,
    status: 202,
    failures: ["conversation_not_found", "slot_unknown"],
    body: z.object({
      /** Made by the client: sending the same message again under the same id is harmless. */
      id: z.string().min(1).max(64).optional(),
      text: z.string().min(1).max(limits.messageCharactersMax),
      images: z.array(Image).max(16).optional(),
      mode: z.enum(["queue", "steer"]).default("queue"),
      slot: z.string().optional(),
    }),
    answer: z.object({ message: z.string(), seq: z.number().int() }),
  },
  withdrawMessage: {
    method: "DELETE",
    path: "/api/v1/conversations/{id}/messages/{message}",
    summary: "Take back a message that no turn has taken up yet.",
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
    summary: "Go on with an interrupted turn, if there is one.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 202,
    failures: ["conversation_not_found"],
    answer: z.object({ turn: z.number().int().nullable() }),
  },
  readEvents: {
    method: "GET",
    path: "/api/v1/conversations/{id}/events",
    summary: "A page of the log.",
    params: ById,
    query: z.object({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(200),
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(AnyEvent), next: z.number().int().nullable() }),
  },
  followEvents: {
    method: "GET",
    path: "/api/v1/conversations/{id}/stream",
    summary: "The log from a place on, then live, with the text of the running answer.",
    params: ById,
    query: z.object({ after: z.coerce.number().int().min(0).default(0) }),
    body: Empty,
    status: 200,
    streams: true,
    failures: ["conversation_not_found"],
    answer: AnyEvent,
  },
  listDecisions: {
    method: "GET",
    path: "/api/v1/decisions",
    summary: "Everything that waits for a person, oldest first.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(Decision) }),
  },
  decide: {
    method: "POST",
    path: "/api/v1/conversations/{id}/decisions/{decision}",
    summary: "Answer an approval or a question.",
    params: ById.extend({ decision: z.string() }),
    query: Empty,
    status: 200,
    body: z.object({
      verdict: z.enum(["approve", "reject", "edit", "answer"]),
      reason: z.string().max(10_000).optional(),
      /** Edit: the arguments to run instead, as JSON text. */
      arguments: z.string().optional(),
      answer: z.string().max(1_000_000).optional(),
    }),
    failures: [
      "conversation_not_found",
      "decision_not_found",
      "decision_already_made",
      "decision_verdict_unfit",
      "answer_required",
      "tool_arguments_broken",
      "tool_arguments_unfit",
    ],
    answer: z.object({ decision: z.string(), seq: z.number().int() }),
  },
  listModels: {
    method: "GET",
    path: "/api/v1/models",
    summary: "The model slots, and the local model servers that were found.",
    params: Empty,
    query: z.object({ detect: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ slots: z.array(ModelInfo), found: z.array(LocalServer) }),
  },
  replay: {
    method: "POST",
    path: "/api/v1/conversations/{id}/replay",
    summary: "Run the stored turns against their recorded answers and say where this program differs.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: ReplayReport,
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
