import type { Component } from "@earendil-works/pi-tui/dist/tui.js";
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { inAscii } from "./ascii.ts";

/** Something on the page: its lines for a width. */
export type Block = {
  render(width: number): string[];
  /** Drawn by the terminal, not as text: it cannot be drawn over. */
  readonly isImage?: true;
};

type Options = {
  readonly rows: () => number;
  /** How many lines of the page have left the screen at its top, as it was last drawn. */
  readonly linesAbove: () => number;
  readonly isAscii: boolean;
};

type Anew = { readonly width: number; readonly rows: number; readonly first: number; readonly live: number };

/** So many screens of what was said are kept, to be drawn anew when the window changes. */
const screensKept = 3;

/**
 * All that we have on the screen: what was said, block by block, and below it what is live. A line that has left the
 * screen at its top is never changed: the terminal has it, and drawing it again would only show it twice.
 */
export class Page implements Component {
  readonly #options: Options;
  #blocks: Block[] = [];
  #below: readonly Block[] = [];
  #isRedrawn = false;
  /** The lines of the kept blocks that were left out when all was drawn anew. */
  #skip = 0;
  #heights: number[] = [];
  /** Whether each block ends with an empty line, and whether what was before the first one did. */
  #blankEnds: boolean[] = [];
  #isBlankBefore = true;
  #linesBefore = 0;
  #drawn: { readonly width: number; readonly rows: number; readonly lines: readonly string[] } | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Of the page as it stands on the screen; also while it is drawn anew. */
  get linesBefore(): number {
    return this.#linesBefore;
  }

  add(block: Block): void {
    this.#blocks.push(block);
  }

  setBelow(blocks: readonly Block[]): void {
    this.#below = blocks;
  }

  /** What is on the screen now cannot be relied upon. */
  forgetDrawn(): void {
    this.#isRedrawn = true;
  }

  invalidate(): void {}

  /** Its first line has left the screen: what changes in it now is not seen. */
  hasLeft(block: Block): boolean {
    const at = this.#blocks.indexOf(block);
    if (at < 0) return true;
    const start = sum(this.#heights.slice(0, at)) - this.#skip;
    return at < this.#heights.length && start < this.#options.linesAbove();
  }

  render(width: number): string[] {
    const rows = this.#options.rows();
    const all: string[] = [];
    const first = this.#firstSeen();
    this.#blankEnds = [];
    this.#heights = this.#blocks.map((block) => {
      const height = this.#draw(block, width, all);
      this.#blankEnds.push(this.#isBlankAt(all));
      return height;
    });
    const body = all.length;
    for (const block of this.#below) this.#draw(block, width, all);
    const isOtherSize = this.#drawn?.width !== width || this.#drawn.rows !== rows;
    const above = this.#options.linesAbove();
    const isAnew = this.#isRedrawn || isOtherSize || all.length - this.#skip <= above;
    this.#isRedrawn = false;
    if (isAnew)
      this.#skip =
        this.#drawn === undefined ? 0 : this.#firstAnew(all.length, { width, rows, first, live: all.length - body });
    const lines = all.slice(this.#skip);
    this.#linesBefore = this.#drawn?.lines.length ?? 0;
    if (!isAnew) for (let at = 0; at < above; at += 1) lines[at] = this.#drawn?.lines[at] ?? "";
    this.#drawn = { width, rows, lines };
    return lines;
  }

  /** Forgets blocks that left the screen long ago; answers how many of the drawn lines they were. */
  forgetOld(): number {
    if (this.#drawn === undefined) return 0;
    const limit = this.#skip + this.#options.linesAbove() - screensKept * this.#drawn.rows;
    let [count, height] = [0, 0];
    for (const blockHeight of this.#heights) {
      if (height + blockHeight > limit) break;
      count += 1;
      height += blockHeight;
    }
    // An image that is still kept would have to be drawn again.
    if (count === 0 || this.#blocks.slice(count).some(({ isImage }) => isImage === true)) return 0;
    const unseen = Math.min(this.#skip, height);
    const forgotten = height - unseen;
    this.#isBlankBefore = this.#blankEnds[count - 1] ?? true;
    this.#blankEnds = this.#blankEnds.slice(count);
    this.#blocks = this.#blocks.slice(count);
    this.#heights = this.#heights.slice(count);
    this.#skip -= unseen;
    this.#drawn = { ...this.#drawn, lines: this.#drawn.lines.slice(forgotten) };
    return forgotten;
  }

  /** The number of the first block of which something is on the screen. */
  #firstSeen(): number {
    const above = this.#skip + this.#options.linesAbove();
    let end = 0;
    const at = this.#heights.findIndex((height) => {
      end += height;
      return end > above;
    });
    return at < 0 ? this.#heights.length : at;
  }

  /**
   * From which line on all is drawn anew: as much as fits. In a window that became wider more would fit, but what has
   * left the screen stays where it is: there it would stand twice.
   */
  #firstAnew(lines: number, { width, rows, first, live }: Anew): number {
    // A window that became lower may have lost its last rows in place of its first ones: that many more are drawn.
    const isLower = this.#drawn !== undefined && rows < this.#drawn.rows;
    const fitting = Math.max(0, lines - rows - (isLower ? live : 0));
    const isWider = this.#drawn !== undefined && width > this.#drawn.width;
    return isWider ? Math.max(fitting, sum(this.#heights.slice(0, first))) : fitting;
  }

  /** Answers how many lines it has; between two blocks one empty line is enough. */
  #draw(block: Block, width: number, all: string[]): number {
    const lines = block.render(width);
    const isDouble = lines[0] === "" && this.#isBlankAt(all);
    for (const line of isDouble ? lines.slice(1) : lines) all.push(this.#fit(line, width));
    return isDouble ? lines.length - 1 : lines.length;
  }

  #isBlankAt(all: readonly string[]): boolean {
    return all.length === 0 ? this.#isBlankBefore : all.at(-1) === "";
  }

  /** The renderer breaks down at a line that is too wide. */
  #fit(line: string, width: number): string {
    if (line.startsWith("\u001b_G") || line.startsWith("\u001b]1337")) return line;
    const fitting = visibleWidth(line) > width ? truncateToWidth(line, width, "") : line;
    return this.#options.isAscii ? inAscii(fitting) : fitting;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
