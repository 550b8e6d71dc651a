import { Zip, ZipDeflate } from "fflate";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { type FileFailure, parsePath, shownPath, type WalkEntry, type Workspace } from "../../workspace/workspace.ts";
import type { Archive } from "../download.ts";

/** What one archive holds: without the 64-bit fields of the format it could not hold more than 4 GiB. */
export const archiveLimits = { filesMax: 10_000, bytesMax: 2 * 1024 ** 3 };

/** The files below a folder, or one file. Looked at now; read when it is sent. */
export async function openArchive(
  workspace: Pick<Workspace, "id" | "walk" | "stream">,
  path: string,
): Promise<Result<Archive, FileFailure | Failure<"archive_too_large">>> {
  const walk = await workspace.walk(path, { hidden: true });
  if (!walk.ok) return walk;
  const files: WalkEntry[] = [];
  let bytes = 0;
  for await (const entry of walk.value) {
    if (entry.type !== "file" || entry.path === ownFile) continue;
    files.push(entry);
    bytes += entry.bytes;
    const over = files.length > archiveLimits.filesMax ? "files" : bytes > archiveLimits.bytesMax ? "bytes" : undefined;
    if (over === undefined) continue;
    const limit = over === "files" ? archiveLimits.filesMax : archiveLimits.bytesMax;
    return failure("archive_too_large", { name: shownPath(path), what: over, limit });
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  const names = parsePath(path);
  const folder = names.ok ? names.value.join("/") : "";
  const parent = folder.slice(0, folder.lastIndexOf("/") + 1);
  const isFile = files[0]?.path === folder;
  const cut = folder === "" ? 0 : isFile ? parent.length : folder.length + 1;
  const name = folder === "" ? workspace.id : folder.slice(parent.length);
  return ok({ name: `${name}.zip`, chunks: () => zipped(workspace, files, cut) });
}

/** Belongs to the conversation's folder, and is no file of its user. */
const ownFile = ".metadata.json";
/** Names what could not be read any more when its turn came. */
const leftOutName = "_left-out.txt";

async function* zipped(
  workspace: Pick<Workspace, "stream">,
  files: readonly WalkEntry[],
  cut: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const ready: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    ready.push(piece);
  });
  const take = () => ready.splice(0);
  const leftOut: string[] = [];
  for (const file of files) {
    const opened = await workspace.stream(file.path);
    if (!opened.ok) {
      leftOut.push(file.path);
      continue;
    }
    const entry = addEntry(zip, file.path.slice(cut), file.modifiedAt);
    for await (const piece of opened.value.chunks) {
      entry.push(piece);
      yield* take();
    }
    entry.push(new Uint8Array(), true);
    yield* take();
  }
  if (leftOut.length > 0)
    addEntry(zip, leftOutName, lastTime).push(Buffer.from(`${leftOut.map(shownPath).join("\n")}\n`), true);
  zip.end();
  yield* take();
}

function addEntry(zip: Zip, name: string, modifiedAt: number): ZipDeflate {
  // Little effort: it runs in the one thread that serves everybody.
  const entry = new ZipDeflate(name, { level: 1 });
  entry.mtime = Math.min(Math.max(modifiedAt, firstTime), lastTime);
  zip.add(entry);
  return entry;
}

/** The format knows no time before and none after. */
const firstTime = Date.UTC(1980, 0, 2);
const lastTime = Date.UTC(2099, 11, 30);
