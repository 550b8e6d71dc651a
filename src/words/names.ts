/** A name or path as it can be written back: in quotes, with escapes, where it is not plain. */
export function shownName(name: string): string {
  if (isPlain.test(name) && !hasOddBlank.test(name)) return name;
  return inQuotes(name);
}

/** Anything else in a name could pass for a part of our own text. */
const isPlain = /^[\p{L}\p{M}\p{N} ._\-+=@()[\]{}（）【】《》、，。：；！？·'&#!,~%;$^/]*$/u;
const hasOddBlank = /(?:^|[/ ]) | (?:$|[/ ])/;

/** A text in quotes, with everything escaped that could look like something else. */
export function inQuotes(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(isUnseen, (unit) => (unit === " " ? unit : escaped(unit)));
}

const isUnseen = /[\p{C}\p{Zl}\p{Zp}<>\p{Zs}]/gu;

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}
