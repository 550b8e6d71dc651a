/**
 * A copy of a text in which differences that models overlook are gone. Unit `n` of it stands for the range from
 * `starts[n]` to `ends[n]` of the original, so that a match in the copy leads to exact bytes of the original.
 */
export type Folded = {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Blanks at the very end are gone: what they ended must end a line. */
  readonly isCut: boolean;
};

/** `blanks`: line endings and blanks before them. `characters`: also width, quotes, dashes and kinds of spaces. */
export type Fold = "blanks" | "characters";

export function foldText(text: string, fold: Fold): Folded {
  const units: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let solid = 0; // Units up to the last one that is no blank, or that ends a line.
  const push = (folded: string, start: number, end: number) => {
    for (let index = 0; index < folded.length; index += 1) {
      units.push(folded.charAt(index));
      starts.push(start);
      ends.push(end);
    }
  };
  const dropBlanks = () => {
    units.length = solid;
    starts.length = solid;
    ends.length = solid;
  };
  for (let index = 0; index < text.length; ) {
    const end = index + lengthAt(text, index);
    const folded = foldUnit(text.slice(index, end), fold);
    if (folded === "\n") dropBlanks();
    push(folded, index, end);
    if (folded !== "" && !isBlank(folded)) solid = units.length;
    index = end;
  }
  const isCut = solid < units.length;
  dropBlanks();
  return { text: units.join(""), starts, ends, isCut };
}

/** A text that does not end its last line, with that end: it takes no room in the original. */
export function withLastLineEnd({ text, starts, ends, isCut }: Folded, length: number): Folded {
  if (text.endsWith("\n")) return { text, starts, ends, isCut };
  return { text: `${text}\n`, starts: [...starts, length], ends: [...ends, length], isCut };
}

/** The characters of a line without what models overlook; for comparing, without a way back. */
export function foldCharacters(line: string): string {
  if (isAscii.test(line)) return line;
  let folded = "";
  for (const character of line) folded += foldUnit(character, "characters");
  return folded;
}

const isAscii = /^\p{ASCII}*$/u;

/** One code point, or both halves of a line ending. */
function lengthAt(text: string, index: number): number {
  if (text.startsWith("\r\n", index)) return 2;
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function foldUnit(unit: string, fold: Fold): string {
  if (unit === "\r\n" || unit === "\r") return "\n";
  if (fold === "blanks" || unit <= "\x7f") return unit;
  // Decomposed, because that needs no look at the neighbours: the copy of a part is a part of the copy.
  let folded = "";
  for (const part of unit.normalize("NFKD")) folded += sameAs.get(part) ?? part;
  return folded;
}

function isBlank(folded: string): boolean {
  return folded === " " || folded === "\t";
}

/** What is typed with one key and drawn in many ways; NFKD knows the widths and most spaces, but none of these. */
const sameAs: ReadonlyMap<string, string> = new Map([
  ...Array.from("\u2018\u2019\u201a\u201b\u2032\u02bc", (quote): [string, string] => [quote, "'"]),
  ...Array.from("\u201c\u201d\u201e\u201f\u2033", (quote): [string, string] => [quote, '"']),
  ...Array.from("\u2010\u2012\u2013\u2014\u2015\u2212", (dash): [string, string] => [dash, "-"]),
  ...Array.from("\u200b\u2060\ufeff\u00ad", (nothing): [string, string] => [nothing, ""]),
  ["\u3002", "."],
  ["\u3001", ","],
]);
