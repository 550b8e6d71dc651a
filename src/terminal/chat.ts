import type { Writable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Client } from "../client/client.ts";
import type { LogEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import { hasVisible, type Slot } from "../protocol/message.ts";
import type { Decision } from "../protocol/resources.ts";
import { type Language, type Words, wordsFor } from "../words/words.ts";
import { beginChat, type ChatStart } from "./chat-start.ts";
import { askPerson, type Chat, type Machine } from "./chat-state.ts";
import { lineCompleter } from "./complete-line.ts";
import type { Console, Input, InputStream, OutputStream, Suggest, TypedLine } from "./console.ts";
import { exitCodes, exitReasonOfTurn } from "./exit-codes.ts";
import { FactsLine } from "./facts-line.ts";
import { failureText } from "./failure-text.ts";
import { InteractiveConsole } from "./interactive-console.ts";
import { type JobControl, processJobControl } from "./job-control.ts";
import type { LocalPlace } from "./local-files.ts";
import { KnownMentions } from "./mentions.ts";
import { OpenConversation } from "./open-conversation.ts";
import { PipedConsole } from "./piped-console.ts";
import { safeLine } from "./safe-text.ts";
import { sendLine } from "./send-line.ts";
import { SentFiles } from "./sent-files.ts";
import { completeSlashCommand, isSlashCommand, runSlashCommand, withdrawLast } from "./slash-commands.ts";
import { type Style, styleFor } from "./style.ts";
import { lineSuggester } from "./suggest.ts";

export type ChatOptions = ChatStart & {
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly errors: Writable;
  /** Keys and prompts for a person; otherwise lines in, answers out. */
  readonly isInteractive: boolean;
  readonly color: boolean;
  readonly place: LocalPlace;
  readonly machine?: Machine | undefined;
  /** The slot to prefer until /model says otherwise. */
  readonly slot?: Slot | undefined;
  /** Where the process has something to tell meanwhile. */
  readonly onNotice?: (take: (line: string) => void) => void;
  /** Fires when the process is told to end. */
  readonly leave: AbortSignal;
  /** Present: the terminal is drawn. */
  readonly openRich?: ((options: RichParts) => Console) | undefined;
};

/** What a drawn terminal needs of a chat. */
export type RichParts = {
  readonly words: Words;
  readonly style: Style;
  readonly clock: Clock;
  readonly prompt: string;
  readonly suggest: Suggest;
  readonly jobControl: JobControl;
  /** The folder in which the person is. */
  readonly folder: string;
};

/** A second Ctrl+C within this time leaves. */
const leaveWithinMs = 2_000;

/** The plain terminal. Answers the exit code. */
export async function chat(options: ChatOptions): Promise<number> {
  const { client, clock, ids, leave, place, slot, machine } = options;
  // Everybody holds these same words, so that another language is there for all at once.
  const words = { ...options.words };
  const speak = (language: Language) => void Object.assign(words, wordsFor(language));
  const mentions = new KnownMentions();
  const console = openConsole({ ...options, words }, mentions);
  const facts = new FactsLine(() => chat);
  const parts = {
    ...{ client, words, clock, ids, console, style: styleFor(options), sentFiles: new SentFiles() },
    onNews: (event: LogEvent) => facts.take(event),
  };
  const current = new OpenConversation(parts);
  const chat: Chat = {
    ...{ ...parts, place, slot, current, mentions, machine, speak, saving: undefined, found: [], dealtWith: new Set() },
  };
  options.onNotice?.((line) => console.note(parts.style.attention(`! ${line}`)));
  const end = () => console.end();
  if (leave.aborted) end();
  leave.addEventListener("abort", end);
  try {
    const failed = await beginChat(chat, options);
    if (console.isInteractive) await mentions.refresh(client);
    return failed ?? (await converse(chat, facts, options));
  } finally {
    leave.removeEventListener("abort", end);
    chat.saving?.stop.abort();
    await chat.saving?.done;
    await chat.current.leave();
    console.close();
    // Below what was drawn, on a terminal that is the shell's again.
    const canComeBack = options.openRich !== undefined && chat.current.isStored && !chat.current.isGone;
    if (canComeBack) options.output.write(`${parts.style.dim(words.terminal.chat.comeBack())}\n`);
  }
}

async function converse(chat: Chat, facts: FactsLine, { leave }: ChatOptions): Promise<number> {
  const stops = new Stops(chat);
  let wasRunning = false;
  for (;;) {
    const { console, current } = chat;
    if (wasRunning && !current.isRunning) await sayTokens(chat);
    wasRunning = current.isRunning;
    void facts.look();
    const decision = nextDecision(chat);
    const input = decision === undefined ? await readNext(chat) : await askAbout(chat, decision);
    if (leave.aborted) return leaveNow(chat);
    const code =
      input.kind === "end"
        ? endOfInput(chat, decision)
        : input.kind === "line"
          ? await takeLine(chat, input)
          : await stops.take(input);
    if (code === undefined) continue;
    const isGoingOn = chat.current.isRunning && !chat.current.isUploading;
    if (console.isAttended && isGoingOn) console.say(chat.words.terminal.chat.turnGoesOnLater());
    return code;
  }
}

function readNext({ console, current, saving, style, words }: Chat): Promise<Input> {
  const isBusy = current.isRunning || saving !== undefined;
  return console.read({ prompt: style.strong(words.terminal.chat.prompt), want: isBusy ? "aside" : "line" });
}

/** Never takes the keyboard from somebody who is typing. */
function nextDecision({ console, current, dealtWith }: Chat): Decision | undefined {
  return console.isTyping() ? undefined : current.decisions.find(({ id }) => !dealtWith.has(id));
}

async function askAbout(chat: Chat, decision: Decision): Promise<Input> {
  const end = await askPerson(chat, decision);
  return typeof end === "string" ? { kind: "woken" } : end;
}

async function takeLine(chat: Chat, line: TypedLine): Promise<number | undefined> {
  const text = line.text.trim();
  if (!hasVisible(text)) return undefined;
  if (isSlashCommand(text)) return runSlashCommand(chat, line);
  await sendLine(chat, line, { isQueued: line.isQueued === true, line });
  return undefined;
}

/**
 * Esc and Ctrl+C: what is being saved or a running turn is stopped; at rest, or when stopping does not help, the second
 * Ctrl+C leaves.
 */
class Stops {
  readonly #chat: Chat;
  #stopped: { readonly conversation: OpenConversation; readonly at: number } | undefined;
  #interruptedAt = Number.NEGATIVE_INFINITY;

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  async take(input: Input): Promise<number | undefined> {
    const { current, clock, console, saving, words } = this.#chat;
    const now = clock.monotonic();
    if (input.kind === "withdraw") return void (await withdrawLast(this.#chat));
    const isStop = input.kind === "stop" || input.kind === "interrupt";
    if (!current.isRunning) this.#stopped = undefined;
    if (saving !== undefined && !saving.stop.signal.aborted && isStop) {
      saving.stop.abort();
    } else if (current.isRunning && isStop) {
      const isStuck = this.#stopped?.conversation === current && now - this.#stopped.at < leaveWithinMs;
      if (input.kind === "interrupt" && isStuck) return exitCodes.interrupted;
      this.#stopped = { conversation: current, at: now };
      await current.cancel();
    } else if (input.kind === "interrupt") {
      if (now - this.#interruptedAt < leaveWithinMs && !input.isTyped) return exitCodes.interrupted;
      this.#interruptedAt = now;
      console.clear();
      console.note(words.terminal.chat.leaveHint());
    }
    return undefined;
  }
}

async function sayTokens({ client, console, current, mentions, style, words }: Chat): Promise<void> {
  if (console.isInteractive) await mentions.refresh(client);
  const state = console.isInteractive ? await client.call("getState", { params: { id: current.id } }) : undefined;
  if (!state?.ok || state.value.tokens.level === "info") return;
  const { used, window, level } = state.value.tokens;
  const { chat: texts } = words.terminal;
  console.note(
    style.attention(texts.tokens({ percent: Math.round((100 * used) / window), level: texts.level[level] })),
  );
}

function endOfInput({ console, current, words }: Chat, decision: Decision | undefined): number {
  if (console.isAttended) return exitCodes.done;
  if (decision !== undefined) {
    const failure = makeFailure("nobody_to_ask", { tool: safeLine(decision.tool, 64) });
    console.note(`✗ ${failureText(words, failure)}`);
    return exitCodes.approval_needed;
  }
  return current.lastEnd === undefined ? exitCodes.done : exitCodes[exitReasonOfTurn(current.lastEnd)];
}

/** Nobody is there to see a turn in a pipe go on; in a terminal it goes on at the next start. */
async function leaveNow({ console, current }: Chat): Promise<number> {
  if (!console.isInteractive && current.isRunning) await current.cancel();
  return exitCodes.interrupted;
}

function openConsole(options: ChatOptions, mentions: KnownMentions): Console {
  const { input, output, errors, isInteractive, clock, words, color, place } = options;
  const isAttended = input.isTTY === true && output.isTTY === true;
  if (!isInteractive) return new PipedConsole({ input, output, errors, isAttended });
  const { chat: texts } = words.terminal;
  const style = styleFor({ color });
  const { strong } = style;
  if (options.openRich !== undefined) {
    const suggest = lineSuggester(words, place, mentions);
    const prompt = strong(texts.prompt);
    return options.openRich({
      ...{ words, style, clock, prompt, suggest, jobControl: processJobControl, folder: place.folder },
    });
  }
  return new InteractiveConsole({
    ...{ input, output, clock, prompt: strong(texts.prompt), promptMore: texts.promptMore },
    pasteLabel: texts.pasted,
    complete: lineCompleter(completeSlashCommand, place, mentions),
    jobControl: input === process.stdin ? processJobControl : undefined,
  });
}
