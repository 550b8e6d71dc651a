import { z } from "zod";
import { agentRoutes } from "./agent-routes.ts";
import { RuleScope } from "./approval.ts";
import { backupRoutes } from "./backup-routes.ts";
import { budgetRoutes, TurnBudget } from "./budget-routes.ts";
import { chatRoutes } from "./chat-routes.ts";
import { contextRoutes } from "./context-routes.ts";
import { AnyEvent } from "./events.ts";
import { fileFailures, fileRoutes } from "./file-routes.ts";
import { fileViewRoutes } from "./file-view-routes.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { Image } from "./message.ts";
import { messageRoutes } from "./message-routes.ts";
import { modelRoutes } from "./model-routes.ts";
import { observeRoutes } from "./observe-routes.ts";
import { openAiRoutes } from "./openai-routes.ts";
import { operatorRoutes } from "./operator-routes.ts";
import { Checkpoint, Conversation, ConversationState, Decision, ReplayReport, StreamFrame } from "./resources.ts";
import { ById, bodyBytes, Empty, limits, type Route } from "./route.ts";
import { ruleRoutes } from "./rule-routes.ts";
import { sandboxFileRoutes } from "./sandbox-file-routes.ts";
import { sandboxRoutes } from "./sandbox-routes.ts";
import { searchRoutes } from "./search-routes.ts";
import { MessageSent } from "./skill.ts";
import { skillRoutes } from "./skill-routes.ts";
import { StreamCursor } from "./stream.ts";
import { toolRoutes } from "./tool-routes.ts";
import { userRoutes } from "./user-routes.ts";

/** The one table of native routes: validation, the typed client and the API document are made from it. */
export const protocolVersion = "2";

const page = { limit: z.coerce.number().int().min(1).max(limits.pageMax).default(20), before: z.string().optional() };

