import { z } from "zod";

/** What a model and we say to each other, in no provider's spelling. Providers convert at the last moment. */
export const Image = z.strictObject({ mime: z.string(), base64: z.string() });
export type Image = z.infer<typeof Image>;

/** A call as the model asked for it. `arguments` is the text as received, never parsed and written again. */
export const ToolCall = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  arguments: z.string(),
  /** The arguments are not usable JSON: the call is answered with an error and never run. */
  invalid: z.literal(true).optional(),
  /** What the model wrote where it called this tool through another one: it sees it again as it wrote it. */
  wrapped: z.strictObject({ name: z.string(), arguments: z.string() }).optional(),
  /** Unknown fields the server put on the call; they go back unchanged. */
  extra: z.record(z.string(), z.unknown()).optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** The calls of an answer as the model sees them again. */
export function asWritten(calls: ToolCall[] | undefined): ToolCall[] | undefined {
  if (!calls?.some(({ wrapped }) => wrapped !== undefined)) return calls;
  return calls.map(({ wrapped, ...call }) => ({ ...call, ...wrapped }));
}

/** Blanks, control characters and those without a width say nothing. */
export function hasVisible(text: string): boolean {
  return /[^\s\p{Z}\p{Cc}\p{Cf}]/u.test(text);
}

export type Message =
  | { readonly role: "system"; readonly text: string }
  | {
      readonly role: "user";
      readonly text: string;
      readonly images?: readonly Image[] | undefined;
      /** So many characters of it are the person's own words, where others stand behind them. */
      readonly own?: number | undefined;
      /** So many characters at its end are a reminder of ours. */
      readonly reminder?: number | undefined;
    }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly reminder?: number | undefined;
      readonly reasoning?: string | undefined;
      readonly reasoningDetails?: readonly unknown[] | undefined;
      readonly toolCalls?: readonly ToolCall[] | undefined;
    }
  | {
      readonly role: "tool";
      readonly toolCallId: string;
      readonly text: string;
      readonly images?: readonly Image[] | undefined;
      /** Where all of the result is, when it was too long to be sent. */
      readonly file?: string | undefined;
      readonly reminder?: number | undefined;
    };

/** A tool as a model is told of it; `parameters` is a JSON schema. */
export type ToolDescription = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
};

export const Usage = z.strictObject({
  /** All prompt tokens, cached ones included. */
  input: z.number(),
  /** All generated tokens, reasoning included. */
  output: z.number(),
  cachedInput: z.number().optional(),
  reasoning: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

export const Finish = z.enum(["stop", "tool_calls", "length", "content_filter", "error"]);
export type Finish = z.infer<typeof Finish>;

export const ModelErrorKind = z.enum([
  "auth",
  "quota",
  "rate_limit",
  "context_overflow",
  "not_found",
  "bad_request",
  "overloaded",
  "network",
  "protocol",
]);
export type ModelErrorKind = z.infer<typeof ModelErrorKind>;

export const Slot = z.enum(["base", "reasoning", "vision", "code", "chat"]);
export type Slot = z.infer<typeof Slot>;
