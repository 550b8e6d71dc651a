import type { Block } from "../../src/extract/extracted.ts";
import { openPassageMaker } from "../../src/search/search.ts";
import type { Figure } from "../figure.ts";
import { type Manual, squeezed } from "./corpus.ts";

const misplacedPercentMost = 0.5;
/** So many characters tell a place; a shorter passage has none to tell both of its ends by. */
const endCharacters = 16;
const passageCharactersMin = 40;
/** Further away the same words stand once more, and one of the two readers has another order here. */
const pagesApartMax = 2;

/** How many passages begin or end on another page than they say, by what another program reads on each page. */
export function measurePages(manuals: readonly Manual[], read: ReadonlyMap<string, readonly Block[]>): Figure {
  let [ends, misplaced] = [0, 0];
  for (const { name, pages } of manuals) {
    const printed = pages.map(lettersOf);
    for (const { page, words } of endsOf(read.get(name) ?? [])) {
      const found = printed.flatMap((text, index) => (text.includes(words) ? [index + 1] : []));
      if (found.length === 0) continue;
      ends += 1;
      if (!found.includes(page) && found.some((other) => Math.abs(other - page) <= pagesApartMax)) misplaced += 1;
    }
  }
  const what = `beginnings and ends of passages on another page than they say, of ${ends}`;
  return { what, unit: "%", value: (100 * misplaced) / Math.max(1, ends), atMost: misplacedPercentMost };
}

function* endsOf(blocks: readonly Block[]): Generator<{ readonly page: number; readonly words: string }> {
  const maker = openPassageMaker();
  const passages = [...blocks.flatMap((block) => [...maker.add(block)]), ...maker.end()];
  for (const { kind, text, from, to } of passages) {
    const letters = lettersOf(text);
    if (kind !== "body" || letters.length < passageCharactersMin) continue;
    yield { page: from.page ?? 0, words: letters.slice(0, endCharacters) };
    yield { page: to.page ?? 0, words: letters.slice(-endCharacters) };
  }
}

function lettersOf(text: string): string {
  return squeezed(text).replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
