import type { Language } from "../../sandbox/sandbox.ts";

const lineCharactersMax = 1_000;

/** The one line of what a failed program said to its standard error that tells why; undefined when it said nothing. */
export function lastWords(stderr: string, language: Language): string | undefined {
  const lines = stderr.trimEnd().split("\n");
  const found = language === "python" ? ofPython(lines) : language === "javascript" ? ofNode(lines) : undefined;
  const line = (found ?? lines.at(-1) ?? "").trim().slice(0, lineCharactersMax);
  return line === "" ? undefined : line;
}

/** After the frames of the last traceback, which are indented. What comes later are warnings. */
function ofPython(lines: readonly string[]): string | undefined {
  const start = lines.findLastIndex((line) =>
    /^(?: {2}\+ Exception Group )?Traceback \(most recent call last\):$/.test(line),
  );
  if (start < 0) return undefined;
  // Those of a group stand behind a bar.
  const isGroup = lines[start]?.startsWith(" ") === true;
  const rest = lines.slice(start + 1).map((line) => (isGroup ? line.replace(/^ {2}\| /, "") : line));
  return rest.find((line) => /^[^\s|+]/.test(line));
}

/** Node ends with its version. The error begins after an empty line; below it stands where it came from. */
function ofNode(lines: readonly string[]): string | undefined {
  if (!/^Node\.js v\d/.test(lines.at(-1) ?? "")) return undefined;
  const said = lines.slice(0, -1);
  const stack = said.findLastIndex((line, index) => isFrame(line) && !isFrame(said[index - 1] ?? ""));
  if (stack > 0) return said[said.lastIndexOf("", stack - 1) + 1];
  const mark = said.findLastIndex((line) => /^\s*\^+$/.test(line));
  return said.slice(mark + 1).find((line) => line.trim() !== "") ?? said.findLast((line) => line.trim() !== "");
}

function isFrame(line: string): boolean {
  return line.startsWith("    at ");
}
