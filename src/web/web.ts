import { isIP } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { kindOf } from "./address.ts";
import { isAmong } from "./allowed.ts";
import type { Connect } from "./connect.ts";
import {
  defaultFetchLimits,
  type FetchFailure,
  type FetchLimits,
  guardedFetch,
  type WebAnswer,
  type WebParts,
  type WebRequest,
} from "./guarded-fetch.ts";
import { createLookup, type Lookup } from "./lookup.ts";
import { isInsideName, placeOf } from "./place.ts";
import type { ProxyEnv } from "./proxy-env.ts";
import { type Found, providerOf, readByJina, type SearchFailure, searchWeb } from "./search.ts";
import type { SearchProvider, SearchSettings } from "./search-services.ts";
import { openServiceFetch, type ServiceFetch } from "./service-fetch.ts";

export { isOfThisMachine } from "./address.ts";
export { isAmong, type NetworkRules, patternOf } from "./allowed.ts";
export { type Connect, connectTo } from "./connect.ts";
export type { FetchFailure, FetchLimits, WebAnswer, WebRequest } from "./guarded-fetch.ts";
export { createLookup, type Lookup } from "./lookup.ts";
export { addressesIn, comparable } from "./named-addresses.ts";
export { type Page, readPage } from "./page.ts";
export { type SearchProvider, type SearchSettings, searchServices } from "./search-services.ts";
export type { ServiceFetch } from "./service-fetch.ts";

/** The web, as far as it may be reached on the word of a model. */
export interface Web {
  /** One request. Private addresses, and whatever leads there, are refused before anybody is called. */
  fetch(request: WebRequest): Promise<Result<WebAnswer, FetchFailure>>;
  /** For a service whose address the operator has set, to be handed to a library: see `service-fetch.ts`. */
  fetchFor(address: string): ServiceFetch;
  /** By the service that is set, or by a certain one. */
  search(query: WebQuery): Promise<Result<Found, SearchFailure>>;
  /** A page as Jina's reader sees it; for addresses out there only. */
  readByJina(page: { readonly url: string; readonly signal: AbortSignal }): Promise<Result<string, SearchFailure>>;
  /** What `search` asks where no service is named; undefined when none is set. */
  provider(): SearchProvider | undefined;
}

export type WebQuery = {
  readonly query: string;
  readonly hitsMax: number;
  readonly provider?: SearchProvider | undefined;
  readonly signal: AbortSignal;
};

export type WebSettings = {
  /** The only ones that are reached; none is everybody out there. */
  readonly hosts: readonly string[];
  /** Those that are reached though they are in a private network, or at another port than the usual ones. */
  readonly privateHosts: readonly string[];
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Names that this machine does not know are left to the proxy. */
  readonly proxyFindsNames: boolean;
  readonly search: SearchSettings;
};

export type WebOptions = {
  readonly clock: Clock;
  /** Asked anew for each request: settings may change. */
  readonly settings: () => WebSettings;
  readonly proxyEnv: () => ProxyEnv;
  /** Others in tests. */
  readonly lookup?: Lookup | undefined;
  readonly connect?: Connect | undefined;
  readonly limits?: Partial<FetchLimits> | undefined;
};

export function openWeb({ clock, settings, proxyEnv, lookup = createLookup(), connect, limits }: WebOptions): Web {
  const parts: WebParts = {
    ...{ clock, lookup, connect, proxyEnv },
    rules: settings,
    limits() {
      const { timeoutMs, bytesMax, proxyFindsNames } = settings();
      return { ...defaultFetchLimits, timeoutMs, bodyBytesMax: bytesMax, proxyFindsNames, ...limits };
    },
  };
  const fetch = (request: WebRequest) => guardedFetch(request, parts);
  return {
    fetch,
    fetchFor: (address) => openServiceFetch(address, parts),
    search: ({ provider, ...query }) => searchWeb({ ...query, provider }, settings().search, fetch),
    async readByJina(page) {
      const place = placeOf(page.url);
      if (!place.ok) return failure("web_address_refused", { host: "", why: place.failure });
      const { url, host, port } = place.value;
      const { hosts, search } = settings();
      // Somebody else's machine would be asked for it, and would learn the name.
      const why = hosts.length > 0 && !isAmong(hosts, host, port) ? "host" : insideFault(host);
      if (why !== undefined) return failure("web_address_refused", { host, why });
      return readByJina({ ...page, url: url.href }, search, fetch);
    },
    provider: () => providerOf(settings().search),
  };
}

function insideFault(host: string): "private" | "never" | undefined {
  const kind = isIP(host) === 0 ? "public" : kindOf(host);
  if (kind !== "public") return kind;
  return isInsideName(host) ? "private" : undefined;
}
