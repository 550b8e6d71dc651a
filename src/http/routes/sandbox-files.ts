import { posix } from "node:path";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { shownPath } from "../../workspace/workspace.ts";
import type { Download } from "../download.ts";
import type { Answered, Call, Handlers, Parts } from "../handler.ts";
import { isBareName } from "../sandbox/file-place.ts";
import { listBelow } from "../sandbox/list-files.ts";
import { type OpenForm, openForm } from "../sandbox/multipart.ts";
import { type Sought, seekBareName, seekFile, seekRoom, settings, wantedPlace } from "../sandbox/seek-file.ts";
import { storedFile, storeFile, unpackInto } from "../sandbox/store-file.ts";
import { nameFault } from "../sandbox/upload-name.ts";
import { openArchive } from "../sandbox/zip.ts";

type Names =
  | "uploadSandboxFile"
  | "putSandboxFile"
  | "listSandboxFiles"
  | "emptySandboxFiles"
  | "readSandboxFile"
  | "removeSandboxFile"
  | "archiveFiles";

/** What a form has beside its file, at the most: enough to refuse by the announced length alone. */
const formBytesMax = 512 * 1024;

export function sandboxFileHandlers(parts: Parts): Pick<Handlers, Names> {
  const { engine, log, workspaces } = parts;
  return {
    async uploadSandboxFile(call) {
      const limit = parts.sandboxSettings().uploads.fileBytesMax;
      const announced = (call.bytes.announced ?? 0) - formBytesMax;
      if (announced > limit) return tooLarge(call.query.path ?? "file", announced, limit);
      const form = await openForm(call.bytes.chunks, call.header("content-type") ?? "");
      if (!form.ok) return form;
      const stored = await receiveForm(parts, call, form.value);
      const fault = form.value.fault();
      form.value.close();
      return stored.ok || fault === undefined ? stored : { ok: false, failure: fault };
    },
    async putSandboxFile(call) {
      const sought = await seekRoom(parts, call, { ...wantedPlace(call), path: call.params.path });
      if (!sought.ok) return sought;
      const folder = { ...sought.value, path: posix.dirname(sought.value.path) };
      const { chunks, announced } = call.bytes;
      const name = posix.basename(sought.value.path);
      const how = { keep: call.query.keep, isRetry: call.once?.isRetry };
      const stored = await storeFile(parts, folder, { name, chunks, announcedBytes: announced, ...how });
      return stored.ok ? ok(storedFile(folder, stored.value)) : stored;
    },
    async listSandboxFiles(call) {
      const { path, limit, format = path === undefined ? "names" : "objects" } = call.query;
      const sought = await seekFile(parts, call, { ...wantedPlace(call), path });
      if (!sought.ok) return sought;
      const listed = await listBelow(sought.value, { limit, mayBeMissing: path === undefined });
      if (!listed.ok) return listed;
      const { items, hasMore } = listed.value;
      return ok({
        session_id: sought.value.sessionId,
        conversation_id: sought.value.row.id,
        // By their path, as the public service names them.
        files: format === "names" ? items.map(({ name }) => name) : items.map((item) => ({ ...item, name: item.path })),
        items,
        count: items.length,
        has_more: hasMore,
      });
    },
    async emptySandboxFiles(call) {
      const wanted = wantedPlace(call);
      const sought = await seekFile(parts, call, wanted);
      if (!sought.ok) return sought.failure.code === "conversation_not_found" ? ok(undefined) : sought;
      const folders = wanted.subdir === undefined ? ["uploads", "outputs", "temp"] : [sought.value.path];
      for (const folder of folders) {
        const emptied = await engine.emptyFolder(sought.value.row, folder);
        if (!emptied.ok) return emptied;
      }
      return ok(undefined);
    },
    async readSandboxFile(call) {
      const wanted = { ...wantedPlace(call), path: call.params.path };
      const isBare = wanted.conversationId === undefined && isBareName(wanted.path);
      const sought = await (isBare ? seekBareName(parts, call, wanted.path) : seekFile(parts, call, wanted));
      return sought.ok ? downloadOf(sought.value, call.query.format === "zip") : sought;
    },
    async removeSandboxFile(call) {
      const sought = await seekFile(parts, call, { ...wantedPlace(call), path: call.params.path });
      return sought.ok ? engine.removeFile(sought.value.row, sought.value.path) : sought;
    },
    async archiveFiles({ owner, params, query: { path } }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const archive = await openArchive(workspaces.ofConversation(row.value), path);
      return archive.ok ? ok({ archive: archive.value }) : archive;
    },
  };
}

