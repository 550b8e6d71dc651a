import { createHash } from "node:crypto";
import { posix } from "node:path";
import { ok, type Result } from "../../base/result.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { UploadedFile } from "../../protocol/resources.ts";
import type { Parts } from "../handler.ts";
import { settings } from "./seek-file.ts";

type Files = ReturnType<Parts["engine"]["files"]>;

type Sending = {
  readonly name: string;
  readonly folder: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly keep: boolean;
};

/**
 * Stores a file that an earlier try of the same call may have stored, before it could tell. One that takes a free name
 * would then be there twice: where one of its names has the same bytes, it is that one.
 */
export async function storeOnce(
  { workspaces, sandboxSettings }: Pick<Parts, "workspaces" | "sandboxSettings">,
  files: Files,
  { name, folder, chunks, keep }: Sending,
  store: (file: Pick<Sending, "name" | "chunks" | "keep">) => Promise<Result<UploadedFile, Failure>>,
): Promise<Result<UploadedFile, Failure>> {
  if (!keep) return store({ name, chunks, keep });
  const limit = { bytes: sandboxSettings().uploads.fileBytesMax, setting: settings.fileBytesMax };
  const spooled = await workspaces.spool(chunks, { name, limit });
  if (!spooled.ok) return spooled;
  try {
    const { bytes } = spooled.value;
    const hash = await hashOf(spooled.value.chunks());
    const before = await nameBefore(files, { name, folder, bytes, hash });
    const stored = await store({ name: before ?? name, chunks: spooled.value.chunks(), keep: before === undefined });
    return stored.ok && before !== undefined ? ok({ ...stored.value, replaced: false }) : stored;
  } finally {
    spooled.value.close();
  }
}

type Content = Pick<Sending, "name" | "folder"> & { readonly bytes: number; readonly hash: string };

async function nameBefore(files: Files, { name, folder, bytes, hash }: Content): Promise<string | undefined> {
  const listed = await files.list(folder, { hidden: true });
  if (!listed.ok) return undefined;
  const { name: stem, ext } = posix.parse(name);
  const isOne = (other: string) =>
    other === name ||
    (other.startsWith(`${stem} (`) && /^ \(\d+\)$/.test(other.slice(stem.length, -ext.length || undefined)));
  const same = listed.value.entries.filter((entry) => entry.bytes === bytes && isOne(entry.name));
  for (const entry of same.toReversed()) {
    const source = await files.stream(`${folder}/${entry.name}`);
    if (source.ok && (await hashOf(source.value.chunks)) === hash) return entry.name;
  }
  return undefined;
}

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}
