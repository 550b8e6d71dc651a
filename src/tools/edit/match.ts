import { type Fold, type Folded, foldText } from "./fold.ts";

/** A range of the text and what comes in its place. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string };
/** How exactly the wanted text was met: as it is, but for blanks and line endings, or also but for drawn variants. */
export type Likeness = "exact" | Fold;

export type Plan =
  | { readonly kind: "edits"; readonly edits: readonly Edit[]; readonly likeness: Likeness }
  | { readonly kind: "none" }
  /** `starts`: where the places begin, in order. */
  | { readonly kind: "several"; readonly starts: readonly number[]; readonly likeness: Likeness };

export type Wish = { readonly old: string; readonly new: string; readonly isForAll: boolean };

/** Places of one text in a file; with more of them it is work for code. */
export const placesMax = 100_000;
/** In longer texts only line ends are forgiven: a copy of them would hold up everybody else. */
const foldedCharactersMax = 200_000;

/** Finds the place of a text, forgiving only where the exact text is nowhere, and says which ranges change. */
export function planEdit(text: string, wish: Wish): Plan {
  const lineEnd = lineEndOf(text);
  // Who wrote a line ending exactly as it is there knows which one to write.
  const isKnown = lineEnd === "\n" || wish.old.includes("\n");
  const exact = { ...wish, new: isKnown ? wish.new : withLineEnds(wish.new, lineEnd) };
  const ended = { ...wish, old: withLineEnds(wish.old, lineEnd), new: withLineEnds(wish.new, lineEnd) };
  return (
    planExact(text, exact, "exact") ??
    (ended.old === wish.old ? undefined : planExact(text, ended, "blanks")) ??
    planFolded(text, wish, lineEnd) ?? { kind: "none" }
  );
}

function planExact(text: string, wish: Wish, likeness: Likeness): Plan | undefined {
  const { length } = wish.old;
  const places = placesOf(text, wish.old).filter((place) => !isInsideLineEnd(text, place));
  const edits = (starts: readonly number[]) => starts.map((start) => ({ start, end: start + length, text: wish.new }));
  return planOf(places, wish, likeness, { length, startOf: (place) => place, edits });
}

/** Whoever wrote a line feed first did not mean the second half of a Windows line end. */
function isInsideLineEnd(text: string, place: number): boolean {
  return text[place] === "\n" && text[place - 1] === "\r";
}

function planFolded(text: string, wish: Wish, lineEnd: string): Plan | undefined {
  if (Math.max(text.length, wish.old.length) > foldedCharactersMax) return undefined;
  const folds: readonly Fold[] = isAscii.test(text) && isAscii.test(wish.old) ? ["blanks"] : ["blanks", "characters"];
  for (const fold of folds) {
    const wanted = foldText(wish.old, fold);
    if (wanted.text.trim() === "") continue;
    const whole = foldText(text, fold, { endsLastLine: true });
    const places = placesOf(whole.text, wanted.text).filter((place) => isWhole(whole, wanted, place));
    const edits = (starts: readonly number[]) => starts.map((place) => smallEdit(whole, wanted, place, wish, lineEnd));
    const startOf = (place: number) => whole.starts[place] ?? text.length;
    const plan = planOf(places, wish, fold, { length: wanted.text.length, startOf, edits });
    if (plan !== undefined) return plan;
  }
  return undefined;
}

const isAscii = /^\p{ASCII}*$/u;

/** Undefined where there is no place. */
function planOf(
  places: readonly number[],
  { isForAll }: Wish,
  likeness: Likeness,
  found: { length: number; startOf: (place: number) => number; edits: (places: readonly number[]) => Edit[] },
): Plan | undefined {
  if (places.length === 0) return undefined;
  const isOne = places.length === 1;
  if ((!isOne && !isForAll) || places.length > placesMax)
    return { kind: "several", starts: places.map(found.startOf), likeness };
  let free = 0;
  const apart = places.filter((place) => {
    if (place < free) return false; // It overlaps with the one before.
    free = place + found.length;
    return true;
  });
  return { kind: "edits", edits: found.edits(apart), likeness };
}

/** Every place, also where two overlap: either could be meant. One more than the limit is enough to know. */
function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && places.length <= placesMax; at = text.indexOf(wanted, at + 1))
    places.push(at);
  return places;
}

/** A match that begins and ends between characters of the original, and at the end of a line where it should. */
function isWhole(whole: Folded, wanted: Folded, place: number): boolean {
  const end = place + wanted.text.length;
  const endsLine = end === whole.text.length || whole.text[end] === "\n";
  return isBorder(whole, place) && isBorder(whole, end) && (!wanted.isCut || endsLine);
}

function isBorder({ starts }: Folded, unit: number): boolean {
  return unit === 0 || unit === starts.length || starts[unit] !== starts[unit - 1];
}

/**
 * The range that really changes. What the old and the new text have in common is left in the file as it stands there:
 * its own quotes, blanks and line endings, not those that the model wrote.
 */
function smallEdit(whole: Folded, wanted: Folded, place: number, wish: Wish, lineEnd: string): Edit {
  const common = commonEnds(wish.old, wish.new);
  const length = wanted.text.length;
  let head = 0;
  while (head < length && (wanted.ends[head] ?? 0) <= common.head) head += 1;
  while (head > 0 && !(isBorder(wanted, head) && isBorder(whole, place + head) && isReal(whole, place + head - 1)))
    head -= 1;
  let tail = 0;
  while (tail < length - head && (wanted.starts[length - tail - 1] ?? 0) >= wish.old.length - common.tail) tail += 1;
  while (tail > 0 && !(isBorder(wanted, length - tail) && isBorder(whole, place + length - tail))) tail -= 1;

  const last = length - tail - 1; // The unit before the tail; what was dropped between them belongs to either.
  const oldFrom = head === 0 ? 0 : (wanted.ends[head - 1] ?? 0);
  const oldGap = last < 0 ? 0 : (wanted.ends[last] ?? 0);
  const isGapCommon = wish.old.length - common.tail <= oldGap;
  const oldTo = isGapCommon ? oldGap : (wanted.starts[length - tail] ?? wish.old.length);
  const start = head === 0 ? (whole.starts[place] ?? 0) : (whole.ends[place + head - 1] ?? 0);
  const gap = last < 0 ? start : (whole.ends[place + last] ?? start);
  const end = oldTo === oldGap ? gap : (whole.starts[place + length - tail] ?? gap);
  const changed = wish.new.slice(oldFrom, wish.new.length - (wish.old.length - oldTo));
  return { start, end, text: withLineEnds(changed, lineEnd) };
}

/** The line end that we added to the last line is nothing that could be kept. */
function isReal({ starts, ends }: Folded, unit: number): boolean {
  return starts[unit] !== ends[unit];
}

function commonEnds(before: string, after: string): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { head, tail };
}

/** The line ending that most lines of a text have. */
function lineEndOf(text: string): "\r\n" | "\n" {
  let [windows, plain] = [0, 0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") windows += 1;
    else plain += 1;
  }
  return windows > plain ? "\r\n" : "\n";
}

function withLineEnds(text: string, lineEnd: string): string {
  return text.replaceAll(/\r?\n/g, lineEnd);
}

/** The text with all edits made; they do not overlap and are in order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, text: changed } of edits) {
    parts.push(text.slice(from, start), changed);
    from = end;
  }
  return [...parts, text.slice(from)].join("");
}
