export type Surroundings = {
  readonly before: string | undefined;
  readonly line: string;
  readonly after: string | undefined;
};

/** A match is shown up to this; patterns such as `.*` can match a whole file without line ends. */
const matchCharactersMax = 400;
const gap = "...";

/** A line with the lines either side, as far as `characters` before and behind its first match; matches between `**`. */
export function excerpt({ before, line, after }: Surroundings, marks: RegExp, characters: number): string {
  marks.lastIndex = 0;
  const match = marks.exec(line);
  const first = match?.index ?? 0;
  const end = first + (match?.[0].length ?? 0);
  const from = atCharacter(line, Math.max(0, first - characters));
  const to = atCharacter(line, Math.min(line.length, Math.min(end, first + matchCharactersMax) + characters));
  return [
    from > 0 ? gap : endOf(before, characters - first),
    marked(line, marks, { from, to }),
    to < line.length ? gap : startOf(after, characters - (line.length - end)),
  ].join("");
}

/** The part of the line, with `**` around every match; a match that goes on beyond the part is closed at its end. */
function marked(line: string, marks: RegExp, { from, to }: { from: number; to: number }): string {
  let text = "";
  let shown = from;
  marks.lastIndex = from;
  for (const { index, 0: match } of line.matchAll(marks)) {
    if (index >= to) break;
    if (match === "") continue;
    const end = Math.min(index + match.length, to);
    text += `${line.slice(shown, index)}**${line.slice(index, end)}**`;
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
