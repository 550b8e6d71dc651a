import { posix } from "node:path";
import { failed, ok, type Result } from "../base/result.ts";
import { decodeText, isControl, utf8ControlsMax } from "../extract/decode.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import type { UploadedFile } from "../protocol/resources.ts";
import type { UploadPolicy } from "../protocol/upload-policy.ts";
import { type FileChange, type FileFailure, shownPath, type Workspace } from "../workspace/workspace.ts";
import { type FileType, fileTypeOf, plainEnding, typeHeadBytes } from "./file-type.ts";

export type IncomingFile = {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** As the sender announced it: enough to refuse early, never to be relied on. */
  readonly announcedBytes?: number | undefined;
  readonly folder: string;
  /** A file of the same name stays and this one becomes `name (2)`; otherwise it is replaced. */
  readonly keep: boolean;
};

export type Received = { readonly uploaded: UploadedFile; readonly change: FileChange };

/** Puts a file into a folder of the workspace while it comes in; what the policy forbids is refused as soon as it is seen. */
export async function receiveUpload(
  workspace: Workspace,
  { name, chunks, announcedBytes = 0, folder, keep }: IncomingFile,
  policy: UploadPolicy,
): Promise<Result<Received, FileFailure>> {
  const refused = faultOf(name) ?? (await roomFor(workspace, { name, folder, keep }, policy));
  if (refused !== undefined) return failed(refused);
  const path = `${folder}/${name}`;
  const limit = { bytes: policy.fileBytesMax, setting: settingsOf(policy).fileBytesMax };
  if (announcedBytes > limit.bytes) {
    const sizes = { sizeBytes: announcedBytes, limitBytes: limit.bytes, setting: limit.setting };
    return failure("too_large", { path: shownPath(path), ...sizes });
  }
  const inspection = inspect(name, policy);
  const written = await workspace.write(path, inspection.passOn(chunks), {
    ...{ limit, keeps: true },
    inspect: () => (inspection.isAllowed() ? undefined : refusal(path, inspection.type(), policy)),
    choose: (taken) => chooseName({ name, folder, keep }, taken, policy),
  });
  if (!written.ok) return written;
  const { path: place, before, after } = written.value;
  const { type } = inspection.type();
  const file = { name: posix.basename(place), path: place, type };
  const uploaded = { ...file, bytes: after?.bytes ?? 0, replaced: before !== undefined };
  return ok({ uploaded, change: written.value });
}

/** Rules for the name of an upload; those that hold for every path are checked by the workspace. */
function faultOf(name: string): FileFailure | undefined {
  const path = shownPath(name);
  if (name.includes("..")) return makeFailure("path_traversal_blocked", { path });
  if (name.includes("/")) return makeFailure("path_invalid", { path, why: "slash" });
  if (name.trim() === "" || name === ".") return makeFailure("path_invalid", { path, why: "no_name" });
  if (Buffer.byteLength(name) > nameBytesMax) return makeFailure("path_invalid", { path, why: "too_long" });
  return undefined;
}

type Named = Pick<IncomingFile, "name" | "folder" | "keep">;

/** Looked at before anything is sent, so that nobody waits for a refusal; what counts is the look at the end. */
async function roomFor(workspace: Workspace, named: Named, policy: UploadPolicy): Promise<FileFailure | undefined> {
  const listed = await workspace.list(named.folder, { hidden: true });
  if (!listed.ok) return listed.failure.code === "file_not_found" ? undefined : listed.failure;
  const chosen = chooseName(named, new Set(listed.value.entries.map((entry) => entry.name)), policy);
  return chosen.ok ? undefined : chosen.failure;
}

/** The name that the file will have, where there is room for one more. */
function chooseName(
  { name, folder, keep }: Named,
  taken: ReadonlySet<string>,
  policy: UploadPolicy,
): Result<string, FileFailure> {
  const { filesMax } = policy;
  const chosen = keep ? freeName(name, taken) : name;
  if (folder === freeFolder || taken.size < filesMax || taken.has(chosen)) return ok(chosen);
  const limit = { what: "files", limit: filesMax, setting: settingsOf(policy).filesMax } as const;
  return failure("quota_exceeded", { path: shownPath(`${folder}/${chosen}`), ...limit });
}

