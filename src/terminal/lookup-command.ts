import { ok, type Result } from "../base/result.ts";
import { BrokenOff, type ClientFailure } from "../client/client.ts";
import type { SearchAnswer, SearchHit } from "../protocol/search-routes.ts";
import { type Chat, openStored, sayFailure } from "./chat-state.ts";
import { formatTime } from "./format.ts";
import { saidText } from "./own-words.ts";
import { placeText } from "./place-text.ts";
import { safeLine, safeText } from "./safe-text.ts";

const hitsShown = 10;
const snippetLinesMax = 3;
const lineCells = 200;
const pathCells = 120;

const places = { "--files": "files", "--messages": "messages" } as const;

/** `/search [--files | --messages] WORDS`: over all conversations, with numbers that `/open` takes. */
export async function search(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, words } = chat;
  const texts = words.terminal.lookup;
  const [, option, rest] = /^(--\S*)\s*(.*)$/s.exec(argument) ?? [];
  const query = (option === undefined ? argument : (rest ?? "")).trim();
  const where = option === undefined ? "all" : isOption(option) ? places[option] : undefined;
  if (where === undefined) return void console.say(texts.optionUnknown({ option: safeLine(option ?? "", 40) }));
  if (query === "") return void console.say(texts.what());
  const found = await client.call("search", { query: { q: query, in: where, limit: hitsShown } });
  if (!found.ok) return sayFailure(chat, found.failure);
  const { items, total } = found.value;
  chat.found = items;
  for (const [index, hit] of items.entries()) sayHit(chat, index + 1, hit);
  console.say(items.length === 0 ? texts.nothing() : texts.shown({ shown: items.length, total }));
  sayNotes(chat, found.value);
}

function isOption(option: string): option is keyof typeof places {
  return Object.hasOwn(places, option);
}

function sayHit({ console, current, style, words }: Chat, number: number, hit: SearchHit): void {
  const texts = words.terminal.lookup;
  const { id, title } = hit.conversation;
  const name = id === current.id ? texts.here : `${id.slice(0, 8)}${title === "" ? "" : ` ${title}`}`;
  const what =
    hit.kind === "message"
      ? [hit.who === "user" ? texts.you : texts.agent, formatTime(hit.at ?? 0)]
      : [hit.path ?? "", placeText(hit.from ?? {}, hit.to ?? {}, words), hit.headings?.at(-1) ?? ""];
  const head = [...what, name].filter((part) => part !== "").map((part) => safeLine(part, pathCells));
  console.say(`${style.strong(String(number).padStart(3))}  ${head.join(" · ")}`);
  const lines = hit.snippet.split("\n").filter((line) => line.trim() !== "");
  // What was found is never left out.
  const from = Math.max(
    0,
    Math.min(
      lines.findIndex((line) => line.includes("**")),
      lines.length - snippetLinesMax,
    ),
  );
  for (const line of lines.slice(from, from + snippetLinesMax)) {
    console.say(`     ${safeLine(line, lineCells).replaceAll(/\*\*.+?\*\*/g, style.strong)}`);
  }
}

function sayNotes({ console, style, words }: Chat, answer: SearchAnswer): void {
  const texts = words.terminal.lookup;
  const { missing, repaired, conversationsBehind: count, unsearched, isPartial, meaning } = answer;
  const notes = [
    ...repaired.map(({ said, meant }) => texts.repaired({ said: safeLine(said, 40), meant: safeLine(meant, 40) })),
    ...(missing.length === 0 ? [] : [texts.missing({ words: safeLine(missing.join(", "), lineCells) })]),
    ...(count === 0 ? [] : [texts.behind({ count })]),
    ...unsearched.map(({ path: written, state, done, of, code = "" }) => {
      const path = safeLine(written, pathCells);
      return state === "failed" ? texts.unread({ path, code }) : texts.waiting({ path, done, of });
    }),
    ...(isPartial ? [texts.partial()] : []),
    ...(meaning?.trouble === undefined ? [] : [texts.meaningTrouble({ why: meaning.trouble })]),
    ...(meaning && meaning.trouble === undefined && meaning.embedded < meaning.passages
      ? [texts.meaningBehind(meaning)]
      : []),
  ];
  for (const note of notes) console.say(style.attention(`  ! ${note}`));
}

