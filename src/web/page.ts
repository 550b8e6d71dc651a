import type { Clock } from "../base/clock.ts";
import { type Block, openBlockWriter } from "./page-blocks.ts";
import { isHeadTag, openPageHead, type PageHead } from "./page-head.ts";

/** A page as one reads it: what it is about, as Markdown. */
export type Page = PageHead & {
  readonly markdown: string;
  /** It was so long or so deep that the rest was left. */
  readonly isCut: boolean;
};

type Options = { readonly url: string; readonly clock: Clock; readonly signal: AbortSignal };

const htmlCharactersMax = 5_000_000;
const textCharactersMax = 500_000;
/** Tags in tags; the parser searches all that are open for each that ends. */
const depthMax = 256;
/** Longer than any page takes that somebody wrote for people. */
const readMsMax = 10_000;
/** Read at once; within it a page cannot be deep enough to keep us busy. */
const pieceCharacters = 16_384;
/** Then others get their turn: a page may take a while. */
const busyMsMax = 10;

/** Reads a page piece by piece, without ever holding it as a tree: neither depth nor width of it costs more than its length. */
export async function readPage(html: string, { url, clock, signal }: Options): Promise<Page> {
  // Half of all starts never read a page.
  const { Parser } = await import("htmlparser2");
  const head = openPageHead(url);
  const writer = openBlockWriter(head.absolute);
  const parser = new Parser({
    onopentag(name, attributes) {
      if (isHeadTag(name)) head.open(name, attributes);
      writer.open(name, attributes);
    },
    ontext(text) {
      head.text(text);
      writer.text(text);
    },
    onclosetag(name) {
      head.close(name);
      writer.close(name);
    },
  });
  const endsAt = clock.monotonic() + readMsMax;
  const isFull = () =>
    writer.depth > depthMax || writer.characters > textCharactersMax || signal.aborted || clock.monotonic() > endsAt;
  const end = Math.min(html.length, htmlCharactersMax);
  let at = 0;
  let since = clock.monotonic();
  while (at < end && !isFull()) {
    parser.write(html.slice(at, Math.min(at + pieceCharacters, end)));
    at += pieceCharacters;
    if (clock.monotonic() - since < busyMsMax) continue;
    await clock.wait(0, signal);
    since = clock.monotonic();
  }
  const isCut = at < html.length || isFull();
  if (!isCut) parser.end();
  return { ...head.found(), markdown: joined(contentOf(writer.end())), isCut };
}

/** Text that is short beside its surroundings may be missing: pages name their parts as they like. */
const mainShareMin = 0.4;
const mainCharactersMin = 200;
const proseShareMin = 0.6;
const coreShareMin = 0.2;
const linksShare = 0.7;
const linksCharactersMax = 200;

/** What the page is about, without what stands around it; all of it, where that cannot be told apart. */
function contentOf(blocks: readonly Block[]): readonly Block[] {
  const core = blocks.filter(({ isSide }) => !isSide);
  if (lengthOf(core) < coreShareMin * lengthOf(blocks)) return blocks;
  const main = core.filter(({ isMain }) => isMain);
  const length = lengthOf(main);
  const isTold = length >= mainCharactersMin && length >= mainShareMin * lengthOf(core);
  const chosen = isTold ? main : core;
  const prose = chosen.filter((block) => !isOfLinks(block));
  if (lengthOf(prose) < proseShareMin * lengthOf(chosen)) return chosen;
  return chosen.filter((block) => block.isMain || !isOfLinks(block) || block.text.length > linksCharactersMax);
}

function isOfLinks({ text, linkCharacters, kind }: Block): boolean {
  // Without the addresses, which are often longer than the words, and without what stands between links.
  const words = text.replaceAll(/\]\([^)\]]*\)|[\s[|>»›·,-]+/g, "").length;
  return kind !== "heading" && linkCharacters > linksShare * words;
}

function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { text }) => sum + text.length, 0);
}

function joined(blocks: readonly Block[]): string {
  let before: Block["kind"] | undefined;
  const pieces: string[] = [];
  for (const { text, kind } of blocks) {
    const isClose = kind === before && (kind === "item" || kind === "row") && !/\n\|( --- \|)+$/.test(text);
    pieces.push(before === undefined ? "" : isClose ? "\n" : "\n\n", text);
    before = kind;
  }
  return pieces.join("");
}
