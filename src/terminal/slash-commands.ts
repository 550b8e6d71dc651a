import { ok, type Result } from "../base/result.ts";
import type { ClientFailure } from "../client/client.ts";
import { makeFailure } from "../protocol/failure.ts";
import { Slot } from "../protocol/message.ts";
import type { ConversationState, Decision } from "../protocol/resources.ts";
import { languages, type Words } from "../words/words.ts";
import { agents } from "./agents-command.ts";
import { branch } from "./branch-command.ts";
import { budget, budgetWords } from "./budget-command.ts";
import { askPerson, type Chat, openStored, sayFailure, startNew } from "./chat-state.ts";
import { likely } from "./command-line.ts";
import { compact } from "./compact-command.ts";
import { connect } from "./connect-command.ts";
import type { Suggestion, TypedLine } from "./console.ts";
import { exitCodes } from "./exit-codes.ts";
import { exportConversation } from "./export-command.ts";
import { failureText } from "./failure-text.ts";
import { clean, files, undo } from "./file-commands.ts";
import { formatTime } from "./format.ts";
import { inboxLines } from "./inbox-lines.ts";
import { open, search } from "./lookup-command.ts";
import { fillPrompt, mcp, mcpWords } from "./mcp-command.ts";
import { memory } from "./memory-command.ts";
import { connectLines, modelTable } from "./model-view.ts";
import { openFile } from "./open-command.ts";
import { ownWords } from "./own-words.ts";
import { rules } from "./rules-command.ts";
import { safeLine } from "./safe-text.ts";
import { save } from "./save.ts";
import { sendLine } from "./send-line.ts";
import { skills } from "./skills-command.ts";
import { changeLanguage, examine } from "./small-commands.ts";
import { timeline } from "./timeline-command.ts";
import { tools } from "./tools-command.ts";
import { tour } from "./tour.ts";

/** Answers an exit code when the chat is to end. `line` is all that was typed. */
type RunCommand = (chat: Chat, argument: string, line: TypedLine) => Promise<number | undefined>;
type SlashCommand = { readonly form: string; readonly words?: readonly string[]; readonly run: RunCommand };

const commands = {
  help: { form: "", run: showHelp },
  new: { form: "", run: beginNew },
  reset: { form: "", run: reset },
  sessions: { form: "", run: listSessions },
  load: { form: "ID", run: load },
  current: { form: "", run: showCurrent },
  search: { form: "[--files | --messages] WORDS", words: ["--files", "--messages"], run: search },
  open: { form: "N | PATH", run: openHitOrFile },
  files: { form: "[PATH | rm PATH]", words: ["rm"], run: files },
  save: { form: "[-f] PATH [TO]", run: save },
  undo: { form: "", run: undo },
  compact: { form: "[FOCUS | show | undo]", words: ["show", "undo"], run: compact },
  budget: { form: "[KIND N | KIND off]…", words: budgetWords, run: budget },
  clean: { form: "[list | restore ID]", words: ["list", "restore"], run: clean },
  branch: { form: "[N]", run: branch },
  export: { form: "[-f] [FILE]", run: exportConversation },
  timeline: { form: "[N]", run: timeline },
  model: { form: "[SLOT]", words: Slot.options, run: chooseModel },
  connect: { form: "[SLOT]", words: Slot.options, run: connect },
  demo: { form: "", run: tour },
  doctor: { form: "", run: examine },
  lang: { form: "[en|zh]", words: languages, run: changeLanguage },
  inbox: { form: "[N]", run: openInbox },
  memory: { form: "[add TEXT | edit N TEXT | forget N]", words: ["add", "edit", "forget"], run: memory },
  rules: { form: "[revoke ID]", words: ["revoke"], run: rules },
  tools: { form: "[WORD | load NAME]", words: ["load"], run: tools },
  skills: { form: "[why NAME | install NAME]", words: ["why", "install"], run: skills },
  agents: { form: "[NAME | stop NAME]", words: ["stop"], run: agents },
  mcp: { form: "[SERVER | WORD SERVER]", words: mcpWords, run: mcp },
  queue: { form: "[TEXT]", run: queue },
  unqueue: { form: "[N]", run: unqueue },
  quit: { form: "", run: async () => exitCodes.done },
} as const satisfies Record<string, SlashCommand>;

