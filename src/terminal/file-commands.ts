import { makeFailure } from "../protocol/failure.ts";
import type { UndoReport } from "../protocol/resources.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatBytes, formatTime } from "./format.ts";
import { alignColumns } from "./model-view.ts";
import { ownWords } from "./own-words.ts";
import { readBytes } from "./read-bytes.ts";
import { safeLine, safeText } from "./safe-text.ts";
import { unquoted } from "./unquoted.ts";

const rowsShownMax = 200;
const linesShownMax = 40;
const lineCharactersMax = 500;
const headBytesMax = 64 * 1024;

/** `/undo`: the last turn with the files that its tools changed. */
export async function undo(chat: Chat): Promise<undefined> {
  const { client, console, current, style, words } = chat;
  const { files: texts, chat: talk } = words.terminal;
  await current.whenSent;
  if (!current.isStored) return sayFailure(chat, makeFailure("nothing_to_undo", {}));
  const undone = await current.goBack(() => client.call("undoTurn", { params: { id: current.id } }));
  if (!undone.ok) return sayFailure(chat, undone.failure);
  const { turn, message } = undone.value;
  console.say(texts.undone({ turn }));
  for (const line of undoLines(undone.value, chat)) console.say(line);
  console.say(texts.hadSaid());
  console.say(style.dim(`${talk.prompt}${safeText(ownWords(message).words)}`));
}

function undoLines({ restored, left }: UndoReport, { style, words }: Chat): string[] {
  const { files: texts } = words.terminal;
  return [
    ...restored.map(({ path, now }) => `  ${now === "removed" ? "-" : "~"} ${pathText(path)} (${texts.now[now]})`),
    ...left.map(({ path, why }) =>
      style.attention(`  ! ${texts.left({ path: pathText(path), why: texts.whyLeft[why] })}`),
    ),
  ];
}

/** `/clean`, `/clean list`, `/clean restore ID`: what nobody used for long, and the trash it goes to. */
export async function clean(chat: Chat, argument: string): Promise<undefined> {
  const [action, id, ...more] = argument === "" ? [] : argument.split(/\s+/);
  if (action === undefined) return cleanUp(chat);
  if (action === "list" && id === undefined) return listTrash(chat);
  if (action === "restore" && id !== undefined && more.length === 0) return restore(chat, id);
  chat.console.say(chat.words.terminal.files.cleanHow());
}

async function cleanUp(chat: Chat): Promise<undefined> {
  const { client, console, style, words } = chat;
  const { files: texts } = words.terminal;
  const cleaned = await client.call("cleanWorkspaces", { body: {} });
  if (!cleaned.ok) return sayFailure(chat, cleaned.failure);
  const { workspaces, bytes, skipped, days } = cleaned.value;
  console.say(texts.cleaned({ count: workspaces }));
  if (workspaces > 0) console.say(`  ${texts.cleanedWhat({ size: formatBytes(bytes, words), days })}`);
  if (skipped > 0) console.say(style.attention(`  ! ${texts.cleanSkipped({ count: skipped })}`));
}

async function listTrash(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const { files: texts } = words.terminal;
  const listed = await client.call("listTrash");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const { items } = listed.value;
  if (items.length === 0) return void console.say(texts.trashEmpty());
  const rows = items.map(({ id, conversation, movedAt, files, bytes, until }) => [
    safeLine(id, 40),
    formatTime(movedAt),
    texts.amount({ files, size: formatBytes(bytes, words) }),
    texts.ofConversation({ id: safeLine(conversation.slice(0, 8)) }),
    texts.until({ at: formatTime(until) }),
  ]);
  sayRows(chat, rows);
  console.say(texts.restoreHint());
}

async function restore(chat: Chat, id: string): Promise<undefined> {
  const { client, console, words } = chat;
  const { files: texts } = words.terminal;
  const restored = await client.call("restoreTrash", { params: { trash: id } });
  if (!restored.ok) return sayFailure(chat, restored.failure);
  const { conversation, files, beside } = restored.value;
  console.say(texts.restored({ files, id: safeLine(conversation, 64) }));
  if (beside.length > 0) console.say(`  ${texts.besides({ folders: beside.map(pathText).join(", ") })}`);
}

