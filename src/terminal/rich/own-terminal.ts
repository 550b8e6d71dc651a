import { ProcessTerminal, type Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import type { Clock } from "../../base/clock.ts";

type Options = {
  readonly clock: Pick<Clock, "after">;
  /** How many rows at the top of the screen are not ours and must not be lost when it is drawn anew. */
  readonly rowsAbove: () => number;
};

/** A window that is dragged changes its size many times: what is drawn meanwhile would be drawn in vain. */
const resizeQuietMs = 80;

/** What the renderer writes before it draws everything anew. It would take what was in the terminal before us, too. */
const clearAll = "\u001b[2J\u001b[H\u001b[3J";

/**
 * The terminal of this process. What stood on it before us stays in its scrollback: where the renderer wants to clear all
 * of it, only the rows of the screen are cleared.
 */
export class OwnTerminal implements Terminal {
  readonly #inner = new ProcessTerminal();
  readonly #options: Options;
  #size = { columns: this.#inner.columns, rows: this.#inner.rows };
  #forget = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.#size = this.#measure();
    this.#inner.start(typedEarly(onInput), () => {
      this.#forget();
      this.#forget = this.#options.clock.after(resizeQuietMs, () => {
        this.#size = this.#measure();
        onResize();
      });
    });
  }

  stop(): void {
    this.#forget();
    this.#inner.stop();
  }

  drainInput(maxMs?: number, idleMs?: number): Promise<void> {
    return this.#inner.drainInput(maxMs, idleMs);
  }

  write(data: string): void {
    this.#inner.write(data.includes(clearAll) ? data.replace(clearAll, () => this.#clearRows()) : data);
  }

  /** As it was when it was last drawn, not in the middle of a change. */
  get columns(): number {
    return this.#size.columns;
  }

  get rows(): number {
    return this.#size.rows;
  }

  get kittyProtocolActive(): boolean {
    return this.#inner.kittyProtocolActive;
  }

  moveBy(lines: number): void {
    this.#inner.moveBy(lines);
  }

  hideCursor(): void {
    this.#inner.hideCursor();
  }

  showCursor(): void {
    this.#inner.showCursor();
  }

  clearLine(): void {
    this.#inner.clearLine();
  }

  clearFromCursor(): void {
    this.#inner.clearFromCursor();
  }

  clearScreen(): void {
    this.#inner.clearScreen();
  }

  setTitle(title: string): void {
    this.#inner.setTitle(title);
  }

  setProgress(active: boolean): void {
    this.#inner.setProgress(active);
  }

  #measure() {
    return { columns: Math.max(1, this.#inner.columns), rows: Math.max(1, this.#inner.rows) };
  }

  /** Row by row: a terminal that keeps what is cleared as a whole would have our own rows twice. */
  #clearRows(): string {
    const { rows } = this.#size;
    const saved = Math.min(rows, Math.max(0, this.#options.rowsAbove()));
    const clear = Array.from({ length: rows }, (_, row) => `\u001b[${row + 1};1H\u001b[2K`).join("");
    return `\u001b[${rows};1H${"\n".repeat(saved)}${clear}\u001b[H`;
  }
}

/**
 * Who types before the editor is there types into a terminal that makes line feeds of Enter: they all come at once, as
 * the first input. The last line feed among them is Enter; one before it may be from several lines that were pasted.
 */
function typedEarly(onInput: (data: string) => void): (data: string) => void {
  let first: string[] | undefined;
  let isOver = false;
  const tell = () => {
    isOver = true;
    const last = first?.lastIndexOf("\n") ?? -1;
    for (const [index, data] of (first ?? []).entries()) onInput(index === last ? "\r" : data);
  };
  return (data) => {
    if (isOver) return onInput(data);
    if (first === undefined) queueMicrotask(tell);
    first = [...(first ?? []), data];
  };
}