/** `/open N`: goes to the conversation of a hit, and shows the message, or what the file says there. */
export async function open(chat: Chat, number: string): Promise<undefined> {
  const { console, current, words } = chat;
  const texts = words.terminal.lookup;
  const { found } = chat;
  if (found.length === 0) return void console.say(texts.noSearch());
  const hit = /^\d+$/.test(number) ? found[Number(number) - 1] : undefined;
  if (hit === undefined) return void console.say(texts.noSuch({ number: safeLine(number, 20), count: found.length }));
  const { id } = hit.conversation;
  if (id !== current.id) {
    const failure = await openStored(chat, { id, heading: words.terminal.command.loaded({ id }) });
    if (failure !== undefined) return sayFailure(chat, failure);
  }
  return hit.kind === "message" ? showMessage(chat, hit) : showPassage(chat, hit);
}

const messageCharactersMax = 20_000;

async function showMessage(chat: Chat, { conversation: { id }, seq = 0, who, at = 0 }: SearchHit): Promise<undefined> {
  const { client, console, style, words } = chat;
  const texts = words.terminal.lookup;
  const page = await client.call("readEvents", { params: { id }, query: { after: seq - 1, limit: 1 } });
  if (!page.ok) return sayFailure(chat, page.failure);
  const [event] = page.value.items;
  const text = event?.seq === seq && "text" in event ? String(event.text) : undefined;
  if (text === undefined) return void console.say(texts.gone());
  console.say(style.strong(`${who === "user" ? texts.you : texts.agent} · ${formatTime(at)}`));
  const shown = saidText(text);
  console.say(safeText(shown.length > messageCharactersMax ? `${shown.slice(0, messageCharactersMax)}…` : shown));
}

/** Of a text its lines as they are now; of a document what the search showed of it. */
async function showPassage(
  chat: Chat,
  { path = "", from = {}, to = {}, headings, snippet }: SearchHit,
): Promise<undefined> {
  const { console, style, words } = chat;
  const shownPath = safeLine(path, pathCells);
  const head = [shownPath, placeText(from, to, words), headings?.at(-1) ?? ""].filter((part) => part !== "");
  const read = from.line === undefined ? ok(undefined) : await linesOf(chat, path, { from: from.line, to: to.line });
  if (!read.ok) {
    // Only then does another search help.
    if (read.failure.code === "file_not_found") return void console.say(words.terminal.lookup.gone());
    return sayFailure(chat, read.failure);
  }
  console.say(style.strong(head.map((part) => safeLine(part, pathCells)).join(" · ")));
  for (const line of read.value ?? snippet.split("\n")) console.say(`  ${safeText(line)}`);
  console.say(style.dim(words.terminal.lookup.readOn({ path: shownPath })));
}

const linesShownMax = 40;
/** Texts that are larger are not found by their words. */
const textBytesMax = 5 * 1024 * 1024;

/** Undefined where the file is in no encoding that can be told here. */
async function linesOf(
  { client, current }: Chat,
  path: string,
  { from, to = from }: { readonly from: number; readonly to?: number | undefined },
): Promise<Result<readonly string[] | undefined, ClientFailure>> {
  const download = await client.download(current.id, path);
  if (!download.ok) return download;
  const bytes = await bytesOf(download.value.chunks);
  const text = bytes === undefined ? undefined : utf8(bytes);
  return ok(text?.split(/\r?\n/).slice(from - 1, Math.min(to, from + linesShownMax - 1)));
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      taken.push(chunk);
      bytes += chunk.length;
      if (bytes > textBytesMax) return undefined;
    }
    return Buffer.concat(taken);
  } catch (error) {
    if (error instanceof BrokenOff) return undefined;
    throw error;
  }
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // In another encoding: what the search showed is enough.
  }
}
