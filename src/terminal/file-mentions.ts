/** A file of this machine that a message names: `#data.csv`, `#"two words.txt"`, `#src/`, `#logs/*.txt`. */
export type FileMention = {
  /** Where it stands in the text, from its `#` on. */
  readonly start: number;
  readonly end: number;
  readonly path: string;
  /**
   * Where it can be read in several ways: all of them, `path` among them, to be tried in this order. Chinese goes on
   * without a blank, in text and in names, and a name may hold what usually ends one.
   */
  readonly readings?: readonly string[];
  /** Cannot be anything but a file: quoted, with a slash, or a pattern. Otherwise it may be a tag, and names a file or not. */
  readonly isMeant: boolean;
};

/** More readings than this are not tried. */
const readingsMax = 20;
const pathCharactersMax = 4_096;

/** Finds the files that a text names. Headings, colours, issue numbers, anchors and everything in code are left alone. */
export function findFileMentions(text: string): readonly FileMention[] {
  const plain = hideCode(text);
  const mentions: FileMention[] = [];
  for (let start = nextSign(plain, 0); start >= 0; ) {
    const mention = mayBegin(plain, start) ? readMention(plain, start) : undefined;
    if (mention !== undefined) mentions.push(mention);
    start = nextSign(plain, mention?.end ?? start + 1);
  }
  return mentions;
}

/** `quote` is the one that it was opened with, if it was. */
type UnfinishedMention = { readonly start: number; readonly path: string; readonly quote: string };

/** The mention at the end of a line that is still being typed. */
export function unfinishedMention(line: string): UnfinishedMention | undefined {
  const plain = hideCode(line);
  const start = Math.max(plain.lastIndexOf("#"), plain.lastIndexOf("＃"));
  if (start < 0 || !mayBegin(plain, start)) return undefined;
  const rest = plain.slice(start + 1);
  const quote = rest.charAt(0);
  const close = quotes.get(quote);
  if (close !== undefined) return rest.includes(close, 1) ? undefined : { start, path: rest.slice(1), quote };
  return stretchFrom(plain, start + 1) === rest ? { start, path: unescaped(rest), quote: "" } : undefined;
}

/**
 * Paths as one has to write them to be understood: with escapes, as a shell would take them; in quotes where these do
 * not help for all of them, or where quotes were begun. Folders stay open, to be gone on with.
 */
export function writtenMentions(paths: readonly string[], quote: string): string[] {
  const bare = paths.map((path) => ({ path, written: `#${escapedPath(path)}` }));
  if (quote === "" && bare.every(isReadBack)) return bare.map(({ written }) => written);
  const open = quote === "" ? '"' : quote;
  const close = quotes.get(open) ?? "";
  const quoted = paths.map((path) => ({ path, written: `#${open}${path}${close}` })).filter(isReadBack);
  return quoted.map(({ path, written }) => (path.endsWith("/") ? written.slice(0, -close.length) : written));
}

/** Whether a path can stand for several files. */
export function hasPattern(path: string): boolean {
  return /[*?]|\[[^\]]+\]|\{[^{}]*,[^{}]*\}/.test(path);
}

/** The same length, with blanks for fenced blocks and code spans. */
function hideCode(text: string): string {
  let fence = "";
  const hide = (line: string): string => {
    const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? "";
    const isInside = fence !== "";
    if (!isInside) fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    return isInside || mark !== "" ? blanks(line) : line.replace(codeSpan, blanks);
  };
  return text.split("\n").map(hide).join("\n");
}

const codeSpan = /(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)/g;

function blanks(text: string): string {
  return " ".repeat(text.length);
}

