import { z } from "zod";
import { fileFailures } from "./file-routes.ts";
import { DocumentPlace } from "./resources.ts";
import { ById, Empty, type Route } from "./route.ts";

/** Rows, lines or blocks of one answer. */
const pageMax = 1_000;
const historyMax = 2_000;

const FileVersion = z.object({
  /** Of the event that tells of the change. */
  seq: z.number().int(),
  at: z.number().int(),
  path: z.string(),
  change: z.enum(["made", "changed", "removed"]),
  /** Bytes after it; null where the file was removed. */
  bytes: z.number().int().nullable(),
  by: z.enum(["tool", "upload", "person", "undo"]),
  /** The turn during which it happened; null between turns. */
  turn: z.number().int().nullable(),
  /** Who did it, of agents other than the main one. */
  agent: z.string().optional(),
  /** A program did it. */
  program: z.literal(true).optional(),
  /** The file can be made again as it was after this change. */
  canRestore: z.boolean(),
});
export type FileVersion = z.infer<typeof FileVersion>;

const FileView = z.discriminatedUnion("kind", [
  /** A sheet, or the table that a text is. */
  z.object({
    kind: z.literal("table"),
    type: z.string(),
    sheets: z.array(z.string()),
    sheet: z.string(),
    /** Of all rows there are; those of the head are among them. */
    total: z.number().int(),
    columns: z.number().int(),
    headRows: z.number().int(),
    from: z.number().int(),
    rows: z.array(z.object({ number: z.number().int(), cells: z.array(z.string()) })),
    /** Only a part was read, because of this limit. */
    cut: z.string().nullable(),
  }),
  z.object({
    kind: z.literal("text"),
    type: z.string(),
    encoding: z.string(),
    total: z.number().int(),
    from: z.number().int(),
    lines: z.array(z.string()),
    cut: z.string().nullable(),
  }),
  /** What a document says, without its looks. */
  z.object({
    kind: z.literal("document"),
    type: z.string(),
    total: z.number().int(),
    from: z.number().int(),
    blocks: z.array(
      z.object({
        kind: z.enum(["heading", "paragraph", "list", "table", "code", "contents", "note"]),
        text: z.string(),
        level: z.number().int().optional(),
        headRows: z.number().int().optional(),
        place: DocumentPlace,
      }),
    ),
    cut: z.string().nullable(),
  }),
  /** Nothing of it can be read as text; images and the like are shown by `files/preview`. */
  z.object({ kind: z.literal("other"), type: z.string() }),
]);
export type FileView = z.infer<typeof FileView>;

/** The rows of the route table that show what is in a file, and what was in it. */
export const fileViewRoutes = {
  previewFile: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/preview",
    scope: "files",
    summary:
      "The bytes of a file as what they are, to be shown by a browser: images, PDF, sound, film, and pages without any rights.",
    params: ById,
    /** `scripts`: a page in a frame may run its own. They can tell others what stands in it. */
    query: z.object({ path: z.string(), scripts: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    givesBytes: true,
    failures: ["conversation_not_found", ...fileFailures, "range_unfit"],
    answer: Empty,
  },
  viewFile: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/view",
    scope: "files",
    summary: "What is in a file, a page at a time: the rows of a table, the lines of a text, the blocks of a document.",
    params: ById,
    query: z.object({
      path: z.string(),
      /** Left out: the first one. */
      sheet: z.string().optional(),
      from: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(pageMax).default(200),
      /** As lines, also where it could be shown as something else. */
      plain: z.stringbool().default(false),
    }),
    body: Empty,
    status: 200,
    failures: [
      "conversation_not_found",
      ...fileFailures,
      "document_locked",
      "document_damaged",
      "document_unknown",
      "document_too_large",
      "document_too_slow",
      "document_too_costly",
      "document_reader_crashed",
      "document_stopped",
    ],
    answer: FileView,
  },
  listFileHistory: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/history",
    scope: "files",
    summary: "Who changed a file, newest first; without a path the last change of every file.",
    params: ById,
    query: z.object({
      path: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(historyMax).default(historyMax),
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(FileVersion) }),
  },
  restoreFile: {
    method: "POST",
    path: "/api/v1/conversations/{id}/files/restore",
    scope: "files",
    summary: "Make a file again as it was after a change, by that change's seq.",
    params: ById,
    query: Empty,
    body: z.object({ path: z.string(), seq: z.number().int().min(1) }),
    status: 200,
    failures: [
      "conversation_not_found",
      ...fileFailures,
      "content_not_kept",
      "write_failed",
      "quota_exceeded",
      "conflict",
    ],
    answer: z.object({ path: z.string(), bytes: z.number().int() }),
  },
} as const satisfies Record<string, Route>;
