import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askPerson, type Chat, sayFailure, startNew } from "./chat-state.ts";
import type { Input } from "./console.ts";
import { exitCodes } from "./exit-codes.ts";
import { findNamedFiles } from "./named-files.ts";
import { safeLine } from "./safe-text.ts";
import { killAndRecover } from "./tour-crash.ts";
import { tourTable } from "./tour-table.ts";

/** How the person left the tour: out of it, or out of the program. */
type Left = "tour" | "program";

/** `/demo`: real files, a real sandbox, a real worker, a real decision and a real crash, in a conversation of its own. */
export async function tour(chat: Chat): Promise<number | undefined> {
  const { console, words } = chat;
  const { tour: texts } = words.terminal;
  if (!(await isWanted(chat))) return undefined;
  startNew(chat);
  console.say(texts.title());
  const folder = await mkdtemp(join(tmpdir(), "agentyard-tour-"));
  try {
    await writeFile(join(folder, "sales.csv"), tourTable());
    const left =
      (await showTable(chat, folder)) ??
      (await showWorker(chat)) ??
      (await showDecision(chat)) ??
      (await showCrash(chat, folder));
    console.say(left === undefined ? texts.end() : texts.left());
    return left === "program" ? exitCodes.done : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A model that costs something is not asked without a word. */
async function isWanted(chat: Chat): Promise<boolean> {
  const { client, console, words } = chat;
  const { tour: texts } = words.terminal;
  const models = await client.call("listModels");
  if (!models.ok) {
    sayFailure(chat, models.failure);
    return false;
  }
  const base = models.value.slots.find(({ slot }) => slot === "base");
  if (base === undefined || base.isDemo) return true;
  console.say(texts.realModel({ id: safeLine(base.id, 60) }));
  for (;;) {
    const input = await console.read({ prompt: texts.choices(), want: "key", keys: ["y", "n"] });
    if (input.kind === "key") return input.key === "y";
    if (input.kind === "line") return /^\s*y(es)?\s*$/i.test(input.text);
    if (input.kind !== "woken") return false;
  }
}

async function showTable(chat: Chat, folder: string): Promise<Left | undefined> {
  const { client, console, style, words } = chat;
  const { tour: texts } = words.terminal;
  console.say(style.strong(texts.table()));
  const left = await say(chat, texts.say.table, folder);
  if (left !== undefined) return left;
  const listed = await client.call("listFiles", { params: { id: chat.current.id }, query: { path: "outputs" } });
  const made = listed.ok ? listed.value.items.filter(({ type }) => type === "file").map(({ path }) => path) : [];
  const shown = made.slice(0, 5).map((path) => safeLine(path, 80));
  console.say(style.dim(made.length > 0 ? texts.tableDone({ files: shown.join(", ") }) : texts.tableBare()));
  return undefined;
}

async function showWorker(chat: Chat): Promise<Left | undefined> {
  const { console, style, words } = chat;
  const { tour: texts } = words.terminal;
  console.say(style.strong(texts.worker()));
  const left = await say(chat, texts.say.worker);
  if (left === undefined) console.say(style.dim(texts.workerDone()));
  return left;
}

async function showDecision(chat: Chat): Promise<Left | undefined> {
  const { console, style, words } = chat;
  const { tour: texts } = words.terminal;
  console.say(style.strong(texts.decision()));
  const left = (await say(chat, texts.say.note)) ?? (await say(chat, texts.say.remove));
  if (left === undefined) console.say(style.dim(texts.decisionDone()));
  return left;
}

async function showCrash(chat: Chat, folder: string): Promise<Left | undefined> {
  const { console, machine, style, words } = chat;
  const { tour: texts } = words.terminal;
  if (machine === undefined) return void console.say(texts.noMachine());
  console.say(style.strong(texts.crash()));
  await killAndRecover({ ...chat, machine, folder });
  return undefined;
}

/** Sends a message as if the person had typed it, and stays with its turn to the end. */
async function say(chat: Chat, text: string, folder?: string): Promise<Left | undefined> {
  const { console, current, style, words } = chat;
  const place = folder === undefined ? chat.place : { folder, homeDir: folder };
  const files = await findNamedFiles(text, [], place);
  if (console.screen === undefined) console.say(`${words.terminal.chat.prompt}${text}`);
  else console.screen.showSaid(text);
  let isReturned = false;
  const onReturned = () => {
    isReturned = true;
    console.wake();
  };
  current.send({ text, mode: "queue", slot: chat.slot, files, onReturned });
  while (current.isRunning && !isReturned) {
    const decision = current.decisions.find(({ id }) => !chat.dealtWith.has(id));
    const asked = decision === undefined ? undefined : await askPerson(chat, decision);
    if (typeof asked === "string") continue;
    const input: Input =
      asked ?? (await console.read({ prompt: style.strong(words.terminal.chat.prompt), want: "aside" }));
    if (input.kind === "end") return "program";
    if (input.kind !== "stop" && input.kind !== "interrupt") continue;
    await current.cancel();
    return "tour";
  }
  return isReturned || current.lastEnd?.outcome === "cancelled" ? "tour" : undefined;
}
