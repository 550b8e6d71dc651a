import { makeFailure } from "../protocol/failure.ts";
import type { UndoReport } from "../protocol/resources.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatBytes, formatTime } from "./format.ts";
import { alignColumns } from "./model-view.ts";
import { ownWords } from "./own-words.ts";
import { safeLine, safeText } from "./safe-text.ts";

const rowsShownMax = 200;

/** `/undo`: the last turn with the files that its tools changed. */
export async function undo(chat: Chat): Promise<undefined> {
  const { client, console, current, style, words } = chat;
  const { files: texts, chat: talk } = words.terminal;
  await current.whenSent;
  if (!current.isStored) return sayFailure(chat, makeFailure("nothing_to_undo", {}));
  const undone = await client.call("undoTurn", { params: { id: current.id } });
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
    texts.ofSession({ id: safeLine(conversation.slice(0, 8)) }),
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

/** `/files [PATH]`: one level of what this session has. */
export async function listFiles(chat: Chat, path: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const { files: texts } = words.terminal;
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.noFiles());
  const query = path === "" ? {} : { path };
  const listed = await client.call("listFiles", { params: { id: current.id }, query });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const { items } = listed.value;
  if (items.length === 0) return void console.say(texts.noFiles());
  const rows = items.map(({ path: at, type, bytes, modifiedAt }) =>
    type === "file"
      ? [pathText(at), formatBytes(bytes, words), formatTime(modifiedAt)]
      : [`${pathText(at)}${type === "special" ? "" : "/"}`, texts.entry[type], ""],
  );
  sayRows(chat, rows);
}

function sayRows({ console, words }: Chat, rows: readonly (readonly string[])[]): void {
  for (const line of alignColumns(rows.slice(0, rowsShownMax))) console.say(line);
  const more = rows.length - rowsShownMax;
  if (more > 0) console.say(`  … ${words.terminal.model.more({ count: more })}`);
}

function pathText(path: string): string {
  return safeLine(path, 120);
}
