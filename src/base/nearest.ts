export type NearOptions = {
  /** All names a candidate goes by; its own unless said otherwise. */
  readonly spellings?: (candidate: string) => readonly string[];
  /** Leaves out what is too far away to be worth naming. */
  readonly onlyLikely?: boolean;
};

/** The candidates that were probably meant, best first: for "did you mean". Equally near ones stay in their order. */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  countMax: number,
  { spellings = (candidate) => [candidate], onlyLikely = false }: NearOptions = {},
): string[] {
  const written = plain(word.slice(0, charactersMax));
  const distanceMax = onlyLikely ? Math.max(1, Math.floor(written.length / 3)) : Number.POSITIVE_INFINITY;
  return Array.from(candidates, (candidate) => ({
    candidate,
    distance: Math.min(
      ...spellings(candidate).map((spelling) => distanceBetween(written, plain(spelling.slice(0, 2 * charactersMax)))),
    ),
  }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, countMax)
    .map(({ candidate }) => candidate);
}

/** Longer words are not typing errors, and the work grows with the length. */
const charactersMax = 80;

/** `tool-timeout`, `TOOL_TIMEOUT` and `toolTimeout` are the same words. */
function plain(name: string): string {
  const parted = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
  return parted.toLowerCase().replaceAll(/[\s._-]+/g, "_");
}

/** The order of the words does not count, and a name that was only begun is as near as one typing error. */
function distanceBetween(written: string, name: string): number {
  if (written.length > 1 && name !== written && name.startsWith(written)) return 1;
  return Math.min(editDistance(written, name), editDistance(sorted(written), sorted(name)));
}

function sorted(name: string): string {
  return name.split("_").sort().join("_");
}

/**
 * Insertions, deletions, changes and swaps of neighbours that lead from one word to the other. Beyond the most that is
 * wanted, whatever is more is as good as any.
 */
export function editDistance(from: string, to: string, most: number = Number.POSITIVE_INFINITY): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      now[column] = Math.min(
        at(last, column) + 1,
        at(now, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...now) > most) return most + 1;
    [beforeLast, last] = [last, now];
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