/** What people put here themselves counts for the limits of the workspace only. */
const freeFolder = "uploads";
const nameBytesMax = 255;

function freeName(name: string, taken: ReadonlySet<string>): string {
  const { name: stem, ext } = posix.parse(name);
  // An ending that is nearly all of the name is none.
  const [front, ending] = Buffer.byteLength(ext) < nameBytesMax / 2 ? [stem, ext] : [name, ""];
  for (let number = 2, free = name; ; number += 1) {
    if (!taken.has(free)) return free;
    const end = ` (${number})${ending}`;
    const letters = Array.from(front);
    while (Buffer.byteLength(letters.join("") + end) > nameBytesMax) letters.pop();
    free = letters.join("") + end;
  }
}

function refusal(path: string, { type }: FileType, policy: UploadPolicy): FileFailure {
  return makeFailure("unsupported_type", {
    ...{ path: shownPath(path), type },
    ...{ allowed: policy.types.join(", "), setting: settingsOf(policy).types },
  });
}

function settingsOf({ settings = ownSettings }: UploadPolicy) {
  return settings;
}

const ownSettings = { fileBytesMax: "uploads.file_bytes_max", filesMax: "uploads.files_max", types: "uploads.types" };

type Inspection = {
  /** Hands the bytes on while it looks at them, and ends where they are refused. */
  passOn(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  isAllowed(): boolean;
  type(): FileType;
};

/** The first bytes tell the type; a text has to be one to its end. */
function inspect(name: string, { types }: UploadPolicy): Inspection {
  const allowed = new Set(types.map(plainEnding));
  let head = Buffer.alloc(0);
  let known: FileType | undefined;
  let text: TextGauge | undefined;
  const judge = () => {
    known = fileTypeOf(name, head);
    text = known.isText ? openTextGauge(head) : undefined;
  };
  const type = () => (known === undefined || text?.isText() === false ? unknown : known);
  const isAllowed = () => {
    const { ending, isText } = type();
    return allowed.has(ending) || (isText && allowed.has("text"));
  };
  return {
    type,
    isAllowed,
    async *passOn(chunks) {
      for await (const chunk of chunks) {
        text?.add(chunk);
        if (known === undefined) head = Buffer.concat([head, chunk]);
        if (known === undefined && head.length >= typeHeadBytes) judge();
        if (known !== undefined && !isAllowed()) return;
        yield chunk;
      }
      if (known === undefined) judge();
    },
  };
}

const unknown: FileType = { type: "unknown", isText: false, mime: undefined, ending: "" };

type TextGauge = { add(chunk: Uint8Array): void; isText(): boolean };

/** Any NUL ends a text, unless it is UTF-16; so do too many control characters. Other encodings may show themselves late. */
function openTextGauge(head: Buffer): TextGauge {
  const encoding = decodeText(head, { isCut: true })?.encoding ?? "";
  const decoder = encoding.startsWith("utf-16") ? new TextDecoder(encoding) : undefined;
  let codes = 0;
  let controls = 0;
  let hasNul = false;
  const gauge = {
    add(chunk: Uint8Array) {
      const seen =
        decoder === undefined
          ? chunk
          : Uint16Array.from(decoder.decode(chunk, { stream: true }), (character) => character.charCodeAt(0));
      const looked = seen.subarray(0, codesLookedAtMax);
      codes += looked.length;
      for (const code of looked) if (isControl(code)) controls += 1;
      hasNul ||= seen.includes(0);
    },
    isText: () => !hasNul && controls <= codes * utf8ControlsMax,
  };
  gauge.add(head);
  return gauge;
}

/** So much of each piece is looked at: a share is asked for, and all of a large upload goes through here. */
const codesLookedAtMax = 4_096;
