import { z } from "zod";
import type { FailureCode } from "./failure.ts";
import { ConversationId } from "./ids.ts";
import { FileDetails, FileEntry, SearchedFiles, TrashEntry, UndoReport, UploadedFile } from "./resources.ts";
import { ById, Empty, type Route } from "./route.ts";

/** Entries of one answer; more of them would hold up everybody else. */
const listedMax = 2_000;
const hitsMax = 100;
const waitSecondsMax = 60;
const searchedCharactersMax = 1_000;

/** Whose files: those that this agent works with; the conversation's own where none is named. */
const ofAgent = z.string().default("root");

/** What any path in a request may be refused with. */
export const fileFailures = [
  "path_traversal_blocked",
  "path_invalid",
  "file_not_found",
  "permission_denied",
  "not_a_file",
  "not_a_folder",
  "read_failed",
] as const satisfies readonly FailureCode[];

/** The rows of the route table that are about files. */
export const fileRoutes = {
  undoTurn: {
    method: "POST",
    path: "/api/v1/conversations/{id}/undo",
    scope: "chat",
    summary: "Undo the last turn, with the files that its tools changed.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [
      "conversation_not_found",
      "conversation_busy",
      "nothing_to_undo",
      "files_in_trash",
      "quota_exceeded",
      "write_failed",
    ],
    answer: UndoReport,
  },
  listFiles: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files",
    scope: "files",
    summary: "One level of the conversation's files, sorted by name.",
    params: ById,
    query: z.object({
      path: z.string().default("."),
      hidden: z.stringbool().default(false),
      limit: z.coerce.number().int().min(1).max(listedMax).default(listedMax),
      /** The last name of the page before. */
      after: z.string().optional(),
      agent: ofAgent,
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "agent_unknown", ...fileFailures],
    answer: z.object({ path: z.string(), items: z.array(FileEntry), next: z.string().nullable() }),
  },
  readFile: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/content",
    scope: "files",
    summary: "The bytes of a file; takes a Range header.",
    params: ById,
    query: z.object({ path: z.string(), agent: ofAgent }),
    body: Empty,
    status: 200,
    givesBytes: true,
    failures: ["conversation_not_found", "agent_unknown", ...fileFailures, "range_unfit"],
    answer: Empty,
  },
  describeFile: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/details",
    scope: "files",
    summary: "What a file is, how far its indexing is, and what of it can be read.",
    params: ById,
    /** `wait`: seconds to wait until that is known. */
    query: z.object({ path: z.string(), wait: z.coerce.number().int().min(0).max(waitSecondsMax).default(0) }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", ...fileFailures],
    answer: FileDetails,
  },
  searchFiles: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/search",
    scope: "files",
    summary: "Where something stands in the texts and documents of the conversation.",
    params: ById,
    query: z.object({
      query: z.string().min(1).max(searchedCharactersMax),
      /** A file or a folder. */
      path: z.string().default("."),
      regex: z.stringbool().default(false),
      limit: z.coerce.number().int().min(1).max(hitsMax).default(20),
      /** Characters on either side of a match. */
      context: z.coerce.number().int().min(0).max(1_000).default(100),
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", ...fileFailures, "pattern_invalid"],
    answer: SearchedFiles,
  },
  uploadFile: {
    method: "PUT",
    path: "/api/v1/conversations/{id}/files/uploads/{name}",
    scope: "files",
    creates: true,
    summary: "Put a file into uploads/; the body is its bytes.",
    params: ById.extend({ name: z.string() }),
    /** `keep`: a file of the same name stays, and this one becomes `name (2)`. `wait`: seconds to wait for its details. */
    query: z.object({
      keep: z.stringbool().default(false),
      wait: z.coerce.number().int().min(0).max(waitSecondsMax).default(0),
    }),
    body: Empty,
    status: 201,
    takesBytes: true,
    failures: [
      "conversation_not_found",
      "content_type_unfit",
      ...fileFailures,
      "write_failed",
      "too_large",
      "quota_exceeded",
      "conflict",
      "unsupported_type",
    ],
    answer: UploadedFile,
  },
  removeFile: {
    method: "DELETE",
    path: "/api/v1/conversations/{id}/files/content",
    scope: "files",
    summary: "Delete a file, or a folder with everything in it.",
    params: ById,
    query: z.object({ path: z.string() }),
    body: Empty,
    status: 204,
    failures: ["conversation_not_found", ...fileFailures, "write_failed"],
    answer: Empty,
  },
  cleanWorkspaces: {
    method: "POST",
    path: "/api/v1/workspaces/clean",
    scope: "files",
    summary: "Move the files of conversations that nobody used for some days to the trash.",
    params: Empty,
    query: Empty,
    /** Left out: the configured number of days; all conversations. */
    body: z.object({ days: z.number().min(0).max(36_500).optional(), conversation: ConversationId.optional() }),
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ workspaces: z.number().int(), bytes: z.number(), skipped: z.number().int(), days: z.number() }),
  },
  listTrash: {
    method: "GET",
    path: "/api/v1/workspaces/trash",
    scope: "files",
    summary: "What can be restored, newest first.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(TrashEntry) }),
  },
  restoreTrash: {
    method: "POST",
    path: "/api/v1/workspaces/trash/{trash}/restore",
    scope: "files",
    creates: true,
    summary: "Give a conversation its files back, by the id in the trash or the beginning of one.",
    params: z.object({ trash: z.string() }),
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["trash_not_found", "write_failed"],
    answer: z.object({ conversation: z.string(), files: z.number().int(), beside: z.array(z.string()) }),
  },
} as const satisfies Record<string, Route>;
