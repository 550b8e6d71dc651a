import { z } from "zod";

/** The wire format in which a model is asked. */
export const Api = z.enum(["chat", "responses", "anthropic", "google"]);
export type Api = z.infer<typeof Api>;

/** Where each format is at home: the address of a slot that names none. */
export const apiUrls: Readonly<Record<Api, string>> = {
  chat: "https://api.openai.com/v1",
  responses: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
};

/** What is known of a model's server, as data. Absent fields have the default; `provider-quirks` names the same fields. */
export const Profile = z.strictObject({
  api: Api.default("chat"),
  systemRole: z.enum(["system", "developer"]).default("system"),
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  streamUsage: z.boolean().default(true),
  sampling: z.boolean().default(true),
  parallelToolCalls: z.boolean().default(true),
  forcedToolChoice: z.boolean().default(true),
  thinkTags: z.enum(["off", "leading", "implicit-open"]).default("off"),
  toolCallsInText: z.boolean().default(false),
  reasoningReplay: z.enum(["never", "tool_calls", "details"]).default("never"),
  toolCallIds: z.enum(["max40", "alnum9"]).default("max40"),
  emptyToolCallContent: z.enum(["null", "empty"]).default("null"),
  roleOrder: z.enum(["free", "alternate", "mistral"]).default("free"),
  singleSystem: z.boolean().default(false),
  noPrefill: z.boolean().default(false),
  maxTools: z.number().int().positive().default(128),
  schemaDialect: z.enum(["json-schema", "openai-strict", "mfjs"]).default("json-schema"),
  finishOptional: z.boolean().default(false),
  thinkingSwitch: z
    .enum(["none", "enable_thinking", "thinking-object", "reasoning_effort", "adaptive", "budget"])
    .default("none"),
  /** Sent with tools where the server refuses tools together with reasoning. */
  effortWithTools: z.enum(["leave", "none"]).default("leave"),
  /** Send the conversation's cache key as `prompt_cache_key`. */
  cacheKeyField: z.boolean().default(false),
});
export type Profile = z.infer<typeof Profile>;

export const defaultProfile: Profile = Profile.parse({});
