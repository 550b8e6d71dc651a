import { nearest } from "../base/nearest.ts";
import type { SlotSettings } from "../models/models.ts";
import { apiUrls } from "../models/profile.ts";
import { Slot } from "../protocol/message.ts";
import { embeddingPrefix } from "./document-settings.ts";
import type { Reader } from "./reader.ts";
import { knownVariables, openAiSettings, slotPrefixes, slotSettings } from "./settings.ts";

/** Something a person should know; the product works all the same. The sentences stand in words/. */
export type ConfigNote =
  /** No model was named, so `model` is used; `variable` is where to name one. */
  | { readonly code: "model_id_missing"; readonly slot: Slot; readonly variable: string; readonly model: string }
  /** The slot has settings, but neither a key (it goes into `variable`) nor a local server: it is not used. */
  | { readonly code: "slot_without_key"; readonly slot: Slot; readonly variable: string }
  /** A model for embeddings is named in part: `variable` is missing, and words alone decide. */
  | { readonly code: "embedding_incomplete"; readonly variable: string }
  /** Proxies that somebody else's folder names are not used. */
  | { readonly code: "proxy_foreign"; readonly names: string }
  /** Looks like a variable of a slot and is none. */
  | { readonly code: "variable_unknown"; readonly name: string; readonly near: string };

const modelDefault = "gpt-4";

/** The filled slots, and notes on the others. `isTrusted`: the files of the project belong to the user. */
export function readSlots(reader: Reader, { isTrusted }: { readonly isTrusted: boolean }) {
  const slots: { [slot in Slot]?: SlotSettings } = {};
  const notes: ConfigNote[] = [];
  for (const slot of Slot.options) {
    const given = findSlot(reader, slot);
    if (!isTrusted) refuseForeignAddress(reader, given);
    const [prefix = ""] = slotPrefixes[slot];
    if (isReachable(given)) {
      slots[slot] = settingsOf(slot, given);
      if (given.model === undefined)
        notes.push({ code: "model_id_missing", slot, variable: `${prefix}ID`, model: modelDefault });
    } else if (Object.values(given).some((found) => found !== undefined)) {
      notes.push({ code: "slot_without_key", slot, variable: `${prefix}API_KEY` });
    }
  }
  return { slots, notes };
}

/** Names that begin like a variable of a slot, but end in a way that nobody reads. */
export function noteUnknown(names: readonly string[]): ConfigNote[] {
  const known = knownVariables();
  const prefixes = [...Object.values(slotPrefixes).flat(), embeddingPrefix];
  return names
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !known.has(name))
    .map((name) => ({ code: "variable_unknown", name, near: nearest(name, known, 1)[0] ?? name }));
}

/** The variable that tells the window of the model of a slot. */
export function windowVariableOf(slot: Slot): string {
  return slotSettings(slot).contextWindow.variables[0] ?? "";
}

/** The variable by which people know a slot. */
export function keyVariableOf(slot: Slot): string {
  return slotSettings(slot).apiKey.variables[0] ?? "";
}

type GivenSlot = ReturnType<typeof findSlot>;

/** OpenAI's own variables come as a pair, or not at all: a key must not go to a server that it was not meant for. */
function findSlot(reader: Reader, slot: Slot) {
  const own = slotSettings(slot);
  const given = {
    apiKey: reader.find(own.apiKey),
    baseUrl: reader.find(own.baseUrl),
    model: reader.find(own.model),
    api: reader.find(own.api),
    temperature: reader.find(own.temperature),
    maxTokens: reader.find(own.maxTokens),
    contextWindow: reader.find(own.contextWindow),
  };
  if (slot !== "base" || given.apiKey !== undefined || given.baseUrl !== undefined) return given;
  const { apiKey, baseUrl, model } = openAiSettings;
  return {
    ...given,
    apiKey: reader.find(apiKey),
    baseUrl: reader.find(baseUrl),
    model: given.model ?? reader.find(model),
  };
}

/** Plain http is what local servers speak; no service that wants a key does. */
function isReachable({ apiKey, baseUrl }: GivenSlot): boolean {
  return apiKey !== undefined || (baseUrl?.value.startsWith("http://") ?? false);
}

function settingsOf(slot: Slot, given: GivenSlot): SlotSettings {
  return {
    slot,
    baseUrl: given.baseUrl?.value ?? apiUrls[given.api?.value ?? "chat"],
    apiKey: given.apiKey?.value,
    model: given.model?.value ?? modelDefault,
    api: given.api?.value,
    temperature: given.temperature?.value,
    maxTokens: given.maxTokens?.value,
    contextWindow: given.contextWindow?.value,
  };
}

/** Somebody else's folder must not be able to have the user's own key sent to a server of its choice. */
function refuseForeignAddress(reader: Reader, { apiKey, baseUrl }: GivenSlot): void {
  const place = baseUrl?.given.place;
  if (place === undefined || baseUrl === undefined || apiKey === undefined || apiKey.given.place !== undefined) return;
  reader.problems.push({ fault: "key_would_leave", urlName: baseUrl.given.name, keyName: apiKey.given.name, place });
}
