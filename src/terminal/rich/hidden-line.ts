import { decodeKittyPrintable, matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { Component, Focusable } from "@earendil-works/pi-tui/dist/tui.js";
import { truncateToWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { HiddenText } from "../hidden-text.ts";
import type { Style } from "../style.ts";
import { wrapped } from "./blocks.ts";

type Options = { readonly prompt: string; readonly style: Style; readonly onEnter: (text: string) => void };

// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks of a paste begin with one.
const paste = /^\u001b\[200~([\s\S]*)\u001b\[201~$/;
const dot = "•";

/** A line in place of the editor: of what is typed only dots are seen, and the editor's own text stays as it is. */
export class HiddenLine implements Component, Focusable {
  readonly #options: Options;
  readonly #hidden = new HiddenText();
  focused = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get isTyped(): boolean {
    return this.#hidden.length > 0;
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const pasted = paste.exec(data)?.[1];
    if (pasted !== undefined) this.#hidden.add(pasted);
    else if (matchesKey(data, "enter")) this.#options.onEnter(this.#hidden.take());
    else if (matchesKey(data, "backspace")) this.#hidden.erase();
    else if (matchesKey(data, "ctrl+u")) this.#hidden.take();
    else if (decodeKittyPrintable(data) !== undefined) this.#hidden.add(decodeKittyPrintable(data) ?? "");
    else if (!data.startsWith("\u001b")) this.#hidden.add(data);
  }

  render(width: number): string[] {
    const { prompt, style } = this.#options;
    const rule = style.dim("─".repeat(width));
    const dots = truncateToWidth(dot.repeat(this.#hidden.length), width, "…");
    return [...wrapped(style.attention(prompt.trimEnd()), width, ""), rule, dots, rule];
  }
}
