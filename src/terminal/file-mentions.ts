/** A file of this machine that a message names: `#data.csv`, `#"two words.txt"`, `#src/`, `#logs/*.txt`. */
export type FileMention = {
  /** Where it stands in the text, from its `#` on. */
  readonly start: number;
  readonly end: number;
  readonly path: string;
  /** The name with what follows it: Chinese goes on without a blank, in text and in names. To be tried first. */
  readonly longer?: string;
  /** Cannot be anything but a file: quoted, with a slash, or a pattern. Otherwise it may be a tag, and names a file or not. */
  readonly isMeant: boolean;
};

/** Finds the files that a text names. Headings, colours, issue numbers, anchors and everything in code are left alone. */
export function findFileMentions(text: string): readonly FileMention[] {
  const plain = hideCode(text);
  const mentions: FileMention[] = [];
  for (let start = plain.indexOf("#"); start >= 0; ) {
    const mention = mayBegin(plain, start) ? (readQuoted(plain, start) ?? readBare(plain, start)) : undefined;
    if (mention !== undefined) mentions.push(mention);
    start = plain.indexOf("#", mention?.end ?? start + 1);
  }
  return mentions;
}

/** The mention at the end of a line that is still being typed. */
export function unfinishedMention(line: string): { readonly start: number; readonly path: string } | undefined {
  const start = hideCode(line).lastIndexOf("#");
  if (start < 0 || !mayBegin(line, start)) return undefined;
  const run = runFrom(line, start + 1);
  return start + 1 + run.length === line.length ? { start, path: unescaped(run) } : undefined;
}

/** As a shell would take it: a name that is completed can have blanks. */
export function escapedPath(path: string): string {
  return path.replace(/[\s!"#$&'()*,;<=>?[\]^`{|}~（）]/g, (character, at: number) =>
    character === "~" && at === 0 ? character : `\\${character}`,
  );
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

/** After a letter, a slash or another `#` it is C#, an anchor, a heading. Chinese text needs no blank before it. */
function mayBegin(text: string, start: number): boolean {
  return start === 0 || before.test(text.slice(Math.max(0, start - 2), start));
}

const cjk =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\u3005\\u3007\\u30fc";
const cjkMarks =
  "\\u3000-\\u3004\\u3006\\u3008-\\u303f\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65“”‘’…—·";
const before = new RegExp(`[\\s(\\[{<"',;:${cjk}${cjkMarks}]$`, "u");

function readQuoted(text: string, start: number): FileMention | undefined {
  const quote = text[start + 1];
  // In `"#"` the second quote ends what the first began.
  if ((quote !== '"' && quote !== "'") || text[start - 1] === quote) return undefined;
  const close = text.indexOf(quote, start + 2);
  const path = close < 0 ? "" : text.slice(start + 2, close);
  return path.trim() === "" || path.includes("\n") ? undefined : { start, end: close + 1, path, isMeant: true };
}

function readBare(text: string, start: number): FileMention | undefined {
  const whole = withoutFullStop(runFrom(text, start + 1));
  const name = nameIn(whole);
  const path = unescaped(name);
  if (path === "" || neverFiles.test(path)) return undefined;
  const longer = whole === name ? {} : { longer: unescaped(whole) };
  return { start, end: start + 1 + name.length, path, ...longer, isMeant: isPath.test(path) && !numbers.test(path) };
}

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

const escapeSequence = "\\\\[ !\"#$&'()*,;<=>?\\[\\]^`{|}~（）]";
const inPairs = "\\([^\\s()#]*\\)|（[^\\s（）#]*）|\\{[^\\s{}#]*\\}|\\[[^\\s\\[\\]#]*\\]";
const single = `[^\\s\\p{Cc}"'\`#<>|,;(){}\\[\\]${cjkMarks}]`;
const run = new RegExp(`(?=[\\p{L}\\p{N}._~/*])(?:${escapeSequence}|${inPairs}|${single})+`, "uy");

function unescaped(name: string): string {
  return name.replace(/\\([ !"#$&'()*,;<=>?[\]^`{|}~（）])/g, "$1");
}

/** Issue numbers, colours, and what begins a line in C and its like. */
const neverFiles =
  /^(\d+|[\da-f]{3}|[\da-f]{4}|[\da-f]{6}|[\da-f]{8}|include|define|undef|ifn?def|if|elif|else|endif|pragma|error|warning|line|region|endregion)$/i;
const isPath = /[/\\*]|\{[^{}]*,[^{}]*\}|\[[^\]]+\]./;
/** `#12/#13`, `#3/4`. */
const numbers = /^\d+([/:-]\d*)*$/;