type SlashCommandName = keyof typeof commands;

/** Other names that people try. */
const aliases: Readonly<Record<string, SlashCommandName>> = { exit: "quit", clear: "new", resume: "load" };
const names: readonly SlashCommandName[] = Object.keys(commands).filter(isName);

/** `/help`, but not a path such as `/etc/hosts`. */
export function isSlashCommand(line: string): boolean {
  return /^\/[^/\s]*(\s|$)/.test(line);
}

export function completeSlashCommand(line: string): string[] {
  if (!line.startsWith("/")) return [];
  const all = names.flatMap((name) => (line.includes(" ") ? wordsAfter(name) : [`/${name}`]));
  return all.filter((command) => command.startsWith(line));
}

/** For a menu: each with what it takes and what it does. */
export function suggestCommands(line: string, { terminal }: Words): Suggestion[] {
  return completeSlashCommand(line).map((value) => {
    const name = names.find((one) => value === `/${one}`);
    if (name === undefined) return { value, label: value };
    const label = `${value} ${commands[name].form}`.trimEnd();
    return { value, label, description: terminal.command.summary[name] };
  });
}

function wordsAfter(name: SlashCommandName): string[] {
  const { words = [] }: SlashCommand = commands[name];
  return words.map((word) => `/${name} ${word}`);
}

export async function runSlashCommand(chat: Chat, line: TypedLine): Promise<number | undefined> {
  const { word, argument } = partsOf(line.text);
  const name = aliases[word] ?? (isName(word) ? word : undefined);
  if (name !== undefined && commands[name].form === "" && argument !== "") {
    const unwanted = { name: `/${name}`, argument: safeLine(argument, 40) };
    return void chat.console.say(chat.words.terminal.command.noArgument(unwanted));
  }
  if (name !== undefined) return commands[name].run(chat, argument, line);
  // The prompts of MCP servers are commands, too: `/server:prompt`.
  if (word.includes(":")) return sendPrompt(chat, { word, argument }, line);
  const near = likely(word, [...names, ...Object.keys(aliases)]);
  const unknown = { name: `/${safeLine(word, 40)}`, near: near === undefined ? undefined : `/${near}` };
  chat.console.say(chat.words.terminal.command.unknown(unknown));
  return undefined;
}

async function sendPrompt(
  chat: Chat,
  { word, argument }: { readonly word: string; readonly argument: string },
  line: TypedLine,
): Promise<undefined> {
  const prompt = await fillPrompt(chat, word, argument);
  if (prompt === undefined) return;
  // The line is what the person said; what the server made of it stands behind it.
  const said = line.text.trim();
  const sent = { ...line, text: `${said}\n\n${prompt}`, typed: "" };
  await sendLine(chat, sent, { isQueued: false, line, own: said.length });
}

function partsOf(line: string): { word: string; argument: string } {
  const [, word = "", argument = ""] = /^\s*\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  return { word, argument: argument.trim() };
}

