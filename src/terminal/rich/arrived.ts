import type { Input, WaitingMessage } from "../console.ts";

type Arrival = {
  readonly input: Input;
  /** What is to be shown as said when somebody reads it: it was entered before there was a conversation. */
  readonly unsaid?: string;
};

/** What the person did while nobody read it, in its order. */
export class Arrived {
  #arrivals: Arrival[] = [];

  get isEmpty(): boolean {
    return this.#arrivals.length === 0;
  }

  /** Messages that wait until there is a conversation. */
  get waiting(): readonly WaitingMessage[] {
    return this.#arrivals.flatMap(({ unsaid }) => (unsaid === undefined ? [] : [{ text: unsaid, mode: "opening" }]));
  }

  add(input: Input, unsaid?: string): void {
    this.#arrivals.push({ input, ...(unsaid !== undefined && { unsaid }) });
  }

  /** The first; where something is asked, what was entered before anybody could ask is no answer. */
  take({ isQuestion }: { readonly isQuestion: boolean }): Arrival | undefined {
    const at = this.#arrivals.findIndex(({ unsaid }) => !isQuestion || unsaid === undefined);
    return at < 0 ? undefined : this.#arrivals.splice(at, 1)[0];
  }

  /** The last message that waits is to be typed anew. */
  withdraw(): string | undefined {
    const at = this.#arrivals.findLastIndex(({ unsaid }) => unsaid !== undefined);
    const [taken] = at < 0 ? [] : this.#arrivals.splice(at, 1);
    return taken?.input.kind === "line" ? taken.input.text : undefined;
  }

  /** Ctrl+C and the end of input stay, and messages that are shown as waiting. */
  forgetLines(): void {
    this.#arrivals = this.#arrivals.filter(({ input, unsaid }) => input.kind !== "line" || unsaid !== undefined);
  }
}
