import type { Finish, Message, ModelErrorKind, ToolCall, ToolDescription, Usage } from "../protocol/message.ts";
import type { ModelFault } from "../words/words.ts";
import type { Profile } from "./profile.ts";

/**
 * The port before every wire format (decision 0044). A call is prepared first, so that the loop can record what it is about
 * to send before it leaves; then sent once. Failure is a value in the answer, never a throw. Further attempts are made by the
 * loop.
 */
export interface ModelProvider {
  prepare(request: ModelRequest): PreparedCall;
  close(): Promise<void>;
}

export type ModelRequest = {
  /** Immutable message objects. The same object is the same bytes: providers cache what they wrote for it. */
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDescription[] | undefined;
  /** `none`: the tools stay in the request, but none may be called. */
  readonly toolChoice?: "auto" | "required" | "none" | { readonly tool: string } | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly thinking?: boolean | string | undefined;
  readonly stream: boolean;
  /** Stable through a conversation; routes to the same cache where a server takes it. */
  readonly cacheKey?: string | undefined;
};

export interface PreparedCall {
  /** Hash and length of the bytes of all messages, for the prefix property. */
  readonly bytes: RequestBytes;
  send(sink: DeltaSink, signal: AbortSignal): Promise<ModelAnswer>;
}

export type RequestBytes = {
  /** First 16 hexadecimal characters of the SHA-256 over the messages' bytes, in order. */
  readonly hash: string;
  readonly length: number;
  /** How many of these bytes the previous request of this conversation began with. */
  readonly reused: number;
};

/** Called as text arrives; everything received before an error has been delivered before the answer settles. */
export type DeltaSink = {
  text?(delta: string): void;
  reasoning?(delta: string): void;
};

export type ModelAnswer = {
  readonly text: string;
  readonly reasoning: string;
  /** Kept on the stored assistant message for later requests. */
  readonly reasoningDetails?: readonly unknown[] | undefined;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: Finish;
  readonly usage: Usage;
  readonly usageEstimated?: true | undefined;
  /** Present when `finish` is `error`, and with `content_filter` when it was the request that was refused. */
  readonly error?: ModelError | undefined;
};

export type ModelError = {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  /** What is the matter, where the server did not say so itself. */
  readonly because?: ModelFault | undefined;
  /** The server's own words or the system's, redacted and bounded; shown to people, never matched on. Empty: none. */
  readonly message: string;
  readonly status?: number | undefined;
};

/** Where and how one model is reached. */
export type Endpoint = {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  readonly profile: Profile;
  readonly idleTimeoutMs: number;
  readonly firstDataTimeoutMs: number;
};
