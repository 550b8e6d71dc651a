import type { Block, Place } from "../../extract/extracted.ts";
import { cutBlock, unitsOf } from "./cut-block.ts";

/** A part of a document that is found, shown and opened as a whole. */
export type Passage = {
  /** `contents` stands for what lies elsewhere: it is not ranked, but a pattern finds it. */
  readonly kind: "body" | "contents";
  /** The headings that it stands under, its own last. */
  readonly path: readonly string[];
  /** As it is in the document, its own heading included. */
  readonly text: string;
  readonly from: Place;
  readonly to: Place;
  /** It was cut in the middle of a block: the next one goes on with the next character. */
  readonly runsOn: boolean;
};

/**
 * In units of half a character of Chinese. Sections are smaller or larger than this; what is measured in bench/retrieval
 * changes little between 800 and 1,600.
 */
const unitsMax = 1_200;

export type PassageMaker = {
  /** Passages that are complete with this block, each made when it is asked for; take all before the next block. */
  add(block: Block): Iterable<Passage>;
  /** The last ones. */
  end(): Passage[];
};

/** Makes passages along the structure: a heading begins a new one, a block is cut only where it alone is too long. */
export function openPassageMaker(): PassageMaker {
  const headings: { readonly level: number; readonly text: string }[] = [];
  let parts: { readonly text: string; readonly from: Place; readonly to: Place }[] = [];
  let units = 0;
  let hasText = false;

  const flush = (runsOn = false): Passage[] => {
    const [first, last] = [parts[0], parts.at(-1)];
    // A NUL ends a text for some who read it; to people it is nothing.
    const text = parts.map((part) => part.text.replaceAll("\0", " ")).join("\n");
    parts = [];
    units = 0;
    hasText = false;
    if (first === undefined || last === undefined || text.trim() === "") return [];
    const path = headings.map((heading) => heading.text);
    return [{ kind: "body", path, text, from: first.from, to: last.to, runsOn }];
  };

  const addHeading = (block: Block): Passage[] => {
    const level = block.level ?? 1;
    // A heading right below a higher one is read together with it; an empty section is one of its own.
    const isBelow = (headings.at(-1)?.level ?? 0) < level;
    const done = hasText || !isBelow ? flush() : [];
    while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
    headings.push({ level, text: oneLine(block.text) });
    parts.push({ text: block.text, from: block.from, to: block.to ?? block.from });
    units += unitsOf(block.text);
    return done;
  };

  function* addText(block: Block): Generator<Passage> {
    let isFirst = true;
    for (const piece of cutBlock(block, unitsMax)) {
      const more = unitsOf(piece.text);
      if (hasText && units + more > unitsMax) yield* flush(!isFirst && block.kind !== "table");
      parts.push(piece);
      units += more;
      hasText = true;
      isFirst = false;
    }
  }

  function* addContents(block: Block): Generator<Passage> {
    yield* flush();
    for (const piece of cutBlock(block, unitsMax)) yield { kind: "contents", path: [], ...piece, runsOn: false };
  }

  return {
    add(block) {
      if (block.kind === "heading") return addHeading(block);
      return block.kind === "contents" ? addContents(block) : addText(block);
    },
    end: () => flush(),
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
