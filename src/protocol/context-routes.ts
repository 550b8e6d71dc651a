import { z } from "zod";
import { CompactReport, Memory } from "./resources.ts";
import { ById, Empty, type Route } from "./route.ts";

export const contextLimits = { focusCharactersMax: 2_000, memoryCharactersMax: 500, memoriesMax: 100 } as const;

const fact = z.string().trim().min(1).max(contextLimits.memoryCharactersMax);

/** What a model sees of a conversation, and what it is told in every one. */
export const contextRoutes = {
  compactConversation: {
    method: "POST",
    path: "/api/v1/conversations/{id}/compact",
    scope: "chat",
    creates: true,
    summary: "Make room now: older messages are replaced by a summary; the log keeps them.",
    params: ById,
    query: Empty,
    body: z.object({
      strategy: z.enum(["auto", "compact", "summarize"]).default("auto"),
      focus: z.string().max(contextLimits.focusCharactersMax).optional(),
    }),
    status: 200,
    failures: ["conversation_not_found", "conversation_busy", "compaction_off", "context_exhausted"],
    answer: CompactReport,
  },
  undoCompaction: {
    method: "POST",
    path: "/api/v1/conversations/{id}/compact/undo",
    scope: "chat",
    summary: "Send again what the newest summary stands for.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "conversation_busy", "compaction_not_found"],
    answer: z.object({ seq: z.number().int() }),
  },
  listMemory: {
    method: "GET",
    path: "/api/v1/memory",
    scope: "chat",
    summary: "The memories that agents are told in each of your conversations, oldest first.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(Memory) }),
  },
  addMemory: {
    method: "POST",
    path: "/api/v1/memory",
    scope: "chat",
    creates: true,
    summary: "Add a memory.",
    params: Empty,
    query: Empty,
    body: z.object({ fact }),
    status: 201,
    failures: ["memory_full", "memory_secret"],
    answer: Memory,
  },
  changeMemory: {
    method: "PATCH",
    path: "/api/v1/memory/{memory}",
    scope: "chat",
    summary: "Say it in other words.",
    params: z.object({ memory: z.string() }),
    query: Empty,
    body: z.object({ fact }),
    status: 200,
    failures: ["memory_not_found", "memory_secret"],
    answer: Memory,
  },
  forgetMemory: {
    method: "DELETE",
    path: "/api/v1/memory/{memory}",
    scope: "chat",
    summary: "Forget a memory.",
    params: z.object({ memory: z.string() }),
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["memory_not_found"],
    answer: Empty,
  },
} as const satisfies Record<string, Route>;
