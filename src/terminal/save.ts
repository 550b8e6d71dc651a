import type { Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { BrokenOff, type ClientFailure } from "../client/client.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatBytes } from "./format.ts";
import { targetsOf } from "./local-files.ts";
import { progressOf } from "./progress.ts";
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
  const paths = shown.map((target) => shownTarget(chat, target)).join(", ");
  if (taken.length > 0) return void console.say(style.bad(texts.existsHere({ paths, more })));
  let [saved, bytes] = [0, 0];
  for (const copy of copies) {
    const done = errand.signal.aborted ? undefined : await saveOne(chat, errand, copy);
    if (done === undefined) break;
    if (!done.ok) sayFailure(chat, done.failure);
    else [saved, bytes] = [saved + 1, bytes + done.value];
  }
  const [to, size] = [shownTarget(chat, root), formatBytes(bytes, words)];
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
  const there = to === undefined || to.endsWith("/") ? undefined : await lookAt(chat, stat, { path, target });
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
    const there = await lookAt(chat, lstat, copy);
    if (!there.ok) return there;
    if (there.value !== undefined) found.push(copy.target);
  }
  return ok(found);
}

/** Undefined where nothing is. What cannot be looked at may well be there, and is not to be written over unasked. */
async function lookAt(
  chat: Chat,
  look: (target: string) => Promise<Stats>,
  { path, target }: Copy,
): Promise<Result<Stats | undefined, Failure>> {
  try {
    return ok(await look(target));
  } catch (error) {
    const isMissing = systemCode(error) === "ENOENT";
    return isMissing ? ok(undefined) : failed(faultOf(error, path, shownTarget(chat, target)));
  }
}

/** Under a name of its own until it is complete. Answers its bytes; undefined when it was stopped. */
async function saveOne(
  chat: Chat,
  errand: Errand,
  { path, target }: Copy,
): Promise<Result<number, SaveFailure> | undefined> {
  const { console, ids } = chat;
  const part = join(dirname(target), `.${ids.uuid()}.part`);
  try {
    await mkdir(dirname(target), { recursive: true });
    const handle = await open(part, "wx");
    const received = await receive(chat, errand, path, handle);
    if (received.ok) await rename(part, target);
    return received.ok || !errand.signal.aborted ? received : undefined;
  } catch (error) {
    return error === errand.signal.reason ? undefined : failed(faultOf(error, path, shownTarget(chat, target)));
  } finally {
    console.status(undefined);
    await rm(part, { force: true }).catch(systemCodeOrThrow); // Where it could not even be begun.
  }
}

/** Closes the file in any case. */
async function receive(
  chat: Chat,
  { conversation, signal }: Errand,
  path: string,
  handle: FileHandle,
): Promise<Result<number, ClientFailure>> {
  try {
    const download = await chat.client.download(conversation, path, { signal });
    if (!download.ok) return download;
    const { bytes, chunks } = download.value;
    const onProgress = progressOf({ name: path, bytes }, chat.words.terminal.files.saving, chat);
    await handle.writeFile(counted(chunks, onProgress));
    return ok(bytes);
  } finally {
    await handle.close();
  }
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

/** What this machine says against it, or that the transfer ended before its time. */
function faultOf(error: unknown, path: string, shown: string): Failure {
  if (error instanceof BrokenOff) return makeFailure("read_failed", { path: pathText(path), why: "broken_off" });
  const code = systemCodeOrThrow(error);
  if (code === "EACCES" || code === "EPERM") {
    return makeFailure("permission_denied", { path: shown, folder: "", why: "system" });
  }
  if (code === "EISDIR" || code === "EEXIST" || code === "ENOTDIR") return makeFailure("not_a_file", { path: shown });
  const why = code === "ENOSPC" || code === "EDQUOT" ? "full" : code === "EROFS" ? "read_only" : "io";
  return makeFailure("write_failed", { path: shown, why });
}

/** From the folder where the terminal was started, unless it lies elsewhere. */
function shownTarget({ place }: Chat, target: string): string {
  const below = relative(place.folder, target);
  return pathText(below === "" ? "." : below.startsWith("..") ? target : below);
}

function pathText(path: string): string {
  return safeLine(path, 120);
}
