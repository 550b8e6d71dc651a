import { parsedJson } from "../../base/json.ts";

/** JSON of others goes into a document as it is while it is short; a longer one as text, which can be cut anywhere. */
const jsonCharactersMax = 8_000;

/** A result: the JSON that it is, else its text. */
export function shownResult(text: string): unknown {
  if (text.length > jsonCharactersMax || !/^\s*[[{]/.test(text)) return text;
  const parsed = parsedJson(text);
  return parsed === undefined ? text : parsed;
}

export type ShownArgument = { readonly name: string; readonly value: unknown; readonly type: string };

/** The arguments of a call one by one; what is no object as it was written. */
export function shownArguments(text: string): ShownArgument[] {
  const parsed = parsedJson(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    return text === "" ? [] : [{ name: "arguments", value: text, type: "string" }];
  return Object.entries(parsed).map(([name, value]) => ({ name, value: shownValue(value), type: typeOf(value) }));
}

function shownValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const text = JSON.stringify(value);
  return text.length > jsonCharactersMax ? text : value;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
