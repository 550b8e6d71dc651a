import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import type { CallResult } from "../call-result.ts";
import { safeLine, safeText } from "../safe-text.ts";
import type { Style } from "../style.ts";
import { wrapped } from "./blocks.ts";
import type { Block } from "./page.ts";

/** A line that can be opened. */
export type Foldable = Block & {
  isOpen: boolean;
  /** The same opened, for the end of the page: its own place has left the screen. */
  opened(): Block;
};

const liveLines = 4;
const openLinesMax = 300;
const indent = "  ";

export type CardTexts = { readonly more: (p: { count: number }) => string };
type CardOptions = {
  readonly name: string;
  /** What it does, in a few words. */
  readonly what: string;
  /** All of what it was given, for who opens it. */
  readonly given: string;
  readonly style: Style;
  readonly texts: CardTexts;
};

const signs = { good: "✓", attention: "!", bad: "✗" } as const;

/** A tool call: one line while it runs and when it has ended; below it the last lines of what a program says. */
export class CallCard implements Foldable {
  readonly #options: CardOptions;
  isOpen = false;
  #said = "";
  #end: (CallResult & { readonly text: string }) | undefined;

  constructor(options: CardOptions) {
    this.#options = options;
  }

  say(text: string): void {
    // Of a program that says much, only the end is ever shown.
    this.#said = (this.#said + text).slice(-16_000);
  }

  end(result: CallResult, text: string): void {
    this.#end = { ...result, text };
  }

  opened(): Block {
    return { render: (width) => this.#draw(width, { isOpen: true }) };
  }

  render(width: number): string[] {
    return this.#draw(width, { isOpen: this.isOpen });
  }

  #draw(width: number, { isOpen }: { readonly isOpen: boolean }): string[] {
    const { style } = this.#options;
    const lines = [this.#headLine(width)];
    if (isOpen) lines.push(...this.#details(width));
    else if (this.#end === undefined) lines.push(...this.#live(width));
    const { next = "", end } = this.#end ?? {};
    if (end !== "good" && next !== "") lines.push(...wrapped(`→ ${next}`, width, indent));
    return lines.map((line, at) => (at === 0 ? line : style.dim(line)));
  }

  /** Its name is never cut; what it does is cut in the middle, for paths are known by their ends. */
  #headLine(width: number): string {
    const { name, what, style } = this.#options;
    const { end, about = "" } = this.#end ?? {};
    const sign = end === undefined ? style.accent("●") : style[end](signs[end]);
    const tail = about === "" ? "" : `  ${cutEnd(about, Math.max(10, Math.floor(width / 2)))}`;
    const room = width - 3 - visibleWidth(name) - visibleWidth(tail);
    const shown = room < 4 || what === "" ? "" : ` ${cutMiddle(what, room)}`;
    return `${sign} ${name}${style.dim(`${shown}${tail}`)}`;
  }

  #live(width: number): string[] {
    const lines = safeText(this.#said)
      .split("\n")
      .filter((line) => line.trim() !== "");
    return lines.slice(-liveLines).map((line) => `${indent}│ ${cutEnd(line.replaceAll("\t", "  "), width - 4)}`);
  }

  #details(width: number): string[] {
    const { given, texts } = this.#options;
    const lines = [given, this.#end?.text ?? this.#said]
      .filter((text) => text.trim() !== "")
      .flatMap((text) => wrapped(safeText(text.trimEnd()).replaceAll("\t", "  "), width, `${indent}│ `));
    const more = lines.length - openLinesMax;
    return more <= 0 ? lines : [...lines.slice(0, openLinesMax), `${indent}│ … ${texts.more({ count: more })}`];
  }
}

/** What a model thought before it answered: a line, until somebody opens it. */
export class ThoughtCard implements Foldable {
  readonly #style: Style;
  readonly #title: (p: { words: number; isDone: boolean }) => string;
  isOpen = false;
  #text = "";
  #isDone = false;

  constructor({ style, title }: { style: Style; title: (p: { words: number; isDone: boolean }) => string }) {
    this.#style = style;
    this.#title = title;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  add(text: string): void {
    this.#text += text;
  }

  end(text: string | undefined): void {
    if (text !== undefined && text !== "") this.#text = text;
    this.#isDone = true;
  }

  opened(): Block {
    return { render: (width) => this.#draw(width, { isOpen: true }) };
  }

  render(width: number): string[] {
    return this.#draw(width, { isOpen: this.isOpen });
  }

  #draw(width: number, { isOpen }: { readonly isOpen: boolean }): string[] {
    const title = this.#title({ words: countWords(this.#text), isDone: this.#isDone });
    const lines = [`${isOpen ? "▾" : "▸"} ${title}`];
    if (isOpen) lines.push(...wrapped(safeText(this.#text.trim()), width, indent));
    return lines.map((line) => this.#style.dim(line));
  }
}

/** Of Chinese, each character counts. */
function countWords(text: string): number {
  return text.match(/[\p{Script=Han}]|[^\s\p{Script=Han}]+/gu)?.length ?? 0;
}

function cutEnd(text: string, cells: number): string {
  return truncateToWidth(safeLine(text, 1_000), Math.max(1, cells), "…");
}

function cutMiddle(text: string, cells: number): string {
  const line = safeLine(text, 1_000);
  if (visibleWidth(line) <= cells) return line;
  const half = Math.floor((cells - 1) / 2);
  const head = truncateToWidth(line, half, "");
  let tail = "";
  for (const character of [...line].toReversed()) {
    if (visibleWidth(character + tail) > cells - 1 - visibleWidth(head)) break;
    tail = character + tail;
  }
  return `${head}…${tail}`;
}
