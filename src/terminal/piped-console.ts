import type { Writable } from "node:stream";
import { throwUnlessStream } from "../base/fault.ts";
import { type Console, type Input, type InputStream, type ReadOptions, usualColumns } from "./console.ts";
import { readLines } from "./lines.ts";

/**
 * Lines from a pipe or a file, answers on standard output, what happens meanwhile on standard error. Attended: from a
 * terminal without keys (TERM=dumb), with prompts.
 */
export class PipedConsole implements Console {
  readonly isInteractive = false;
  readonly isAttended: boolean;
  readonly columns = usualColumns;
  readonly #input: InputStream;
  readonly #output: Writable;
  readonly #errors: Writable;
  readonly #lines: AsyncIterator<string, undefined>;
  #reading: { readonly isLineWanted: boolean; readonly resolve: (input: Input) => void } | undefined;
  #next: Input | undefined;
  #isFetching = false;
  #isWakeWanted = false;
  #isEnded = false;
  #isPrompted = false;

  constructor(streams: { input: InputStream; output: Writable; errors: Writable; isAttended?: boolean }) {
    this.isAttended = streams.isAttended ?? false;
    this.#input = streams.input;
    this.#output = streams.output;
    this.#errors = streams.errors;
    this.#lines = readLines(streams.input);
  }

  answer(text: string): void {
    this.#leavePrompt();
    this.#output.write(text);
  }

  say(line: string): void {
    this.#leavePrompt();
    this.#output.write(`${line}\n`);
  }

  note(line: string): void {
    this.#leavePrompt();
    this.#errors.write(`${line}\n`);
  }

  /** Nothing passes in a pipe: what is written stays. */
  status(): void {}

  isTyping(): boolean {
    return false;
  }

  /** While a turn runs no line is taken: each message waits for the end of the turn before it. */
  read({ want, prompt }: ReadOptions): Promise<Input> {
    const isLineWanted = want !== "aside";
    if (isLineWanted) this.#fetch();
    if (isLineWanted && this.isAttended && !this.#isPrompted && !this.#isWakeWanted && this.#next === undefined) {
      this.#isPrompted = true;
      this.#output.write(prompt);
    }
    return new Promise((resolve) => {
      this.#reading = { isLineWanted, resolve };
      this.#settle();
    });
  }

  /** Nobody types here. */
  clear(): void {}

  putBack(): void {}

  wake(): void {
    this.#isWakeWanted = true;
    this.#settle();
  }

  end(): void {
    this.#isEnded = true;
    this.#settle();
  }

  close(): void {
    this.#leavePrompt();
    this.#input.destroy();
  }

  #leavePrompt(): void {
    if (this.#isPrompted) this.#output.write("\n");
    this.#isPrompted = false;
  }

  #fetch(): void {
    if (this.#isFetching || this.#next !== undefined) return;
    this.#isFetching = true;
    // `close` takes the input away while a line is waited for, and a terminal may be gone: nothing more comes then.
    const ended = (error: unknown) => {
      throwUnlessStream(error);
      return { value: undefined };
    };
    void this.#lines
      .next()
      .catch(ended)
      .then(({ value }) => {
        this.#isFetching = false;
        this.#next = value === undefined ? { kind: "end" } : { kind: "line", text: value };
        this.#settle();
      });
  }

  #settle(): void {
    if (this.#isEnded) return this.#deliver({ kind: "end" });
    if (this.#isWakeWanted) return this.#deliver({ kind: "woken" });
    if (this.#next !== undefined && this.#reading?.isLineWanted) this.#deliver(this.#next);
  }

  #deliver(input: Input): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    if (input.kind === "woken") this.#isWakeWanted = false;
    if (input.kind === "line") {
      this.#next = undefined;
      this.#isPrompted = false; // The terminal has gone to the next line with the Enter.
    }
    reading.resolve(input);
  }
}
