import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { failed, ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import type { UploadedFile } from "../protocol/resources.ts";
import type { Words } from "../words/words.ts";
import type { Console } from "./console.ts";
import { failureText } from "./failure-text.ts";
import { formatBytes } from "./format.ts";
import { faultOf, type LocalFile, type LocalFiles } from "./local-files.ts";
import { safeLine } from "./safe-text.ts";
import type { Style } from "./style.ts";

export type UploadParts = {
  readonly client: Pick<Client, "upload">;
  readonly words: Words;
  readonly style: Style;
  readonly console: Pick<Console, "note" | "status">;
  readonly signal: AbortSignal;
  /** Nobody answers: resolves when it is time to try again. Absent: nothing is tried twice. */
  readonly whenLost?: () => Promise<void>;
};

export type UploadFailure = Failure | ClientFailure;

/** A smaller file is there before anybody could read how far it is. */
const progressBytesMin = 5_000_000;
const chunkBytes = 256 * 1024;

/** Sends files one after another and says what became of each. Answers their paths there, or why none has one. */
export async function uploadFiles(
  conversation: string,
  { files, faults }: Pick<LocalFiles, "files" | "faults">,
  parts: UploadParts,
): Promise<Result<readonly string[], UploadFailure>> {
  const { console, style, words } = parts;
  const { files: texts } = words.terminal;
  const paths: string[] = [];
  const failures: UploadFailure[] = [];
  const refuse = (shown: string, failure: UploadFailure) => {
    failures.push(failure);
    console.note(style.bad(texts.refused({ name: nameFor(shown), why: failureText(words, failure) })));
  };
  for (const { shown, failure } of faults) refuse(shown, failure);
  const used = new Set<string>();
  for (const file of files) {
    if (parts.signal.aborted) break;
    // Names of this message that are the same after all must not replace each other.
    const sent = await untilAnswered(() => sendFile(conversation, file, used.has(file.name), parts), parts);
    used.add(file.name);
    console.status(undefined);
    if (sent.ok) {
      paths.push(sent.value.path);
      console.note(uploadedLine(file, sent.value, parts));
    } else if (!parts.signal.aborted) refuse(file.shown, sent.failure);
  }
  const [failure] = failures;
  if (failure === undefined || parts.signal.aborted) return ok(paths);
  const isNone = paths.length === 0;
  const counts = { failed: failures.length, total: failures.length + paths.length };
  console.note(isNone ? style.bad(texts.noneSent()) : style.attention(texts.someSent(counts)));
  return isNone ? failed(failure) : ok(paths);
}

async function untilAnswered(
  send: () => Promise<Result<UploadedFile, UploadFailure>>,
  { whenLost, signal }: UploadParts,
): Promise<Result<UploadedFile, UploadFailure>> {
  for (;;) {
    const sent = await send();
    const isLost = !sent.ok && "detail" in sent.failure && sent.failure.status === undefined;
    if (!isLost || whenLost === undefined || signal.aborted) return sent;
    await whenLost();
  }
}

async function sendFile(
  conversation: string,
  { path, shown, name }: LocalFile,
  keep: boolean,
  parts: UploadParts,
): Promise<Result<UploadedFile, UploadFailure>> {
  const opened = await openFile(path, shown);
  if (!opened.ok) return opened;
  const { handle, bytes } = opened.value;
  const { client, signal } = parts;
  try {
    const options = { keep, signal, onProgress: progressOf({ shown, bytes }, parts) };
    return await client.upload(conversation, name, chunksOf(handle), options);
  } catch {
    return failed(faultOf(shown, "io").failure); // What the file's own reading throws comes through.
  } finally {
    await handle.close();
  }
}

/** A pipe that was put there meanwhile is not waited for. */
async function openFile(
  path: string,
  shown: string,
): Promise<Result<{ handle: FileHandle; bytes: number }, UploadFailure>> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // Windows has no such flag.
    const found = await handle.stat();
    if (found.isFile()) return ok({ handle, bytes: found.size });
    await handle.close();
    return failed(faultOf(shown, "special").failure);
  } catch (error) {
    const isRefused = error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
    return failed(faultOf(shown, isRefused ? "system" : "io").failure);
  }
}

async function* chunksOf(handle: FileHandle): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function progressOf(
  { shown, bytes }: { shown: string; bytes: number },
  { console, style, words }: UploadParts,
): ((sentBytes: number) => void) | undefined {
  if (bytes <= progressBytesMin) return undefined;
  let shownPercent = -1;
  return (sentBytes) => {
    const percent = Math.min(100, Math.floor((100 * sentBytes) / bytes));
    if (percent === shownPercent) return;
    shownPercent = percent;
    const size = formatBytes(bytes, words);
    console.status(style.dim(words.terminal.files.uploading({ name: nameFor(shown), percent, size })));
  };
}

function uploadedLine({ shown }: LocalFile, sent: UploadedFile, { style, words }: UploadParts): string {
  const { files: texts } = words.terminal;
  const to = { path: safeLine(sent.path, 120), type: safeLine(sent.type, 30) };
  const line = texts.uploaded({ name: nameFor(shown), ...to });
  return `${style.good("✓")} ${line}${sent.replaced ? texts.replaced() : ""}`;
}

function nameFor(shown: string): string {
  return safeLine(shown, 120);
}
