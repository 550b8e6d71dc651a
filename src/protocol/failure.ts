import { failed } from "../base/result.ts";
import type { FailureWords } from "../words/words.ts";

/** Every code with its parameters; the words for it stand in words/, one entry per code, and both must agree to compile. */
export type FailureCode = keyof FailureWords;
export type FailureParams<C extends FailureCode> =
  Parameters<FailureWords[C]> extends [infer P] ? P : Record<never, never>;

/** What the world can do to us, as a value. */
export type Failure<C extends FailureCode = FailureCode> = {
  readonly [K in C]: { readonly code: K; readonly params: FailureParams<K>; readonly retryable: boolean };
}[C];

/** Worth trying again without a change. */
const retryable: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "storage_busy",
  "database_away",
  "model_rate_limit",
  "model_overloaded",
  "model_network",
  "conversation_busy",
  "sandbox_full",
  "sandbox_busy",
  "streams_full",
  "mcp_full",
  "sandbox_start_failed",
  "sandbox_session_not_ready",
  "key_in_use",
  "rate_limited",
  "server_closing",
  "home_away",
]);

export function makeFailure<C extends FailureCode>(code: C, params: FailureParams<C>): Failure<C> {
  // The object is the member of the union that its own code selects.
  return { code, params, retryable: retryable.has(code) } as Failure<C>;
}

/** One that was written down with its parameters, as it was when it was made. */
export function storedFailure<C extends FailureCode>(code: C, params: object): Failure<C> {
  // Nobody but us writes them down.
  return makeFailure(code, params as FailureParams<C>);
}

export function failure<C extends FailureCode>(
  code: C,
  params: FailureParams<C>,
): { readonly ok: false; readonly failure: Failure<C> } {
  return failed(makeFailure(code, params));
}
