import { blockBytes, forModels } from "../../words/words.ts";
import { cutAround, outputBytes } from "../output.ts";
import { outsideOf } from "../show-file.ts";
import { countLines } from "../take-lines.ts";
import type { Outside, ToolOutput } from "../tool.ts";
import { applyEdits, type Edit, placesMax, planEdit, type Wish } from "./match.ts";
import { findNearMiss } from "./near-miss.ts";

const { files } = forModels;

/** Lines shown on either side of a change. */
const linesAround = 3;
/** The model knows what it wrote: more is not worth its room. */
const shownBytesMax = 8_000;
const lineBytesMax = 1_000;
const frameBytes = 500;
const rangesMax = 5;

/** What is told, and which of its characters are the file's. */
export type Described = Pick<ToolOutput, "text" | "outside">;

/** The changed lines as they are now, with some around them. */
export function describeChange(path: string, text: string, edits: readonly Edit[], bytesMax: number): Described {
  const result = applyEdits(text, edits);
  const total = countLines(result);
  const parts = [files.edited(path, edits.length)];
  const outside: Outside[] = [];
  const markBytes = blockBytes + outputBytes(files.name(path));
  let room = Math.min(bytesMax, shownBytesMax) - frameBytes - 2 * markBytes;
  let shown = 0;
  for (const range of changedRanges(result, edits).slice(0, rangesMax)) {
    if (room <= 0) break;
    const { first, lines } = shownLines(result, range, room);
    const about = total === 0 ? files.empty : files.lines(first, first + lines.length - 1, total);
    parts.push(files.header(path, about));
    outside.push(...shownOf(path, lengthOf(parts), lines));
    parts.push(...lines);
    room -= outputBytes([files.header(path, about), ...lines].join("\n")) + markBytes;
    shown += range.edits;
  }
  if (shown < edits.length) parts.push(files.editedElsewhere(edits.length - shown, path));
  return { text: parts.join("\n"), outside };
}

/** How many characters stand before the next part. */
function lengthOf(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + part.length + 1, 0);
}

/** These lines may be new to whoever read the file in part. */
function shownOf(path: string, from: number, lines: readonly string[]): Outside[] {
  return outsideOf(path, from, lines.join("\n")).map((part) => ({ ...part, isSeen: true }));
}

/** Lines of the result that edits made: numbers from 1 on, and where they lie. */
type Range = { readonly first: number; last: number; readonly start: number; end: number; edits: number };

/** One for each edit, those near each other together. */
function changedRanges(result: string, edits: readonly Edit[]): Range[] {
  const ranges: Range[] = [];
  let [line, at, shift] = [1, 0, 0];
  for (const edit of edits) {
    const start = edit.start + shift;
    const end = start + edit.text.length;
    line += lineEndsIn(result, at, start);
    const first = line;
    line += lineEndsIn(result, start, end);
    const last = line > first && edit.text.endsWith("\n") ? line - 1 : line;
    [at, shift] = [end, shift + edit.text.length - (edit.end - edit.start)];
    const before = ranges.at(-1);
    if (before === undefined || first - before.last > 2 * linesAround)
      ranges.push({ first, last, start, end, edits: 1 });
    else {
      before.last = last;
      before.end = end;
      before.edits += 1;
    }
  }
  return ranges;
}

/** The lines of a range and some around them, as many as there is room for; a long one as far as it was changed. */
function shownLines(result: string, range: Range, bytesMax: number): { first: number; lines: readonly string[] } {
  let [from, first] = [lineStart(result, range.start), range.first];
  for (; first > Math.max(1, range.first - linesAround); first -= 1) from = lineStart(result, from - 1);
  const lines: string[] = [];
  let room = bytesMax;
  for (let at = from; at < result.length && first + lines.length <= range.last + linesAround; ) {
    const end = result.indexOf("\n", at);
    const line = result.slice(at, end < 0 ? undefined : end);
    const isChanged = range.start > at && range.start <= at + line.length;
    const shown = cutAround(line, isChanged ? range.start - at : 0, Math.min(lineBytesMax, room));
    room -= outputBytes(shown) + 1;
    if (room < 0 && lines.length > 0) break;
    lines.push(shown);
    at = end < 0 ? result.length : end + 1;
  }
  return { first, lines };
}

/** Where the line begins that a place lies in. */
function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lineEndsIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

const linesNamedMax = 10;

/** The text stands there several times: where. */
export function describeSeveral(path: string, text: string, starts: readonly number[]): string {
  const lines: string[] = [];
  let [line, at] = [1, 0];
  for (const start of starts.slice(0, linesNamedMax)) {
    line += lineEndsIn(text, at, start);
    at = start;
    lines.push(String(line));
  }
  if (starts.length > linesNamedMax) lines.push("...");
  const count = starts.length > placesMax ? `more than ${placesMax}` : String(starts.length);
  return files.several(path, count, lines.join(", "));
}

const nearLineBytesMax = 500;
/** A shorter text stands in many places by chance. */
const tellingCharactersMin = 8;

/** The text stands nowhere: what is most like it, and what differs. */
export function describeNone(path: string, text: string, wish: Wish, bytesMax: number): Described {
  const parts = [files.notFound(path)];
  const line = lineOf(text, wish.new);
  if (line !== undefined) parts.push(files.alreadyThere(line));
  const near = findNearMiss(text, wish.old);
  if (near.kind === "none")
    return { text: [...parts, near.isAll ? files.nothingNear(path) : files.nothingNearInPart(path)].join(" ") };
  const { first, lines, difference, focus } = near;
  const room = bytesMax - 2 * frameBytes - blockBytes - 3 * outputBytes(files.name(path));
  const lineBytes = Math.max(0, Math.min(nearLineBytesMax, Math.floor(room / lines.length)));
  const shown = lines.map((words, index) =>
    cutAround(words, first + index === focus.line ? focus.column : 0, lineBytes),
  );
  const isCut = shown.some((words, index) => words !== lines[index]);
  const before = [
    [...parts, files.nearest].join(" "),
    files.header(path, files.lines(first, first + lines.length - 1, countLines(text))),
  ];
  const help = [
    ...(difference === undefined ? [] : [files.differs(difference)]),
    ...(isCut ? [files.copyPart] : [files.copyAgain]),
  ];
  return {
    text: [...before, ...shown, help.join(" ")].join("\n"),
    outside: shownOf(path, lengthOf(before), shown),
  };
}

function lineOf(text: string, wanted: string): number | undefined {
  if (wanted.trim().length < tellingCharactersMin) return undefined;
  const plan = planEdit(text, { old: wanted, new: "", isForAll: true });
  const start = plan.kind === "edits" ? plan.edits[0]?.start : plan.kind === "several" ? plan.starts[0] : undefined;
  return start === undefined ? undefined : lineEndsIn(text, 0, start) + 1;
}