function tooLarge(path: string, sizeBytes: number, limitBytes: number) {
  return failure("too_large", { path: shownPath(path), sizeBytes, limitBytes, setting: settings.fileBytesMax });
}

async function downloadOf(
  { workspace, path }: Pick<Sought, "workspace" | "path">,
  isZip: boolean,
): Promise<Result<Download, Failure>> {
  const stat = await workspace.stat(path);
  if (!stat.ok) return stat;
  if (stat.value.type === "file" && !isZip)
    return ok({ stat: stat.value, open: (range) => workspace.stream(path, range) });
  const archive = await openArchive(workspace, path);
  return archive.ok ? ok({ archive: archive.value }) : archive;
}

type UploadCall = Call<"uploadSandboxFile">;

/** Straight to its place where that is known before the file; what comes before is kept until all of the form is here. */
async function receiveForm(parts: Parts, call: UploadCall, form: OpenForm): Promise<Answered<"uploadSandboxFile">> {
  const early = roomWanted(call, form);
  const isKnown = early.path !== undefined || (early.conversationId !== undefined && early.subdir !== undefined);
  if (isKnown && !wantsExtract(call, form)) return storeFrom(parts, call, form, form.file.chunks);
  const limit = { bytes: parts.sandboxSettings().uploads.fileBytesMax, setting: settings.fileBytesMax };
  const spooled = await parts.workspaces.spool(form.file.chunks, { name: form.file.name, limit });
  if (!spooled.ok) return spooled;
  try {
    if (!wantsExtract(call, form)) return await storeFrom(parts, call, form, spooled.value.chunks());
    const sought = await seekRoom(parts, call, roomWanted(call, form));
    if (!sought.ok) return sought;
    const overwrite = call.query.overwrite || isTrue(form.fields.get("overwrite"));
    return await unpackInto(parts, sought.value, { name: form.file.name, spooled: spooled.value, overwrite });
  } finally {
    spooled.value.close();
  }
}

function wantsExtract({ query }: UploadCall, { fields }: OpenForm): boolean {
  return query.extract || isTrue(fields.get("extract"));
}

function isTrue(field: string | undefined): boolean {
  return field === "true" || field === "1";
}

function roomWanted(call: UploadCall, { fields }: OpenForm) {
  const path = call.query.path || fields.get("path") || undefined;
  return { ...wantedPlace(call, fields), path, userId: fields.get("user_id") };
}

/** A path names the file, and one that ends with a slash its folder. */
async function storeFrom(
  parts: Parts,
  call: UploadCall,
  form: OpenForm,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Answered<"uploadSandboxFile">> {
  const wanted = roomWanted(call, form);
  const isNamed = wanted.path !== undefined && !wanted.path.endsWith("/");
  const name = isNamed ? posix.basename(wanted.path ?? "") : form.file.name;
  const fault = nameFault(name);
  if (fault !== undefined) return fault;
  const sought = await seekRoom(parts, call, wanted);
  if (!sought.ok) return sought;
  const folder = isNamed ? { ...sought.value, path: posix.dirname(sought.value.path) } : sought.value;
  const how = { keep: call.query.keep, isRetry: call.once?.isRetry };
  const stored = await storeFile(parts, folder, { name, chunks, ...how });
  return stored.ok ? ok(storedFile(folder, stored.value)) : stored;
}
