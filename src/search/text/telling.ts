import type { Unit } from "./query.ts";

/** How telling a word is that stands in so many of all passages. */
function rarityOf(passages: number, all: number): number {
  return Math.log(1 + (Math.max(all, passages) - passages + 0.5) / (passages + 0.5));
}

/** Half as frequent as both of its neighbours, a pair of characters is rather the end of one word and the beginning of another. */
const borderShare = 0.5;
const borderWeight = 0.3;

/**
 * What each unit of a query tells: the rarer, the more. Of 软件包无法, 包无 is rare as well, because nobody means it: where
 * words meet is seen by how often the pairs occur, without knowing any word.
 */
export function tellingOf(units: readonly Unit[], counts: readonly number[], all: number): number[] {
  return units.map((unit, index) => {
    const [before = 0, count = 0, behind = 0] = [counts[index - 1], counts[index], counts[index + 1]];
    const isInside = meet(units[index - 1], unit) && meet(unit, units[index + 1]);
    const isBorder = isInside && count < borderShare * Math.min(before, behind);
    return rarityOf(count, all) * (isBorder || unit.isWeak ? borderWeight : 1);
  });
}

/** One pair begins with the character that the other ends with. */
function meet(one: Unit | undefined, other: Unit | undefined): boolean {
  const [first, second] = [pairOf(one), pairOf(other)];
  return first !== undefined && second !== undefined && first[1] === second[0];
}

function pairOf(unit: Unit | undefined): readonly string[] | undefined {
  const characters = [...(unit?.characters ?? "")];
  return characters.length === 2 ? characters : undefined;
}
