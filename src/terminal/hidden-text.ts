/** More than any key has. */
const charactersMax = 10_000;

/** What is typed and shown nowhere. */
export class HiddenText {
  #text: string[] = [];

  get text(): string {
    return this.#text.join("");
  }

  /** How many characters there are. */
  get length(): number {
    return this.#text.length;
  }

  /** What is typed or pasted; control characters and the ends of lines are no part of it. */
  add(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are taken out.
    this.#text.push(...text.replace(/[\u0000-\u001f\u007f]/g, ""));
    this.#text.length = Math.min(this.#text.length, charactersMax);
  }

  erase(): void {
    this.#text.pop();
  }

  /** The same, and nothing is left of it here. */
  take(): string {
    const { text } = this;
    this.#text = [];
    return text;
  }
}
