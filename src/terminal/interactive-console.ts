import { clearLine, cursorTo } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import type { Clock } from "../base/clock.ts";
import {
  type Console,
  type Input,
  type InputStream,
  type OutputStream,
  type ReadOptions,
  type TypedLine,
  usualColumns,
} from "./console.ts";
import { HiddenText } from "./hidden-text.ts";
import type { JobControl } from "./job-control.ts";
import { KeyChoice } from "./key-choice.ts";
import { type Complete, type KeyPress, LineEditor } from "./line-editor.ts";
import { PasteBox } from "./paste.ts";
import { cellsOf } from "./safe-text.ts";

type Options = {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly prompt: string;
  readonly promptMore: string;
  readonly pasteLabel: (paste: { number: number; lines: number }) => string;
  readonly complete: Complete;
  /** Absent: Ctrl+Z does nothing. */
  readonly jobControl?: JobControl | undefined;
};

type Reading = {
  readonly options: ReadOptions;
  readonly resolve: (input: Input) => void;
  /** What was asked for with keys before a line was opened instead. */
  readonly asked?: ReadOptions;
};

/**
 * A terminal, line by line. While a person types, what happens is printed above the line, and an unfinished line of an
 * answer waits until it is finished or the person is.
 */
export class InteractiveConsole implements Console {
  readonly isInteractive = true;
  readonly isAttended = true;
  readonly #output: OutputStream;
  readonly #prompts: { readonly first: string; readonly more: string };
  readonly #editor: LineEditor;
  readonly #paste: PasteBox;
  readonly #jobControl: JobControl | undefined;
  readonly #forgetJobControl: (() => void) | undefined;
  readonly #arrived: Input[] = [];
  readonly #hidden = new HiddenText();
  readonly #choice: KeyChoice;
  /** Earlier lines of a message of several. */
  #lines: string[] = [];
  #unfinished = "";
  #reading: Reading | undefined;
  #isLineStart = true;
  #isWakeWanted = false;
  #isStatusShown = false;
  /** A choice was made and nothing is read yet: who types on means the next question, not a message. */
  #isBetweenKeys = false;

