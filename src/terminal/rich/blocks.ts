import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import type { Style } from "../style.ts";
import type { Block } from "./page.ts";

/** Text that does not change, wrapped once for each width. */
export function textBlock(text: string, { indent = "" }: { readonly indent?: string } = {}): Block {
  let drawn: { readonly width: number; readonly lines: string[] } | undefined;
  return {
    render(width) {
      if (drawn?.width !== width) drawn = { width, lines: wrapped(text, width, indent) };
      return drawn.lines;
    },
  };
}

/** Text whose last line goes on: words of somebody who prints piece by piece. */
export class GrowingBlock implements Block {
  #text = "";
  #drawn: { readonly width: number; readonly text: string; readonly lines: string[] } | undefined;

  get isEmpty(): boolean {
    return this.#text === "";
  }

  add(text: string): void {
    this.#text += text;
  }

  render(width: number): string[] {
    if (this.#drawn?.width !== width || this.#drawn.text !== this.#text)
      this.#drawn = { width, text: this.#text, lines: wrapped(this.#text.replace(/\n$/, ""), width, "") };
    return this.#drawn.lines;
  }
}

/** What the person said, set off from what is answered. */
export function saidBlock(text: string, { sign, style }: { readonly sign: string; readonly style: Style }): Block {
  const indent = " ".repeat(visibleWidth(sign));
  const block = textBlock(text, { indent });
  return {
    render(width) {
      const lines = block.render(width);
      const first = `${style.accent(sign)}${style.strong((lines[0] ?? "").slice(indent.length))}`;
      return ["", first, ...lines.slice(1).map((line) => style.strong(line)), ""];
    },
  };
}

/** Lines no wider than that, each behind the indent. */
export function wrapped(text: string, width: number, indent: string): string[] {
  return text.split("\n").flatMap((line) => {
    // What goes on stands below where it began.
    const lead = leading.exec(line)?.[1] ?? "";
    const room = Math.max(1, width - visibleWidth(indent) - lead.length);
    const lines = wrapTextWithAnsi(
      line.replace(leading, (all) => all.slice(0, all.length - lead.length)),
      room,
    );
    return (lines.length === 0 ? [""] : lines).map((part) => `${indent}${lead}${part}`);
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours may stand before the blanks.
const leading = /^(?:\u001b\[[\d;]*m)*( {0,8})/;
