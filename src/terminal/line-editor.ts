import {
  clearScreenDown,
  createInterface,
  cursorTo,
  emitKeypressEvents,
  type Interface,
  type Key,
  moveCursor,
} from "node:readline";
import { PassThrough, Writable } from "node:stream";
import type { InputStream, OutputStream } from "./console.ts";

/** What the end of a line can become, and that end. What the candidates have in common takes its place. */
export type Complete = (line: string) => [candidates: string[], end: string];
export type KeyPress = {
  readonly text: string;
  readonly key: Key;
  /** Nothing else came with it: a person pressed one key, nobody typed on or pasted. */
  readonly isAlone: boolean;
};

/**
 * One editable line at the bottom of the screen, with history and completion: readline's own. The keys are ours: readline
 * is fed key by key, so that a decision, a paste or Esc can take them first; and its output passes a gate, so that it
 * writes nothing while the line is hidden.
 */
export class LineEditor {
  readonly #input: InputStream;
  readonly #output: OutputStream;
  readonly #readline: Interface;
  #isVisible = false;

  constructor(options: {
    input: InputStream;
    output: OutputStream;
    complete: Complete;
    onKey: (press: KeyPress) => void;
    onEnd: () => void;
  }) {
    this.#input = options.input;
    this.#output = options.output;
    const setRawMode = (on: boolean) => options.input.setRawMode?.(on);
    this.#readline = createInterface({
      input: Object.assign(new PassThrough(), { setRawMode }),
      output: new Gate(options.output, () => this.#isVisible),
      terminal: true,
      historySize: 500,
      removeHistoryDuplicates: true,
      // Esc alone and the first byte of an arrow key look the same: so long we wait for the rest.
      escapeCodeTimeout: 50,
      completer: options.complete,
    });
    let chunk = "";
    // Before the listener that makes keys of it.
    options.input.on("data", (data: string | Buffer) => {
      chunk = data.toString();
    });
    emitKeypressEvents(options.input, this.#readline);
    options.input.on("keypress", (text = "", key: Key) => options.onKey({ text, key, isAlone: chunk === text }));
    options.input.on("end", options.onEnd);
    options.input.on("error", options.onEnd); // The terminal was closed.
    options.input.resume();
    options.output.on("resize", () => this.#isVisible && this.#readline.prompt(true));
    options.output.write(pasteMarksOn);
  }

  get text(): string {
    return this.#readline.line;
  }

  get isVisible(): boolean {
    return this.#isVisible;
  }

  /** The cursor must stand at the start of a line. */
  show(prompt: string): void {
    this.#isVisible = true;
    this.#readline.setPrompt(prompt);
    this.#readline.prompt(true);
  }

  /** Takes prompt and text off the screen; the text stays in the line. */
  hide(): void {
    if (!this.#isVisible) return;
    moveCursor(this.#output, 0, -this.#readline.getCursorPos().rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    this.#isVisible = false;
    // Unseen, behind the closed gate: readline forgets on how many rows the line stood.
    this.#readline.prompt(true);
  }

  press({ text, key }: Pick<KeyPress, "text" | "key">): void {
    this.#readline.write(text, key);
  }

  insert(text: string): void {
    this.#readline.write(text);
  }

  clear(): void {
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
  }

  /** Ends the line on the screen, keeps it in the history and answers its text. */
  submit(): string {
    const { text } = this;
    this.#readline.write(null, { name: "return" });
    this.#isVisible = false;
    return text;
  }

  /** Leaves prompt and text on the screen with an ending, and goes to the next line. */
  leave(ending: string): void {
    if (this.#isVisible) this.#output.write(`${ending}\r\n`);
    this.#isVisible = false;
  }

  /** As another program needs it; what is typed stays in the line. */
  giveTerminalBack(): void {
    this.hide();
    this.#output.write(pasteMarksOff);
    this.#input.setRawMode?.(false);
  }

  takeTerminal(): void {
    this.hide();
    // Off first: only a change is carried out, and what was set meanwhile is not known here.
    this.#input.setRawMode?.(false);
    this.#input.setRawMode?.(true);
    this.#output.write(pasteMarksOn);
  }

  close(): void {
    this.leave("");
    this.#output.write(pasteMarksOff);
    this.#readline.close();
    this.#input.pause();
  }
}

/** With these the terminal marks what is pasted, so that a pasted line break sends nothing. */
const pasteMarksOn = "\u001b[?2004h";
const pasteMarksOff = "\u001b[?2004l";

class Gate extends Writable {
  readonly isTTY = true;
  readonly #output: OutputStream;
  readonly #isOpen: () => boolean;

  constructor(output: OutputStream, isOpen: () => boolean) {
    super({ decodeStrings: false });
    this.#output = output;
    this.#isOpen = isOpen;
  }

  /** A hidden line stands on one row, however long it is. */
  get columns(): number | undefined {
    return this.#isOpen() ? this.#output.columns : undefined;
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: () => void): void {
    if (this.#isOpen()) this.#output.write(chunk);
    done();
  }
}
