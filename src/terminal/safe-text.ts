/**
 * Text of a model, a tool or a document, made harmless for a terminal: an escape sequence in it could rewrite what a
 * person is asked to approve. Control characters become visible symbols, one by one, so that text can be cleaned in
 * pieces as it streams; carriage returns go.
 */
export function safeText(text: string): string {
  return text.replaceAll("\r", "").replace(dangerous, visible);
}

/** The same on one line and no longer than `cellsMax` terminal cells. */
export function safeLine(text: string, cellsMax = 200): string {
  const line = safeText(text.slice(0, cellsMax * 4))
    .replace(/\s+/g, " ")
    .trim();
  return clip(line, cellsMax);
}

/** How many terminal cells a text takes: Chinese, Japanese, Korean characters and emoji take two. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const { segment } of graphemes.segment(text)) cells += wide.test(segment) ? 2 : 1;
  return cells;
}

export function padCells(text: string, cells: number): string {
  return text + " ".repeat(Math.max(0, cells - cellsOf(text)));
}

/** C0 without tab and line feed, DEL, C1, and the marks that reorder text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this looks for.
const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const wide =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60\p{Emoji_Presentation}]/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // Unicode has a picture for each: ␛ for escape.
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function clip(line: string, cellsMax: number): string {
  if (cellsOf(line) <= cellsMax) return line;
  let kept = "";
  let cells = 1;
  for (const { segment } of graphemes.segment(line)) {
    cells += cellsOf(segment);
    if (cells > cellsMax) break;
    kept += segment;
  }
  return `${kept}…`;
}
