import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { shownId } from "../../protocol/ids.ts";
import { type IncomingUpload, shownPath } from "../../workspace/workspace.ts";
import { callerNamed } from "../caller.ts";
import { adoptConversation } from "../conversation-named.ts";
import type { Answer, Call, Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import { seekRoom, settings, useSession, wantedPlace } from "../sandbox/seek-file.ts";
import { isoTime } from "../sandbox/session-answer.ts";
import { storeFile } from "../sandbox/store-file.ts";
import { nameFault } from "../sandbox/upload-name.ts";

type Names = "describeUploads" | "createUpload" | "uploadState" | "continueUpload" | "abandonUpload";

const version = "1.0.0";
/** Uploads that go on where they broke off, as the tus protocol has them: https://tus.io/protocols/resumable-upload */
export function resumableUploadHandlers(parts: Parts): Pick<Handlers, Names> {
  const { incoming } = parts.workspaces;
  const finishing = new Map<string, Promise<Result<IncomingUpload, Failure>>>();

  /** All of it is here: it goes into its place. Asked for twice at once, it is done once. */
  function finished(upload: IncomingUpload): Promise<Result<IncomingUpload, Failure>> {
    if (upload.done !== undefined || upload.offset < upload.bytes) return Promise.resolve(ok(upload));
    const running = finishing.get(upload.id) ?? finish(parts, upload);
    finishing.set(upload.id, running);
    return running.finally(() => finishing.delete(upload.id));
  }

  return {
    async describeUploads() {
      return {
        ...ok(undefined),
        headers: {
          ...spoken,
          "tus-version": version,
          "tus-extension": "creation,termination,expiration",
          "tus-max-size": String(parts.sandboxSettings().uploads.fileBytesMax),
        },
      };
    },
    async createUpload(call) {
      const wanted = readWanted(call);
      if (!wanted.ok) return { ...wanted, headers: spoken };
      const { name, bytes, sha256, fields } = wanted.value;
      const sought = await seekRoom(parts, call, wantedPlace(call, fields));
      if (!sought.ok) return { ...sought, headers: spoken };
      const { owner, row, path: folder, policy } = sought.value;
      if (bytes > policy.fileBytesMax) {
        const sizes = { sizeBytes: bytes, limitBytes: policy.fileBytesMax, setting: settings.fileBytesMax };
        return { ...failure("too_large", { path: shownPath(name), ...sizes }), headers: spoken };
      }
      const id = idFor(call, parts.ids, "upload").replaceAll("-", "");
      const made = await incoming.create({ id, owner, name, conversationId: row.id, folder, bytes, sha256 });
      const upload = made.ok ? await finished(made.value) : made;
      if (!upload.ok) return { ...upload, headers: spoken };
      const location = `/api/v1/sessions/${encodeURIComponent(call.params.id)}/files/uploads/${upload.value.id}`;
      return { ...ok(toUpload(upload.value)), headers: { ...headersOf(upload.value), location } };
    },
    async uploadState(call) {
      const found = await ownUpload(parts, call);
      const upload = found.ok ? await finished(found.value) : found;
      return upload.ok
        ? { ...ok(toUpload(upload.value)), headers: headersOf(upload.value) }
        : { ...upload, headers: spoken };
    },
    async continueUpload(call) {
      const found = isSpoken(call) ? await ownUpload(parts, call) : versionUnfit();
      if (!found.ok) return { ...found, headers: spoken };
      const offset = wholeNumber(call.header("upload-offset"));
      if (offset === undefined) return { ...failure("bad_request", { what: "Upload-Offset" }), headers: spoken };
      const appended = await incoming.append(found.value.id, offset, call.bytes.chunks);
      const upload = appended.ok ? await finished(appended.value) : appended;
      return upload.ok ? { ...ok(undefined), headers: headersOf(upload.value) } : { ...upload, headers: spoken };
    },
    async abandonUpload(call) {
      const found = isSpoken(call) ? await ownUpload(parts, call) : versionUnfit();
      if (!found.ok) return { ...found, headers: spoken };
      await incoming.remove(found.value.id);
      return { ...ok(undefined), headers: spoken };
    },
  };
}

const spoken = { "tus-resumable": version };

function isSpoken({ header }: Pick<Call<"createUpload">, "header">): boolean {
  return header("tus-resumable") === version;
}

function versionUnfit() {
  return failure("upload_version_unfit", { version });
}

/** What the headers say of the file that is to come. */
function readWanted(call: Call<"createUpload">) {
  if (!isSpoken(call)) return versionUnfit();
  const bytes = wholeNumber(call.header("upload-length"));
  if (bytes === undefined) return failure("bad_request", { what: "Upload-Length" });
  const fields = readMetadata(call.header("upload-metadata") ?? "");
  const name = fields.get("filename") ?? "";
  const fault = nameFault(name);
  if (fault !== undefined) return fault;
  const sha256 = fields.get("sha256")?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256))
    return failure("bad_request", { what: "Upload-Metadata: sha256" });
  return ok({ name, bytes, sha256, fields });
}

