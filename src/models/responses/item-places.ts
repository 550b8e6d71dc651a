import { isObject, type JsonObject } from "../wire/json.ts";

/**
 * What of an answer's items is kept, so that they can go back as they came. Text and calls stand in the answer already
 * and are not kept twice: their places are.
 *
 * A sealed piece of reasoning belongs to the item behind it, and neither goes back without the other: reasoning that led
 * to nothing is left out, and where the seal is missing nothing is kept at all.
 */
export function itemPlaces(items: readonly JsonObject[]): readonly JsonObject[] {
  const spoken = items.filter(({ type }) => type === "reasoning" || type === "message" || type === "function_call");
  const last = spoken.findLastIndex(({ type }) => type !== "reasoning");
  const whole = spoken.slice(0, last + 1);
  const isWorth = whole.some(({ type, phase }) => type === "reasoning" || typeof phase === "string");
  const isSealed = whole.every((item) => item.type !== "reasoning" || typeof item.encrypted_content === "string");
  return isWorth && isSealed ? whole.map(place) : [];
}

function place(item: JsonObject): JsonObject {
  const { arguments: _arguments, name: _name, call_id: _id, ...rest } = withoutNulls(item);
  if (item.type === "reasoning") return withoutNulls(item);
  if (item.type === "function_call") return rest;
  const content = Array.isArray(item.content) ? item.content.filter(isObject) : [];
  return { ...rest, content: content.map(textPlace) };
}

function textPlace(part: JsonObject): JsonObject {
  const { text, refusal, ...rest } = withoutNulls(part);
  return { ...rest, length: String(text ?? refusal ?? "").length };
}

/** Servers write null for what is not there, and refuse it when it comes back. */
function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