async function showHelp({ console, words: { terminal } }: Chat): Promise<undefined> {
  const rows = names.map(
    (name) => [`/${name} ${commands[name].form}`.trimEnd(), terminal.command.summary[name]] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  console.say(`${terminal.command.title}:`);
  for (const [left, right] of rows) console.say(`  ${left.padEnd(width)}  ${right}`);
  console.say(`${terminal.command.keysTitle}:`);
  for (const line of terminal.command.keys) console.say(`  ${line}`);
}

async function beginNew(chat: Chat): Promise<undefined> {
  startNew(chat);
  chat.console.say(chat.words.terminal.command.started({ id: chat.current.id }));
}

async function reset(chat: Chat): Promise<undefined> {
  const { client, current, console, words } = chat;
  if (current.isStored) {
    const done = await current.goBack(() => client.call("resetConversation", { params: { id: current.id } }));
    if (!done.ok) return sayFailure(chat, done.failure);
  }
  console.say(words.terminal.command.reset());
}

async function listSessions(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const { command } = words.terminal;
  const listed = await client.call("listConversations");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  if (listed.value.items.length === 0) console.say(command.noConversations());
  for (const { id, updatedAt, turns, title } of listed.value.items) {
    const name = title === "" ? command.untitled : safeLine(title, 60);
    console.say(`  ${id.slice(0, 8)} - ${formatTime(updatedAt)}  ${command.turns({ count: turns })}  ${name}`);
  }
}

async function load(chat: Chat, prefix: string): Promise<undefined> {
  const { client, console, words } = chat;
  const { command } = words.terminal;
  if (prefix === "") return void console.say(command.loadWhat());
  const found = await client.call("getConversation", { params: { id: prefix }, query: { prefix: true } });
  if (!found.ok) {
    if (found.failure.code !== "conversation_not_found") return sayFailure(chat, found.failure);
    console.say(command.notFound({ prefix: safeLine(prefix, 64) }));
    return void console.say(command.notFoundNext());
  }
  const failure = await openStored(chat, { id: found.value.id, heading: command.loaded(found.value) });
  if (failure !== undefined) return sayFailure(chat, failure);
}

async function showCurrent(chat: Chat): Promise<undefined> {
  const { client, console, current, words } = chat;
  const { command, chat: texts } = words.terminal;
  if (current.isGone) return void console.say(command.noCurrent());
  const state = current.isStored ? await client.call("getState", { params: { id: current.id } }) : undefined;
  // Deleted elsewhere in this moment: its stream has not told so yet.
  if (state?.ok === false && state.failure.code === "conversation_not_found")
    return void console.say(command.noCurrent());
  console.say(command.current({ id: current.id }));
  if (state === undefined) return;
  if (!state.ok) return sayFailure(chat, state.failure);
  const { status, model, tokens } = state.value;
  const percent = Math.round((100 * tokens.used) / tokens.window);
  console.say(
    `  ${command.status[status]} · ${safeLine(model.id, 60)} · ${texts.tokens({ percent, level: texts.level[tokens.level] })}`,
  );
}

async function chooseModel(chat: Chat, slotName: string): Promise<undefined> {
  const { client, console, words } = chat;
  const listed = await client.call("listModels", { query: { detect: slotName === "" } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  if (slotName === "") {
    const lines = [...modelTable(listed.value, words, chat.slot), ...connectLines(listed.value, words)];
    for (const line of [...lines, words.terminal.model.slotHint()]) console.say(line);
    return;
  }
  const slot = Slot.safeParse(slotName);
  const model = listed.value.slots.find((entry) => entry.slot === slotName);
  if (!slot.success || model === undefined) {
    return sayFailure(chat, makeFailure("slot_unknown", { slot: slotName, known: Slot.options.join(", ") }));
  }
  chat.slot = slot.data;
  console.say(words.terminal.command.preferred({ slot: slot.data, id: safeLine(model.id, 60) }));
}

async function openInbox(chat: Chat, number: string): Promise<number | undefined> {
  const { client, console, words } = chat;
  const { decision: texts, command } = words.terminal;
  const listed = await client.call("listDecisions");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const { items } = listed.value;
  if (items.length === 0) return void console.say(texts.inboxEmpty());
  if (number !== "") {
    const decision = items[Number(number) - 1];
    if (decision === undefined)
      return void console.say(command.noSuchEntry({ number: safeLine(number, 20), lister: "/inbox" }));
    const end = await askPerson(chat, decision, items);
    if (end === "made") await sayGoesOn(chat, decision);
    if (typeof end === "string" || end.kind === "interrupt") return undefined;
    return end.kind === "end" ? exitCodes.done : takeInstead(chat, end);
  }
  for (const line of await inboxLines(items, chat)) console.say(line);
  console.say(texts.inboxHint());
  return undefined;
}

/** Where its answer is to be seen: not while something else waits there. */
async function sayGoesOn({ client, console, current, words }: Chat, { conversation }: Decision): Promise<void> {
  if (conversation === current.id) return;
  const { decision: texts } = words.terminal;
  const state = await client.call("getState", { params: { id: conversation } });
  const count = state.ok ? state.value.decisions.length : 0;
  const id = conversation.slice(0, 8);
  console.say(count > 0 ? texts.waitsThere({ id, count }) : texts.goesOn({ id }));
}

/** A line that was typed where a decision was asked. */
async function takeInstead(chat: Chat, line: TypedLine): Promise<number | undefined> {
  if (isSlashCommand(line.text.trim())) return runSlashCommand(chat, line);
  await sendLine(chat, line, { isQueued: false, line });
  return undefined;
}

/** A number is a hit of the last search, everything else a file. */
function openHitOrFile(chat: Chat, argument: string): Promise<undefined> {
  return /^\d+$/.test(argument) ? open(chat, argument) : openFile(chat, argument);
}

async function queue(chat: Chat, text: string, line: TypedLine): Promise<undefined> {
  const { console, words } = chat;
  const { command } = words.terminal;
  const typed = partsOf(line.typed ?? line.text).argument;
  if (text !== "") return void (await sendLine(chat, { text, typed }, { isQueued: true, line }));
  const waiting = await waitingMessages(chat);
  if (!waiting.ok) return sayFailure(chat, waiting.failure);
  if (waiting.value.length === 0) console.say(command.nothingWaits());
  for (const [index, message] of waiting.value.entries()) {
    console.say(command.queueEntry({ number: index + 1, mode: message.mode, text: safeLine(message.text, 100) }));
  }
}

/** Alt+Up: the last message of ours that waits stands in the editor again. */
export async function withdrawLast(chat: Chat): Promise<void> {
  const { client, console, current, style, words } = chat;
  const noteFailure = (failure: ClientFailure) => console.note(style.bad(`✗ ${failureText(words, failure)}`));
  const waiting = await waitingMessages(chat);
  if (!waiting.ok) return noteFailure(waiting.failure);
  const message = waiting.value.at(-1);
  if (message === undefined) return console.note(words.terminal.rich.nothingToWithdraw());
  const taken = await client.call("withdrawMessage", { params: { id: current.id, message: message.id } });
  if (taken.ok) return console.screen?.giveBack(ownWords(message.text).words);
  // Its turn began meanwhile.
  if (taken.failure.code === "message_not_found") return console.note(words.terminal.rich.nothingToWithdraw());
  noteFailure(taken.failure);
}

async function unqueue(chat: Chat, number: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const { command } = words.terminal;
  const waiting = await waitingMessages(chat);
  if (!waiting.ok) return sayFailure(chat, waiting.failure);
  if (waiting.value.length === 0) return void console.say(command.nothingWaits());
  const message = number === "" ? waiting.value.at(-1) : waiting.value[Number(number) - 1];
  if (message === undefined)
    return void console.say(command.noSuchEntry({ number: safeLine(number, 20), lister: "/queue" }));
  const taken = await client.call("withdrawMessage", { params: { id: current.id, message: message.id } });
  if (!taken.ok) return sayFailure(chat, taken.failure);
  console.say(command.withdrawn({ text: safeLine(ownWords(message.text).words, 1000) }));
}

async function waitingMessages({ client, current }: Chat): Promise<Result<ConversationState["queue"], ClientFailure>> {
  await current.whenSent;
  // Nothing was said in it yet.
  if (!current.isStored) return ok([]);
  const state = await client.call("getState", { params: { id: current.id } });
  return state.ok ? ok(state.value.queue) : state;
}

function isName(name: string): name is SlashCommandName {
  return Object.hasOwn(commands, name);
}
