import type { ClientFailure } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import type { Slot } from "../protocol/message.ts";
import type { Decision } from "../protocol/resources.ts";
import type { SearchHit } from "../protocol/search-routes.ts";
import type { Language, Words } from "../words/words.ts";
import { askDecision, type DecisionEnd } from "./decisions.ts";
import { failureText } from "./failure-text.ts";
import { formatTime } from "./format.ts";
import type { LocalPlace } from "./local-files.ts";
import type { KnownMentions } from "./mentions.ts";
import { type ConversationParts, OpenConversation } from "./open-conversation.ts";
import { safeText } from "./safe-text.ts";
import { lastSaid, readRecent, type Said } from "./said-before.ts";

/** A chat in progress: what the loop and the commands change. */
export type Chat = ConversationParts & {
  current: OpenConversation;
  slot: Slot | undefined;
  /** What is being copied to this machine. */
  saving: Saving | undefined;
  /** What the last search found, for `/open`. */
  found: readonly SearchHit[];
  /** Where files that are named lie. */
  readonly place: LocalPlace;
  readonly mentions: KnownMentions;
  /** What only the machine of the person can do; absent in tests and pipes of others. */
  readonly machine?: Machine | undefined;
  /** From now on the words are those of another language. */
  readonly speak: (language: Language) => void;
  /** Decisions that are not to be asked here again: put off (/inbox has them), or made, whenever the event of it comes. */
  readonly dealtWith: Set<string>;
};

export type Machine = {
  /** Opens a file with the program that this machine has for it; false where it has none. */
  open(path: string): Promise<boolean>;
  /** What the machine can do, in lines. */
  examine(words: Words): Promise<readonly string[]>;
  /** Starts this program once more; hears its standard output line by line. */
  start(
    args: readonly string[],
    onLine: (line: string) => void,
  ): { kill(): void; readonly exited: Promise<number | undefined> };
};

type Saving = { readonly stop: AbortController; readonly done: Promise<void> };

type Stored = { readonly id: string; readonly heading?: string };

const messagesShownMax = 6;

/** Leaves the conversation on the screen; its turn goes on without us. */
export function startNew(chat: Chat): void {
  leaveCurrent(chat);
  chat.current = new OpenConversation(chat);
}

/** Goes on with a stored conversation and shows what was said last. */
export async function openStored(chat: Chat, { id, heading }: Stored): Promise<ClientFailure | undefined> {
  const state = await chat.client.call("getState", { params: { id } });
  if (!state.ok) return state.failure;
  const { head, status, decisions, filesRemovedAt } = state.value;
  const recent = await readRecent(chat.client, id, head);
  if (chat.current.id !== id) leaveCurrent(chat);
  chat.current.close();
  chat.current = new OpenConversation(chat, { id });
  if (heading !== undefined) chat.console.say(heading);
  for (const said of lastSaid(recent, messagesShownMax)) showSaid(chat, said);
  if (filesRemovedAt !== null) {
    const { files } = chat.words.terminal;
    chat.console.say(chat.style.attention(`! ${files.removed({ at: formatTime(filesRemovedAt) })}`));
  }
  chat.current.attach({ head, isRunning: status !== "idle", decisions }, recent);
  return undefined;
}

function showSaid({ console, style, words }: Chat, { who, text }: Said): void {
  const isPerson = who === "person";
  if (console.screen === undefined)
    return console.say(style.dim(`${isPerson ? words.terminal.chat.prompt : ""}${safeText(text)}`));
  if (isPerson) console.screen.showSaid(safeText(text));
  else console.screen.showAnswer(text);
}

/** Puts a decision to the person, of this conversation or of another. */
export async function askPerson(chat: Chat, decision: Decision, listed?: readonly Decision[]): Promise<DecisionEnd> {
  const { current } = chat;
  const isHere = decision.conversation === current.id;
  const end = await askDecision(decision, {
    ...chat,
    here: current.id,
    others: () => (listed ?? current.decisions).filter(({ id }) => !current.deciding.has(id)),
    isOpen: () => !isHere || current.hasDecision(decision.id),
    deciding: current.deciding,
  });
  // A line in place of an answer: it is asked again afterwards.
  if (typeof end === "string" || end.kind !== "line") chat.dealtWith.add(decision.id);
  return end;
}

/** A failure as the answer to a command. */
export function sayFailure({ console, style, words }: Chat, failure: Failure | ClientFailure): undefined {
  console.say(style.bad(`✗ ${failureText(words, failure)}`));
}

function leaveCurrent({ current, console, words }: Chat): void {
  if (current.isRunning) console.say(words.terminal.chat.turnGoesOnThere({ id: current.id.slice(0, 8) }));
  current.close();
}
