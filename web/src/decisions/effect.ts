import { parsedObject } from "../../../src/base/json.ts";

/** What a call would do, as a person reads it. `field`: the argument that is changed when they edit it. */
export type Effect =
  | { readonly kind: "program"; readonly code: string; readonly field: string; readonly others: Rows }
  | { readonly kind: "file"; readonly path: string; readonly content: string; readonly field: string }
  | { readonly kind: "change"; readonly path: string; readonly lines: readonly ChangedLine[]; readonly others: Rows }
  | { readonly kind: "arguments"; readonly rows: Rows }
  /** Not what we can read: shown as it came. */
  | { readonly kind: "text"; readonly text: string };

export type Rows = readonly (readonly [name: string, value: string])[];
export type ChangedLine = { readonly sign: "+" | "-" | " "; readonly text: string };

/** Arguments that hold what would run, in the order of who says most. */
const programFields = ["command", "cmd", "code", "script", "source", "sql"];

export function effectOf(tool: string, written: string): Effect {
  const input = parsedObject(written);
  if (input === undefined) return { kind: "text", text: written };
  const { path, content, old_string: before, new_string: after } = input;
  if (typeof path === "string" && typeof before === "string" && typeof after === "string")
    return { kind: "change", path, lines: changedLines(before, after), others: rowsOf(input, editNames) };
  if (tool === "write_file" && typeof path === "string" && typeof content === "string")
    return { kind: "file", path, content, field: "content" };
  const field = programFields.find((name) => typeof input[name] === "string");
  if (field !== undefined)
    return { kind: "program", code: String(input[field]), field, others: rowsOf(input, [field]) };
  return { kind: "arguments", rows: rowsOf(input, []) };
}

const editNames = ["path", "old_string", "new_string"];

function rowsOf(input: Readonly<Record<string, unknown>>, without: readonly string[]): Rows {
  return Object.entries(input)
    .filter(([name]) => !without.includes(name))
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value, null, 2)]);
}

/** What both have at the beginning and the end stays; all between is taken out and put in. */
function changedLines(before: string, after: string): ChangedLine[] {
  const [old, now] = [before.split("\n"), after === "" ? [] : after.split("\n")];
  let first = 0;
  while (first < old.length && first < now.length && old[first] === now[first]) first += 1;
  let last = 0;
  while (last < old.length - first && last < now.length - first && old.at(-1 - last) === now.at(-1 - last)) last += 1;
  const lines = (sign: ChangedLine["sign"], texts: readonly string[]) => texts.map((text) => ({ sign, text }));
  return [
    ...lines(" ", old.slice(0, first)),
    ...lines("-", old.slice(first, old.length - last)),
    ...lines("+", now.slice(first, now.length - last)),
    ...lines(" ", old.slice(old.length - last)),
  ];
}

/** What a person edits: the program or text alone where there is one, else all arguments as JSON. */
export function editableOf(tool: string, written: string): { readonly text: string; readonly field?: string } {
  const effect = effectOf(tool, written);
  if (effect.kind === "program") return { text: effect.code, field: effect.field };
  if (effect.kind === "file") return { text: effect.content, field: effect.field };
  const input = parsedObject(written);
  return { text: input === undefined ? written : JSON.stringify(input, null, 2) };
}

/** The arguments with what was edited in its place; undefined where it is no object of JSON. */
export function editedArguments(written: string, field: string | undefined, text: string): string | undefined {
  if (field === undefined) return parsedObject(text) === undefined ? undefined : text;
  return JSON.stringify({ ...parsedObject(written), [field]: text });
}

/** One line of it, for lists. */
export function effectLine(tool: string, written: string): string {
  const effect = effectOf(tool, written);
  switch (effect.kind) {
    case "program":
      return effect.code.split("\n").find((line) => line.trim() !== "") ?? "";
    case "file":
    case "change":
      return effect.path;
    case "arguments":
      return effect.rows.map(([name, value]) => `${name}: ${value}`).join(" · ");
    case "text":
      return effect.text;
  }
}
