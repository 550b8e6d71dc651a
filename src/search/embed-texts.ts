import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Embedder, ModelError } from "../models/models.ts";

/** A vector for each text; undefined for one that the model does not take. */
export type Vectors = readonly (Float32Array | undefined)[];

/** A batch takes a second or two; a server that loads its model takes longer once. */
const batchTimeoutMs = 120_000;
const attemptsMax = 4;
const firstWaitMs = 1_000;
/** A longer pause is not waited for here: the batch is given back, and asked for again after a rest. */
const waitMsMax = 60_000;
/** What every model takes. */
const probe = ["a text"];

type Parts = { readonly embedder: Embedder; readonly clock: Clock; readonly signal: AbortSignal };

/** Asks for the vectors of a batch. What may be over soon is waited for; a text that is refused is left out alone. */
export function openEmbedTexts({ embedder, clock, signal }: Parts) {
  const ask = async (texts: readonly string[]): Promise<Result<Vectors, ModelError>> => {
    for (let attempt = 1; ; attempt += 1) {
      const embedded = await embedder.embed(texts, { signal, timeoutMs: batchTimeoutMs });
      if (embedded.ok || signal.aborted) return embedded;
      const { retryable, retryAfterMs = firstWaitMs * 4 ** (attempt - 1) } = embedded.failure;
      if (!retryable || attempt >= attemptsMax || retryAfterMs > waitMsMax) return embedded;
      await clock.wait(retryAfterMs, signal);
    }
  };

  const askInParts = async (texts: readonly string[]): Promise<Result<Vectors, ModelError>> => {
    const whole = await ask(texts);
    if (whole.ok || !isOfTheText(whole.failure)) return whole;
    if (texts.length === 1) return ok([undefined]);
    const half = Math.ceil(texts.length / 2);
    const before = await askInParts(texts.slice(0, half));
    if (!before.ok) return before;
    const behind = await askInParts(texts.slice(half));
    return behind.ok ? ok([...before.value, ...behind.value]) : behind;
  };

  return async (texts: readonly string[]): Promise<Result<Vectors, ModelError>> => {
    const asked = await askInParts(texts);
    if (!asked.ok || asked.value.some((vector) => vector !== undefined)) return asked;
    // Not one of them was taken: is it the texts, or would it take none at all?
    const probed = await ask(probe);
    return probed.ok ? asked : failed(probed.failure);
  };
}

function isOfTheText({ kind }: ModelError): boolean {
  return kind === "bad_request" || kind === "context_overflow";
}
