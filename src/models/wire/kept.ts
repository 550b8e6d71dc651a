import { isObject, type JsonObject } from "./json.ts";

/** Whose answer something belongs to: no other format can send it back, and no other model can read it. */
export type Origin = { readonly api: string; readonly model: string };

/**
 * Keeps what a server wants back with later requests, unchanged and in this order: signed thoughts, encrypted ones. It is
 * stored with the answer, among its details, under the names of the format and the model. The list may still grow.
 */
export function keepItems(details: unknown[], { api, model }: Origin, items: readonly JsonObject[]): void {
  details.push({ api, model, items });
}

/** What was kept of an answer for this format and model; `undefined` when another gave it, or when there is nothing. */
export function keptItems(
  details: readonly unknown[] | undefined,
  { api, model }: Origin,
): readonly JsonObject[] | undefined {
  const kept = details?.find((detail) => isKept(detail) && detail.api === api && detail.model === model);
  return isKept(kept) ? kept.items.filter(isObject) : undefined;
}

/** Details without those that were kept for a format of its own: chat completions send them back as they came. */
export function plainDetails(details: readonly unknown[] | undefined): readonly unknown[] {
  return details?.filter((detail) => !isKept(detail)) ?? [];
}

function isKept(detail: unknown): detail is Origin & { readonly items: readonly unknown[] } {
  if (!isObject(detail)) return false;
  return typeof detail.api === "string" && typeof detail.model === "string" && Array.isArray(detail.items);
}
