import { type FileHandle, lstat, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { failed, ok, type Result } from "../base/result.ts";
import { BrokenOff, type ClientFailure } from "../client/client.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatBytes } from "./format.ts";
import { targetsOf } from "./local-files.ts";
import { progressOf } from "./progress.ts";
import { hereFault, lookHere, putHere, shownHere } from "./put-here.ts";
import { safeLine } from "./safe-text.ts";

const filesMax = 10_000;
const namesShownMax = 5;

type Wish = { readonly path: string; readonly to: string | undefined; readonly isForced: boolean };
type Errand = Wish & { readonly conversation: string; readonly signal: AbortSignal };

/** `/save [-f] PATH [TO]`: copies a file of the conversation, or all files of a folder, to this machine. Goes on by itself. */
export async function save(chat: Chat, argument: string): Promise<undefined> {
  const { console, current, words } = chat;
  const { files: texts } = words.terminal;
  const wish = readWish(argument);
  if (wish === undefined) return void console.say(texts.saveHow());
  if (chat.saving !== undefined) return void console.say(texts.saveBusy());
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.noFiles());
  const stop = new AbortController();
  const errand = { ...wish, conversation: current.id, signal: stop.signal };
  const done = saveAll(chat, errand).then(() => {
    chat.saving = undefined;
    console.wake();
  });
  chat.saving = { stop, done };
}

/** Names with blanks stand in quotes, as in a message. */
function readWish(argument: string): Wish | undefined {
  const given = [...argument.matchAll(/"([^"]*)"|'([^']*)'|“([^”]*)”|(?:\\.|[^\s\\])+/g)];
  const isForced = given.some(([text]) => text === "-f");
  const names = given.filter(([text]) => text !== "-f");
  const [path, to, ...more] = names.map(([text, ...quoted]) => {
    return quoted.find((name) => name !== undefined) ?? text.replaceAll(/\\(.)/g, "$1");
  });
  return path === undefined || path === "" || to === "" || more.length > 0 ? undefined : { path, to, isForced };
}

/** A file there, and where it goes. */
type Copy = { readonly path: string; readonly target: string };
type Plan = { readonly copies: readonly Copy[]; readonly root: string; readonly isFolder: boolean };
type SaveFailure = Failure | ClientFailure;

async function saveAll(chat: Chat, errand: Errand): Promise<undefined> {
  const { console, style, words } = chat;
  const { files: texts } = words.terminal;
  const plan = await makePlan(chat, errand);
  if (!plan.ok) return sayFailure(chat, plan.failure);
  const { copies, root, isFolder } = plan.value;
  const path = pathText(errand.path.replace(/\/+$/, ""));
  if (copies.length > filesMax) return void console.say(style.bad(texts.saveTooMany({ path, limit: filesMax })));
  if (copies.length === 0) return void console.say(texts.noFiles());
  const found = errand.isForced ? ok([]) : await existing(chat, copies, errand.signal);
  if (!found.ok) return sayFailure(chat, found.failure);
  const taken = found.value;
  const [shown, more] = [taken.slice(0, namesShownMax), taken.length - namesShownMax];
  const paths = shown.map((target) => shownHere(chat, target)).join(", ");
  if (taken.length > 0) return void console.say(style.bad(texts.existsHere({ paths, more })));
  let [saved, bytes] = [0, 0];
  for (const copy of copies) {
    const done = errand.signal.aborted ? undefined : await saveOne(chat, errand, copy);
    if (done === undefined) break;
    if (!done.ok) sayFailure(chat, done.failure);
    else [saved, bytes] = [saved + 1, bytes + done.value];
  }
  const [to, size] = [shownHere(chat, root), formatBytes(bytes, words)];
  const line = isFolder ? texts.savedMany({ path, to, size, files: saved }) : texts.saved({ path, to, size });
  if (saved > 0) console.say(line);
  if (errand.signal.aborted) console.say(style.attention(texts.saveStopped()));
}

