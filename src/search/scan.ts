import { hitOf, type PlainHit } from "./find.ts";
import type { Scope } from "./sqlite/bounds.ts";
import type { Reader, Window } from "./sqlite/reading.ts";
import { trigramsOf } from "./text/literals.ts";

/** Why not everything was looked through. */
export type Stopped = "time" | "hits" | undefined;

export type ScanLimits = { readonly hitsMax: number; readonly snippetCharacters: number; readonly timeMsMax: number };

export type ScanOptions = {
  readonly reader: Reader;
  readonly monotonic: () => number;
  /** Called when it begins, and then before and behind each passage: after an even number the pattern is at work. */
  readonly beat: () => void;
  readonly found: (hit: PlainHit) => void;
};

/** Looks for a pattern in all passages within the scope that can match, in their order. Answers why it stopped early. */
export function scan(pattern: RegExp, scope: Scope, limits: ScanLimits, options: ScanOptions): Stopped {
  const { reader, monotonic, beat, found } = options;
  const endsAt = monotonic() + limits.timeMsMax;
  beat();
  return reader.atOneMoment(() => {
    const bounds = reader.within(scope);
    if (bounds.isEmpty) return undefined;
    let hits = 0;
    for (const window of reader.windows(trigramsOf(pattern.source), bounds)) {
      if (monotonic() >= endsAt) return "time";
      beat();
      const snippet = snippetIn(window, pattern, limits.snippetCharacters);
      beat();
      if (snippet === undefined) continue;
      if (hits >= limits.hitsMax) return "hits";
      hits += 1;
      found({ ...hitOf(window, bounds, reader), snippet });
    }
    return undefined;
  });
}

/** The first match that begins in the passage itself; what begins behind it belongs to the next one. */
function snippetIn({ text, behind }: Window, pattern: RegExp, characters: number): string | undefined {
  const whole = text + behind;
  const matcher = new RegExp(pattern.source, `${pattern.flags.replaceAll(/[gy]/g, "")}g`);
  for (const match of whole.matchAll(matcher)) {
    if (match.index >= text.length) return undefined;
    if (match[0] === "") continue;
    return around(whole, match.index, match.index + match[0].length, characters);
  }
  return undefined;
}

/** Further matches in what is shown are marked as well by whoever looks for them: the first one is what was found. */
function around(whole: string, start: number, end: number, characters: number): string {
  const shownEnd = Math.min(end, start + characters);
  const room = Math.max(0, characters - (shownEnd - start));
  const from = startOfCharacter(whole, Math.max(0, start - Math.floor(room / 2)));
  const to = startOfCharacter(whole, Math.min(whole.length, shownEnd + Math.ceil(room / 2)));
  const match = `${whole.slice(start, shownEnd)}${shownEnd < end ? "..." : ""}`;
  return `${from > 0 ? "..." : ""}${whole.slice(from, start)}**${match}**${shownEnd < end ? "" : whole.slice(end, to)}${to < whole.length ? "..." : ""}`;
}

function startOfCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}
