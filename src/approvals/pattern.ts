import { failed, ok, type Result } from "../base/result.ts";
import type { PatternFault } from "../words/words.ts";
import { isWord, type Piece, readPattern } from "./pattern-syntax.ts";

/** A regular expression that no text can make slow: one pass, whatever the operator wrote and a model sends. */
export type Pattern = { matches(text: string): boolean };

/** Parts of the machine that a pattern may become; `{100}` counts a hundred times. */
const partsMax = 400;

/** Always without regard to large and small letters, found anywhere in the text. */
export function compilePattern(source: string): Result<Pattern, PatternFault> {
  const read = readPattern(source);
  if (!read.ok) return read;
  if (sizeOf(read.value) > partsMax) return failed({ fault: "too_large" });
  return ok(openMachine(assemble(read.value)));
}

function sizeOf(piece: Piece): number {
  switch (piece.form) {
    case "one":
    case "place":
      return 1;
    case "all":
    case "any":
      return piece.of.reduce((sum, part) => sum + sizeOf(part) + 1, 0);
    case "repeat": {
      const times = piece.max === Number.POSITIVE_INFINITY ? piece.min + 1 : piece.max;
      return times * (sizeOf(piece.of) + 1);
    }
  }
}

type Place = Extract<Piece, { form: "place" }>["at"];
type Part =
  | { readonly does: "one"; readonly fits: (code: number) => boolean; readonly next: number }
  | { readonly does: "place"; readonly at: Place; readonly next: number }
  | { does: "fork"; next: readonly number[] }
  | { readonly does: "found" };
type Wanting = Extract<Part, { does: "one" }>;
type Machine = { readonly parts: readonly Part[]; readonly start: number };

/** Thompson's construction, from the end to the beginning: every piece knows what comes after it. */
function assemble(piece: Piece): Machine {
  const parts: Part[] = [{ does: "found" }];
  const add = (part: Part) => parts.push(part) - 1;

  function before(next: number, one: Piece): number {
    switch (one.form) {
      case "one":
        return add({ does: "one", fits: one.fits, next });
      case "place":
        return add({ does: "place", at: one.at, next });
      case "all":
        return one.of.reduceRight(before, next);
      case "any":
        return add({ does: "fork", next: one.of.map((branch) => before(next, branch)) });
      case "repeat":
        return beforeRepeat(next, one);
    }
  }

  function beforeRepeat(next: number, { of, min, max }: Extract<Piece, { form: "repeat" }>): number {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      const fork: Part = { does: "fork", next: [] };
      start = add(fork);
      fork.next = [before(start, of), next];
    } else {
      for (let more = min; more < max; more += 1) start = add({ does: "fork", next: [before(start, of), next] });
    }
    for (let needed = 0; needed < min; needed += 1) start = before(start, of);
    return start;
  }

  const start = before(0, piece);
  return { parts, start };
}

/** What came before the place where the machine is: nothing, a letter or digit, something else. */
type Before = "start" | "word" | "other";
type State = { readonly at: readonly number[]; readonly before: Before; readonly next: Map<number, State | "found"> };

/** Steps that are kept; beyond that they are forgotten and found again. */
const stepsKeptMax = 10_000;
const end = -1;

/** Walks over the text with all possibilities at once, and keeps each step it has worked out. */
function openMachine({ parts, start }: Machine): Pattern {
  let states = new Map<string, State>();
  let stepsKept = 0;

  function stateOf(at: readonly number[], before: Before): State {
    const key = `${before} ${at.join()}`;
    const known = states.get(key);
    if (known !== undefined) return known;
    const state: State = { at, before, next: new Map() };
    states.set(key, state);
    return state;
  }

  function step(from: State, code: number): State | "found" {
    const kept = from.next.get(code);
    if (kept !== undefined) return kept;
    const reached = reach(parts, from, code);
    const to = reached === "found" ? reached : stateOf(after(reached, code), isWord(code) ? "word" : "other");
    from.next.set(code, to);
    stepsKept += 1;
    if (stepsKept > stepsKeptMax) forget();
    return to;
  }

  function forget(): void {
    for (const { next } of states.values()) next.clear();
    states = new Map();
    stepsKept = 0;
  }

  /** It may also begin here: a match is looked for everywhere. */
  function after(reached: readonly Wanting[], code: number): readonly number[] {
    const next = new Set([start]);
    if (code !== end) for (const part of reached) if (part.fits(code)) next.add(part.next);
    return Array.from(next).sort(ascending);
  }

  return {
    matches(text) {
      let state = stateOf([start], "start");
      for (const sign of text) {
        const next = step(state, sign.codePointAt(0) ?? 0);
        if (next === "found") return true;
        state = next;
      }
      return step(state, end) === "found";
    },
  };
}

const ascending = (a: number, b: number) => a - b;

/** The parts that want a character, from all places of a state; `code` is the one that comes, and only looked at. */
function reach(parts: readonly Part[], { at, before }: State, code: number): "found" | Wanting[] {
  const wanting: Wanting[] = [];
  const seen = new Set(at);
  const isEdge = (before === "word") !== isWord(code);
  const holds: Readonly<Record<Place, boolean>> = {
    start: before === "start",
    end: code === end,
    edge: isEdge,
    no_edge: !isEdge,
  };
  // What is added while it is walked over is walked over too.
  for (const index of seen) {
    const part = parts[index];
    if (part === undefined) continue;
    if (part.does === "found") return "found";
    if (part.does === "one") wanting.push(part);
    else if (part.does === "fork") for (const next of part.next) seen.add(next);
    else if (holds[part.at]) seen.add(part.next);
  }
  return wanting;
}
