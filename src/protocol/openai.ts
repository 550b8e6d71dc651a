import { z } from "zod";
import { mainRole } from "./agent.ts";
import { FreeForm } from "./free-form.ts";

/**
 * What callers send and get under /v1, in the spelling of OpenAI's Chat Completions and of Open Responses. Unknown keys
 * are taken and left alone; `null` means left out.
 */
const openAiNameCharactersMax = 200;
const openAiMessagesMax = 10_000;
const openAiPartsMax = 1_000;
const openAiFunctionsMax = 256;

const model = z.string().max(openAiNameCharactersMax).default(mainRole);
const conversation = z.string().max(openAiNameCharactersMax).nullish();
const metadata = FreeForm.nullish();
/** Taken and not looked at: the agent's model has its own settings. */
const ignored = z.unknown().optional();

/** One of several kinds; which of its fields count says `type`. */
const Part = z.object({
  type: z.string().max(openAiNameCharactersMax),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
  /** In Chat Completions an object, in Responses the address itself. */
  image_url: z.union([z.string(), z.object({ url: z.string() })]).nullish(),
});
export type Part = z.infer<typeof Part>;

const Content = z.union([z.string(), z.array(Part).max(openAiPartsMax)]).nullish();
export type Content = z.infer<typeof Content>;

const ChatMessage = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: Content,
  tool_calls: z
    .array(
      z.object({
        id: z.string().min(1).max(openAiNameCharactersMax),
        type: z.literal("function").nullish(),
        function: z.object({ name: z.string().max(openAiNameCharactersMax), arguments: z.string() }),
      }),
    )
    .max(openAiFunctionsMax)
    .nullish(),
  tool_call_id: z.string().min(1).max(openAiNameCharactersMax).nullish(),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** A function as it is described in both. */
const described = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string().nullish(),
  parameters: FreeForm.nullish(),
};

const ToolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.object({
    type: z.string().max(openAiNameCharactersMax),
    name: z.string().max(openAiNameCharactersMax).nullish(),
    function: z.object({ name: z.string().max(openAiNameCharactersMax) }).nullish(),
  }),
]);
export type ToolChoice = z.infer<typeof ToolChoice>;

export const ChatRequest = z.object({
  /** The id of an agent. */
  model,
  messages: z.array(ChatMessage).min(1).max(openAiMessagesMax),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z
    .array(z.object({ type: z.string().max(openAiNameCharactersMax), function: z.object(described).nullish() }))
    .max(openAiFunctionsMax)
    .nullish(),
  tool_choice: ToolChoice.nullish(),
  response_format: z.object({ type: z.string().max(openAiNameCharactersMax) }).nullish(),
  n: z.number().int().nullish(),
  logprobs: z.boolean().nullish(),
  modalities: z.array(z.string().max(openAiNameCharactersMax)).max(openAiPartsMax).nullish(),
  audio: z.unknown().optional(),
  functions: z.unknown().optional(),
  /** Ours: the conversation to go on in; also as the header `x-conversation-id`. */
  conversation_id: conversation,
  temperature: ignored,
  top_p: ignored,
  max_tokens: ignored,
  max_completion_tokens: ignored,
  stop: ignored,
  metadata,
});
export type ChatRequest = z.infer<typeof ChatRequest>;

const Item = z.object({
  /** A message, where it is absent. */
  type: z.string().max(openAiNameCharactersMax).nullish(),
  role: z.enum(["system", "developer", "user", "assistant"]).nullish(),
  content: Content,
  call_id: z.string().min(1).max(openAiNameCharactersMax).nullish(),
  name: z.string().max(openAiNameCharactersMax).nullish(),
  arguments: z.string().nullish(),
  output: Content,
});
export type Item = z.infer<typeof Item>;

