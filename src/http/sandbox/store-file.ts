import { posix } from "node:path";
import { ok, type Result } from "../../base/result.ts";
import { readUploadedZip } from "../../documents/documents.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { UploadedFile } from "../../protocol/resources.ts";
import type { StoredFile } from "../../protocol/sandbox-file-routes.ts";
import { type FileFailure, type Spooled, shownPath } from "../../workspace/workspace.ts";
import type { Answer, Parts } from "../handler.ts";
import { temparea } from "./file-place.ts";
import type { Sought } from "./seek-file.ts";
import { storeOnce } from "./stored-before.ts";

export type Storing = {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly announcedBytes?: number | undefined;
  readonly keep?: boolean | undefined;
  /** An earlier try may have stored it already. */
  readonly isRetry?: boolean | undefined;
};

/** Puts a file into the folder that was sought, by the rules of the session. */
export async function storeFile(
  parts: Pick<Parts, "engine" | "workspaces" | "sandboxSettings">,
  { row, workspace, path: folder, policy }: Sought,
  { keep = false, isRetry = false, ...file }: Storing,
): Promise<Result<UploadedFile, Failure>> {
  // Only what lies in the temparea is counted.
  const filesMax = isCounted(folder) ? policy.filesMax : Number.MAX_SAFE_INTEGER;
  const store = async (wanted: Pick<Storing, "name" | "chunks"> & { readonly keep: boolean }) => {
    const full = isCounted(folder)
      ? await noRoom({ workspace, policy }, `${folder}/${wanted.name}`, wanted)
      : undefined;
    return full ?? parts.engine.upload(row, { ...file, ...wanted, folder, policy: { ...policy, filesMax } });
  };
  if (!isRetry) return store({ ...file, keep });
  return storeOnce(parts, workspace, { ...file, keep, folder }, store);
}

function isCounted(folder: string): boolean {
  return folder === temparea || folder.startsWith(`${temparea}/`);
}

/** Files in folders of the temparea count too. One that replaces another is no further one; who keeps that other gets a new name. */
async function noRoom(
  { workspace, policy }: Pick<Sought, "workspace" | "policy">,
  path: string,
  { keep }: { readonly keep: boolean },
) {
  if (!keep && (await workspace.stat(path)).ok) return undefined;
  const walk = await workspace.walk(temparea, { hidden: true });
  let files = 1;
  if (walk.ok) for await (const entry of walk.value) files += entry.type === "file" ? (entry.standsFor ?? 1) : 0;
  const limit = { what: "files", limit: policy.filesMax, setting: policy.settings?.filesMax ?? "" } as const;
  return files <= policy.filesMax ? undefined : failure("quota_exceeded", { path: shownPath(path), ...limit });
}

/** What both dialects say of a file that is stored. */
export function storedFile({ sessionId, row }: Sought, { name, path, bytes, type }: UploadedFile): StoredFile {
  return {
    mode: "file",
    session_id: sessionId,
    conversation_id: row.id,
    file_name: name,
    ...shownPlace(row.id, path),
    size: bytes,
    type,
  };
}

function shownPlace(conversationId: string, path: string) {
  const shown = path === "." ? conversationId : `${conversationId}/${path}`;
  return { file_path: shown, container_path: `/workspace/${shown}` };
}

type Unpacked = Extract<Answer<"uploadSandboxFile">, { mode: "archive_extract" }>;

/** Unpacks an archive into the folder that was sought; each file goes the way of an upload. The first refusal ends it. */
export async function unpackInto(
  parts: Pick<Parts, "engine" | "workspaces" | "sandboxSettings">,
  sought: Sought,
  archive: { readonly name: string; readonly spooled: Spooled; readonly overwrite: boolean },
): Promise<Result<Unpacked, Failure> & { readonly beside?: Readonly<Record<string, number>> }> {
  const { workspace, path: folder, sessionId, row } = sought;
  const files = await readUploadedZip(archive.spooled, archive.name);
  if (!files.ok) return files;
  let [extracted, skipped, size] = [0, 0, 0];
  for (const file of files.value) {
    const path = `${folder}/${file.path}`;
    if (!archive.overwrite && (await workspace.stat(path)).ok) {
      skipped += 1;
      continue;
    }
    const into = { ...sought, path: posix.dirname(path) };
    const name = posix.basename(path);
    const stored = await storeFile(parts, into, { name, chunks: file.chunks(), announcedBytes: file.bytes });
    if (!stored.ok) {
      const reason = brokenInside(stored.failure) ? broken(archive.name, file.path) : stored;
      return { ...reason, beside: { extracted_file_count: extracted, skipped_file_count: skipped } };
    }
    extracted += 1;
    size += stored.value.bytes;
  }
  return ok({
    mode: "archive_extract",
    session_id: sessionId,
    conversation_id: row.id,
    extract_path: shownPlace(row.id, folder).file_path,
    extracted_file_count: extracted,
    skipped_file_count: skipped,
    size,
  });
}

/** The archive is whole on our disk, so only its content can break off. */
function brokenInside(reason: Failure | FileFailure): boolean {
  return reason.code === "write_failed" && reason.params.why === "broken_off";
}

function broken(name: string, entry: string) {
  return failure("archive_unfit", { name: shownPath(name), entry: shownPath(entry), why: "broken" });
}