/** Who writes Chinese has the wide `＃` on the same key. */
function nextSign(text: string, from: number): number {
  const sign = /[#＃]/g;
  sign.lastIndex = from;
  return sign.exec(text)?.index ?? -1;
}

/** After a letter, a slash or another `#` it is C#, an anchor, a heading. Chinese text needs no blank before it. */
function mayBegin(text: string, start: number): boolean {
  return start === 0 || before.test(text.slice(Math.max(0, start - 2), start));
}

const cjk =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\u3005\\u3007\\u30fc";
/** Without the wide `＃`, which is none of them. */
const cjkMarks =
  "\\u3000-\\u3004\\u3006\\u3008-\\u303f\\uff01\\uff02\\uff04-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65“”‘’…—·";
const before = new RegExp(`[\\s(\\[{<"',;:${cjk}${cjkMarks}]$`, "u");

function readMention(text: string, start: number): FileMention | undefined {
  const close = quotes.get(text.charAt(start + 1));
  return close === undefined ? (readBare(text, start) ?? readMarked(text, start)) : readQuoted(text, start, close);
}

/** What opens a name, and what closes it. */
const quotes: ReadonlyMap<string, string> = new Map(
  ['""', "''", "“”", "‘’", "「」"].map(([open = "", close = ""]) => [open, close]),
);

function readQuoted(text: string, start: number, close: string): FileMention | undefined {
  // In `"#"` the second quote ends what the first began.
  if (text[start - 1] === text[start + 1]) return undefined;
  const rest = text.slice(start + 2, start + 2 + pathCharactersMax);
  const length = rest.indexOf(close);
  const path = rest.slice(0, Math.max(0, length));
  if (path.trim() === "" || path.includes("\n")) return undefined;
  return { start, end: start + 2 + length + close.length, path, isMeant: true };
}

function readBare(text: string, start: number): FileMention | undefined {
  const name = nameIn(withoutFullStop(runFrom(text, start + 1)));
  const path = unescaped(name);
  if (path === "" || neverFiles.test(path)) return undefined;
  const longer = readingsFrom(text, start + 1, name.length);
  const readings = longer.length === 0 ? {} : { readings: [...longer, path] };
  return { start, end: start + 1 + name.length, path, ...readings, isMeant: isPath.test(path) && !numbers.test(path) };
}

/** A name that begins with a mark, such as `《报告》.docx`: hardly anything in a text would, but it may. */
function readMarked(text: string, start: number): FileMention | undefined {
  if (!mark.test(text.charAt(start + 1))) return undefined;
  const readings = readingsFrom(text, start + 1, 1);
  const path = readings.find((reading) => ending.test(reading)) ?? readings[0];
  return path === undefined ? undefined : { start, end: start + 2, path, readings, isMeant: false };
}

const mark = new RegExp(`(?![\\s“”‘’])[${cjkMarks}]`, "u");
const ending = /\.[A-Za-z0-9]{1,8}$/;

/** Without the marks that end the sentence around it. */
function withoutFullStop(run: string): string {
  let end = run.length;
  while (".:!?".includes(run[end - 1] ?? " ") && run[end - 2] !== "\\") end -= 1;
  return run.slice(0, end);
}

/** Without the text that goes on right behind an ending such as `.csv`. */
function nameIn(whole: string): string {
  const outside = whole.replace(/（[^（）]*）/g, blanks);
  const lastAt = Math.max(outside.lastIndexOf("/"), outside.lastIndexOf("\\")) + 1;
  const last = whole.slice(lastAt);
  return whole.slice(0, lastAt) + (upToEnding.exec(last)?.[0] ?? last);
}

const upToEnding = new RegExp(`^.*?\\.[A-Za-z0-9]{1,8}(?=[${cjk}（])`, "u");

/** What can belong to a name from here on. Brackets only in pairs, so that `(see #data.csv)` ends where it should. */
function runFrom(text: string, at: number): string {
  run.lastIndex = at;
  return run.exec(text)?.[0] ?? "";
}

const escapable = `!"#＃$&'()*,;<=>?\\[\\]^\`{|}~${cjkMarks}`;
const escapeSequence = `\\\\[ ${escapable}]`;
const inPairs = "\\([^\\s()#＃]*\\)|（[^\\s（）#＃]*）|\\{[^\\s{}#＃]*\\}|\\[[^\\s\\[\\]#＃]*\\]";
const single = `[^\\s\\p{Cc}"'\`#＃<>|,;(){}\\[\\]${cjkMarks}]`;
const run = new RegExp(`(?=[\\p{L}\\p{N}._~/*]|${escapeSequence})(?:${escapeSequence}|${inPairs}|${single})+`, "uy");

/** Longer than `length`, the longest first: all up to the next blank, and up to each place before it where a name may end. */
function readingsFrom(text: string, at: number, length: number): string[] {
  const stretch = stretchFrom(text, at);
  const ends = stretch
    .slice(0, pathCharactersMax)
    .matchAll(mayEnd)
    .filter((match) => match[0] === "" && match.index > length)
    .map(({ index }) => index)
    .take(readingsMax);
  const whole = stretch.length > length && stretch.length <= pathCharactersMax ? [stretch.length] : [];
  const lengths = new Set([...whole, ...[...ends].reverse()]);
  return [...lengths].map((end) => unescaped(stretch.slice(0, end)));
}

function stretchFrom(text: string, at: number): string {
  upToBlank.lastIndex = at;
  return upToBlank.exec(text)?.[0] ?? "";
}

const upToBlank = new RegExp(`(?:${escapeSequence}|[^\\s\\p{Cc}\`#＃])*`, "uy");
const anyMark = `[,;:!?'"()\\[\\]{}<>|${cjkMarks}]`;
/** Before a mark or a full stop at the end, and where Chinese goes on behind an ending such as `.csv`. What is escaped ends nothing. */
const mayEnd = new RegExp(
  `${escapeSequence}|(?=${anyMark}|\\.(?:$|${anyMark}))|(?<=\\.[A-Za-z0-9]{1,8})(?=[${cjk}])`,
  "gu",
);

function unescaped(name: string): string {
  return name.replace(escapes, "$1");
}

function escapedPath(path: string): string {
  return path.replace(toEscape, (character, at: number) =>
    character === "~" && at === 0 ? character : `\\${character}`,
  );
}

const escapes = new RegExp(`\\\\([ ${escapable}])`, "gu");
const toEscape = new RegExp(`[ ${escapable}]`, "gu");

/** Whether this path is the first that would be tried. */
function isReadBack({ path, written }: { readonly path: string; readonly written: string }): boolean {
  const [mention, ...more] = findFileMentions(written);
  return more.length === 0 && mention !== undefined && (mention.readings?.[0] ?? mention.path) === path;
}

/** Issue numbers, colours, and what begins a line in C and its like. */
const neverFiles =
  /^(\d+|[\da-f]{3}|[\da-f]{4}|[\da-f]{6}|[\da-f]{8}|include|define|undef|ifn?def|if|elif|else|endif|pragma|error|warning|line|region|endregion)$/i;
const isPath = /[/\\*]|\{[^{}]*,[^{}]*\}|\[[^\]]+\]./;
/** `#12/#13`, `#3/4`. */
const numbers = /^\d+([/:-]\d*)*$/;
