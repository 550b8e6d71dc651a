import { parsedObject } from "../base/json.ts";
/** What a person sees of a call that runs a program: its first line, not the JSON around it. Undefined for other tools. */
export function firstCodeLine(tool: string, json: string): string | undefined {
  const found = codeIn(tool, json);
  if (found === undefined) return undefined;
  const lines = found.code.split("\n").filter((line) => line.trim() !== "");
  const [first = ""] = lines;
  const language = new Map(found.others).get("language");
  const label = typeof language === "string" && language !== "python" ? `${language}: ` : "";
  return `${label}${first.trim()}${lines.length > 1 ? " …" : ""}`;
}

/** The same of any call: its program, what it is about, or else all of it. */
export function callInWords(tool: string, json: string): string {
  const code = firstCodeLine(tool, json);
  if (code !== undefined) return code;
  const input = parsedObject(json) ?? {};
  const told = aboutNames.flatMap((name) => (typeof input[name] === "string" ? [input[name]] : []));
  return told[0] ?? (Object.keys(input).length === 0 ? "" : json);
}

/** All of what a call is about: its program, the file or the address that it names, else its arguments. */
export function subjectOf(tool: string, json: string): string {
  const input = parsedObject(json) ?? {};
  const told = aboutNames.flatMap((name) => (typeof input[name] === "string" ? [input[name]] : []));
  return codeIn(tool, json)?.code ?? told[0] ?? json;
}

/** The program of a call, the name of the argument that holds it, and the other arguments. */
export function codeIn(
  tool: string,
  json: string,
): { readonly code: string; readonly name: string; readonly others: readonly [string, unknown][] } | undefined {
  const input = new Map(Object.entries(parsedObject(json) ?? {}));
  for (const name of codeNames.get(tool) ?? []) {
    const code = input.get(name);
    if (typeof code === "string") return { code, name, others: [...input].filter(([other]) => other !== name) };
  }
  return undefined;
}

/** How a program ended that did not end well, as its result begins: `exit code 2`. Undefined when it did. */
export function badEndIn(tool: string, text: string): string | undefined {
  return codeNames.has(tool) ? /^(?:Command failed|Failed) \(([^)\n]+)\)/.exec(text)?.[1] : undefined;
}

/** What a call is about, the most telling first. */
const aboutNames = ["path", "query", "pattern", "url", "name", "task", "question", "skill"];

const codeNames: ReadonlyMap<string, readonly string[]> = new Map([
  ["execute_code", ["code", "source", "script"]],
  ["run_bash_command", ["command", "cmd"]],
]);
