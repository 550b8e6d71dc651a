import { stripVTControlCharacters } from "node:util";

/** What a terminal showed at a time, one text a line, with its colours as a terminal writes them. */
export type Frame = { readonly at: number; readonly lines: readonly string[] };

type Options = { readonly title: string; readonly columns: number; readonly rows: number; readonly stillMsMax: number };
type Style = {
  readonly colour: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isReversed: boolean;
};
type Piece = { readonly text: string; readonly style: Style };

const [cellWidth, lineHeight, margin] = [8.43, 18, 16];
const paper = "#15181c";
const ink = "#d7dbe0";
const colours = [
  ...["#3b4048", "#ef6b73", "#7cc379", "#e2b86b", "#6aa9f0", "#c586d8", "#56c2c8", ink],
  ...["#6b727c", "#ff8a91", "#9be096", "#f5cf87", "#8cc2ff", "#dca4ea", "#7fdde2", "#ffffff"],
];
const plain: Style = { colour: ink, isBold: false, isDim: false, isReversed: false };

/** Each different line is drawn once and used where it is shown; each screen is shown for its time, and then all begins anew. */
export function svgOf(frames: readonly Frame[], { title, columns, rows, stillMsMax }: Options): string {
  const shown = withTimes(frames, stillMsMax);
  const totalMs = shown.reduce((sum, { ms }) => sum + ms, 0);
  const ids = new Map<string, string>();
  const screens: string[] = [];
  const rules: string[] = [];
  let atMs = 0;
  for (const [number, { lines, ms }] of shown.entries()) {
    const uses = lines.map((line, row) => {
      if (stripVTControlCharacters(line).trim() === "" && !line.includes("7m")) return "";
      const id = ids.get(line) ?? `l${ids.size}`;
      ids.set(line, id);
      return `<use href="#${id}" y="${row * lineHeight}"/>`;
    });
    screens.push(`<g class="s" style="animation-name:f${number}">${uses.join("")}</g>`);
    const [from, to] = [atMs, atMs + ms].map((time) => ((time / totalMs) * 100).toFixed(3));
    const before = number === 0 ? "" : `0%{visibility:hidden}`;
    rules.push(
      `@keyframes f${number}{${before}${from}%{visibility:visible}${to}%{visibility:hidden}100%{visibility:hidden}}`,
    );
    atMs += ms;
  }
  const [width, height] = [Math.ceil(columns * cellWidth + 2 * margin), rows * lineHeight + 2 * margin];
  const drawn = [...ids].map(([line, id]) => `<g id="${id}">${drawLine(line)}</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${title}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Noto Sans Mono CJK SC",monospace;white-space:pre;dominant-baseline:text-before-edge}
.b{font-weight:700}.d{opacity:.62}.s{visibility:hidden;animation:${(totalMs / 1000).toFixed(2)}s step-end infinite}
${rules.join("\n")}</style>
<defs>${drawn.join("\n")}</defs>
<rect width="100%" height="100%" rx="9" fill="${paper}"/>
<g transform="translate(${margin} ${margin})">${screens.join("\n")}</g>
</svg>
`;
}

/** Screens that differ from the one before, with how long each is shown; the last one stays for a while. */
function withTimes(frames: readonly Frame[], stillMsMax: number): { lines: readonly string[]; ms: number }[] {
  const different = frames.filter((frame, at) => frame.lines.join("\n") !== frames[at - 1]?.lines.join("\n"));
  return different.map(({ at, lines }, number) => {
    const next = different[number + 1];
    return { lines, ms: next === undefined ? 4000 : Math.min(stillMsMax, next.at - at) };
  });
}

function drawLine(line: string): string {
  let column = 0;
  const drawn = piecesOf(line).map(({ text, style }) => {
    const x = column * cellWidth;
    const width = widthOf(text);
    column += width;
    const [front, back] = style.isReversed ? [paper, style.colour] : [style.colour, undefined];
    const names = [style.isBold && "b", style.isDim && "d"].filter(Boolean).join(" ");
    const box =
      back &&
      `<rect x="${x.toFixed(1)}" width="${(width * cellWidth).toFixed(1)}" height="${lineHeight}" fill="${back}"/>`;
    if (text.trim() === "") return box ?? "";
    const fitted = `textLength="${(width * cellWidth).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
    return `${box ?? ""}<text x="${x.toFixed(1)}" fill="${front}"${names && ` class="${names}"`} ${fitted}>${escaped(text)}</text>`;
  });
  return drawn.join("");
}

function piecesOf(line: string): Piece[] {
  let style = plain;
  return line.split("\u001b[").flatMap((part, at) => {
    const written = at === 0 ? undefined : /^([0-9;]*)m/.exec(part);
    if (written) style = styled(style, (written[1] ?? "").split(";").map(Number));
    const text = written ? part.slice(written[0].length) : part;
    return text === "" ? [] : [{ text, style }];
  });
}

/** Those that our terminal writes: the sixteen colours, the 256 and any other, bold, dim, reversed. */
function styled(before: Style, codes: number[]): Style {
  let style = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) style = plain;
    else if (code === 1) style = { ...style, isBold: true };
    else if (code === 2) style = { ...style, isDim: true };
    else if (code === 7) style = { ...style, isReversed: true };
    else if (code === 22) style = { ...style, isBold: false, isDim: false };
    else if (code === 27) style = { ...style, isReversed: false };
    else if (code === 39) style = { ...style, colour: ink };
    else if (code >= 30 && code <= 37) style = { ...style, colour: colours[code - 30] ?? ink };
    else if (code >= 90 && code <= 97) style = { ...style, colour: colours[code - 82] ?? ink };
    else if (code === 38 || code === 48) {
      const isTrue = codes[at + 1] === 2;
      const [red = 0, green = 0, blue = 0] = codes.slice(at + 2);
      const colour = isTrue ? `rgb(${red},${green},${blue})` : (colours[red] ?? ink);
      if (code === 38) style = { ...style, colour };
      at += isTrue ? 4 : 2;
    }
  }
  return style;
}

/** In cells: Chinese characters take two. */
function widthOf(text: string): number {
  const wide = text.match(
    /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/g,
  );
  return [...text].length + (wide?.length ?? 0);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