export const ResponseRequest = z.object({
  /** The id of an agent. */
  model,
  input: z.union([z.string(), z.array(Item).max(openAiMessagesMax)]).nullish(),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().max(openAiNameCharactersMax).nullish(),
  tools: z
    .array(z.object({ type: z.string().max(openAiNameCharactersMax), ...described, name: described.name.nullish() }))
    .max(openAiFunctionsMax)
    .nullish(),
  tool_choice: ToolChoice.nullish(),
  text: z.object({ format: z.object({ type: z.string().max(openAiNameCharactersMax) }).nullish() }).nullish(),
  background: z.boolean().nullish(),
  prompt: z.unknown().optional(),
  /** The conversation to go on in. */
  conversation: z
    .union([z.string().max(openAiNameCharactersMax), z.object({ id: z.string().max(openAiNameCharactersMax) })])
    .nullish(),
  conversation_id: conversation,
  temperature: ignored,
  top_p: ignored,
  max_output_tokens: ignored,
  reasoning: ignored,
  truncation: ignored,
  metadata,
});
export type ResponseRequest = z.infer<typeof ResponseRequest>;

/** An agent, as a model. */
export const OpenAiModel = z.object({
  id: z.string(),
  object: z.literal("model"),
  /** Seconds since 1970. */
  created: z.number().int(),
  owned_by: z.string(),
  name: z.string(),
  description: z.string(),
});
export type OpenAiModel = z.infer<typeof OpenAiModel>;

const FunctionCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

export const ChatUsage = z.object({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  total_tokens: z.number().int(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().int() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.number().int() }),
});
export type ChatUsage = z.infer<typeof ChatUsage>;

export const FinishReason = z.enum(["stop", "length", "tool_calls", "content_filter"]);
export type FinishReason = z.infer<typeof FinishReason>;

export const ChatCompletion = z.object({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.null(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(FunctionCall).optional(),
      }),
      logprobs: z.null(),
      finish_reason: FinishReason,
    }),
  ),
  usage: ChatUsage,
});
export type ChatCompletion = z.infer<typeof ChatCompletion>;

const status = z.enum(["in_progress", "completed", "incomplete"]);

export const OutputItem = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    id: z.string(),
    status,
    role: z.literal("assistant"),
    content: z.array(
      z.object({
        type: z.literal("output_text"),
        text: z.string(),
        annotations: z.array(z.unknown()),
        logprobs: z.array(z.unknown()),
      }),
    ),
  }),
  z.object({
    type: z.literal("reasoning"),
    id: z.string(),
    status,
    summary: z.array(z.unknown()),
    content: z.array(z.object({ type: z.literal("reasoning_text"), text: z.string() })),
  }),
  z.object({
    type: z.literal("function_call"),
    id: z.string(),
    status,
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
]);
export type OutputItem = z.infer<typeof OutputItem>;

/** All that Open Responses asks for; what we have no value for has the neutral one. */
export const OpenResponse = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.number().int(),
  completed_at: z.number().int().nullable(),
  status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
  model: z.string(),
  instructions: z.string().nullable(),
  previous_response_id: z.string().nullable(),
  /** The conversation in which the agent works. */
  conversation: z.object({ id: z.string() }),
  output: z.array(OutputItem),
  usage: z
    .object({
      input_tokens: z.number().int(),
      input_tokens_details: z.object({ cached_tokens: z.number().int() }),
      output_tokens: z.number().int(),
      output_tokens_details: z.object({ reasoning_tokens: z.number().int() }),
      total_tokens: z.number().int(),
    })
    .nullable(),
  tools: z.array(z.unknown()),
  tool_choice: z.unknown(),
  metadata: z.record(z.string(), z.unknown()),
  store: z.boolean(),
  parallel_tool_calls: z.literal(true),
  background: z.literal(false),
  text: z.object({ format: z.object({ type: z.literal("text") }) }),
  truncation: z.literal("disabled"),
  reasoning: z.null(),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.number(),
  max_output_tokens: z.null(),
  max_tool_calls: z.null(),
  service_tier: z.literal("default"),
  safety_identifier: z.null(),
  prompt_cache_key: z.null(),
});
export type OpenResponse = z.infer<typeof OpenResponse>;