/** A folder keeps its name, unless another is given; a file goes into a folder that is there, or under the name given. */
async function makePlan(chat: Chat, { path, to, conversation, signal }: Errand): Promise<Result<Plan, SaveFailure>> {
  const { client, place } = chat;
  const listed = await client.call("listFiles", { params: { id: conversation }, query: { path } });
  const [target = place.folder] = to === undefined ? [] : targetsOf(to, place);
  if (listed.ok) {
    const root = to === undefined ? join(place.folder, basename(listed.value.path)) : target;
    const files = await filesBelow(chat, { conversation, path: listed.value.path, signal });
    if (!files.ok) return files;
    const copies = files.value.map((file) => ({ path: file, target: join(root, relative(listed.value.path, file)) }));
    return ok({ copies, root, isFolder: true });
  }
  if (listed.failure.code !== "not_a_folder") return listed;
  const there = to === undefined || to.endsWith("/") ? undefined : await lookHere(chat, stat, target);
  if (there?.ok === false) return there;
  const isInto = there === undefined || there.value?.isDirectory();
  const root = isInto ? join(target, basename(path)) : target;
  return ok({ copies: [{ path, target: root }], root, isFolder: false });
}

type Below = { readonly conversation: string; readonly path: string; readonly signal: AbortSignal };

/** Up to one more than can be saved. */
async function filesBelow(
  { client }: Chat,
  { conversation, path, signal }: Below,
): Promise<Result<readonly string[], ClientFailure>> {
  const files: string[] = [];
  const pages: { path: string; after?: string }[] = [{ path }];
  for (let query = pages.pop(); query !== undefined && !signal.aborted; query = pages.pop()) {
    const listed = await client.call("listFiles", { params: { id: conversation }, query });
    if (!listed.ok) return listed;
    const { items, next } = listed.value;
    if (next !== null) pages.push({ ...query, after: next });
    for (const entry of items) {
      if (entry.type === "folder") pages.push({ path: entry.path });
      if (entry.type === "file") files.push(entry.path);
    }
    if (files.length > filesMax) break;
  }
  return ok(files.sort());
}

async function existing(
  chat: Chat,
  copies: readonly Copy[],
  signal: AbortSignal,
): Promise<Result<readonly string[], Failure>> {
  const found: string[] = [];
  for (const copy of copies) {
    if (signal.aborted) break;
    const there = await lookHere(chat, lstat, copy.target);
    if (!there.ok) return there;
    if (there.value !== undefined) found.push(copy.target);
  }
  return ok(found);
}

/** Answers its bytes; undefined when it was stopped. */
async function saveOne(
  chat: Chat,
  errand: Errand,
  { path, target }: Copy,
): Promise<Result<number, SaveFailure> | undefined> {
  try {
    const received = await putHere(chat, target, (handle) => receive(chat, errand, path, handle));
    return received.ok || !errand.signal.aborted ? received : undefined;
  } catch (error) {
    if (error === errand.signal.reason) return undefined;
    // The transfer ended before its time; all else is what this machine says against it.
    const isCut = error instanceof BrokenOff;
    const cut = () => makeFailure("read_failed", { path: pathText(path), why: "broken_off" });
    return failed(isCut ? cut() : hereFault(chat, target, error));
  } finally {
    chat.console.status(undefined);
  }
}

async function receive(
  chat: Chat,
  { conversation, signal }: Errand,
  path: string,
  handle: FileHandle,
): Promise<Result<number, ClientFailure>> {
  const download = await chat.client.download(conversation, path, { signal });
  if (!download.ok) return download;
  const { bytes, chunks } = download.value;
  const onProgress = progressOf({ name: path, bytes }, chat.words.terminal.files.saving, chat);
  await handle.writeFile(counted(chunks, onProgress));
  return ok(bytes);
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  onProgress: ((doneBytes: number) => void) | undefined,
): AsyncGenerator<Uint8Array, void> {
  let doneBytes = 0;
  for await (const chunk of chunks) {
    yield chunk;
    doneBytes += chunk.length;
    onProgress?.(doneBytes);
  }
}

function pathText(path: string): string {
  return safeLine(path, 120);
}
