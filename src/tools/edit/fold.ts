/**
 * A copy of a text in which differences that models overlook are gone. Unit `n` of it stands for the range from
 * `starts[n]` to `ends[n]` of the original, so that a match in the copy leads to exact bytes of the original.
 */
export type Folded = {
  readonly text: string;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Blanks at the very end are gone: what they ended must end a line. */
  readonly isCut: boolean;
};

/** `blanks`: line endings and blanks before them. `characters`: also width, quotes, dashes and kinds of spaces. */
export type Fold = "blanks" | "characters";

/** With `endsLastLine`, a last line without an end gets one: it takes no room in the original. */
export function foldText(text: string, fold: Fold, { endsLastLine = false } = {}): Folded {
  const copy = openCopy(text.length * (fold === "blanks" ? 1 : partsMax) + 1);
  const seen = new Map<string, string>(); // Taking a letter apart costs more than all the rest.
  for (let index = 0; index < text.length; ) {
    const unit = text.charCodeAt(index);
    if (isPlain(unit, fold)) {
      copy.add(unit, index, index + 1);
      index += 1;
      continue;
    }
    const end = index + lengthAt(text, index);
    const written = text.slice(index, end);
    const folded = seen.get(written) ?? foldUnit(written, fold);
    seen.set(written, folded);
    if (folded === "\n") copy.dropBlanks();
    for (let at = 0; at < folded.length; at += 1) copy.add(folded.charCodeAt(at), index, end);
    index = end;
  }
  const isCut = copy.dropBlanks();
  if (endsLastLine && copy.last() !== lineFeed) copy.add(lineFeed, text.length, text.length);
  return { ...copy.end(), isCut };
}

/** Parts of one letter: the longest decomposition there is. */
const partsMax = 4;
const [lineFeed, tab, space] = [0x0a, 0x09, 0x20];

function openCopy(unitsMax: number) {
  const [units, starts, ends] = [new Uint16Array(unitsMax), new Uint32Array(unitsMax), new Uint32Array(unitsMax)];
  let count = 0;
  let solid = 0; // Units up to the last one that is no blank.
  return {
    add(unit: number, start: number, end: number): void {
      units[count] = unit;
      starts[count] = start;
      ends[count] = end;
      count += 1;
      if (unit !== space && unit !== tab) solid = count;
    },
    /** Takes away the blanks at the end; whether there were any. */
    dropBlanks(): boolean {
      const hadSome = solid < count;
      count = solid;
      return hadSome;
    },
    last: () => units[count - 1],
    end: () => ({
      // Unlike a decoder, this leaves half a character as it is.
      text: Buffer.from(units.buffer, 0, count * units.BYTES_PER_ELEMENT).toString("utf16le"),
      starts: starts.subarray(0, count),
      ends: ends.subarray(0, count),
    }),
  };
}

/** What stays as it is and stands for itself; not every such unit has to be found here. */
function isPlain(unit: number, fold: Fold): boolean {
  if (unit < 0x7f) return unit >= space || unit === tab;
  const isHan = unit >= 0x3400 && unit < 0xa000;
  return isHan || (fold === "blanks" && unit < 0xd800);
}

/** One code point, or both halves of a line ending. */
function lengthAt(text: string, index: number): number {
  if (text.startsWith("\r\n", index)) return 2;
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function foldUnit(unit: string, fold: Fold): string {
  if (unit === "\r\n" || unit === "\r") return "\n";
  if (fold === "blanks" || unit <= "\x7f") return unit;
  // Decomposed, because that needs no look at the neighbours: the copy of a part is a part of the copy. What means
  // something else (x², ①, ½) has no such form and stays what it is.
  return sameAs(unit.charCodeAt(0)) ?? unit.normalize("NFD");
}

/** What is typed with one key and drawn in many ways, as the plain character; undefined for all others. */
export function sameAs(unit: number): string | undefined {
  if (unit >= 0xff01 && unit <= 0xff5e) return String.fromCharCode(unit - 0xfee0); // Full width.
  return drawn.get(unit);
}

const spaces = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000";

const drawn: ReadonlyMap<number, string> = new Map(
  [
    ...Array.from(spaces, (blank) => [blank, " "] as const),
    ...Array.from("\u2018\u2019\u201a\u201b\u2032\u02bc", (quote) => [quote, "'"] as const),
    ...Array.from("\u201c\u201d\u201e\u201f\u2033", (quote) => [quote, '"'] as const),
    ...Array.from("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", (dash) => [dash, "-"] as const),
    ...Array.from("\u200b\u2060\ufeff\u00ad", (nothing) => [nothing, ""] as const),
    ...([
      ["\u3002", "."],
      ["\u3001", ","],
      ["\u2026", "..."],
    ] as const),
  ].map(([character, same]) => [character.charCodeAt(0), same]),
);
