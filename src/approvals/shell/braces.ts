import { name } from "./scene.ts";

const bracesMax = 200;

/** What stands between braces, as the shell spells it out; `undefined` when that is too much. */
export function bracesOf(text: string): string[] | undefined {
  const inside = text.slice(1, -1);
  const range = /^(-?\w+)\.\.(-?\w+)(\.\.-?\d+)?$/.exec(inside);
  if (range !== null) return rangeOf(range[1] ?? "", range[2] ?? "");
  const texts = choicesOf(inside);
  return texts.length > bracesMax ? undefined : texts;
}

function rangeOf(from: string, to: string): string[] {
  const isLetters = from.length === 1 && to.length === 1 && !/\d/.test(from + to);
  const [first, last] = isLetters ? [from.charCodeAt(0), to.charCodeAt(0)] : [Number(from), Number(to)];
  const count = Math.abs(last - first) + 1;
  if (!Number.isFinite(count) || count > bracesMax) return [name];
  const step = last < first ? -1 : 1;
  return Array.from({ length: count }, (_, at) => first + at * step).map((one) =>
    isLetters ? String.fromCharCode(one) : `${one}`,
  );
}

function choicesOf(inside: string): string[] {
  const choices: string[] = [];
  let [depth, from, quote] = [0, 0, ""];
  for (let at = 0; at < inside.length; at += 1) {
    const one = inside[at] ?? "";
    if (one === "\\") at += 1;
    else if (quote !== "") quote = one === quote ? "" : quote;
    else if (one === "'" || one === '"') quote = one;
    else if ("{(".includes(one)) depth += 1;
    else if ("})".includes(one)) depth -= 1;
    else if (one === "," && depth === 0) {
      choices.push(inside.slice(from, at));
      from = at + 1;
    }
  }
  return [...choices, inside.slice(from)];
}
