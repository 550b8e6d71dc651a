import { z } from "zod";
import {
  type Answer,
  costOf,
  eventOf,
  insideOf,
  type Refusal,
  type Seen,
  type SeenMessage,
  type Wire,
  wordsOf,
} from "./wire.ts";

/** Chat completions, as OpenAI defined them. Not strict: what servers refuse there is what `provider-quirks` is about. */
export const chatWire: Wire = {
  api: "chat",
  model: "test-model",
  basePath: "/v1",
  open: () => ({
    isStream: ({ body }) => z.object({ stream: z.boolean().default(true) }).parse(body).stream,
    complaint: () => undefined,
    seen: (body) => seenIn(Body.parse(body)),
    messageBytes: (text) => insideOf(text, '"messages":['),
    stream,
    whole,
    streamError: () => eventOf({ error: { message: "the server is overloaded", code: "overloaded" } }),
    refusal: (why) => (typeof why === "string" ? refusals[why] : refused(400, why.complaint, "invalid_request_error")),
  }),
};

const Body = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.unknown(),
      reasoning_content: z.string().optional(),
      tool_calls: z.array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) })).default([]),
    }),
  ),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
  tool_choice: z.unknown().optional(),
});

const Choice = z.union([z.string(), z.object({ function: z.object({ name: z.string() }) }).transform(nameOf)]);

function nameOf({ function: { name } }: { function: { name: string } }): string {
  return name;
}

function seenIn({ messages, tools, tool_choice }: z.infer<typeof Body>): Seen {
  const isSystem = ({ role }: { role: string }) => role === "system" || role === "developer";
  return {
    system: messages.flatMap((message) => (isSystem(message) ? [textOf(message.content)] : [])).join("\n\n"),
    tools: tools.map(nameOf),
    toolChoice: tool_choice === undefined ? undefined : Choice.parse(tool_choice),
    messages: messages.filter((message) => !isSystem(message)).map(seenMessage),
  };
}

function seenMessage(message: z.infer<typeof Body>["messages"][number]): SeenMessage {
  const text = textOf(message.content);
  if (message.role === "tool") return { role: "tool", text };
  if (message.role === "user") return { role: "user", text, images: imagesIn(message.content) };
  const calls = message.tool_calls.map(({ function: call }) => `${call.name} ${call.arguments}`);
  return { role: "assistant", text, calls, sealed: [] };
}

const Parts = z.array(z.looseObject({ type: z.string(), text: z.string().default("") }));

function textOf(content: unknown): string {
  if (content === null) return "";
  return typeof content === "string"
    ? content
    : Parts.parse(content)
        .map(({ text }) => text)
        .join("");
}

function imagesIn(content: unknown): number {
  return Array.isArray(content) ? Parts.parse(content).filter(({ type }) => type === "image_url").length : 0;
}

function stream(answer: Answer, number: number): string[] {
  const chunk = (delta: object, more: object = {}) =>
    eventOf({
      id: `c${number}`,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    });
  const parts = [chunk({ role: "assistant", content: "" })];
  for (const word of wordsOf(answer.reasoning ?? "")) parts.push(chunk({ reasoning_content: word }));
  for (const word of wordsOf(answer.text ?? "")) parts.push(chunk({ content: word }));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const half = Math.floor(call.arguments.length / 2);
    const id = call.id ?? `call_${number}_${index}`;
    const named = { name: call.name, arguments: call.arguments.slice(0, half) };
    parts.push(chunk({ tool_calls: [{ index, id, type: "function", function: named }] }));
    parts.push(chunk({ tool_calls: [{ index, function: { arguments: call.arguments.slice(half) } }] }));
  }
  parts.push(chunk({}, { finish_reason: finishOf(answer) }));
  if (answer.usage !== null) parts.push(eventOf({ choices: [], usage: usageOf(answer) }));
  parts.push("data: [DONE]\n\n");
  return parts;
}

function whole(answer: Answer, number: number): object {
  const toolCalls = answer.calls?.map((call, index) => ({
    id: call.id ?? `call_${number}_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  const message = { role: "assistant", content: answer.text ?? null, tool_calls: toolCalls };
  return { choices: [{ index: 0, message, finish_reason: finishOf(answer) }], usage: usageOf(answer) };
}

function finishOf(answer: Answer): string {
  return answer.finish ?? (answer.calls === undefined ? "stop" : "tool_calls");
}

function usageOf(answer: Answer): object {
  const { cached, reasoning } = costOf(answer);
  return {
    ...(answer.usage ?? { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }),
    ...(cached === 0 ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

const refused = (status: number, message: string, code: string) => ({
  status,
  body: JSON.stringify({ error: { message, code, type: code } }),
});

const refusals: Record<Refusal, { status: number; body: string; headers?: Record<string, string> }> = {
  overloaded: refused(503, "The server is overloaded or not ready yet.", "overloaded"),
  overflow: refused(400, "This model's maximum context length is 7000 tokens.", "context_length_exceeded"),
  "rate limit": { ...refused(429, "Too many requests", "rate_limit_exceeded"), headers: { "retry-after": "0" } },
  key: refused(401, "Incorrect API key provided", "invalid_api_key"),
};
