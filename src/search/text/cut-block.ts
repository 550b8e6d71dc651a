import type { Block, Place } from "../../extract/extracted.ts";

export type Piece = { readonly text: string; readonly from: Place; readonly to: Place };

/** How much there is to read: a character of Chinese says as much as two letters. */
export function unitsOf(text: string): number {
  return text.length + (text.match(wide)?.length ?? 0);
}

const wide = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;

/**
 * A block in pieces of at most so many units: a table between rows, code between lines, all else between sentences. Each
 * is made when it is asked for: all of them together may be larger than the block.
 */
export function* cutBlock(block: Block, unitsMax: number): Generator<Piece> {
  const { text, from, to = from } = block;
  if (block.kind === "table") return yield* cutTable(block, unitsMax);
  if (unitsOf(text) <= unitsMax) return yield { text, from, to };
  const steps = block.kind === "code" ? text.split(/(?<=\n)/) : text.split(/(?<=[.!?;][\s]|[。！？；\n])/u);
  const placeAt = openPlaces(block);
  let at = 0;
  for (const group of gather(cutLongOnes(steps, unitsMax), unitsMax)) {
    const piece = group.join("");
    // Blanks at its end lie on no other page or line.
    const last = at + Math.max(0, piece.trimEnd().length - 1);
    yield { text: piece, ...(placeAt === undefined ? { from, to } : { from: placeAt(at), to: placeAt(last) }) };
    at += piece.length;
  }
}

/**
 * Where the characters of a block stand, asked for from its beginning to its end: on which of its pages, or on which of its
 * lines where the text has just these. Undefined where that is not known.
 */
function openPlaces({ text, from, to = from, pageStarts }: Block): ((at: number) => Place) | undefined {
  let [place, next] = [from, 0];
  if (pageStarts !== undefined)
    return (at) => {
      for (let start = pageStarts[next]; start !== undefined && start.at <= at; start = pageStarts[next]) {
        place = start.place;
        next += 1;
      }
      return place;
    };
  if (from.line === undefined || to.line !== from.line + feedsIn(text)) return undefined;
  return (at) => {
    const feeds = feedsIn(text.slice(next, at));
    if (feeds > 0) place = { ...place, line: (place.line ?? 0) + feeds };
    next = at;
    return place;
  };
}

function feedsIn(text: string): number {
  return text.match(/\n/g)?.length ?? 0;
}

const rowsMax = 50;
/** Half of a passage: a longer head would be most of what each part of its table says. */
const headUnitsMax = 600;

/** Each part has the head of the table if that is short, and says which rows it holds where they are numbered one by one. */
function* cutTable({ text, from, to = from, headRows = 0 }: Block, unitsMax: number): Generator<Piece> {
  const rows = text.split("\n");
  const headUnits = unitsOf(rows.slice(0, headRows).join("\n"));
  const head = headUnits <= headUnitsMax ? rows.slice(0, headRows) : [];
  const others = rows.slice(head.length);
  if (others.length === 0) return yield { text, from, to };
  const isWhole = others.every((row) => unitsOf(row) <= unitsMax);
  const isNumbered = isWhole && from.row !== undefined && to.row === from.row + rows.length - 1;
  const room = head.length === 0 ? unitsMax : unitsMax - headUnits;
  let next = (from.row ?? 0) + head.length;
  let start = from;
  for (const body of gather(cutLongOnes(others, unitsMax), room, rowsMax)) {
    next += body.length;
    yield { text: [...head, ...body].join("\n"), from: start, to: isNumbered ? { ...to, row: next - 1 } : to };
    if (isNumbered) start = { ...from, row: next };
  }
}

/** Steps in groups that are as large as they may be. */
function* gather(steps: Iterable<string>, unitsMax: number, countMax = Number.POSITIVE_INFINITY): Generator<string[]> {
  let group: string[] = [];
  let units = 0;
  for (const step of steps) {
    const more = unitsOf(step);
    if (group.length > 0 && (units + more > unitsMax || group.length >= countMax)) {
      yield group;
      group = [];
      units = 0;
    }
    group.push(step);
    units += more;
  }
  if (group.length > 0) yield group;
}

function* cutLongOnes(steps: readonly string[], unitsMax: number): Generator<string> {
  for (const step of steps) yield* cutLong(step, unitsMax);
}

/** What has no end of a sentence for so long is cut at a space, or between two characters. */
function cutLong(step: string, unitsMax: number): readonly string[] {
  if (unitsOf(step) <= unitsMax) return [step];
  const pieces: string[] = [];
  for (let rest = step; rest !== ""; ) {
    const end = endOfPiece(rest, unitsMax);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces;
}

function endOfPiece(text: string, unitsMax: number): number {
  // Half as many UTF-16 units always fit, and whole characters stay whole.
  const half = Math.max(2, Math.floor(unitsMax / 2));
  if (text.length <= half) return text.length;
  const space = text.lastIndexOf(" ", half);
  const end = space > half / 2 ? space + 1 : half;
  return /[\ud800-\udbff]/.test(text[end - 1] ?? "") ? end - 1 : end;
}
