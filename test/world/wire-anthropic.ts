import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import {
  type Answer,
  type Arrived,
  costOf,
  eventOf,
  insideOf,
  type Refusal,
  type Seen,
  type SeenMessage,
  type Wire,
  wordsOf,
} from "./wire.ts";

/** Anthropic's messages: everything is a block, and thoughts are signed. */
export const anthropicWire: Wire = {
  api: "anthropic",
  model: "claude-opus-4-7",
  basePath: "",
  open() {
    /** The blocks of each answer that was given. */
    const given: Block[][] = [];
    return {
      // Also of what is refused for its shape.
      isStream: ({ body }) => Object(body).stream === true,
      complaint: (request) => complaintAbout(request, given),
      seen: (body) => seenIn(Body.parse(body)),
      // The marks move from request to request, and are no part of what is cached.
      messageBytes: (text) => insideOf(text, '"messages":[').replaceAll(',"cache_control":{"type":"ephemeral"}', ""),
      stream(answer, number) {
        given.push(blocksOf(answer, number));
        return streamOf(answer, number);
      },
      whole(answer, number) {
        given.push(blocksOf(answer, number));
        const content = blocksOf(answer, number).map(({ input, ...block }) =>
          input === undefined ? block : { ...block, input: JSON.parse(String(input)) },
        );
        return { ...messageOf(answer, number), content, stop_reason: stopOf(answer) };
      },
      streamError: () => typed("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
      refusal: (why) =>
        typeof why === "string" ? refusals[why] : refused(400, "invalid_request_error", why.complaint),
    };
  },
};

type Block = { readonly type: string; readonly [key: string]: unknown };

const Mark = z.strictObject({ type: z.literal("ephemeral") });
const marked = { cache_control: Mark.optional() };
const Text = z.strictObject({ type: z.literal("text"), text: z.string().regex(/\S/), ...marked });
const Picture = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    data: z.base64(),
  }),
  ...marked,
});
const Id = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const Result = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: Id,
  content: z.union([z.string(), z.array(z.union([Text, Picture])).min(1)]),
  ...marked,
});
const Thinking = z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().min(1) });
const Redacted = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });
const Called = z.strictObject({
  type: z.literal("tool_use"),
  id: Id,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
  ...marked,
});
const UserMessage = z.strictObject({
  role: z.literal("user"),
  content: z.array(z.union([Text, Picture, Result])).min(1),
});
const AssistantMessage = z.strictObject({
  role: z.literal("assistant"),
  content: z.array(z.union([Text, Thinking, Redacted, Called])).min(1),
});
type InputMessage = z.infer<typeof UserMessage> | z.infer<typeof AssistantMessage>;

const Choice = z.union([
  z.strictObject({ type: z.enum(["auto", "any"]), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal("none") }),
  z.strictObject({ type: z.literal("tool"), name: z.string(), disable_parallel_tool_use: z.boolean().optional() }),
]);
/** Temperature is not among them, nor is a budget: this model refuses both. */
const Body = z.strictObject({
  model: z.string(),
  max_tokens: z.number().int().min(1),
  system: z.array(Text).min(1).optional(),
  messages: z.array(z.union([UserMessage, AssistantMessage])).min(1),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        ...marked,
      }),
    )
    .min(1)
    .optional(),
  tool_choice: Choice.optional(),
  thinking: z.strictObject({ type: z.literal("adaptive"), display: z.literal("summarized").optional() }).optional(),
  output_config: z.strictObject({ effort: z.enum(["low", "medium", "high", "xhigh", "max"]) }).optional(),
  stream: z.boolean().optional(),
});

const marksMax = 4;

/** As the vendor checks a request: every field, every pair of call and result, and that thoughts came back as they left. */
function complaintAbout({ path, headers, body }: Arrived, given: readonly (readonly Block[])[]): string | undefined {
  if (path !== "/v1/messages") return `Not found: ${path}`;
  if (headers["anthropic-version"] !== "2023-06-01") return "anthropic-version: header is required";
  const read = Body.safeParse(body);
  if (!read.success) return z.prettifyError(read.error);
  const { messages } = read.data;
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
  if (marks > marksMax) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
  if (messages.at(-1)?.role === "assistant") return "This model does not support assistant message prefill.";
  for (const [index, message] of messages.entries()) {
    const problem = unpaired(message, messages[index - 1], messages[index + 1]) ?? changed(message, given);
    if (problem !== undefined) return `messages.${index}: ${problem}`;
  }
  const ids = messages.flatMap(callsIn);
  return ids.length === new Set(ids).size ? undefined : "messages: `tool_use` ids must be unique";
}

function callsIn({ content }: InputMessage): string[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

function resultsIn(message: InputMessage | undefined): string[] {
  return message?.content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])) ?? [];
}

