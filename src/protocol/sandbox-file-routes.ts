import { z } from "zod";
import type { FailureCode } from "./failure.ts";
import { fileFailures } from "./file-routes.ts";
import { ById, Empty, type Route } from "./route.ts";

/** Files of one answer. */
const sandboxListedMax = 10_000;

/** Which conversation and which of its folders; both can be headers or form fields too. */
const place = {
  conversation_id: z.string().optional(),
  /** `temparea` unless said otherwise; `uploads`, `outputs`, `temp`, or a folder below one of them. */
  subdir: z.string().optional(),
};
/** From the conversation's id on, such as `c1/outputs/a.png`, or below the conversation that is named beside it. */
const path = { path: z.string().optional() };
const ByPath = ById.extend({ path: z.string() });
const ByUpload = ById.extend({ upload: z.string() });
const anyPath = { path: "[\\s\\S]+" } as const;
/** Told from the path of a file by its shape. */
const uploadId = { upload: "tus-[0-9a-f]+" } as const;

const seekFailures = [
  "bad_request",
  "session_not_found",
  "conversation_not_found",
  "conversation_not_named",
  ...fileFailures,
] as const satisfies readonly FailureCode[];

const storeFailures = [
  ...seekFailures,
  "write_failed",
  "too_large",
  "quota_exceeded",
  "unsupported_type",
  "storage_full",
] as const satisfies readonly FailureCode[];

/** `name` is below the folder that was listed, `path` is from the conversation's id on. */
const SandboxFile = z.object({
  name: z.string(),
  path: z.string(),
  /** As programs in the sandbox see it. */
  container_path: z.string(),
  size: z.number(),
  modified_time: z.string(),
  etag: z.string(),
  /** By its name: `csv`, `image`. */
  type: z.string(),
});
export type SandboxFile = z.infer<typeof SandboxFile>;

const StoredFile = z.object({
  mode: z.literal("file"),
  session_id: z.string(),
  conversation_id: z.string(),
  file_name: z.string(),
  file_path: z.string(),
  container_path: z.string(),
  size: z.number(),
  type: z.string(),
});
export type StoredFile = z.infer<typeof StoredFile>;

const UnpackedArchive = z.object({
  mode: z.literal("archive_extract"),
  session_id: z.string(),
  conversation_id: z.string(),
  extract_path: z.string(),
  extracted_file_count: z.number().int(),
  skipped_file_count: z.number().int(),
  size: z.number(),
});

const ResumableUpload = z.object({
  upload_id: z.string(),
  file_name: z.string(),
  conversation_id: z.string(),
  size: z.number(),
  offset: z.number(),
  expires_at: z.string(),
  /** Where it is, when all of it has come. */
  file_path: z.string().nullable(),
});

