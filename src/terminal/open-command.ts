import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import { makeFailure } from "../protocol/failure.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatBytes } from "./format.ts";
import { readBytes } from "./read-bytes.ts";
import { safeLine } from "./safe-text.ts";
import { unquoted } from "./unquoted.ts";

const bytesMax = 100_000_000;

/** Whatever opens these shows them, and does nothing else. An agent's pages, scripts and starters are only copied. */
const harmlessEndings: ReadonlySet<string> = new Set([
  ...["png", "jpg", "jpeg", "gif", "webp", "bmp", "pdf", "txt", "md", "csv", "tsv", "json", "log", "xml", "yaml"],
  ...["xlsx", "docx", "pptx", "odt", "ods", "epub", "mp3", "wav", "mp4", "webm"],
]);

/** `/open PATH`: a copy of a file of the conversation, opened with what this machine has for it. */
export async function openFile(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, machine, words } = chat;
  const { open: texts } = words.terminal.commands;
  const path = unquoted(argument);
  if (path === "") return void console.say(texts.how());
  await current.whenSent;
  if (!current.isStored) return void console.say(words.terminal.files.noFiles());
  const stop = new AbortController();
  const download = await client.download(current.id, path, { signal: stop.signal });
  const shown = safeLine(path, 120);
  if (!download.ok) {
    const isFolder = download.failure.code === "not_a_file";
    return isFolder ? void console.say(texts.isFolder({ path: shown })) : sayFailure(chat, download.failure);
  }
  if (download.value.bytes > bytesMax) {
    stop.abort();
    return void console.say(texts.tooLarge({ path: shown, size: formatBytes(download.value.bytes, words) }));
  }
  const bytes = await readBytes(download.value.chunks, Number.POSITIVE_INFINITY);
  if (bytes === undefined) return sayFailure(chat, makeFailure("read_failed", { path: shown, why: "broken_off" }));
  const to = await copyAside(basename(path), bytes);
  if (to === undefined) return sayFailure(chat, makeFailure("read_failed", { path: shown, why: "io" }));
  const ending = /\.([^.]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  if (!harmlessEndings.has(ending)) return void console.say(texts.onlyCopied({ path: shown, to }));
  const isOpen = (await machine?.open(to)) === true;
  console.say(isOpen ? texts.opened({ path: shown, to }) : texts.copied({ path: shown, to }));
}

/** In a folder of its own, which nobody else can read. */
async function copyAside(name: string, bytes: Buffer): Promise<string | undefined> {
  try {
    const to = join(await mkdtemp(join(tmpdir(), "agentyard-")), name);
    await writeFile(to, bytes, { mode: 0o600 });
    return to;
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined;
  }
}
