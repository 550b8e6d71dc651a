import type { AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { Editor, type EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import type { TUI } from "@earendil-works/pi-tui/dist/tui.js";
import type { Suggest } from "../console.ts";
import type { Style } from "../style.ts";
import type { Block } from "./page.ts";

type Options = {
  readonly renderer: TUI;
  readonly style: Style;
  readonly suggest: Suggest;
  /** What stands in place of many pasted lines, in the cells that the library's own words take. */
  readonly pasteLabel: (p: { number: number; count: number; unit: "lines" | "chars" }) => string;
  readonly onChange: () => void;
  readonly onSubmit: (line: { readonly text: string; readonly typed: string }) => void;
};

const menuRows = 8;
const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

/** Where the person types: several lines, pastes as one piece, menus for what can be named. */
export class PromptEditor implements Block {
  readonly component: Editor;
  readonly #options: Options;
  #typed = { now: "", before: "" };

  constructor(options: Options) {
    this.#options = options;
    this.component = new Editor(options.renderer, themeOf(options.style), { autocompleteMaxVisible: menuRows });
    this.component.setAutocompleteProvider(providerOf(options.suggest));
    this.component.onChange = (now) => {
      this.#typed = { now, before: this.#typed.now };
      options.onChange();
    };
    // The library has emptied the editor when it tells what stood there.
    this.component.onSubmit = (text) => options.onSubmit({ text, typed: this.#typed.before.trim() });
  }

  get text(): string {
    return this.component.getText();
  }

  get isMenuOpen(): boolean {
    return this.component.isShowingAutocomplete();
  }

  get hasFoldedPaste(): boolean {
    return this.component.getExpandedText() !== this.text;
  }

  clear(): void {
    this.set("");
  }

  set(text: string): void {
    this.component.setText(text);
  }

  /** Many lines stand there as one piece. */
  paste(text: string): void {
    this.component.handleInput(`${pasteStart}${text}${pasteEnd}`);
  }

  /** What was pasted, as it is. */
  unfold(): void {
    this.set(this.component.getExpandedText());
  }

  /** Takes what stands there, as if it were sent. */
  take(): { readonly text: string; readonly typed: string } {
    const line = { text: this.component.getExpandedText().trim(), typed: this.text.trim() };
    this.clear();
    return line;
  }

  remember(text: string): void {
    this.component.addToHistory(text);
  }

  render(width: number): string[] {
    const { pasteLabel } = this.#options;
    return this.component.render(width).map((line) =>
      line.replace(pasteMark, (whole, number, more, count) => {
        const unit = more.startsWith("+") ? "lines" : "chars";
        const label = pasteLabel({ number: Number(number), count: Number(count), unit });
        return label === "" ? whole : label;
      }),
    );
  }
}

const pasteMark = /\[paste #(\d+) (\+?(\d+) (?:lines|chars))\]/g;

/** The library's own pattern for where a menu opens by itself is narrower than that of what can be completed. */
function providerOf(suggest: Suggest): AutocompleteProvider {
  return {
    async getSuggestions(lines, line, column) {
      const before = [...lines.slice(0, line), (lines[line] ?? "").slice(0, column)].join("\n");
      const found = suggest(before);
      return found === undefined || found.items.length === 0 ? null : { items: [...found.items], prefix: found.begun };
    },
    applyCompletion(lines, line, column, item, prefix) {
      const text = lines[line] ?? "";
      const gap = item.value.endsWith("/") || text.slice(column).startsWith(" ") ? "" : " ";
      const written = `${text.slice(0, column - prefix.length)}${item.value}${gap}`;
      const changed = lines.with(line, written + text.slice(column));
      return { lines: changed, cursorLine: line, cursorCol: written.length };
    },
  };
}

function themeOf({ accent, dim }: Style): EditorTheme {
  return {
    borderColor: dim,
    selectList: { selectedPrefix: accent, selectedText: accent, description: dim, scrollInfo: dim, noMatch: dim },
  };
}
