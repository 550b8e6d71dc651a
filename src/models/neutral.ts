import { z } from "zod";
import { Image, type Message, type ToolCall } from "../protocol/message.ts";
import { Profile } from "./profile.ts";
import type { ModelAnswer, ModelRequest } from "./provider.ts";

/**
 * One model call as a file, in no provider's spelling: what `agentyard model test --request FILE` reads and prints, and
 * what the entries of `provider-quirks` are written in.
 */
const NeutralCall = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra: z.record(z.string(), z.unknown()).optional(),
});

const NeutralMessage = z.strictObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  text: z.string().default(""),
  images: z.array(Image).optional(),
  reasoning: z.string().optional(),
  reasoningDetails: z.array(z.unknown()).optional(),
  toolCalls: z.array(NeutralCall).optional(),
  toolCallId: z.string().optional(),
});

const NeutralTool = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()),
});

export const NeutralRequest = z.strictObject({
  stream: z.boolean(),
  messages: z.array(NeutralMessage).default([{ role: "user", text: "hello" }]),
  tools: z.array(NeutralTool).optional(),
  /** `auto`, `required`, `none`, or the name of the tool that must be called. */
  toolChoice: z.string().optional(),
  parallelToolCalls: z.boolean().optional(),
  maxOutputTokens: z.number().int().positive().optional(),
  temperature: z.number().optional(),
  thinking: z.union([z.boolean(), z.string()]).optional(),
  profile: Profile.optional(),
  client: z
    .strictObject({ idleTimeoutMs: z.number().positive(), firstDataTimeoutMs: z.number().positive() })
    .partial()
    .optional(),
});
export type NeutralRequest = z.infer<typeof NeutralRequest>;

/** A neutral request as a provider takes it. Its `profile` and `client` belong to the endpoint, not to the call. */
export function toModelRequest(neutral: NeutralRequest): ModelRequest {
  const { messages, toolChoice, profile, client, ...rest } = neutral;
  return {
    ...rest,
    messages: messages.map(toMessage),
    ...(toolChoice === undefined ? {} : { toolChoice: toToolChoice(toolChoice) }),
  };
}

function toToolChoice(choice: string): ModelRequest["toolChoice"] {
  return choice === "auto" || choice === "required" || choice === "none" ? choice : { tool: choice };
}

function toMessage(message: z.infer<typeof NeutralMessage>): Message {
  const { role, text, images, reasoning, reasoningDetails, toolCalls, toolCallId = "" } = message;
  switch (role) {
    case "system":
      return { role, text };
    case "user":
      return { role, text, images };
    case "assistant":
      return { role, text, reasoning, reasoningDetails, toolCalls: toolCalls?.map(toCall) };
    case "tool":
      return { role, text, images, toolCallId };
  }
}

function toCall({ arguments: value, ...call }: z.infer<typeof NeutralCall>): ToolCall {
  return { ...call, arguments: JSON.stringify(value) };
}

export type NeutralResult = {
  readonly text: string;
  readonly reasoning: string;
  readonly reasoningDetails?: readonly unknown[];
  readonly toolCalls: readonly NeutralResultCall[];
  readonly finish: ModelAnswer["finish"];
  readonly usage: ModelAnswer["usage"];
  /** The server counted nothing usable: the numbers are ours. */
  readonly usageEstimated?: true;
  readonly error: { readonly kind: string; readonly retryable: boolean; readonly retryAfterMs?: number } | null;
};

export type NeutralResultCall = { readonly id: string; readonly name: string; readonly extra?: object } & (
  | { readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly invalid: true; readonly raw: string }
);

/** An answer as it is printed: arguments as an object, and no key without a value. */
export function toNeutralResult(answer: ModelAnswer): NeutralResult {
  const { text, reasoning, reasoningDetails, finish, usage, error } = answer;
  return {
    text,
    reasoning,
    ...(reasoningDetails === undefined ? {} : { reasoningDetails }),
    toolCalls: answer.toolCalls.map(toNeutralCall),
    finish,
    usage,
    ...(answer.usageEstimated ? { usageEstimated: true } : {}),
    error: error === undefined ? null : withoutMessage(error),
  };
}

function withoutMessage({ kind, retryable, retryAfterMs }: NonNullable<ModelAnswer["error"]>) {
  return { kind, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

const Arguments = z.record(z.string(), z.unknown());

function toNeutralCall({ id, name, arguments: text, invalid, extra }: ToolCall): NeutralResultCall {
  const known = { id, name, ...(extra === undefined ? {} : { extra }) };
  return invalid ? { ...known, invalid, raw: text } : { ...known, arguments: Arguments.parse(JSON.parse(text)) };
}
