import { isObject, type JsonObject } from "../wire/json.ts";
import type { Spoken } from "../wire/voice.ts";

/**
 * What a delta or message says. Reasoning comes from one source per event, the first that has any: servers mirror the
 * same text in several fields, and adding them up would say everything twice.
 */
export function readContent(delta: JsonObject): Spoken {
  const { content } = delta;
  const parts = Array.isArray(content) ? content : undefined;
  const text = parts === undefined ? plainText(content) : parts.map(textOfPart).join("");
  return {
    text: text === "" ? plainText(delta.refusal) : text,
    reasoning: parts?.map(reasoningOfPart).join("") || fieldReasoning(delta) || detailsText(delta.reasoning_details),
  };
}

/** Spelt out, not looped over: this runs for every event of every answer. */
function fieldReasoning(delta: JsonObject): string {
  return (
    plainText(delta.reasoning_content) ||
    plainText(delta.reasoning) ||
    plainText(delta.reasoning_text) ||
    plainText(delta.thinking) ||
    plainText(delta.thinking_content) ||
    plainText(delta.thought) ||
    plainText(delta.thoughts)
  );
}

/** Text, a list of texts, or an object that holds one. */
function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) return value.map(plainText).join("");
  if (!isObject(value)) return "";
  return plainText(value.text ?? value.content ?? value.thinking ?? value.summary);
}

function isReasoningPart(part: unknown): part is JsonObject {
  return isObject(part) && typeof part.type === "string" && /think|reason|thought/.test(part.type);
}

function textOfPart(part: unknown): string {
  if (isReasoningPart(part)) return "";
  return isObject(part) && part.type === "refusal" ? plainText(part.refusal) : plainText(part);
}

function reasoningOfPart(part: unknown): string {
  if (!isReasoningPart(part)) return "";
  return plainText(
    part.thinking ?? part.reasoning ?? part.reasoning_content ?? part.text ?? part.content ?? part.summary,
  );
}

function detailsText(details: unknown): string {
  if (!Array.isArray(details)) return "";
  return details.map((detail) => (isObject(detail) ? plainText(detail.text ?? detail.summary) : "")).join("");
}

/** Adds details as they stream in: pieces of one text become the one entry that a later request has to send back. */
export function addDetails(kept: unknown[], details: unknown): void {
  if (!Array.isArray(details)) return;
  for (const detail of details) {
    const last = kept.at(-1);
    if (isObject(last) && isObject(detail) && isSameText(last, detail)) kept[kept.length - 1] = join(last, detail);
    else kept.push(detail);
  }
}

function isSameText(last: JsonObject, detail: JsonObject): boolean {
  const isText = typeof detail.text === "string" || typeof detail.summary === "string" || "signature" in detail;
  return isText && last.type === detail.type && last.index !== undefined && last.index === detail.index;
}

function join(last: JsonObject, detail: JsonObject): JsonObject {
  const joined: Record<string, unknown> = { ...last };
  for (const [key, value] of Object.entries(detail)) {
    const before = joined[key];
    const isPiece = (key === "text" || key === "summary") && typeof before === "string" && typeof value === "string";
    if (isPiece) joined[key] = before + value;
    else if (value !== null) joined[key] = value;
  }
  return joined;
}
