import { z } from "zod";
import { asked } from "./approval.ts";
import { Budget } from "./budget.ts";
import { AnyEvent } from "./events.ts";
import { Slot } from "./message.ts";
import { ClosingFrame, PartFrame } from "./stream.ts";

/** What the native routes answer with: each noun once, as schema and type. */
export const Conversation = z.object({
  id: z.string(),
  title: z.string(),
  lastMessage: z.string(),
  turns: z.number().int(),
  pinned: z.boolean(),
  /** Up to when its user has looked at it in a browser; null: never. */
  seenAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type Conversation = z.infer<typeof Conversation>;

export const Decision = z.object({
  conversation: z.string(),
  id: z.string(),
  ...asked,
  /** Which agents lead to it, from the main agent down. */
  path: z.array(z.string()),
  at: z.number(),
});
export type Decision = z.infer<typeof Decision>;

/** A decision that the log has open, as surfaces see it. */
export function decisionOf(
  conversation: string,
  { path = ["root"], ...open }: Pick<Decision, "id" | keyof typeof asked> & { readonly path?: string[] | undefined },
  at: number,
): Decision {
  return Decision.parse({ ...open, conversation, path, at });
}

/** How full the model's window is: the provider's own count for the last request, estimated for what came since. */
export const TokenStatus = z.object({
  used: z.number(),
  window: z.number(),
  level: z.enum(["info", "warning", "high", "critical"]),
  estimated: z.boolean(),
});
export type TokenStatus = z.infer<typeof TokenStatus>;

/** What a surface shows beside the history. */
export const ConversationState = z.object({
  conversation: Conversation,
  /** `waiting`: for a decision. */
  status: z.enum(["idle", "running", "waiting"]),
  head: z.number().int(),
  model: z.object({ slot: Slot, id: z.string(), server: z.string(), isDemo: z.boolean() }),
  tokens: TokenStatus,
  budget: Budget,
  queue: z.array(z.object({ id: z.string(), text: z.string(), mode: z.enum(["queue", "steer"]) })),
  decisions: z.array(Decision),
  todos: z.array(z.object({ id: z.string(), content: z.string(), status: z.string(), priority: z.string() })),
  /** When its files were moved to the trash for want of use; null when they were not. */
  filesRemovedAt: z.number().nullable(),
});
export type ConversationState = z.infer<typeof ConversationState>;

/** What came of making room. */
export const CompactReport = z.object({
  /** The place of its event in the log; null when there was nothing to do. */
  seq: z.number().int().nullable(),
  strategy: z.string(),
  messagesBefore: z.number().int(),
  messagesAfter: z.number().int(),
  tokensBefore: z.number().int(),
  tokensAfter: z.number().int(),
});
export type CompactReport = z.infer<typeof CompactReport>;

/** A memory: what the user wants known in every conversation. */
export const Memory = z.object({
  id: z.string(),
  fact: z.string(),
  at: z.number(),
  /** Who wrote it down: the user, or an agent in this conversation. */
  conversation: z.string().nullable(),
});
export type Memory = z.infer<typeof Memory>;

export const Checkpoint = z.object({
  /** The number of the place in the log. */
  checkpoint: z.number().int(),
  parent: z.number().int().nullable(),
  name: z.string(),
  at: z.number(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** One entry of a folder in a workspace. */
export const FileEntry = z.object({
  name: z.string(),
  /** From the root of the workspace. */
  path: z.string(),
  type: z.enum(["file", "folder", "skill", "special"]),
  bytes: z.number().int(),
  modifiedAt: z.number().int(),
});
export type FileEntry = z.infer<typeof FileEntry>;

/** Where a passage of a document begins or ends; what a format does not have is not there. All from 1 on. */
export const DocumentPlace = z.object({
  page: z.number().int().optional(),
  pageLabel: z.string().optional(),
  sheet: z.string().optional(),
  slide: z.number().int().optional(),
  chapter: z.number().int().optional(),
  row: z.number().int().optional(),
  line: z.number().int().optional(),
  paragraph: z.number().int().optional(),
});

/** In a text its line; in a document the passage, with its id, where it stands, under which headings, and its score. */
const FoundPlace = z.object({
  path: z.string(),
  line: z.number().int().optional(),
  column: z.number().int().optional(),
  id: z.string().optional(),
  from: DocumentPlace.optional(),
  to: DocumentPlace.optional(),
  headings: z.array(z.string()).optional(),
  score: z.number().optional(),
  text: z.string(),
});

/** `total`: all places, at least that many where not everything was looked at, for the reason that `stopped` has. */
export const SearchedFiles = z.object({
  hits: z.array(FoundPlace),
  total: z.number().int(),
  filesSearched: z.number().int(),
  filesSkipped: z.number().int(),
  stopped: z.enum(["time", "hits", "size"]).nullable(),
  /** Documents that were not searched: not indexed yet, with how much of them is, or not readable, and why. */
  unsearched: z.array(
    z.object({
      path: z.string(),
      state: z.enum(["waiting", "reading", "failed"]),
      done: z.number().int(),
      of: z.number().int(),
      code: z.string().optional(),
    }),
  ),
  /** Words of the query that no document has, and words that were taken for others. */
  missing: z.array(z.string()),
  repaired: z.array(z.object({ said: z.string(), meant: z.string() })),
});

export type SearchedFiles = z.infer<typeof SearchedFiles>;

/** What became of a document or text: nothing is dropped in silence. */
const FileReceipt = z.object({
  title: z.string().optional(),
  parts: z.object({ kind: z.enum(["page", "sheet", "slide", "chapter"]), count: z.number().int() }).optional(),
  characters: z.number().int(),
  tables: z.number().int(),
  images: z.number().int(),
  language: z.string().optional(),
  encoding: z.string().optional(),
  /** Such as `pages_without_text`, a scan that needs OCR; the first places of each kind. */
  losses: z.array(z.object({ kind: z.string(), count: z.number().int(), places: z.array(DocumentPlace) })),
  /** Only a part was read: a limit, and where it was met. */
  stopped: z.object({ limit: z.string(), at: DocumentPlace }).optional(),
});

/** `indexing` of documents alone; `receipt` when it is known; `code`: why the file cannot be read. */
export const FileDetails = z.object({
  path: z.string(),
  type: z.string(),
  bytes: z.number().int(),
  modifiedAt: z.number().int(),
  indexing: z
    .object({
      state: z.enum(["waiting", "reading", "indexed", "failed"]),
      done: z.number().int(),
      of: z.number().int(),
    })
    .nullable(),
  receipt: FileReceipt.nullable(),
  code: z.string().nullable(),
  /** The receipt in words, in the language of the caller: pages, characters, tables, language; empty while it is not known. */
  summary: z.string(),
  /** What could not be read and what would help, a sentence each; why nothing could. */
  notes: z.array(z.string()),
});
export type FileDetails = z.infer<typeof FileDetails>;

export const UploadedFile = z.object({
  name: z.string(),
  path: z.string(),
  /** By content, then by name: `csv`, `image`, `python` … */
  type: z.string(),
  bytes: z.number().int(),
  /** A file of this name was there before and is replaced. */
  replaced: z.boolean(),
  /** What became of it, where the caller waits for that. */
  details: FileDetails.optional(),
});
export type UploadedFile = z.infer<typeof UploadedFile>;

export const UndoReport = z.object({
  turn: z.number().int(),
  /** What the user had said in that turn. */
  message: z.string(),
  /** Files that are again as they were before it. */
  restored: z.array(z.object({ path: z.string(), now: z.enum(["as_before", "removed"]) })),
  /** Files that were left as they are, and why. */
  left: z.array(z.object({ path: z.string(), why: z.enum(["changed_since", "not_kept"]) })),
});
export type UndoReport = z.infer<typeof UndoReport>;

export const TrashEntry = z.object({
  id: z.string(),
  conversation: z.string(),
  /** The agent whose task's files these were; absent for the conversation's own. */
  task: z.string().optional(),
  movedAt: z.number(),
  bytes: z.number(),
  files: z.number().int(),
  until: z.number(),
});
export type TrashEntry = z.infer<typeof TrashEntry>;

export const ModelInfo = z.object({
  slot: Slot,
  id: z.string(),
  server: z.string(),
  isDemo: z.boolean(),
  windowTokens: z.number(),
  /** The slot has settings of its own; otherwise the base model stands in. */
  filled: z.boolean(),
});

export const LocalServer = z.object({
  kind: z.string(),
  baseUrl: z.string(),
  models: z.array(z.object({ id: z.string(), windowTokens: z.number().optional(), tools: z.boolean().optional() })),
  advice: z.string().optional(),
});

export const ReplayReport = z.object({
  turns: z.number().int(),
  steps: z.number().int(),
  /** Places where this program would send or do something else than what was recorded. */
  differences: z.array(
    z.object({
      seq: z.number().int(),
      what: z.enum(["move", "prompt", "tools", "model", "bytes"]),
      recorded: z.string(),
      now: z.string(),
    }),
  ),
});
export type ReplayReport = z.infer<typeof ReplayReport>;

/** Frames of a conversation's stream. `event` is durable; the others are not and may be missed. */
export const StreamFrame = z.discriminatedUnion("frame", [
  z.object({ frame: z.literal("event"), event: AnyEvent }),
  /** Text of the running answer; `offset` counts UTF-16 units since the start of this attempt. */
  z.object({
    frame: z.literal("delta"),
    /** Who writes it; absent for the main agent. */
    agent: z.string().optional(),
    turn: z.number(),
    step: z.number(),
    attempt: z.number(),
    kind: z.enum(["text", "reasoning"]),
    offset: z.number(),
    text: z.string(),
  }),
  /** What a running program of a call says; `offset` counts UTF-16 units since it began. Pieces may be missing. */
  z.object({
    frame: z.literal("output"),
    agent: z.string().optional(),
    call: z.string(),
    offset: z.number(),
    text: z.string(),
  }),
  /** Everything stored when the stream was opened has been sent. */
  z.object({ frame: z.literal("caught_up"), head: z.number() }),
  /** The reader was too slow: open the stream again after this place. The last frame. */
  z.object({ frame: z.literal("behind"), after: z.string() }),
  /** The conversation was deleted. The last frame. */
  z.object({ frame: z.literal("deleted") }),
  ClosingFrame,
  PartFrame,
  z.object({ frame: z.literal("ping") }),
]);
export type StreamFrame = z.infer<typeof StreamFrame>;

/** The one error shape of native routes (problem details with a code). */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  code: z.string(),
  detail: z.string(),
  params: z.record(z.string(), z.union([z.string(), z.number()])),
  retryable: z.boolean(),
  requestId: z.string(),
});
export type Problem = z.infer<typeof Problem>;
