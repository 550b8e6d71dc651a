import type { KeyPress } from "./line-editor.ts";

/** What is pasted between the terminal's marks: one piece of text, whatever keys it would be. */
export class PasteBox {
  readonly #label: (paste: { number: number; lines: number }) => string;
  #kept = new Map<string, string>();
  #open: string | undefined;

  constructor(label: (paste: { number: number; lines: number }) => string) {
    this.#label = label;
  }

  /** Whether the key belonged to a paste; at its end `insert` gets the text, or a label for several lines. */
  take({ text, key }: Pick<KeyPress, "text" | "key">, insert: (text: string) => void): boolean {
    if (key.name === "paste-start") {
      this.#open = "";
      return true;
    }
    if (this.#open === undefined) return false;
    if (key.name === "paste-end") {
      insert(this.#fold(this.#open));
      this.#open = undefined;
    } else {
      this.#open += text;
    }
    return true;
  }

  /** Labels back into the text they stand for; these are forgotten here, and answered. */
  unfold(line: string): { readonly text: string; readonly pasted: ReadonlyMap<string, string> } {
    const pasted = this.#kept;
    let text = line;
    for (const [label, lines] of pasted) text = text.replace(label, () => lines);
    this.#kept = new Map();
    return { text, pasted };
  }

  /** These labels stand for their texts again. */
  foldAgain(pasted: ReadonlyMap<string, string>): void {
    this.#kept = new Map(pasted);
  }

  #fold(raw: string): string {
    const text = raw
      .replace(/\r\n?/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: keys that were pasted are no text.
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "")
      .replace(/\n+$/, "");
    if (!text.includes("\n")) return text.replaceAll("\t", "  ");
    const label = this.#label({ number: this.#kept.size + 1, lines: text.split("\n").length });
    this.#kept.set(label, text);
    return label;
  }
}
