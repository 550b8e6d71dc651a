import type { Readable, Writable } from "node:stream";
import type { FollowFrame } from "../client/client.ts";
import type { LogEvent } from "../protocol/events.ts";
import type { Words } from "../words/words.ts";
import type { Style } from "./style.ts";

/** The person's side of a chat: a terminal with keys, or lines from a pipe. */
export interface Console {
  /** Keys, and text that appears as it comes. */
  readonly isInteractive: boolean;
  /** Somebody sits there: greeted, prompted and asked; also where there are lines only. */
  readonly isAttended: boolean;
  /** Cells of a line. */
  readonly columns: number;
  /** Text of an answer, in pieces as it arrives. */
  answer(text: string): void;
  /** A whole line of an answer to a command. */
  say(line: string): void;
  /** A whole line about what happens: tools, attempts, connection. */
  note(line: string): void;
  /** A passing line at the bottom, in place of the one before; whatever else is printed takes it away. Not in a pipe. */
  status(line: string | undefined): void;
  /** A line is half typed, or typed and not yet read: nothing may take the keyboard now. */
  isTyping(): boolean;
  /** The next thing the person does. What was typed so far stays in the line when it answers `woken`. */
  read(options: ReadOptions): Promise<Input>;
  /** Forgets what is typed. */
  clear(): void;
  /** A line that was read stands there again, to be corrected; not where somebody types or is asked. Not in a pipe. */
  putBack(line: TypedLine): void;
  /** Makes the pending read, or the next one, answer `woken`; waits while a line is half typed. */
  wake(): void;
  /** Makes the pending read, or the next one, answer `end`, whatever is typed. */
  end(): void;
  close(): void;
  /** What lines cannot do. */
  readonly screen?: RichScreen;
}

/** A terminal that is drawn, not only written: what is live stands below what was said. */
export type RichScreen = {
  /** Shows what happens in a conversation. */
  turnDisplay(options: TurnDisplayOptions): TurnDisplay;
  /** What was sent and has not been read yet. */
  showWaiting(messages: readonly WaitingMessage[]): void;
  /** What stands on the line at the bottom. */
  showFacts(facts: Facts): void;
  /** Words that were sent and withdrawn stand in the editor again, before what is typed there. */
  giveBack(text: string): void;
  /** Words as the person's own. */
  showSaid(text: string): void;
  /** An answer that was given before. */
  showAnswer(text: string): void;
};

export interface TurnDisplay {
  show(frame: FollowFrame): void;
  /** An event that stands on the screen already, or need not. */
  learn(event: LogEvent): void;
}

export type TurnDisplayOptions = {
  readonly words: Words;
  readonly style: Style;
  /** Whether a message was typed here: it need not be shown again. */
  readonly isOwn: (message: string) => boolean;
  /** Whether it was us who went back, asked once for each time: who does it tells what became of the files. */
  readonly isOwnReturn: () => boolean;
  /** The bytes of a file of the conversation; undefined where they are not to be had, or are too many to look at. */
  readonly readImage?: (path: string) => Promise<Buffer | undefined>;
};

export type WaitingMessage = { readonly text: string; readonly mode: "queue" | "steer" | "opening" };

export type Facts = {
  readonly state: "idle" | "running" | "waiting";
  readonly conversation: string;
  readonly model: string;
  /** Of the model's window; absent before anything was said. */
  readonly tokens?: { readonly percent: number; readonly isMuch: boolean };
  /** Decisions that wait, here and elsewhere. */
  readonly decisions: number;
};

export type ReadOptions = {
  readonly prompt: string;
  /**
   * `line`: edited text; `key`: one key, pressed alone and after a moment of quiet, where `/` opens the line for a
   * command (and a line is the answer); `aside`: a turn runs, the prompt appears with the first key.
   */
  readonly want: "line" | "key" | "aside";
  /** The keys that are taken; all others do nothing. */
  readonly keys?: readonly string[];
  /** Text to begin with, in place of whatever was typed before it stood there. */
  readonly prefill?: string;
  /** A line that is shown nowhere and not kept: a key. Not in a pipe. */
  readonly isHidden?: true;
};

export type Input =
  | ({ readonly kind: "line" } & TypedLine)
  | { readonly kind: "key"; readonly key: string }
  /** Ctrl+C; what is typed stays until somebody clears it. */
  | { readonly kind: "interrupt"; readonly isTyped: boolean }
  /** Esc. */
  | { readonly kind: "stop" }
  /** Ctrl+D on an empty line, or the end of what was piped in. */
  | { readonly kind: "end" }
  | { readonly kind: "woken" }
  /** Alt+Up: the last message that waits is to come back. */
  | { readonly kind: "withdraw" };

export type TypedLine = {
  readonly text: string;
  /** Where several lines were pasted: the same with a label in place of each, and what each label stands for. */
  readonly typed?: string;
  readonly pasted?: ReadonlyMap<string, string>;
  /** Tab in place of Enter: after the running turn. */
  readonly isQueued?: true;
};

/** An entry of a menu. */
export type Suggestion = { readonly value: string; readonly label: string; readonly description?: string };
/** What the end of a text can become, and that end. */
export type Suggest = (text: string) => { readonly begun: string; readonly items: readonly Suggestion[] } | undefined;

/** Where nobody says how many cells a line has. */
export const usualColumns = 80;

export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
