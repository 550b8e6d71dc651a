export type Surroundings = {
  readonly before: string | undefined;
  readonly line: string;
  readonly after: string | undefined;
};

/** A part of a line that is shown, and the matches to be marked in it. */
export type ShownPart = {
  readonly from: number;
  readonly to: number;
  /** The start of its first match that no place before it shows. */
  readonly start: number;
  readonly end: number;
  readonly matches: readonly Match[];
};
type Match = { readonly start: number; readonly end: number };

/** A match is shown up to this; patterns such as `.*` can match a whole file without line ends. */
const matchCharactersMax = 400;
/** A pattern such as `x*` matches nothing at all, everywhere. */
const emptyMatchesMax = 10_000;
const gap = "...";

/**
 * What is shown of a line: as far as `characters` before and behind its first match, and the same again for each match
 * that lies outside of what is shown by then. At least the beginning.
 */
export function* placesIn(line: string, marks: RegExp, characters: number): Generator<ShownPart, void> {
  let place: ShownPart | undefined;
  let matches: Match[] = [];
  let empty = 0;
  marks.lastIndex = 0;
  for (const { index: start, 0: text } of line.matchAll(marks)) {
    const match = { start, end: start + text.length };
    if (text === "" && ++empty > emptyMatchesMax) break;
    if (place === undefined || (start >= place.to && text !== "")) {
      if (place !== undefined) yield place;
      // One that began in the place before may reach into this one.
      matches = [...matches.filter(({ end }) => end > start - characters), match];
      place = { ...partAround(line, match, characters), matches };
    } else if (start < place.to) matches.push(match);
  }
  yield place ?? { ...partAround(line, { start: 0, end: 0 }, characters), matches };
}

function partAround(line: string, { start, end }: Match, characters: number): Omit<ShownPart, "matches"> {
  const from = atCharacter(line, Math.max(0, start - characters));
  const to = atCharacter(line, Math.min(line.length, Math.min(end, start + matchCharactersMax) + characters));
  return { from, to, start, end };
}

/** A place with what is left of the room for it in the lines either side; matches between `**`. */
export function excerpt({ before, line, after }: Surroundings, place: ShownPart, characters: number): string {
  const { from, to, start, end } = place;
  return [
    from > 0 ? gap : endOf(before, characters - start),
    marked(line, place),
    to < line.length ? gap : startOf(after, characters - (line.length - end)),
  ].join("");
}

/** A match that begins before the part, or goes on beyond it, is marked as far as it is shown. */
function marked(line: string, { from, to, matches }: ShownPart): string {
  let text = "";
  let shown = from;
  for (const match of matches) {
    const [start, end] = [Math.max(match.start, from), Math.min(match.end, to)];
    if (start >= end) continue;
    text += `${line.slice(shown, start)}**${line.slice(start, end)}**`;
    shown = end;
  }
  return text + line.slice(shown, to);
}

function endOf(line: string | undefined, room: number): string {
  if (line === undefined) return "";
  if (line.length <= room) return `${line}\n`;
  return `${gap}${room > 0 ? line.slice(atCharacter(line, line.length - room)) : ""}\n`;
}

function startOf(line: string | undefined, room: number): string {
  if (line === undefined) return "";
  if (line.length <= room) return `\n${line}`;
  return `\n${room > 0 ? line.slice(0, atCharacter(line, room)) : ""}${gap}`;
}

/** Not between the halves of a surrogate pair. */
function atCharacter(text: string, index: number): number {
  const isInside = index > 0 && index < text.length && (text.codePointAt(index - 1) ?? 0) > 0xffff;
  return isInside ? index - 1 : index;
}
