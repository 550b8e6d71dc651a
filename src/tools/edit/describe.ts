import { forModels } from "../../words/words.ts";
import { outputBytes, shortened } from "../output.ts";
import { countLines, lineTaker } from "../take-lines.ts";
import { applyEdits, type Edit, placesMax, planEdit, type Wish } from "./match.ts";
import { findNearMiss } from "./near-miss.ts";

const { files } = forModels;

/** Lines shown on either side of a change. */
const linesAround = 3;
/** The model knows what it wrote: more is not worth its room. */
const shownBytesMax = 8_000;
const frameBytes = 500;
const rangesMax = 5;

/** The changed lines as they are now, with some around them. */
export function describeChange(path: string, text: string, edits: readonly Edit[], bytesMax: number): string {
  const result = applyEdits(text, edits);
  const total = countLines(result);
  const parts = [files.edited(path, edits.length)];
  let room = Math.min(bytesMax, shownBytesMax) - frameBytes - outputBytes(files.name(path));
  let shown = 0;
  for (const range of changedRanges(result, edits).slice(0, rangesMax)) {
    if (room <= 0) break;
    const first = Math.max(1, Math.min(range.first - linesAround, total));
    const linesMax = range.last + linesAround - first + 1;
    const taker = lineTaker({ first, linesMax, charactersMax: Number.POSITIVE_INFINITY, bytesMax: room });
    taker.add(result);
    const { lines } = taker.end();
    const about = total === 0 ? files.empty : files.lines(first, first + lines.length - 1, total);
    const part = [files.header(path, about), ...lines].join("\n");
    parts.push(part);
    room -= outputBytes(part);
    shown += range.edits;
  }
  if (shown < edits.length) parts.push(files.editedElsewhere(edits.length - shown, path));
  return parts.join("\n");
}

type Range = { readonly first: number; last: number; edits: number };

/** Lines of the result that the edits made, those near each other together. */
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
    if (before === undefined || first - before.last > 2 * linesAround) ranges.push({ first, last, edits: 1 });
    else {
      before.last = last;
      before.edits += 1;
    }
  }
  return ranges;
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

const lineBytesMax = 500;
/** A shorter text stands in many places by chance. */
const tellingCharactersMin = 8;

/** The text stands nowhere: what is most like it, and what differs. */
export function describeNone(path: string, text: string, wish: Wish): string {
  const parts = [files.notFound(path)];
  const line = lineOf(text, wish.new);
  if (line !== undefined) parts.push(files.alreadyThere(line));
  const near = findNearMiss(text, wish.old);
  if (near === undefined) return [...parts, files.nothingNear(path)].join(" ");
  const { first, lines, difference } = near;
  return [
    [...parts, files.nearest].join(" "),
    files.header(path, files.lines(first, first + lines.length - 1, countLines(text))),
    ...lines.map((words) => shortened(words, lineBytesMax)),
    [...(difference === undefined ? [] : [files.differs(difference)]), files.copyAgain].join(" "),
  ].join("\n");
}

function lineOf(text: string, wanted: string): number | undefined {
  if (wanted.trim().length < tellingCharactersMin) return undefined;
  const plan = planEdit(text, { old: wanted, new: "", isForAll: true });
  const start = plan.kind === "edits" ? plan.edits[0]?.start : plan.kind === "several" ? plan.starts[0] : undefined;
  return start === undefined ? undefined : lineEndsIn(text, 0, start) + 1;
}