export const routes = {
  health: {
    method: "GET",
    path: "/api/v1/health",
    scope: "open",
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
      /** Seconds. */
      uptime: z.number(),
    }),
  },
  createConversation: {
    method: "POST",
    path: "/api/v1/conversations",
    scope: "chat",
    creates: true,
    summary: "Start a conversation.",
    params: Empty,
    query: Empty,
    status: 201,
    failures: ["conversation_exists", "agent_not_found"],
    body: z.object({
      id: z.string().optional(),
      title: z.string().max(limits.titleCharactersMax).optional(),
      agent: z.string().min(1).max(limits.titleCharactersMax).optional(),
    }),
    answer: Conversation,
  },
  listConversations: {
    method: "GET",
    path: "/api/v1/conversations",
    scope: "chat",
    summary: "Conversations, newest first, or the pinned ones only.",
    params: Empty,
    query: z.object({ ...page, pinned: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(Conversation), next: z.string().nullable() }),
  },
  getConversation: {
    method: "GET",
    path: "/api/v1/conversations/{id}",
    scope: "chat",
    summary: "One conversation by id, or by the beginning of its id.",
    params: ById,
    query: z.object({ prefix: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "conversation_ambiguous"],
    answer: Conversation,
  },
  changeConversation: {
    method: "PATCH",
    path: "/api/v1/conversations/{id}",
    scope: "chat",
    summary: "Give a conversation another title, pin it, or say up to when it was looked at.",
    params: ById,
    query: Empty,
    body: z
      .object({
        title: z.string().min(1).max(limits.titleCharactersMax).optional(),
        pinned: z.boolean().optional(),
        seenAt: z.number().int().nonnegative().optional(),
      })
      .refine((body) => Object.keys(body).length > 0, "give title, pinned or seenAt"),
    status: 200,
    failures: ["conversation_not_found"],
    answer: Conversation,
  },
  deleteConversation: {
    method: "DELETE",
    path: "/api/v1/conversations/{id}",
    scope: "chat",
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
    scope: "chat",
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
    scope: "chat",
    summary: "Forget the history; the log stays, and so do all files but those in temp/.",
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
    scope: "chat",
    creates: true,
    summary: "A new conversation that shares the history up to a place in the log, with the files as they are now.",
    params: ById,
    query: Empty,
    body: z.object({ at: z.number().int().positive().optional() }),
    status: 201,
    failures: ["conversation_not_found", "checkpoint_not_found"],
    /** `filesLeftOut`: those that could not be copied; `.` when none could. */
    answer: Conversation.extend({ filesLeftOut: z.array(z.string()) }),
  },
  listCheckpoints: {
    method: "GET",
    path: "/api/v1/conversations/{id}/checkpoints",
    scope: "chat",
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
    scope: "chat",
    creates: true,
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
    scope: "chat",
    summary: "Go back to a place, with the files that tools changed since.",
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
    scope: "chat",
    summary: "Take a place off the list.",
    params: ById.extend({ checkpoint: z.coerce.number().int() }),
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["conversation_not_found", "checkpoint_not_found"],
    answer: Empty,
  },
  ...fileRoutes,
  ...fileViewRoutes,
  sendMessage: {
    method: "POST",
    path: "/api/v1/conversations/{id}/messages",
    scope: "chat",
    creates: true,
    bodyBytesMax: bodyBytes.large,
    summary: "Say something. Answered when the message is stored; the turn runs by itself.",
    params: ById,
    query: Empty,
    status: 202,
    failures: ["conversation_not_found", "message_blank", "slot_unknown", ...fileFailures],
    body: z.object({
      /** Made by the client: sending the same message again under the same id is harmless. */
      id: z.string().min(1).max(64).optional(),
      /** Blanks alone are no message, but for one with images or files. */
      text: z.string().min(1).max(limits.messageCharactersMax),
      /** So many characters of it are the person's own words; the rest they send and others wrote: a prompt of an MCP server. */
      own: z.number().int().min(0).optional(),
      images: z.array(Image).max(16).optional(),
      mode: z.enum(["queue", "steer"]).default("queue"),
      slot: z.string().optional(),
      /** What its turn may spend, within what the settings allow. */
      budget: TurnBudget.optional(),
      /** Files of the workspace that come with it: named at its end, images and small texts put into it. */
      files: z.array(z.string()).max(limits.messageFilesMax).optional(),
    }),
    answer: MessageSent,
  },
  ...messageRoutes,
  readEvents: {
    method: "GET",
    path: "/api/v1/conversations/{id}/events",
    scope: "chat",
    summary: "A page of the log.",
    params: ById,
    query: z.object({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(200),
      /** Of these events only those that mean something to this agent: its own, mail to it, and its end. */
      agent: z.string().optional(),
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(AnyEvent), next: z.number().int().nullable() }),
  },
  followEvents: {
    method: "GET",
    path: "/api/v1/conversations/{id}/stream",
    scope: "chat",
    summary: "The log from a place on, then live, with the text of the running answer.",
    params: ById,
    query: z.object({
      /** The id of the last frame that came; `Last-Event-ID` says the same and counts before it. */
      after: StreamCursor.default("0"),
      /** Somebody is about to go on with it, and does not only read: its sandbox is made ready meanwhile. */
      opens: z.stringbool().default(false),
    }),
    body: Empty,
    status: 200,
    streams: true,
    failures: ["conversation_not_found"],
    answer: StreamFrame,
  },
  listDecisions: {
    method: "GET",
    path: "/api/v1/decisions",
    scope: "chat",
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
    scope: "chat",
    creates: true,
    bodyBytesMax: bodyBytes.large,
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
      /** Approve: also store a rule. `option` counts the decision's `always` from 0. */
      always: z.object({ option: z.number().int().min(0).default(0), scope: RuleScope }).optional(),
      /** Say the same to all open decisions of this conversation with the same tool and arguments. */
      equal: z.boolean().default(false),
    }),
    failures: [
      "conversation_not_found",
      "decision_not_found",
      "rule_not_offered",
      "rules_full",
      "decision_already_made",
      "decision_verdict_unfit",
      "answer_required",
      "form_answer_unfit",
      "tool_arguments_broken",
      "tool_arguments_unfit",
      "tool_denied",
    ],
    /** `also`: other decisions that were made with it, here and in the user's other conversations. */
    answer: z.object({ decision: z.string(), seq: z.number().int(), also: z.array(z.string()) }),
  },
  ...ruleRoutes,
  ...toolRoutes,
  ...agentRoutes,
  ...skillRoutes,
  ...mcpRoutes,
  ...budgetRoutes,
  ...contextRoutes,
  ...backupRoutes,
  ...observeRoutes,
  ...modelRoutes,
  replay: {
    method: "POST",
    path: "/api/v1/conversations/{id}/replay",
    scope: "chat",
    summary: "Run the stored turns against their recorded answers and say where this version differs.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: ReplayReport,
  },
  ...searchRoutes,
  ...sandboxRoutes,
  ...sandboxFileRoutes,
  ...chatRoutes,
  ...openAiRoutes,
  ...operatorRoutes,
  ...userRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
