import { z } from "zod";
import { parsedJson } from "../../base/json.ts";

/** The part of an OpenAI chat request that the demo model looks at; what it cannot see, such as images, falls out. */
const ChatRequest = z.object({
  model: z.string(),
  messages: z
    .array(
      z.object({
        role: z.string(),
        content: z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]).nullish(),
        tool_calls: z
          .array(
            z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string().optional() }) }),
          )
          .nullish(),
        tool_call_id: z.string().nullish(),
      }),
    )
    .min(1),
  tools: z.array(z.object({ function: z.looseObject({ name: z.string() }) })).nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

type Call = { readonly id: string; readonly name: string; readonly arguments: string };
export type Reply = {
  readonly id: string;
  readonly model: string;
  readonly createdAt: number;
  readonly text: string;
  readonly calls: readonly Call[];
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** The answer in one piece. */
export function completion(reply: Reply): object {
  const message = {
    role: "assistant",
    content: reply.text === "" ? null : reply.text,
    ...(reply.calls.length === 0 ? {} : { tool_calls: reply.calls.map(wireCall) }),
  };
  const choices = [{ index: 0, message, finish_reason: finishReason(reply) }];
  return { ...envelope(reply, "chat.completion"), choices, usage: usage(reply) };
}

/** The same answer as it is streamed: word by word, and each call as its name and then its arguments. */
export function* chunks(reply: Reply, includeUsage: boolean): Generator<object> {
  const head = envelope(reply, "chat.completion.chunk");
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield chunk({ role: "assistant", content: reply.calls.length === 0 ? "" : null });
  for (const content of pieces(reply.text)) yield chunk({ content });
  for (const [index, call] of reply.calls.entries()) {
    const { function: named, ...rest } = wireCall(call);
    yield chunk({ tool_calls: [{ index, ...rest, function: { ...named, arguments: "" } }] });
    yield chunk({ tool_calls: [{ index, function: { arguments: call.arguments } }] });
  }
  yield chunk({}, finishReason(reply));
  if (includeUsage) yield { ...head, choices: [], usage: usage(reply) };
}

/** Words with the blank before them, and Chinese two characters at a time; joined they are the text again. */
function pieces(text: string): readonly string[] {
  return text.match(/\p{Script=Han}{1,2}|\s*[^\s\p{Script=Han}]+|\s+/gu) ?? [];
}

/** A request we can answer, or what is wrong with it. */
export function parseRequest(body: string, model: string): ChatRequest | WireError {
  const json = parsedJson(body);
  if (json === undefined) return { status: 400, message: "We could not parse the JSON body of your request." };
  const chat = ChatRequest.safeParse(json);
  if (!chat.success) {
    const param = chat.error.issues[0]?.path.join(".") ?? "";
    return { status: 400, message: `Invalid value for '${param}': ${chat.error.issues[0]?.message}`, param };
  }
  if (chat.data.model === model) return chat.data;
  return {
    status: 404,
    message: `The model '${chat.data.model}' does not exist.`,
    param: "model",
    code: "model_not_found",
  };
}

export type WireError = {
  readonly status: number;
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
};

export function errorBody({ status, message, param, code }: WireError): object {
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}

function envelope({ id, model, createdAt }: Reply, object: string) {
  return { id, object, created: Math.floor(createdAt / 1000), model };
}

function wireCall({ id, name, arguments: text }: Call) {
  return { id, type: "function", function: { name, arguments: text } };
}

function finishReason({ calls }: Reply): string {
  return calls.length === 0 ? "stop" : "tool_calls";
}

function usage({ inputTokens, outputTokens }: Reply): object {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}