/** The rows of the route table about files of a sandbox session: the chat platform's, the public service's, and tus 1.0.0. */
export const sandboxFileRoutes = {
  uploadSandboxFile: {
    method: "POST",
    path: "/api/v1/sessions/{id}/files/upload",
    scope: "files",
    creates: true,
    summary: "Put a file into a conversation, as multipart/form-data with the part file, or unpack a ZIP file there.",
    params: ById,
    query: z.object({
      ...place,
      ...path,
      extract: z.stringbool().default(false),
      /** With extract: files that are there are replaced. */
      overwrite: z.stringbool().default(false),
      /** A file of the same name stays, and this one becomes `name (2)`. */
      keep: z.stringbool().default(false),
    }),
    body: Empty,
    status: 200,
    takesForm: true,
    failures: [...storeFailures, "content_type_unfit", "form_unfit", "archive_unfit", "archive_too_large"],
    answer: z.union([StoredFile, UnpackedArchive]),
  },
  putSandboxFile: {
    method: "PUT",
    path: "/api/v1/sessions/{id}/files/{path}",
    patterns: anyPath,
    scope: "files",
    creates: true,
    summary: "Put a file into a conversation; the body is its bytes.",
    params: ByPath,
    query: z.object({ ...place, keep: z.stringbool().default(false) }),
    body: Empty,
    status: 201,
    takesBytes: true,
    failures: [...storeFailures, "content_type_unfit"],
    answer: StoredFile,
  },
  listSandboxFiles: {
    method: "GET",
    path: "/api/v1/sessions/{id}/files",
    scope: "files",
    summary: "Files of a conversation: what was uploaded, unless subdir or path says otherwise.",
    params: ById,
    query: z.object({
      ...place,
      ...path,
      limit: z.coerce.number().int().min(1).max(sandboxListedMax).default(1000),
      /** What is in `files`: names unless path is given, then objects. */
      format: z.enum(["names", "objects"]).optional(),
    }),
    body: Empty,
    status: 200,
    failures: seekFailures,
    answer: z.object({
      session_id: z.string(),
      conversation_id: z.string(),
      files: z.union([z.array(z.string()), z.array(SandboxFile)]),
      items: z.array(SandboxFile),
      count: z.number().int(),
      has_more: z.boolean(),
    }),
  },
  emptySandboxFiles: {
    method: "DELETE",
    path: "/api/v1/sessions/{id}/files",
    scope: "files",
    summary: "Delete the files of a conversation, or those in one of its folders. What is gone already is no failure.",
    params: ById,
    query: z.object(place),
    body: Empty,
    status: 204,
    failures: ["bad_request", "session_not_found", "conversation_not_named", "write_failed"],
    answer: Empty,
  },
  describeUploads: {
    method: "OPTIONS",
    path: "/api/v1/sessions/{id}/files/uploads",
    scope: "files",
    summary: "What the resumable uploads here can do (tus 1.0.0), in headers.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 204,
    failures: [],
    answer: Empty,
  },
  createUpload: {
    method: "POST",
    path: "/api/v1/sessions/{id}/files/uploads",
    scope: "files",
    creates: true,
    summary: "Begin a resumable upload (tus 1.0.0); Upload-Metadata has filename, conversation_id, subdir, sha256.",
    params: ById,
    query: z.object(place),
    body: Empty,
    status: 201,
    failures: [...storeFailures, "upload_version_unfit", "uploads_too_many"],
    answer: ResumableUpload,
  },
  uploadState: {
    method: "GET",
    path: "/api/v1/sessions/{id}/files/uploads/{upload}",
    patterns: uploadId,
    scope: "files",
    summary: "How much of a resumable upload is here; HEAD tells it in Upload-Offset.",
    params: ByUpload,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [...storeFailures, "upload_not_found", "upload_checksum_unfit"],
    answer: ResumableUpload,
  },
  continueUpload: {
    method: "PATCH",
    path: "/api/v1/sessions/{id}/files/uploads/{upload}",
    patterns: uploadId,
    scope: "files",
    summary: "The next bytes of a resumable upload, from Upload-Offset on; the last ones put the file into its place.",
    params: ByUpload,
    query: Empty,
    body: Empty,
    status: 204,
    takesBytes: true,
    failures: [
      ...storeFailures,
      "content_type_unfit",
      "upload_version_unfit",
      "upload_not_found",
      "upload_offset_unfit",
      "upload_checksum_unfit",
    ],
    answer: Empty,
  },
  abandonUpload: {
    method: "DELETE",
    path: "/api/v1/sessions/{id}/files/uploads/{upload}",
    patterns: uploadId,
    scope: "files",
    summary: "Give a resumable upload up; what has come of it goes.",
    params: ByUpload,
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["session_not_found", "upload_not_found", "upload_version_unfit", "read_failed"],
    answer: Empty,
  },
  readSandboxFile: {
    method: "GET",
    path: "/api/v1/sessions/{id}/files/{path}",
    patterns: anyPath,
    scope: "files",
    summary: "The bytes of a file; takes a Range header. A folder comes as a ZIP file, and so does format=zip.",
    params: ByPath,
    query: z.object({ ...place, format: z.enum(["zip"]).optional() }),
    body: Empty,
    status: 200,
    givesBytes: true,
    failures: [...seekFailures, "file_ambiguous", "range_unfit", "archive_too_large"],
    answer: Empty,
  },
  removeSandboxFile: {
    method: "DELETE",
    path: "/api/v1/sessions/{id}/files/{path}",
    patterns: anyPath,
    scope: "files",
    summary: "Delete a file, or a folder with everything in it.",
    params: ByPath,
    query: z.object(place),
    body: Empty,
    status: 204,
    failures: [...seekFailures, "write_failed"],
    answer: Empty,
  },
  archiveFiles: {
    method: "GET",
    path: "/api/v1/conversations/{id}/files/archive",
    scope: "files",
    summary: "A folder of the conversation as a ZIP file; all of it unless path says otherwise.",
    params: ById,
    query: z.object({ path: z.string().default(".") }),
    body: Empty,
    status: 200,
    givesBytes: true,
    makesFile: "application/zip",
    failures: ["conversation_not_found", ...fileFailures, "archive_too_large"],
    answer: Empty,
  },
} as const satisfies Record<string, Route>;
