import { blocksOf, type Token } from "./parse.ts";

/** Blocks that are finished, in groups that are drawn once and never again; then what may still change. */
export type Parsed = { readonly groups: readonly Group[]; readonly tail: readonly Token[] };
export type Group = { readonly id: number; readonly blocks: readonly Token[] };

/** Blocks of a group. The browser leaves groups out that nobody sees. */
const groupBlocks = 16;
/** The last block is shown as it was written while it is longer: reading it again and again would cost more than it gives. */
const tailCharactersMax = 24_000;

/** A text that grows. Only what lies behind the last finished block is read again. */
export class GrowingText {
  #text = "";
  #done = 0;
  #groups: Group[] = [];
  #rest: Token[] = [];

  /** Characters of the last block, which is read again with every piece that comes. */
  get openCharacters(): number {
    return this.#text.length - this.#done;
  }

  isBeginningOf(text: string): boolean {
    return this.#text !== "" && text.startsWith(this.#text);
  }

  grow(text: string): Parsed {
    if (!text.startsWith(this.#text)) this.#restart();
    this.#text = text;
    const open = text.slice(this.#done);
    if (open.length > tailCharactersMax) return this.#parsed([{ type: "plain", raw: open, text: open }]);
    const blocks = blocksOf(open);
    const last = blocks.findLastIndex(({ type }) => type !== "space");
    // Every block but the last is finished.
    for (const block of blocks.slice(0, Math.max(0, last))) {
      this.#done += block.raw.length;
      this.#rest.push(block);
      if (this.#rest.length < groupBlocks) continue;
      this.#groups = [...this.#groups, { id: this.#groups.length, blocks: this.#rest }];
      this.#rest = [];
    }
    return this.#parsed(last < 0 ? [] : blocks.slice(last));
  }

  #parsed(open: readonly Token[]): Parsed {
    const rest = this.#rest.length === 0 ? [] : [{ id: this.#groups.length, blocks: this.#rest.slice() }];
    return { groups: [...this.#groups, ...rest], tail: open };
  }

  #restart(): void {
    [this.#text, this.#done, this.#groups, this.#rest] = ["", 0, [], []];
  }
}

/** A link that is explained somewhere in the text: where it is used, it is one only when all is read together. */
const explained = /^ {0,3}\[[^\]\n]+\]:/m;
const keptMax = 40;

/** Texts that were read: who scrolls back meets them again, and the end of an answer is no new text. */
export class ReadTexts {
  readonly #kept = new Map<string, Parsed>();

  /** A text that is finished: read as a whole, so that links which are explained at its end are known. */
  whole(text: string): Parsed {
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    const parsed = this.#fromGrown(text) ?? parseWhole(text);
    this.#keep(text, parsed);
    return parsed;
  }

  /** What was read while it grew counts as read, as far as that is the same. */
  grown(growing: GrowingText): void {
    this.#growing = growing;
  }

  #growing: GrowingText | undefined;

  /** Only the end of it is new: a long answer is not read twice. */
  #fromGrown(text: string): Parsed | undefined {
    const growing = this.#growing;
    if (growing === undefined || !growing.isBeginningOf(text) || explained.test(text)) return undefined;
    this.#growing = undefined;
    const { groups, tail } = growing.grow(text);
    return { groups: [...groups, { id: groups.length, blocks: tail }], tail: [] };
  }

  #keep(text: string, parsed: Parsed): void {
    this.#kept.set(text, parsed);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= keptMax) break;
      this.#kept.delete(oldest);
    }
  }
}

export function parseWhole(text: string): Parsed {
  const blocks = blocksOf(text);
  const groups: Group[] = [];
  for (let at = 0; at < blocks.length; at += groupBlocks)
    groups.push({ id: groups.length, blocks: blocks.slice(at, at + groupBlocks) });
  return { groups, tail: [] };
}
