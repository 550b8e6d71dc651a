import { isAscii } from "node:buffer";
import { decodeText, isSurelyUtf8 } from "../extract/decode.ts";
import { binaryEndings } from "../extract/magic.ts";
import type { FileBelow } from "../workspace/workspace.ts";
import type { LineHit, SearchQuery, SearchResult } from "./documents.ts";
import { excerpt, placesIn, type ShownPart } from "./excerpt.ts";
import type { Plan } from "./query.ts";

export type Scan = Pick<SearchQuery, "hitsMax" | "contextCharacters"> & {
  readonly plan: Plan;
  /** Whether the time for the whole search is over. */
  readonly isLate: () => boolean;
  readonly found: (hit: LineHit) => void;
  readonly progress: Progress;
};

/**
 * Memory that the thread that scans and the one that waits share. `beats` grows with every file, piece and match; while
 * `isMatching` is 1 and it does not grow, a pattern has got lost.
 */
export type Progress = Int32Array<SharedArrayBuffer>;
export const place = { beats: 0, isMatching: 1, total: 2, filesSearched: 3, filesSkipped: 4 } as const;

export function newProgress(): Progress {
  return new Int32Array(new SharedArrayBuffer(Object.keys(place).length * Int32Array.BYTES_PER_ELEMENT));
}

export function countsOf(progress: Progress): Pick<SearchResult, "total" | "filesSearched" | "filesSkipped"> {
  const at = (counted: number) => Atomics.load(progress, counted);
  return { total: at(place.total), filesSearched: at(place.filesSearched), filesSkipped: at(place.filesSkipped) };
}

/** Larger files are left out; they are read as a whole. */
const fileBytesMax = 100 * 1024 * 1024;
/** Places are counted up to this; more are of no use to anybody. */
const totalMax = 10_000;

/** Looks through all files with one reading of the query. Answers why it did not look at everything, if so. */
export function scanFiles(files: Iterable<FileBelow>, scan: Scan): SearchResult["stopped"] {
  const { progress, isLate } = scan;
  let stopped: SearchResult["stopped"];
  for (const file of files) {
    if (isLate()) return "time";
    beat(progress);
    const bytes = file.bytes > fileBytesMax ? undefined : readText(file, scan.plan);
    if (bytes === undefined) {
      Atomics.add(progress, place.filesSkipped, 1);
      if (file.bytes > fileBytesMax) stopped = "size";
      continue;
    }
    Atomics.add(progress, place.filesSearched, 1);
    const broken = scanFile(file.path, bytes, scan);
    if (broken !== undefined && broken !== "pattern") return broken;
    if (broken === "pattern") stopped = "time";
  }
  return stopped;
}

function beat(progress: Progress): void {
  Atomics.add(progress, place.beats, 1);
}

/** Binary files have a NUL in here. */
const headBytes = 8_192;

/** The text of a file as UTF-8, empty where it is clear that nothing can be found in it; undefined when it is no text. */
function readText(file: FileBelow, { finder, isAscii: isAsciiPlan }: Plan): Buffer | undefined {
  const bytes = file.read(fileBytesMax);
  if (bytes === undefined) return undefined;
  const head = bytes.subarray(0, headBytes);
  const isPlain = !head.includes(0) && binaryEndings(head) === undefined;
  if (isPlain && isSurelyUtf8(bytes)) return withoutMark(bytes);
  // Guessing an encoding takes longer than the search: it is put off until there may be something to find.
  if (isPlain && isAsciiPlan && finder !== undefined && !isFoundIn(bytes.toString("latin1"), finder))
    return bytes.subarray(0, 0);
  const decoded = decodeText(bytes);
  return decoded === undefined ? undefined : Buffer.from(decoded.text);
}

/** A byte order mark is no part of the first line. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Taken at once, up to the end of a line: a bound for memory, and for the time between two beats. */
const pieceBytes = 4 * 1024 * 1024;
/** A pattern that is at work is watched: so little is done soon enough, also by a thread that hardly gets its turn. */
const watchedPieceBytes = 256 * 1024;

