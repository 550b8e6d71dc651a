import type { SourceFile } from "./house.ts";

// The same as mouths.ts for Python, of the guests and of the skills. Read by its lines: the house has no parser for it.

/**
 * Where Python takes everything that was raised around code of ours, and raises nothing on: by file and function. `own`:
 * the names of our modules.
 */
export function wideExcepts({ path, text }: SourceFile, own: ReadonlySet<string> = new Set()): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const isAround = (other: string) => /^\s*(?:async )?def /.test(other) && depthOf(other) < depthOf(line);
    const isWide = /^\s*except\*?\s*(?:\(?.*\b(?:Base)?Exception(?:Group)?\b.*)?:/.test(line);
    if (!isWide || raisesOn(line, lines.slice(index + 1))) return [];
    if (isOfOthers(guardedBy(line, lines.slice(0, index)), text, own)) return [];
    return [`${path}#${/def (\w+)/.exec(lines.slice(0, index).findLast(isAround) ?? "")?.[1] ?? ""}`];
  });
}

function depthOf(line: string): number {
  return line.trim() === "" ? Number.POSITIVE_INFINITY : line.search(/\S/);
}

/** Whatever was taken: what it ends with is a bare `raise`, or another error with the first as its cause. */
function raisesOn(except: string, after: readonly string[]): boolean {
  const end = after.findIndex((line) => depthOf(line) <= depthOf(except));
  const block = after.slice(0, end === -1 ? undefined : end);
  const depth = Math.min(...block.map(depthOf));
  const last = block.findLastIndex((line) => depthOf(line) === depth && /^\s*[a-z]/.test(line));
  const isLeft = block.slice(0, last).some((line) => /^\s*(?:return|continue|break)\b/.test(line));
  const [, name] = /\bas (\w+):/.exec(except) ?? [];
  const ending = block.slice(last).join("\n").trim();
  return !isLeft && (ending === "raise" || (/^raise\b/.test(ending) && ending.endsWith(` from ${name}`)));
}

/** The lines below its `try`, without those of an `except` before it or of an `else`. */
function guardedBy(except: string, before: readonly string[]): string {
  const depth = depthOf(except);
  const begin = before.findLastIndex((line) => depthOf(line) === depth && line.trim() === "try:");
  const inside = before.slice(begin + 1);
  const end = inside.findIndex((line) => depthOf(line) <= depth);
  return inside.slice(0, end === -1 ? undefined : end).join("\n");
}

/**
 * Only what others wrote is called: the language itself, modules that are none of ours, and methods of what these gave us
 * or a user's cell has made. A function that was handed in counts as ours, and so does whatever an object of ours has.
 */
function isOfOthers(guarded: string, text: string, own: ReadonlySet<string>): boolean {
  const ours = new Set(["self", "cls"]);
  for (const [, name = ""] of text.matchAll(/^\s*(?:async def|def|class) (\w+)/gm)) ours.add(name);
  const others = new Set(builtins);
  for (const [, module = "", names = ""] of text.matchAll(/^\s*(?:from ([\w.]+) )?import (.+)$/gm))
    for (const one of names.split(",")) {
      const [whole = "", , alias = whole] = one.trim().split(/\s+/);
      const isOurs = own.has((module || whole).split(".")[0] ?? "");
      (isOurs ? ours : others).add(alias.split(".")[0] ?? "");
    }
  const calls = guarded.replaceAll(/#.*$/gm, "").matchAll(/(?<![\w."')\]])([A-Za-z_]\w*)((?:\.\w+)*)\(/g);
  return calls.every(([, name = "", method = ""]) => !ours.has(name) && (method !== "" || others.has(name)));
}

const builtins =
  "bool bytes dict enumerate float getattr hasattr int isinstance issubclass iter len list max min next open range repr reversed set sorted str sum tuple type zip".split(
    " ",
  );
