import type { EmbeddingSettings } from "../models/models.ts";
import { apiUrls } from "../models/profile.ts";
import type { Segmentation } from "../search/search.ts";
import { documentSettings as settings } from "./document-settings.ts";
import type { Places } from "./places.ts";
import type { Reader } from "./reader.ts";
import type { ConfigNote } from "./slots.ts";

export type DocumentSettings = {
  readonly segmentation: Segmentation;
  /** The model whose vectors are a second ranking; undefined where words alone decide. */
  readonly embedding: EmbeddingSettings | undefined;
  readonly embeddingCharactersPerDay: number;
};

/** How documents are searched, and what a person should know about it. */
export function readDocuments(
  reader: Reader,
  places: Places,
): { readonly documents: DocumentSettings; readonly notes: readonly ConfigNote[] } {
  const own = {
    segmentation: reader.read(settings.segmentation),
    embeddingCharactersPerDay: reader.read(settings.embeddingCharactersPerDay),
  };
  const found = {
    apiKey: reader.find(settings.embeddingKey),
    baseUrl: reader.find(settings.embeddingUrl),
    model: reader.find(settings.embeddingModel),
    dimensions: reader.find(settings.embeddingDimensions)?.value,
  };
  const { apiKey, baseUrl, model, dimensions } = found;
  const none = { documents: { ...own, embedding: undefined }, notes: [] };
  const given = [apiKey, baseUrl, model];
  if (given.every((each) => each === undefined)) return none;
  // Somebody else's folder must not have the user's documents sent anywhere; what its `.env` says is for other programs.
  const isForeign = given.some((each) => each?.given.place?.file === places.envFile.shown);
  if (!places.isTrusted && isForeign) return none;
  const isReachable = apiKey !== undefined || baseUrl?.value.startsWith("http://") === true;
  if (!isReachable || model === undefined) {
    const [variable = ""] = (isReachable ? settings.embeddingModel : settings.embeddingKey).variables;
    return { ...none, notes: [{ code: "embedding_incomplete", variable }] };
  }
  const embedding = {
    ...{ baseUrl: baseUrl?.value ?? apiUrls.chat, apiKey: apiKey?.value, model: model.value, dimensions },
  };
  return { documents: { ...own, embedding }, notes: [] };
}
