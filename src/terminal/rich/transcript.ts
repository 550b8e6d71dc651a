import type { Style } from "../style.ts";
import { GrowingBlock, saidBlock, textBlock } from "./blocks.ts";
import type { Foldable } from "./cards.ts";
import type { Block } from "./page.ts";
import type { Screen } from "./screen.ts";

/** Lines that can still be opened with a key. */
const foldablesMax = 100;

/** What was said, block by block, from the top of the screen down. */
export class Transcript {
  readonly #screen: Screen;
  readonly #style: Style;
  readonly #foldables: Foldable[] = [];
  #growing: GrowingBlock | undefined;

  constructor(screen: Screen, style: Style) {
    this.#screen = screen;
    this.#style = style;
  }

  /** Text in pieces; a line is over where one ends it. */
  grow(text: string): void {
    if (text === "") return;
    if (this.#growing === undefined) {
      this.#growing = new GrowingBlock();
      this.#screen.add(this.#growing);
    }
    this.#growing.add(text);
    if (text.endsWith("\n")) this.#growing = undefined;
    this.#screen.changed();
  }

  say(line: string): void {
    this.add(textBlock(line));
  }

  add(block: Block): void {
    this.#growing = undefined;
    this.#screen.add(block);
  }

  addFoldable(card: Foldable): void {
    this.#foldables.push(card);
    if (this.#foldables.length > foldablesMax) this.#foldables.shift();
    this.add(card);
  }

  /** Words of the person: behind the question that they answer, or as a message. */
  echo(text: string, { question, sign }: { readonly question: string; readonly sign: string }): void {
    if (question !== "") this.say(`${this.#style.dim(question)}${text}`);
    else this.add(saidBlock(text, { sign, style: this.#style }));
  }

  /** The last line that can be opened; closed again with the same key. */
  unfold(): void {
    const card = this.#foldables.at(-1);
    if (card === undefined) return;
    if (this.#screen.hasLeft(card)) return this.#screen.add(card.opened());
    card.isOpen = !card.isOpen;
  }
}