  constructor({ input, output, clock, prompt, promptMore, pasteLabel, complete, jobControl }: Options) {
    this.#output = output;
    this.#choice = new KeyChoice(clock, () => this.#restorePrompt());
    this.#prompts = { first: prompt, more: promptMore };
    this.#paste = new PasteBox(pasteLabel);
    this.#editor = new LineEditor({
      input,
      output,
      complete,
      onKey: (press) => this.#onKey(press),
      onEnd: () => this.end(),
    });
    this.#jobControl = jobControl;
    this.#forgetJobControl = jobControl?.onContinue(() => this.#resume());
  }

  get columns(): number {
    return this.#output.columns ?? usualColumns;
  }

  answer(text: string): void {
    if (text === "") return;
    this.#isLineStart = text.endsWith("\n");
    if (this.#isTyped()) return this.#printAbove(text);
    this.#clearStatus();
    this.#editor.hide();
    this.#output.write(text);
    this.#restorePrompt();
  }

  say(line: string): void {
    this.answer(`${this.#isLineStart ? "" : "\n"}${line}\n`);
  }

  note(line: string): void {
    this.say(line);
  }

  /** Only where nothing else stands on the line, and where it fits: what wraps cannot be taken back. */
  status(line: string | undefined): void {
    this.#clearStatus();
    const isFree = this.#isLineStart && !this.#editor.isVisible && !this.#isTyped();
    if (line === undefined || !isFree) return;
    if (cellsOf(stripVTControlCharacters(line)) >= this.columns) return;
    this.#output.write(line);
    this.#isStatusShown = true;
  }

  isTyping(): boolean {
    return this.#isTyped() || this.#arrived.length > 0;
  }

  read(options: ReadOptions): Promise<Input> {
    this.#isBetweenKeys = false;
    if (options.prefill !== undefined) this.#forgetTyped();
    const arrived = this.#arrived.shift();
    if (arrived !== undefined) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#reading = { options, resolve };
      if (options.want === "key") this.#awaitKeys();
      this.#restorePrompt();
      if (options.prefill !== undefined) this.#editor.insert(options.prefill);
      this.#wakeWhenFree();
    });
  }

  clear(): void {
    this.#lines = [];
    this.#editor.clear();
    this.#paste.unfold("");
    this.#clearLine();
  }

  putBack({ text, typed = text, pasted = new Map() }: TypedLine): void {
    const isAsked = this.#reading !== undefined && this.#reading.options.prompt !== this.#prompts.first;
    if (this.#isTyped() || isAsked) return;
    this.#paste.foldAgain(pasted);
    const lines = typed.split("\n");
    this.#lines = lines.slice(0, -1);
    this.#editor.insert(lines.at(-1) ?? "");
    // A turn may be waited for, without a prompt; what is typed needs one.
    if (this.#reading !== undefined) this.#restorePrompt();
  }

  wake(): void {
    this.#isWakeWanted = true;
    this.#wakeWhenFree();
  }

  end(): void {
    this.#deliver({ kind: "end" });
  }

  close(): void {
    this.#forgetJobControl?.();
    this.#choice.end();
    this.#clearStatus();
    this.#editor.leave("");
    this.#clearLine();
    this.#editor.close();
  }

  #onKey(press: KeyPress): void {
    const { key } = press;
    if (this.#paste.take(press, (text) => this.#insert(text))) return;
    if (this.#isHiding() && this.#hide(press)) return;
    const isWayBack = key.name === "escape" || (key.ctrl && key.name === "c");
    if (isWayBack && this.#reading?.asked !== undefined) return this.#askKeysAgain();
    if (key.ctrl && key.name === "c") return this.#deliver({ kind: "interrupt", isTyped: this.#isTyped() });
    if (key.ctrl && key.name === "z") return this.#suspend();
    if (key.name === "escape") return this.#deliver({ kind: "stop" });
    if (key.ctrl && key.name === "d" && !this.#isTyped()) return this.#deliver({ kind: "end" });
    if (this.#reading?.options.want === "key") return this.#choose(press);
    if (this.#isBetweenKeys) return;
    if (key.name === "return") return this.#submit({ isMoreWanted: false });
    if (key.name === "enter") return this.#submit({ isMoreWanted: true }); // Ctrl+J.
    const isText = press.text >= " " && !key.ctrl && !key.meta;
    if (this.#editor.isVisible || isText || key.name === "up") this.#type(() => this.#editor.press(press));
  }

  #type(edit: () => void): void {
    if (this.#reading?.options.want === "key" || this.#isBetweenKeys) return;
    this.#showPrompt();
    edit();
    if (this.#isTyped()) return;
    if (this.#reading?.asked !== undefined) return this.#askKeysAgain();
    this.#clearLine();
    this.#restorePrompt();
    this.#wakeWhenFree();
  }

  #insert(pasted: string): void {
    if (this.#isHiding()) this.#hidden.add(this.#paste.unfold(pasted).text);
    else this.#type(() => this.#editor.insert(pasted));
  }

  #isHiding(): boolean {
    return this.#reading?.options.isHidden === true;
  }

  /** Nothing of it is printed, and the editor never has it. What ends or suspends it is not taken. */
  #hide({ text, key }: KeyPress): boolean {
    const isEnter = key.name === "return" || key.name === "enter";
    if (key.name === "escape") return false;
    if (key.ctrl === true) return !["c", "d", "z"].includes(key.name ?? "");
    if (isEnter) this.#deliver({ kind: "line", text: this.#hidden.take() });
    else if (key.name === "backspace") this.#hidden.erase();
    else if (!text.startsWith("\u001b")) this.#hidden.add(text);
    return true;
  }

  #submit({ isMoreWanted }: { isMoreWanted: boolean }): void {
    if (!this.#editor.isVisible) return;
    const line = this.#editor.submit();
    const isContinued = line.endsWith("\\");
    this.#lines.push(isContinued ? line.slice(0, -1) : line);
    if (isContinued || isMoreWanted) return this.#editor.show(this.#prompt());
    const typed = this.#lines.join("\n");
    const { text, pasted } = this.#paste.unfold(typed);
    this.#lines = [];
    this.#deliver({ kind: "line", text, ...(typed !== text && { typed, pasted }) });
  }

  /** Only the one key that somebody pressed at what they see is a choice; the rest of a sentence is not. */
  #choose({ text, isAlone }: KeyPress): void {
    const isChoice = this.#choice.take({ isAlone });
    if (text === "/") return this.#openLine(text);
    const key = text.toLowerCase();
    if (!isChoice || !this.#reading?.options.keys?.includes(key)) return;
    this.#editor.leave(key);
    this.#deliver({ kind: "key", key });
    this.#isBetweenKeys = true;
  }

  #awaitKeys(): void {
    if (this.#isTyped()) this.#openLine("");
    else this.#choice.begin();
  }

  /** In place of a key a line is read: a command, or what somebody was writing. */
  #openLine(text: string): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#choice.end();
    this.#editor.hide();
    const options = { prompt: this.#prompts.first, want: "line" } as const;
    this.#reading = { options, resolve: reading.resolve, asked: reading.options };
    this.#showPrompt();
    this.#editor.insert(text);
  }

  #askKeysAgain(): void {
    const { resolve, asked } = this.#reading ?? {};
    if (resolve === undefined || asked === undefined) return;
    this.clear();
    this.#reading = { options: asked, resolve };
    this.#awaitKeys();
    this.#wakeWhenFree();
  }

  /** Lines that were sent off or half typed; Ctrl+C and the end of input stay. */
  #forgetTyped(): void {
    const others = this.#arrived.filter(({ kind }) => kind !== "line");
    this.#arrived.splice(0, this.#arrived.length, ...others);
    this.clear();
  }

  #suspend(): void {
    if (this.#jobControl === undefined) return;
    this.#clearStatus();
    this.#editor.giveTerminalBack();
    this.#jobControl.stop();
    this.#resume();
  }

  /** Also after a stop that was not ours: the shell has its own idea of how a terminal is set. */
  #resume(): void {
    const isShown = this.#editor.isVisible;
    this.#editor.takeTerminal();
    if (isShown) this.#editor.show(this.#prompt());
    else this.#restorePrompt();
  }

  #wakeWhenFree(): void {
    if (!this.#isWakeWanted || this.#reading === undefined || this.#isTyped()) return;
    this.#isWakeWanted = false;
    this.#deliver({ kind: "woken" });
  }

  #deliver(input: Input): void {
    const reading = this.#reading;
    if (reading === undefined) {
      this.#arrived.push(input);
      return;
    }
    this.#reading = undefined;
    this.#hidden.take();
    this.#choice.end();
    if (!this.#isTyped()) this.#clearLine();
    reading.resolve(input);
  }

  #printAbove(text: string): void {
    const all = this.#unfinished + text;
    const end = all.lastIndexOf("\n") + 1;
    this.#unfinished = all.slice(end);
    if (end === 0) return;
    this.#editor.hide();
    this.#output.write(all.slice(0, end));
    this.#editor.show(this.#prompt());
  }

  #clearLine(): void {
    this.#editor.hide();
    this.#output.write(this.#unfinished);
    this.#unfinished = "";
  }

  #restorePrompt(): void {
    const want = this.#reading?.options.want;
    const isWanted = want === "line" || (want === "key" && this.#choice.isShown);
    if (isWanted || this.#isTyped()) this.#showPrompt();
  }

  #clearStatus(): void {
    if (!this.#isStatusShown) return;
    this.#isStatusShown = false;
    cursorTo(this.#output, 0);
    clearLine(this.#output, 0);
  }

  #showPrompt(): void {
    if (this.#editor.isVisible) return;
    this.#clearStatus();
    if (!this.#isLineStart) this.#output.write("\n");
    this.#isLineStart = true;
    this.#editor.show(this.#prompt());
  }

  #prompt(): string {
    return this.#lines.length > 0 ? this.#prompts.more : (this.#reading?.options.prompt ?? this.#prompts.first);
  }

  #isTyped(): boolean {
    return this.#editor.text !== "" || this.#lines.length > 0 || this.#hidden.length > 0;
  }
}
