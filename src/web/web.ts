import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
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
import type { ProxyEnv } from "./proxy-env.ts";

export { type AddressKind, kindOf } from "./address.ts";
export { isAmong, type NetworkRules, patternOf } from "./allowed.ts";
export { type Connect, connectTo } from "./connect.ts";
export type { FetchFailure, FetchLimits, WebAnswer, WebRequest } from "./guarded-fetch.ts";
export { createLookup, type Lookup } from "./lookup.ts";

/** The web, as far as it may be reached on the word of a model. */
export interface Web {
  /** One request. Private addresses, and whatever leads there, are refused before anybody is called. */
  fetch(request: WebRequest): Promise<Result<WebAnswer, FetchFailure>>;
}

export type WebSettings = {
  /** The only ones that are reached; none is everybody out there. */
  readonly hosts: readonly string[];
  /** Those that are reached though they are in a private network, or at another port than the usual ones. */
  readonly privateHosts: readonly string[];
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Names that this machine does not know are left to the proxy. */
  readonly proxyFindsNames: boolean;
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
  return { fetch: (request) => guardedFetch(request, parts) };
}
