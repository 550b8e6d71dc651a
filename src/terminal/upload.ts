import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { systemCodeOrThrow } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { type Client, type ClientFailure, SourceUnfit } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import type { UploadedFile } from "../protocol/resources.ts";
import type { Words } from "../words/words.ts";
import type { Console } from "./console.ts";
import { failureText } from "./failure-text.ts";
import { type LocalFile, type LocalFiles, unreadable } from "./local-files.ts";
import { progressOf } from "./progress.ts";
import { safeLine } from "./safe-text.ts";
import { sayReceipt } from "./say-receipt.ts";
import type { SentFiles } from "./sent-files.ts";
import type { Style } from "./style.ts";

export type UploadParts = {
  readonly client: Pick<Client, "upload" | "call">;
  readonly words: Words;
  readonly style: Style;
  readonly console: Pick<Console, "note" | "status" | "columns">;
  readonly sentFiles: SentFiles;
  readonly signal: AbortSignal;
  /** Nobody answers: resolves when it is time to try again. Absent: nothing is tried twice. */
  readonly whenLost?: () => Promise<void>;
};

export type UploadFailure = Failure | ClientFailure;

/** What became of a file that was named. */
export type FileReport =
  | { readonly success: true; readonly name: string; readonly path: string; readonly type: string }
  | { readonly success: false; readonly name: string; readonly failure: UploadFailure };

export type Uploads = {
  /** After a stop: those that are still there. */
  readonly files: readonly FileReport[];
  /** Why the message is not to go: files were named, and none is there. */
  readonly failure?: UploadFailure | undefined;
};

type Sent = { readonly file: LocalFile; readonly at: UploadedFile };

const chunkBytes = 256 * 1024;

/**
 * Sends files one after another and says what became of each. Nothing that was there is lost: a file takes the place of
 * an earlier one only where it is the same file of this machine. When it is stopped, what was new there is removed again.
 */
export async function uploadFiles(
  conversation: string,
  { files, unreadables }: Pick<LocalFiles, "files" | "unreadables">,
  parts: UploadParts,
): Promise<Uploads> {
  const { console, sentFiles, signal } = parts;
  const reports: FileReport[] = unreadables.map(({ shown, failure }) => refused(shown, failure, parts));
  const sent: Sent[] = [];
  for (const file of files) {
    if (signal.aborted) break;
    const before = sentFiles.nameOf(conversation, file.path);
    const to = { conversation, name: before ?? file.name, keep: before === undefined };
    const answer = await untilAnswered(() => sendFile(to, file, parts), parts);
    console.status(undefined);
    if (answer.ok) {
      sentFiles.add(conversation, answer.value.name, file.path);
      sent.push({ file, at: answer.value });
      console.note(uploadedLine(to.name, file, answer.value, parts));
      reports.push(reportOf({ file, at: answer.value }));
      await sayReceipt(conversation, answer.value, parts);
    } else if (!signal.aborted) reports.push(refused(file.shown, answer.failure, parts));
  }
  return signal.aborted ? { files: await takeBack(conversation, sent, parts) } : conclude(reports, parts);
}

function refused(shown: string, failure: UploadFailure, { console, style, words }: UploadParts): FileReport {
  const [name, why] = [nameFor(shown), failureText(words, failure)];
  // Many failures begin with the name themselves.
  console.note(style.bad(why.startsWith(`${name} `) ? `✗ ${why}` : words.terminal.files.refused({ name, why })));
  return { success: false, name: shown, failure };
}

function reportOf({ file, at }: Sent): FileReport {
  return { success: true, name: file.shown, path: at.path, type: at.type };
}

/** What took the place of an earlier file has to stay: that one is gone. */
async function takeBack(
  conversation: string,
  sent: readonly Sent[],
  { client, console, sentFiles, style, words }: UploadParts,
): Promise<FileReport[]> {
  const left: Sent[] = [];
  for (const one of sent) {
    const { path, name, replaced } = one.at;
    const isRemoved =
      !replaced && (await client.call("removeFile", { params: { id: conversation }, query: { path } })).ok;
    if (isRemoved) sentFiles.forget(conversation, name);
    else left.push(one);
  }
  const paths = left.map(({ at }) => nameFor(at.path)).join(", ");
  if (left.length > 0) console.note(style.attention(words.terminal.files.stay({ paths })));
  return left.map(reportOf);
}

function conclude(files: readonly FileReport[], { console, style, words }: UploadParts): Uploads {
  const { files: texts } = words.terminal;
  const failures = files.flatMap((file) => (file.success ? [] : [file.failure]));
  if (failures.length === 0) return { files };
  const isNone = failures.length === files.length;
  const counts = { failed: failures.length, total: files.length };
  console.note(isNone ? style.bad(texts.noneSent()) : style.attention(texts.someSent(counts)));
  return { files, failure: isNone ? failures[0] : undefined };
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
  { conversation, name, keep }: { conversation: string; name: string; keep: boolean },
  { path, shown }: LocalFile,
  parts: UploadParts,
): Promise<Result<UploadedFile, UploadFailure>> {
  const opened = await openFile(path, shown);
  if (!opened.ok) return opened;
  const { handle, bytes } = opened.value;
  const { client, signal, words } = parts;
  const onProgress = progressOf({ name: shown, bytes }, words.terminal.files.uploading, parts);
  try {
    // What the system makes up as it is read has no size.
    const size = bytes === 0 ? {} : { bytes };
    return await client.upload(conversation, name, chunksOf(handle, size), { ...size, keep, signal, onProgress });
  } catch (error) {
    // What the file's own reading throws comes through.
    if (error instanceof SourceUnfit) return failed(unreadable(shown, "changed").failure);
    systemCodeOrThrow(error);
    return failed(unreadable(shown, "io").failure);
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
    return failed(unreadable(shown, "special").failure);
  } catch (error) {
    const code = systemCodeOrThrow(error);
    return failed(unreadable(shown, code === "EACCES" || code === "EPERM" ? "system" : "io").failure);
  }
}

/** What is written to it meanwhile is left out. */
async function* chunksOf(handle: FileHandle, { bytes }: { bytes?: number }): AsyncGenerator<Uint8Array, void> {
  for (let left = bytes ?? Number.POSITIVE_INFINITY; left > 0; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, Math.min(chunkBytes, left));
    if (bytesRead === 0) return;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function uploadedLine(name: string, { shown }: LocalFile, sent: UploadedFile, { style, words }: UploadParts): string {
  const { files: texts } = words.terminal;
  const to = { path: safeLine(sent.path, 120), type: safeLine(sent.type, 30) };
  const line = texts.uploaded({ name: nameFor(shown), ...to });
  const note = sent.replaced ? texts.replaced() : sent.name === name ? "" : texts.beside({ name: nameFor(name) });
  return `${style.good("✓")} ${line}${note}`;
}

function nameFor(shown: string): string {
  return safeLine(shown, 120);
}
