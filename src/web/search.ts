import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { patternOf } from "./allowed.ts";
import type { FetchFailure, WebAnswer, WebRequest } from "./guarded-fetch.ts";
import {
  type SearchHit,
  type SearchProvider,
  type SearchQuery,
  type SearchSettings,
  searchProviders,
  searchServices,
} from "./search-services.ts";

type Fetch = (request: WebRequest) => Promise<Result<WebAnswer, FetchFailure>>;
export type SearchFailure = FetchFailure | Failure<"web_search_off" | "web_search_failed">;
export type Found = { readonly provider: SearchProvider; readonly hits: readonly SearchHit[] };

/** The one that was chosen or, where none was, the first that is on; undefined when there is none. */
export function providerOf(settings: SearchSettings): SearchProvider | undefined {
  const { provider } = settings;
  const order = provider === "auto" ? searchProviders : [provider];
  return order.find((one) => searchServices[one].isOn(settings));
}

const answerBytesMax = 4 * 1024 * 1024;

/** Asks one service. Its address is the operator's word: it may be in a private network, and nobody else with it. */
export async function searchWeb(
  query: SearchQuery & { readonly provider: SearchProvider | undefined; readonly signal: AbortSignal },
  settings: SearchSettings,
  fetch: Fetch,
): Promise<Result<Found, SearchFailure>> {
  const { provider = providerOf(settings), signal } = query;
  if (provider === undefined) return failure("web_search_off", { settings: allSettings() });
  const service = searchServices[provider];
  if (!service.isOn(settings)) return failure("web_search_off", { settings: service.setting });
  const request = service.request(query, settings);
  const answer = await fetch({
    ...request,
    ...{ signal, bodyBytesMax: answerBytesMax, ownHosts: [patternOf(request.url)] },
  });
  if (!answer.ok) return answer;
  const { status, bytes } = answer.value;
  // What the service says of its trouble is not told: it may hold the key.
  const failed = (why: "key" | "limit" | "status" | "answer") =>
    failure("web_search_failed", { provider: service.name, why, status, setting: service.setting });
  if (status === 401 || status === 403) return failed("key");
  if (status === 402 || status === 429) return failed("limit");
  if (status < 200 || status >= 300) return failed("status");
  const hits = service.read(parsedJson(bytes.toString("utf8")));
  return hits === undefined ? failed("answer") : ok({ provider, hits: hits.slice(0, query.hitsMax) });
}

/** What can be set to have a search. */
function allSettings(): string {
  return searchProviders.map((one) => searchServices[one].setting).join(", or ");
}

/** A page through Jina's reader, which also runs the programs of a page. */
export async function readByJina(
  { url, signal }: { readonly url: string; readonly signal: AbortSignal },
  { jina }: SearchSettings,
  fetch: Fetch,
): Promise<Result<string, SearchFailure>> {
  const { key, readerUrl } = jina;
  const { setting, name: provider } = searchServices.jina;
  if (key === undefined) return failure("web_search_off", { settings: setting });
  const answer = await fetch({
    ...{ url: `${readerUrl}/${url}`, signal, ownHosts: [patternOf(readerUrl)] },
    headers: { accept: "text/plain", authorization: `Bearer ${key}` },
  });
  if (!answer.ok) return answer;
  const { status, bytes } = answer.value;
  if (status >= 200 && status < 300) return ok(bytes.toString("utf8"));
  const why = status === 401 || status === 403 ? "key" : status === 402 || status === 429 ? "limit" : "status";
  return failure("web_search_failed", { provider, why, status, setting });
}
