import { Markdown, type MarkdownTheme, Marked } from "@earendil-works/pi-tui";
import { safeText } from "../safe-text.ts";
import type { Style } from "../style.ts";
import type { Block } from "./page.ts";

/** An open block that is longer than this is drawn again only when it has grown by this share: a table or a long program. */
const longCharacters = 8_000;
const growthDrawn = 1.05;

/**
 * An answer in Markdown as it streams: one component for each finished block, and one for the open end. What is finished
 * is never parsed again.
 */
export class Answer {
  readonly #theme: MarkdownTheme;
  readonly #onBlock: (block: Block) => void;
  readonly #lexer = new Marked();
  #text = "";
  /** Where the open block begins. */
  #openAt = 0;
  #open: OpenBlock | undefined;

  constructor({ style, onBlock }: { readonly style: Style; readonly onBlock: (block: Block) => void }) {
    this.#theme = themeOf(style);
    this.#onBlock = onBlock;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  add(text: string): void {
    this.#text += text;
    const isLong = this.#text.length - this.#openAt > longCharacters;
    // A block that long is looked at line by line.
    if (!isLong || text.includes("\n")) this.#settle({ isLast: false });
  }

  /** The whole of it, as it was stored. */
  finish(): void {
    this.#settle({ isLast: true });
  }

  #settle({ isLast }: { readonly isLast: boolean }): void {
    const tail = this.#text.slice(this.#openAt);
    const tokens = this.#lexer.lexer(tail);
    const lastAt = tokens.findLastIndex(({ type }) => type !== "space");
    for (const [at, { type, raw }] of tokens.entries()) {
      const isOpen = at >= lastAt && !isLast;
      if (type !== "space") {
        this.#open ??= this.#begin();
        this.#open.set(raw, { isOpen });
      }
      if (isOpen) return;
      this.#openAt += raw.length;
      if (type !== "space") this.#open = undefined;
    }
  }

  #begin(): OpenBlock {
    const block = new OpenBlock(this.#theme);
    this.#onBlock(block);
    return block;
  }
}

class OpenBlock implements Block {
  readonly #markdown: Markdown;
  #drawnLength = 0;

  constructor(theme: MarkdownTheme) {
    this.#markdown = new Markdown("", 0, 0, theme);
  }

  set(raw: string, { isOpen }: { readonly isOpen: boolean }): void {
    const isLong = raw.length > longCharacters;
    if (isOpen && isLong && raw.length < this.#drawnLength * growthDrawn) return;
    this.#drawnLength = raw.length;
    // An emoji's variation mark takes a cell in some terminals and none in others: tables would not stand straight.
    this.#markdown.setText(safeText(raw.trimEnd()).replaceAll("\ufe0f", ""));
  }

  render(width: number): string[] {
    const lines = this.#markdown.render(width).map((line) => line.trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return ["", ...lines];
  }
}

function themeOf({ accent, dim, strong, paint }: Style): MarkdownTheme {
  return {
    heading: (text) => strong(accent(text)),
    ...{ link: accent, linkUrl: dim, code: accent, codeBlock: (text) => text, codeBlockBorder: dim },
    ...{ quote: dim, quoteBorder: dim, hr: dim, listBullet: accent, bold: strong },
    ...{ italic: paint(3, 23), strikethrough: paint(9, 29), underline: paint(4, 24) },
  };
}
