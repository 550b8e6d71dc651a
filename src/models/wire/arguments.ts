import { parsedJson } from "../../base/json.ts";
import { isObject, stringifyWellFormed } from "./json.ts";

/**
 * The arguments of a call as usable JSON text of an object, or `undefined` when they are not usable. Text that needs no
 * repair comes back as received, byte for byte. Only what has one possible meaning is repaired: truncated JSON is never
 * completed, and two different objects are never guessed between.
 */
export function readArguments(received: string): string | undefined {
  if (isBlank(received)) return "{}";
  const value = parsedJson(received);
  if (isObject(value)) return received;
  if (typeof value === "string") return isBlank(value) ? "{}" : withEscapedControls(value);
  if (value !== undefined) return undefined;
  return withEscapedControls(received) ?? withoutSurplus(escapeControls(received));
}

function isBlank(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === "" || trimmed === "null";
}

function withEscapedControls(text: string): string | undefined {
  if (isObject(parsedJson(text))) return text;
  const escaped = escapeControls(text);
  return isObject(parsedJson(escaped)) ? escaped : undefined;
}

/** Line breaks and tabs that stand in a JSON string as they are. */
function escapeControls(text: string): string {
  let escaped = "";
  let copied = 0;
  for (const { index, character } of insideStrings(text)) {
    if (character >= " ") continue;
    escaped += text.slice(copied, index) + JSON.stringify(character).slice(1, -1);
    copied = index + 1;
  }
  return escaped + text.slice(copied);
}

function* insideStrings(text: string): Generator<{ index: number; character: string }> {
  let inside = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"') inside = !inside;
    else if (inside && character === "\\") index += 1;
    else if (inside) yield { index, character };
  }
}

/** A complete object followed by nothing but itself once more, surplus closers and end tags. */
function withoutSurplus(text: string): string | undefined {
  const trimmed = text.trim();
  const length = objectLength(trimmed);
  if (length === undefined) return undefined;
  const first = trimmed.slice(0, length);
  const value = parsedJson(first);
  if (!isObject(value)) return undefined;
  let rest = trimmed.slice(length).trimStart();
  for (let again = objectLength(rest); again !== undefined; again = objectLength(rest)) {
    if (!isSameJson(rest.slice(0, again), value)) return undefined;
    rest = rest.slice(again).trimStart();
  }
  return surplus.test(rest) ? first : undefined;
}

const surplus = /^(?:\s|[}\]]|`{3}|<\/[\w:.-]+>|<\|[^<>|]*\|>|<｜[^<>｜]*｜>|\[\/[A-Z_]+\])*$/u;

function isSameJson(text: string, value: unknown): boolean {
  return JSON.stringify(parsedJson(text)) === JSON.stringify(value);
}

/** How long the object is that the text begins with; `undefined` when it begins with none or never closes it. */
function objectLength(text: string): number | undefined {
  if (!text.startsWith("{")) return undefined;
  let depth = 0;
  let inside = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"') inside = !inside;
    else if (inside && character === "\\") index += 1;
    else if (inside) continue;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}

/**
 * Arguments go back as they came, byte for byte. Those that never were an object go back as `{}`: servers refuse any
 * other, and the result of the call already tells the model that its arguments could not be read.
 */
export function replayedArguments(text: string): string {
  const value = parsedJson(text);
  if (!isObject(value)) return "{}";
  return escapedSurrogate.test(text) ? stringifyWellFormed(value) : text;
}

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