/** `/files [PATH]`: one level of what this conversation has, or the beginning of a file; `/files rm PATH` takes one away. */
export async function files(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const { files: texts } = words.terminal;
  const removing = /^rm\s+(.+)$/s.exec(argument)?.[1];
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.noFiles());
  if (removing !== undefined) return removeFile(chat, unquoted(removing));
  const path = unquoted(argument);
  const listed = await client.call("listFiles", { params: { id: current.id }, query: path === "" ? {} : { path } });
  if (!listed.ok) {
    const isFile = listed.failure.code === "not_a_folder";
    return isFile ? showBeginning(chat, path) : sayFailure(chat, listed.failure);
  }
  const { items, next } = listed.value;
  if (items.length === 0) return void console.say(texts.noFiles());
  const rows = items.map(({ path: at, type, bytes, modifiedAt }) =>
    type === "file"
      ? [pathText(at), formatBytes(bytes, words), formatTime(modifiedAt)]
      : [`${pathText(at)}${type === "special" ? "" : "/"}`, texts.entry[type], ""],
  );
  sayRows(chat, rows, { isAll: next === null });
}

/** Asks nothing: it was typed in full. A person's change is no part of a turn, so undo does not know it. */
async function removeFile(chat: Chat, path: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const at = { params: { id: current.id }, query: { path } };
  const isFolder = (await client.call("listFiles", at)).ok && !path.endsWith("/");
  const removed = await client.call("removeFile", at);
  if (!removed.ok) return sayFailure(chat, removed.failure);
  console.say(words.terminal.files.fileRemoved({ path: `${pathText(path)}${isFolder ? "/" : ""}` }));
}

async function showBeginning(chat: Chat, path: string): Promise<undefined> {
  const { client, console, current, style, words } = chat;
  const { files: texts } = words.terminal;
  const download = await client.download(current.id, path);
  if (!download.ok) return sayFailure(chat, download.failure);
  const head = await readBytes(download.value.chunks, headBytesMax);
  if (head === undefined) return sayFailure(chat, makeFailure("read_failed", { path, why: "broken_off" }));
  const about = { path: pathText(path), size: formatBytes(download.value.bytes, words) };
  const text = textOf(head);
  const ending = /\.([\p{L}\d]+)$/u.exec(path)?.[1]?.toLowerCase() ?? texts.noEnding;
  if (head.length === 0) return void console.say(texts.fileEmpty(about));
  if (text === undefined) return void console.say(texts.fileNoText({ ...about, type: safeLine(ending, 20) }));
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  for (const line of lines.slice(0, linesShownMax)) console.say(shownLine(line));
  const isAll = lines.length <= linesShownMax && head.length === download.value.bytes;
  if (!isAll) console.say(style.dim(texts.beginningMore(about)));
}

/** In the encodings that files from a Chinese or an English Windows have; undefined where it is none of them. */
function textOf(head: Buffer): string | undefined {
  const isWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (!isWide && head.includes(0)) return undefined;
  for (const encoding of isWide ? [head[0] === 0xff ? "utf-16le" : "utf-16be"] : ["utf-8", "gb18030"]) {
    try {
      // As a stream: what is cut off in the middle of a character at the end is no fault.
      return new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    } catch {} // Not in this one.
  }
  return undefined;
}

/** As it is, but for what a terminal would act upon; its blanks are part of it. */
function shownLine(line: string): string {
  const safe = safeText(line.replaceAll("\t", "    "));
  return safe.length <= lineCharactersMax ? safe : `${safe.slice(0, lineCharactersMax)}…`;
}

function sayRows({ console, words }: Chat, rows: readonly (readonly string[])[], { isAll = true } = {}): void {
  for (const line of alignColumns(rows.slice(0, rowsShownMax))) console.say(line);
  const more = rows.length - rowsShownMax;
  const { model, files: texts } = words.terminal;
  if (more > 0) console.say(`  … ${isAll ? model.more({ count: more }) : texts.atLeastMore({ count: more })}`);
}

function pathText(path: string): string {
  return safeLine(path, 120);
}
