import type { ClientFailure } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import { type Chat, openStored } from "./chat-state.ts";
import type { GoingOn } from "./command-line.ts";
import { exitCodes, exitReasonOf } from "./exit-codes.ts";
import { commandFailureText, failureText } from "./failure-text.ts";
import { findConversation } from "./find-conversation.ts";
import { formatTime } from "./format.ts";
import { safeLine } from "./safe-text.ts";

export type ChatStart = {
  readonly version: string;
  readonly logFile?: string | undefined;
  /** With which conversation to go on; a new one otherwise. */
  readonly going?: GoingOn | undefined;
  /** What was interrupted when the process last ended. */
  readonly recovery?: Recovery | undefined;
};

export type Recovery = {
  /** How many turns go on by themselves. */
  readonly resumed: number;
  /** Interrupted so long ago that a person is asked first. */
  readonly older: readonly { readonly id: string; readonly title: string; readonly updatedAt: number }[];
};

/** Opens the first conversation, greets, asks about what was interrupted. Answers an exit code when it cannot begin. */
export async function beginChat(chat: Chat, start: ChatStart): Promise<number | undefined> {
  // What a script pipes in is meant for a conversation of its own.
  const isAlone = chat.console.isAttended && start.going === undefined;
  const isInterrupted = isAlone && (start.recovery?.resumed ?? 0) > 0;
  const wanted = isInterrupted ? await findRunning(chat) : await findWanted(chat, start);
  if (!wanted.ok) return refuse(chat, wanted.failure);
  if (chat.console.isAttended) await greet(chat, start, wanted.value ?? chat.current.id);
  if (wanted.value !== undefined) {
    const failure = await openStored(chat, { id: wanted.value });
    if (failure !== undefined) return refuse(chat, failure);
    if (isInterrupted) chat.console.say(chat.words.terminal.chat.interruptedGoesOn());
  }
  if (chat.console.isAttended) for (const older of start.recovery?.older ?? []) await askAboutOlder(chat, older);
  return undefined;
}

type Wanted =
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly failure: Failure | ClientFailure };

async function findWanted({ client, words }: Chat, { going }: ChatStart): Promise<Wanted> {
  if (going === undefined) return { ok: true, value: undefined };
  const found = await findConversation(client, going, words.terminal);
  return found.ok ? { ok: true, value: found.value.id } : found;
}

/** The newest conversation in which a turn goes on. */
async function findRunning({ client }: Chat): Promise<Wanted> {
  const listed = await client.call("listConversations", { query: { limit: 10 } });
  if (!listed.ok) return listed;
  for (const { id } of listed.value.items) {
    const state = await client.call("getState", { params: { id } });
    if (state.ok && state.value.status === "running") return { ok: true, value: id };
  }
  return { ok: true, value: undefined };
}

async function greet({ client, console, style, words }: Chat, start: ChatStart, id: string): Promise<void> {
  const { chat: texts } = words.terminal;
  const models = await client.call("listModels");
  const base = models.ok ? models.value.slots.find(({ slot }) => slot === "base") : undefined;
  console.say(style.strong(texts.product(start)));
  console.say(texts.conversation({ id }));
  if (start.logFile !== undefined) console.say(texts.logFile({ path: start.logFile }));
  if (base !== undefined) {
    const model = { id: safeLine(base.id, 60), server: safeLine(base.server, 60) };
    console.say(base.isDemo ? texts.modelDemo() : texts.model(model));
  }
  console.say(style.dim(texts.hint({ hasKeys: console.isInteractive })));
  const decisions = await client.call("listDecisions");
  // What waits in this conversation is asked at once.
  const elsewhere = decisions.ok ? decisions.value.items.filter(({ conversation }) => conversation !== id) : [];
  if (elsewhere.length > 0) console.say(style.attention(words.terminal.decision.wait({ count: elsewhere.length })));
  console.say("");
}

async function askAboutOlder(chat: Chat, older: Recovery["older"][number]): Promise<void> {
  const { client, console, words } = chat;
  const { chat: texts, command } = words.terminal;
  const title = older.title === "" ? command.untitled : safeLine(older.title, 60);
  console.say(texts.interruptedOld({ title, at: formatTime(older.updatedAt) }));
  const input = await readChoice(chat);
  if (input === "y") {
    const resumed = await client.call("resumeTurn", { params: { id: older.id } });
    const failure = resumed.ok ? await openStored(chat, { id: older.id }) : resumed.failure;
    if (failure !== undefined) console.say(`✗ ${failureText(words, failure)}`);
  }
  if (input === "n") await client.call("cancelTurn", { params: { id: older.id } });
}

/** Anything but a yes or a no leaves the turn as it is. */
async function readChoice({ console, words }: Chat): Promise<string> {
  for (;;) {
    const input = await console.read({ prompt: words.terminal.chat.goOnChoices(), want: "key", keys: ["y", "n", "l"] });
    if (input.kind === "key") return input.key;
    if (input.kind === "line") return /^\s*([yn])(es|o)?\s*$/i.exec(input.text)?.[1]?.toLowerCase() ?? "l";
    if (input.kind !== "woken") return "l";
  }
}

function refuse({ console, words }: Chat, failure: Failure | ClientFailure): number {
  console.note(`✗ ${commandFailureText(words, failure)}`);
  return exitCodes[exitReasonOf(failure.code)];
}
