import { Input } from "@earendil-works/pi-tui/dist/components/input.js";
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { Component, Focusable } from "@earendil-works/pi-tui/dist/tui.js";
import { truncateToWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { safeLine } from "../safe-text.ts";
import type { Style } from "../style.ts";
import type { History } from "./history.ts";

type Options = {
  readonly history: History;
  readonly style: Style;
  readonly title: string;
  readonly nothing: string;
  readonly onChosen: (text: string) => void;
  readonly onLeft: () => void;
};

const rowsMax = 8;

/** Ctrl+R: what was typed before, found by words of it. */
export class HistorySearch implements Component, Focusable {
  readonly #options: Options;
  readonly #input = new Input();
  #at = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(isFocused: boolean) {
    this.#input.focused = isFocused;
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const found = this.#found();
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) return this.#options.onLeft();
    if (matchesKey(data, "enter") || matchesKey(data, "tab")) {
      const chosen = found[this.#at];
      return chosen === undefined ? this.#options.onLeft() : this.#options.onChosen(chosen);
    }
    if (matchesKey(data, "up")) return this.#move(-1, found.length);
    if (matchesKey(data, "down") || matchesKey(data, "ctrl+r")) return this.#move(1, found.length);
    this.#input.handleInput(data);
    this.#at = 0;
  }

  render(width: number): string[] {
    const { style, title, nothing } = this.#options;
    const found = this.#found();
    const first = Math.max(0, Math.min(this.#at - rowsMax + 1, found.length - rowsMax));
    const rows = found.slice(first, first + rowsMax).map((text, index) => {
      const line = truncateToWidth(safeLine(text, 1_000), Math.max(1, width - 2), "…");
      return first + index === this.#at ? style.accent(`→ ${line}`) : style.dim(`  ${line}`);
    });
    return [
      ...[style.dim("─".repeat(width)), style.dim(title), ...this.#input.render(width)],
      ...(rows.length === 0 ? [style.dim(`  ${nothing}`)] : rows),
    ];
  }

  #found(): readonly string[] {
    return this.#options.history.search(this.#input.getValue());
  }

  #move(by: number, count: number): void {
    if (count > 0) this.#at = (this.#at + by + count) % count;
  }
}