function unpaired(
  message: InputMessage,
  before: InputMessage | undefined,
  next: InputMessage | undefined,
): string | undefined {
  const open = callsIn(message).find((id) => !resultsIn(next).includes(id));
  if (open !== undefined)
    return `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}.`;
  const asked = before === undefined ? [] : callsIn(before);
  const results = resultsIn(message);
  const stray = results.find((id) => !asked.includes(id));
  if (stray !== undefined) return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}.`;
  const isFirst = message.content.slice(0, results.length).every(({ type }) => type === "tool_result");
  return isFirst ? undefined : "`tool_result` blocks must come first";
}

/** An answer with calls is known by them; its thoughts must be there, as they were given. */
function changed(message: InputMessage, given: readonly (readonly Block[])[]): string | undefined {
  const [id] = callsIn(message);
  const original = given.find((blocks) => blocks.some((block) => block.id === id));
  if (id === undefined || original === undefined) return undefined;
  const order = (blocks: readonly { type: string }[]) =>
    blocks.map((block) => (/think/.test(block.type) ? block : block.type));
  return isDeepStrictEqual(order(message.content), order(original))
    ? undefined
    : "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.";
}

function seenIn({ system = [], tools = [], tool_choice, messages }: z.infer<typeof Body>): Seen {
  return {
    system: system.map(({ text }) => text).join("\n\n"),
    tools: tools.map(({ name }) => name),
    toolChoice: choiceOf(tool_choice),
    messages: messages.flatMap(seenMessages),
  };
}

function choiceOf(choice: z.infer<typeof Choice> | undefined): string | undefined {
  if (choice === undefined) return undefined;
  return choice.type === "tool" ? choice.name : choice.type === "any" ? "required" : choice.type;
}

/** Images of results are seen by themselves, as they are in other formats. */
function seenMessages(message: InputMessage): SeenMessage[] {
  if (message.role === "assistant") return [seenAnswer(message)];
  const results = message.content.filter((block) => block.type === "tool_result");
  const others = message.content.filter((block) => block.type !== "tool_result");
  const inside = results.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const images = [...inside, ...others].filter(({ type }) => type === "image").length;
  const isUser = others.length > 0 || images > 0;
  return [
    ...results.map(({ content }) => ({ role: "tool" as const, text: textOf(content) })),
    ...(isUser ? [{ role: "user" as const, text: textOf(others), images }] : []),
  ];
}

function textOf(content: string | readonly (z.infer<typeof Text> | z.infer<typeof Picture>)[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function seenAnswer({ content }: z.infer<typeof AssistantMessage>): SeenMessage {
  return {
    role: "assistant",
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [`${block.name} ${JSON.stringify(block.input)}`] : [],
    ),
    sealed: content.flatMap((block) => (block.type === "thinking" ? [block.signature] : [])),
  };
}

function blocksOf(answer: Answer, number: number): Block[] {
  const { reasoning, text } = answer;
  const signature = `sealed ${number}: ${reasoning}`;
  return [
    ...(reasoning === undefined ? [] : [{ type: "thinking", thinking: reasoning, signature }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...(answer.calls ?? []).map((call, index) => ({
      ...{ type: "tool_use", id: call.id ?? `toolu_${number}_${index}`, name: call.name },
      // Streamed as it is; a whole message holds the object.
      input: call.arguments,
    })),
  ];
}

function messageOf(answer: Answer, number: number): object {
  return {
    ...{ id: `msg_${number}`, type: "message", role: "assistant", model: anthropicWire.model, content: [] },
    ...{ stop_reason: null, stop_sequence: null },
    usage: answer.usage === null ? null : usageOf(answer),
  };
}

function usageOf(answer: Answer): object {
  const { input, output, cached, reasoning } = costOf(answer);
  return {
    input_tokens: input - cached,
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: cached, service_tier: "standard" },
    output_tokens: output,
    ...(reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function stopOf(answer: Answer): string {
  return answer.finish ?? (answer.calls === undefined ? "end_turn" : "tool_use");
}

const typed = (type: string, value: object) => eventOf({ type, ...value }, type);

function streamOf(answer: Answer, number: number): string[] {
  const parts = [typed("message_start", { message: messageOf(answer, number) }) + typed("ping", {})];
  for (const [index, block] of blocksOf(answer, number).entries()) parts.push(...blockStream(block, index));
  const usage = answer.usage === null ? null : usageOf(answer);
  parts.push(typed("message_delta", { delta: { stop_reason: stopOf(answer), stop_sequence: null }, usage }));
  parts.push(typed("message_stop", {}));
  return parts;
}

/** Each piece of a block is a part; what opens it comes with the first one, and what closes it with the last. */
function blockStream(block: Block, index: number): string[] {
  const [bare, deltas, closing] = piecesOf(block);
  const first = typed("content_block_start", { index, content_block: bare });
  const last = closing.map((delta) => typed("content_block_delta", { index, delta })).join("");
  return deltas.map(
    (delta, at) =>
      (at === 0 ? first : "") +
      typed("content_block_delta", { index, delta }) +
      (at === deltas.length - 1 ? last + typed("content_block_stop", { index }) : ""),
  );
}

function piecesOf(block: Block): [bare: object, deltas: object[], closing: object[]] {
  if (block.type === "thinking") {
    const deltas = wordsOf(String(block.thinking)).map((thinking) => ({ type: "thinking_delta", thinking }));
    return [
      { ...block, thinking: "", signature: "" },
      deltas,
      [{ type: "signature_delta", signature: block.signature }],
    ];
  }
  if (block.type === "text")
    return [{ ...block, text: "" }, wordsOf(String(block.text)).map((text) => ({ type: "text_delta", text })), []];
  const json = String(block.input);
  const half = Math.floor(json.length / 2);
  const pieces = ["", json.slice(0, half), json.slice(half)];
  return [{ ...block, input: {} }, pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })), []];
}

const refused = (status: number, type: string, message: string) => ({
  status,
  body: JSON.stringify({ type: "error", error: { type, message }, request_id: "req_test" }),
});

const refusals: Record<Refusal, { status: number; body: string; headers?: Record<string, string> }> = {
  overloaded: refused(529, "overloaded_error", "Overloaded"),
  overflow: refused(400, "invalid_request_error", "prompt is too long: 7210 tokens > 7000 maximum"),
  "rate limit": {
    ...refused(429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    headers: { "retry-after": "0" },
  },
  key: refused(401, "authentication_error", "invalid x-api-key"),
};