/** `filename d29ybGQ=,conversation_id YzE=`: each value in base64. */
export function readMetadata(header: string): ReadonlyMap<string, string> {
  const pairs = header.split(",").map((pair) => pair.trim().split(/ +/));
  return new Map(pairs.map(([key = "", value = ""]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

function wholeNumber(text: string | undefined): number | undefined {
  return /^\d{1,15}$/.test(text ?? "") ? Number(text) : undefined;
}

/** Whoever began it; its id alone names them where nothing else does. */
async function ownUpload(
  { workspaces }: Parts,
  { actsAs, caller, params }: Pick<Call<"uploadState">, "actsAs" | "caller" | "params">,
): Promise<Result<IncomingUpload, Failure>> {
  const found = await workspaces.incoming.find(params.upload);
  if (!found.ok) return found;
  const { value: upload } = found;
  const owners = upload === undefined ? [] : [upload.owner];
  const owner = callerNamed({ caller, actsAs, sessionId: params.id, owners });
  if (!owner.ok) return owner;
  if (upload === undefined || upload.owner !== owner.value)
    return failure("upload_not_found", { id: shownId(params.upload) });
  return ok(upload);
}

/** Besides what may go better by itself: codes after which the same bytes may be taken another time. Else they are of no use. */
const passing = ["write_failed", "read_failed", "storage_full", "storage_read_only", "storage_broken"];

async function finish(parts: Parts, upload: IncomingUpload): Promise<Result<IncomingUpload, Failure>> {
  const { incoming } = parts.workspaces;
  const stored = await place(parts, upload);
  if (!stored.ok) {
    const { code, retryable } = stored.failure;
    if (!retryable && !passing.includes(code)) await incoming.remove(upload.id);
    return stored;
  }
  const { path, type } = stored.value;
  const noted = await incoming.finish(upload.id, { path, type });
  return noted.ok ? ok({ ...upload, done: { path, type } }) : noted;
}

async function place(parts: Parts, upload: IncomingUpload) {
  const { owner, name, sha256, conversationId, folder: path } = upload;
  const hash = sha256 === undefined ? undefined : await upload.hash();
  if (hash?.ok === false) return hash;
  if (sha256 !== undefined && hash !== undefined && hash.value !== sha256)
    return failure("upload_checksum_unfit", { name: shownPath(name), expected: sha256, actual: hash.value });
  const session = await useSession(
    parts,
    { caller: { signedIn: undefined, scopes: [] }, actsAs: owner, params: { id: `sb-session-${owner}` } },
    {},
  );
  if (!session.ok) return session;
  const row = await adoptConversation(parts, owner, conversationId);
  if (!row.ok) return row;
  const workspace = parts.workspaces.ofConversation(row.value);
  const chunks = upload.chunks();
  return storeFile(parts, { ...session.value, row: row.value, workspace, path }, { name, chunks });
}

function toUpload(upload: IncomingUpload): Answer<"uploadState"> {
  const { id, name, conversationId, bytes, offset, expiresAt, done } = upload;
  return {
    upload_id: id,
    file_name: name,
    conversation_id: conversationId,
    size: bytes,
    offset,
    expires_at: isoTime(expiresAt),
    file_path: done === undefined ? null : `${conversationId}/${done.path}`,
  };
}

function headersOf({ bytes, offset, expiresAt }: IncomingUpload): Record<string, string> {
  return {
    ...spoken,
    "upload-offset": String(offset),
    "upload-length": String(bytes),
    "upload-expires": new Date(expiresAt).toUTCString(),
  };
}
