import type { Result } from "../base/result.ts";
import type { ModelError } from "./provider.ts";

/** What the user said about the model for embeddings. */
export type EmbeddingSettings = {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** How many numbers a vector is to have, for models that leave the choice. */
  readonly dimensions?: number | undefined;
};

/** Turns texts into vectors of length one: what means much the same lies near to each other. */
export interface Embedder {
  /** Whose vectors they are. Those of two names cannot be compared. */
  readonly name: string;
  /** One vector for each text, all of one size. Nothing is retried here. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Result<readonly Float32Array[], ModelError>>;
  /** Ends all connections. */
  close(): void;
}

export type EmbedOptions = {
  readonly signal: AbortSignal;
  /** For all of it, to the last byte of the answer. */
  readonly timeoutMs: number;
};
