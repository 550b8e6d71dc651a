import { isKeyRelease } from "@earendil-works/pi-tui/dist/keys.js";
import type { Component } from "@earendil-works/pi-tui/dist/tui.js";
import { TuiMainScreen } from "@earendil-works/pi-tui/dist/tui-main-screen.js";
import type { Clock } from "../../base/clock.ts";
import { OwnTerminal } from "./own-terminal.ts";
import { type Block, Page } from "./page.ts";

type Options = {
  readonly clock: Pick<Clock, "after">;
  readonly isAscii: boolean;
  /** A key before anybody else has it; true: it was taken. */
  readonly onKey: (data: string) => boolean;
  /** The terminal was closed. */
  readonly onEnd: () => void;
};

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the mark at the end of a paste begins with one.
const lastBreaks = /[\r\n]+\u001b\[201~$/;
const whereIsTheCursor = "\u001b[6n";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal answers begins with one.
const cursorReport = /^\u001b\[(\d+);\d+R$/;

/** The part of a terminal that we draw: what was said, and below it what is live. Everything of the library's passes here. */
export class Screen {
  readonly renderer: TuiMainScreen;
  readonly #terminal: OwnTerminal;
  readonly #page: Page;
  /** On which row our first line stood at first; undefined until the terminal has told. */
  #firstRow: number | undefined;
  #isFirstRowAsked = false;
  readonly #onEnd: () => void;
  #chunk = "";
  #isOpen = false;

  constructor({ clock, isAscii, onKey, onEnd }: Options) {
    this.#onEnd = onEnd;
    this.#terminal = new OwnTerminal({ clock, rowsAbove: () => this.#rowsAbove() });
    this.renderer = new TuiMainScreen(this.#terminal, true);
    this.#page = new Page({
      ...{ isAscii, rows: () => this.#terminal.rows },
      linesAbove: () => this.renderer.captureRenderState().previousViewportTop,
    });
    this.renderer.addChild(this.#page);
    this.renderer.addInputListener((data) => {
      // The line break at the end of what is pasted is no line.
      if (data.startsWith(pasteStart)) return { data: data.replace(lastBreaks, pasteEnd) };
      const isTaken = this.#takeFirstRow(data) || (!isKeyRelease(data) && onKey(data));
      return isTaken ? { consume: true } : undefined;
    });
  }

  get columns(): number {
    return this.#terminal.columns;
  }

  /** Nothing else came with it: a person pressed one key, nobody typed on or pasted. */
  isAlone(data: string): boolean {
    return this.#chunk === data;
  }

  open(): void {
    this.#isOpen = true;
    // Before the listener that makes keys of it.
    process.stdin.on("data", this.#noteChunk);
    for (const event of ["end", "error"]) process.stdin.on(event, this.#onEnd);
    this.renderer.start();
    // Not only soon: what is loaded next may keep everything waiting.
    this.renderer.renderNow();
    this.#isFirstRowAsked = true;
    this.#terminal.write(whereIsTheCursor);
    // A process that breaks down leaves the terminal as it found it.
    process.once("exit", this.#restore);
  }

  /** What is live goes; what was said stays. */
  close(): void {
    if (!this.#isOpen) return;
    this.#page.setBelow([]);
    this.renderer.renderNow();
    this.#leave();
    process.off("exit", this.#restore);
    process.stdin.off("data", this.#noteChunk);
    for (const event of ["end", "error"]) process.stdin.off(event, this.#onEnd);
  }

  /** As another program needs the terminal. */
  giveBack(): void {
    this.#leave();
  }

  takeAgain(): void {
    if (this.#isOpen) this.#leave();
    this.#isOpen = true;
    this.#firstRow = Number.POSITIVE_INFINITY;
    this.renderer.start();
    this.redraw();
  }

  add(block: Block): void {
    this.#page.add(block);
    this.changed();
  }

  setBelow(blocks: readonly Block[]): void {
    this.#page.setBelow(blocks);
    this.changed();
  }

  hasLeft(block: Block): boolean {
    return this.#page.hasLeft(block);
  }

  focus(component: Component): void {
    this.renderer.setFocus(component);
  }

  /** Something looks different now: it is drawn soon, with whatever else changes until then. */
  changed(): void {
    this.#forgetOld();
    this.renderer.requestRender();
  }

  redraw(): void {
    this.#page.forgetDrawn();
    this.renderer.renderNow(true);
  }

  readonly #noteChunk = (data: string | Buffer) => {
    this.#chunk = data.toString();
  };

  /** Without a word to anybody when the process ends: the rest of it is gone already. */
  readonly #restore = () => this.#leave();

  #leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.renderer.stop();
  }

  /** What others wrote, and has not been moved off the screen by our own lines. Drawn anew, our lines begin at the top. */
  #rowsAbove(): number {
    const first = this.#firstRow ?? this.#terminal.rows;
    this.#firstRow = 0;
    return Number.isFinite(first) ? Math.min(first, this.#terminal.rows - this.#page.linesBefore) : this.#terminal.rows;
  }

  #takeFirstRow(data: string): boolean {
    const row = cursorReport.exec(data)?.[1];
    if (row === undefined || !this.#isFirstRowAsked) return false;
    this.#isFirstRowAsked = false;
    this.#firstRow ??= Number(row) - 1;
    return true;
  }

  #forgetOld(): void {
    const lines = this.#page.forgetOld();
    if (lines === 0) return;
    const state = this.renderer.captureRenderState();
    this.renderer.restoreRenderState({
      ...state,
      previousLines: state.previousLines.slice(lines),
      cursorRow: state.cursorRow - lines,
      hardwareCursorRow: state.hardwareCursorRow - lines,
      maxLinesRendered: state.maxLinesRendered - lines,
      previousViewportTop: state.previousViewportTop - lines,
    });
  }
}
