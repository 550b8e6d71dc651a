/** Reading JSON that strangers wrote: nothing is taken for granted and nothing throws. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A number, also one written as text; anything else is no number. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/**
 * JSON in which no string holds half a character: strict servers refuse the whole body for one lone surrogate.
 * `JSON.stringify` writes exactly those as `\ud…`; a backslash that was in the text stands there twice.
 */
export function stringifyWellFormed(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === "\\\\" ? found : "\\ufffd"));
}