/** `pattern`: this file was too much for the engine that matches patterns; the next one need not be. */
function scanFile(path: string, bytes: Buffer, scan: Scan): "time" | "hits" | "pattern" | undefined {
  const { plan, progress } = scan;
  const numbers = lineNumbers(bytes);
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    if (scan.isLate()) return "time";
    to = pieceEnd(bytes, from, plan.mayHang ? watchedPieceBytes : pieceBytes);
    const text = textOf(bytes.subarray(from, to), plan);
    if (text === undefined) continue;
    const broken = whileMatching(progress, plan, () => scanPiece({ path, bytes, from, to, text, numbers }, scan));
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** Marks the time in which only a pattern is at work, so that the thread that waits sees when it gets lost. */
function whileMatching<T>(progress: Progress, { mayHang }: Plan, work: () => T): T {
  beat(progress);
  Atomics.store(progress, place.isMatching, mayHang ? 1 : 0);
  try {
    return work();
  } finally {
    Atomics.store(progress, place.isMatching, 0);
  }
}

type Piece = { path: string; bytes: Buffer; from: number; to: number; text: string; numbers: LineNumbers };

function scanPiece(piece: Piece, scan: Scan): "hits" | "pattern" | undefined {
  const { path, text } = piece;
  const { plan, progress, contextCharacters } = scan;
  let counted = 0;
  let number: number | undefined;
  try {
    for (const line of matchingLines(text, plan, () => beat(progress))) {
      for (const part of placesIn(lineOf(text, line), plan.marks, contextCharacters)) {
        beat(progress);
        const total = Atomics.add(progress, place.total, 1) + 1;
        if (total <= scan.hitsMax) {
          number = (number ?? piece.numbers.at(piece.from)) + countLines(text, counted, line.start);
          counted = line.start;
          scan.found({ path, line: number, ...shown(piece, line, part, contextCharacters) });
        }
        if (total >= totalMax) return "hits";
      }
    }
    return undefined;
  } catch (error) {
    // The engine gives up on some pairs of pattern and text, for want of memory.
    if (error instanceof RangeError || error instanceof SyntaxError) return "pattern";
    throw error;
  }
}

function pieceEnd(bytes: Buffer, from: number, bytesMax: number): number {
  if (from + bytesMax >= bytes.length) return bytes.length;
  const last = bytes.lastIndexOf(lineFeed, from + bytesMax - 1);
  const end = last >= from ? last : bytes.indexOf(lineFeed, from + bytesMax);
  return end === -1 ? bytes.length : end + 1;
}

const lineFeed = 0x0a;

/** Undefined where nothing can be found, which the bytes alone may show. */
function textOf(piece: Buffer, { finder, isAscii: isAsciiPlan }: Plan): string | undefined {
  if (isAscii(piece)) return piece.toString("latin1");
  if (isAsciiPlan && finder !== undefined && !isFoundIn(piece.toString("latin1"), finder)) return undefined;
  return piece.toString("utf8");
}

function isFoundIn(text: string, finder: RegExp): boolean {
  finder.lastIndex = 0;
  return finder.test(text);
}

type Line = { readonly start: number; readonly end: number };

/** `tried` is called between two steps that may take long. */
function* matchingLines(text: string, { finder, needs }: Plan, tried: () => void): Generator<Line, void> {
  for (let from = 0; from < text.length; ) {
    const index = finder === undefined ? from : nextIndex(text, finder, from);
    if (index === undefined) return;
    tried();
    const start = index === 0 ? 0 : text.lastIndexOf("\n", index - 1) + 1;
    // Nothing at all can match behind the last line feed, where there is no line.
    if (start === text.length) return;
    const feed = text.indexOf("\n", index);
    const end = feed === -1 ? text.length : feed;
    const line = needs.length === 0 ? "" : lineOf(text, { start, end });
    if (needs.every((need) => need.test(line))) yield { start, end };
    from = end + 1;
  }
}

function nextIndex(text: string, finder: RegExp, from: number): number | undefined {
  finder.lastIndex = from;
  return finder.exec(text)?.index;
}

function lineOf(text: string, { start, end }: Line): string {
  return text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
}

/** In longer lines the number of the line does not say where. */
const lineCharactersMax = 2_000;

function shown(
  { bytes, from, to, text }: Piece,
  line: Line,
  part: ShownPart,
  characters: number,
): Pick<LineHit, "column" | "text"> {
  const { start, end } = line;
  const isFirst = start === 0;
  const isLast = end + 1 >= text.length;
  const before = isFirst
    ? lineBefore(bytes, from, characters)
    : lineOf(text, { start: start === 1 ? 0 : text.lastIndexOf("\n", start - 2) + 1, end: start - 1 });
  const feed = text.indexOf("\n", end + 1);
  const after = isLast
    ? lineAfter(bytes, to, characters)
    : lineOf(text, { start: end + 1, end: feed === -1 ? text.length : feed });
  const whole = lineOf(text, line);
  return {
    ...(whole.length > lineCharactersMax ? { column: part.start + 1 } : {}),
    text: excerpt({ before, line: whole, after }, part, characters),
  };
}

/** A character of UTF-8 has at most four bytes; half ones at the far end are left out. */
const characterBytesMax = 4;

function lineBefore(bytes: Buffer, from: number, characters: number): string | undefined {
  if (from === 0) return undefined;
  const end = from - 1;
  const start = end === 0 ? 0 : bytes.lastIndexOf(lineFeed, end - 1) + 1;
  const near = Math.max(start, end - (characters + 1) * characterBytesMax);
  return bytes.toString("utf8", near, end).replace(/^\uFFFD+|\r$/g, "");
}

function lineAfter(bytes: Buffer, to: number, characters: number): string | undefined {
  if (to >= bytes.length) return undefined;
  const feed = bytes.indexOf(lineFeed, to);
  const end = feed === -1 ? bytes.length : feed;
  const near = Math.min(end, to + (characters + 1) * characterBytesMax);
  return bytes.toString("utf8", to, near).replace(/\r$|\uFFFD+$/g, "");
}

type LineNumbers = { at(offset: number): number };

/** Numbers of lines by their place in the file, counted only as far as they are asked for. */
function lineNumbers(bytes: Buffer): LineNumbers {
  let number = 1;
  let counted = 0;
  return {
    at(offset) {
      for (; counted < offset; counted += 1) if (bytes[counted] === lineFeed) number += 1;
      return number;
    },
  };
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let feed = text.indexOf("\n", from); feed !== -1 && feed < to; feed = text.indexOf("\n", feed + 1)) count += 1;
  return count;
}
