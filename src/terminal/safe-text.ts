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

/**
 * C0 without tab and line feed, DEL, C1, the marks that reorder text, other ends of lines, and what takes no room or
 * shows nothing, tag characters above all: only what a person sees can be approved. Emoji and some scripts need the
 * joiners U+200C and U+200D.
 */
const dangerous = new RegExp(
  [
    ...[
      "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f",
    ],
    ...[
      "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}]",
    ],
  ].join(""),
  "gu",
);
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
