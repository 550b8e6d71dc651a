import { z } from "zod";
import { ModelErrorKind } from "./message.ts";
import { DocumentPlace } from "./resources.ts";
import { Empty, type Route } from "./route.ts";

const hitsMax = 100;
const queryCharactersMax = 1_000;

const Where = z.object({ id: z.string(), title: z.string() });

/** What was found: words of a person or an agent with their place in the log, or a passage of a file. */
const SearchHit = z.object({
  kind: z.enum(["message", "file"]),
  conversation: Where,
  /** Of a message. */
  seq: z.number().int().optional(),
  at: z.number().optional(),
  who: z.enum(["user", "agent"]).optional(),
  /** Of a file: where the passage begins and ends, and the headings above it. */
  path: z.string().optional(),
  from: DocumentPlace.optional(),
  to: DocumentPlace.optional(),
  headings: z.array(z.string()).optional(),
  /** With `**` around what was found and `...` where it is cut. */
  snippet: z.string(),
  /** The larger, the better; files and messages of one answer can be compared. */
  score: z.number(),
});
export type SearchHit = z.infer<typeof SearchHit>;

export const SearchAnswer = z.object({
  items: z.array(SearchHit),
  /** Passages and messages with at least one of the words; 1,000 means that many or more. */
  total: z.number().int(),
  /** Words of the query that are nowhere, and words that were taken for others. */
  missing: z.array(z.string()),
  repaired: z.array(z.object({ said: z.string(), meant: z.string() })),
  /** Conversations whose messages are not all in the index yet: ask again in a moment. */
  conversationsBehind: z.number().int(),
  /** Files that could not be searched, or not yet; the first 20. */
  unsearched: z.array(
    z.object({
      conversation: z.string(),
      path: z.string(),
      state: z.enum(["waiting", "reading", "failed"]),
      done: z.number().int(),
      of: z.number().int(),
      code: z.string().optional(),
    }),
  ),
  /** There are more files than one search looks at, or looking took too long. */
  isPartial: z.boolean(),
  /** Where there is an embedding model: how many passages it has seen, and what keeps it from its work. */
  meaning: z
    .object({
      passages: z.number().int(),
      embedded: z.number().int(),
      /** `limit`: a day costs no more. Otherwise the kind of failure of its server. */
      trouble: z.union([z.literal("limit"), ModelErrorKind]).optional(),
    })
    .optional(),
});
export type SearchAnswer = z.infer<typeof SearchAnswer>;

/** One search over files and messages. */
export const searchRoutes = {
  search: {
    method: "GET",
    path: "/api/v1/search",
    scope: "any",
    summary: "What stands in the files and messages of all conversations of the caller, the best first.",
    params: Empty,
    /** `in`: messages need a key for `chat`, files one for `files`. */
    query: z.object({
      q: z.string().min(1).max(queryCharactersMax),
      in: z.enum(["files", "messages", "all"]).default("all"),
      /** Only in this one. */
      conversation: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(hitsMax).default(20),
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "pattern_invalid", "index_unavailable"],
    answer: SearchAnswer,
  },
} as const satisfies Record<string, Route>;
