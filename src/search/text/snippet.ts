import { foldWithOrigins } from "./fold.ts";
import type { Mark, Marker } from "./marks.ts";

/** The part of a text where most of what was asked for stands together, `**` around it, `...` where it was cut. */
export function snippetOf(text: string, mark: Marker, charactersMax: number): string {
  const { folded, origins } = foldWithOrigins(text);
  const found = mark(folded)
    .map(({ unit, start, end }) => ({ unit, start: origins[start] ?? 0, end: origins[end] ?? text.length }))
    .toSorted((one, other) => one.start - other.start);
  const { from, to } = windowOf(text, densest(found, charactersMax), charactersMax);
  return `${from > 0 ? "..." : ""}${marked(text, joined(found), from, to)}${to < text.length ? "..." : ""}`;
}

type Stretch = { readonly start: number; readonly end: number };

/** The shortest stretch with the most different units that fits. */
function densest(found: readonly Mark[], charactersMax: number): Stretch {
  let best = { start: found[0]?.start ?? 0, end: found[0]?.end ?? 0 };
  let bestCount = 0;
  let first = 0;
  const counts = new Map<number, number>();
  for (const { unit, end } of found) {
    counts.set(unit, (counts.get(unit) ?? 0) + 1);
    for (let head = found[first]; head !== undefined && end - head.start > charactersMax; head = found[first]) {
      lessen(counts, head.unit);
      first += 1;
    }
    const start = found[first]?.start ?? end;
    const isBetter = counts.size > bestCount || (counts.size === bestCount && end - start < best.end - best.start);
    if (isBetter) {
      bestCount = counts.size;
      best = { start, end };
    }
  }
  return best;
}

function lessen(counts: Map<number, number>, unit: number): void {
  const left = (counts.get(unit) ?? 1) - 1;
  if (left === 0) counts.delete(unit);
  else counts.set(unit, left);
}

/** Room on both sides, from the beginning of a word to the end of one. */
function windowOf(text: string, { start, end }: Stretch, charactersMax: number): { from: number; to: number } {
  const room = Math.max(0, charactersMax - (end - start));
  const from = Math.max(0, Math.min(start - Math.floor(room / 2), text.length - charactersMax));
  const to = Math.min(text.length, Math.max(from + charactersMax, end));
  return { from: from === 0 ? 0 : wordBegin(text, from, start), to: to === text.length ? to : wordEnd(text, to, end) };
}

/** As far as a word reaches at most. */
const wordCharactersMax = 20;

function wordBegin(text: string, from: number, before: number): number {
  const space = text.slice(from, Math.min(from + wordCharactersMax, before)).search(/\s/);
  const begin = space === -1 ? from : from + space + 1;
  return isLowSurrogate(text, begin) ? begin + 1 : begin;
}

function wordEnd(text: string, to: number, behind: number): number {
  const tail = text.slice(Math.max(to - wordCharactersMax, behind), to);
  const space = tail.search(/\s\S*$/);
  const end = space === -1 ? to : to - tail.length + space;
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  return /[\udc00-\udfff]/.test(text[at] ?? "");
}

/** Pairs of Chinese overlap: together they are one mark. */
function joined(found: readonly Stretch[]): Stretch[] {
  const whole: Stretch[] = [];
  for (const { start, end } of found) {
    const last = whole.at(-1);
    if (last !== undefined && start <= last.end) whole[whole.length - 1] = { ...last, end: Math.max(last.end, end) };
    else whole.push({ start, end });
  }
  return whole;
}

function marked(text: string, stretches: readonly Stretch[], from: number, to: number): string {
  let shown = "";
  let at = from;
  for (const { start, end } of stretches) {
    if (start < at || end > to || start === end) continue;
    shown += `${text.slice(at, start)}**${text.slice(start, end)}**`;
    at = end;
  }
  return shown + text.slice(at, to);
}
