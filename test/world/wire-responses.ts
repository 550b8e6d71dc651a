import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { parsedJson } from "../../src/base/json.ts";
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

/** OpenAI's Responses: items in and items out, and reasoning that only the server can read. */
export const responsesWire: Wire = {
  api: "responses",
  model: "gpt-5.5",
  basePath: "/v1",
  open() {
    /** The answers that were given, each as its items. */
    const given: Item[][] = [];
    return {
      // Also of what is refused for its shape.
      isStream: ({ body }) => Object(body).stream === true,
      complaint: (request) => complaintAbout(request, given),
      seen: (body) => seenIn(Body.parse(body)),
      messageBytes: (text) => insideOf(text, '"input":['),
      stream(answer, number) {
        given.push(itemsOf(answer, number));
        return streamOf(answer, number);
      },
      whole(answer, number) {
        given.push(itemsOf(answer, number));
        return responseOf(answer, number);
      },
      streamError: () =>
        typed("error", { code: "server_error", message: "The server had an error", param: null, sequence_number: 99 }),
      refusal: (why) =>
        typeof why === "string" ? refusals[why] : refused(400, why.complaint, "invalid_request_error", null),
    };
  },
};

type Item = { readonly type: string; readonly id: string; readonly [key: string]: unknown };

const Text = z.strictObject({ type: z.literal("input_text"), text: z.string().min(1) });
const Picture = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string().regex(/^data:image\/\w+;base64,/),
  detail: z.literal("auto").optional(),
});
const Said = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
});
const InputMessage = z.strictObject({
  role: z.enum(["system", "developer", "user"]),
  content: z.union([z.string(), z.array(z.union([Text, Picture])).min(1)]),
});
const OutputMessage = z.strictObject({
  type: z.literal("message"),
  id: z.string().startsWith("msg_").optional(),
  role: z.literal("assistant"),
  status: z.string().optional(),
  phase: z.string().optional(),
  content: z.array(Said).min(1),
});
const Reasoning = z.strictObject({
  type: z.literal("reasoning"),
  id: z.string(),
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
  encrypted_content: z.string(),
});
const Called = z.strictObject({
  type: z.literal("function_call"),
  id: z.string().startsWith("fc_").optional(),
  call_id: z.string().max(64),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  arguments: z.string(),
  status: z.string().optional(),
});
const Result = z.strictObject({ type: z.literal("function_call_output"), call_id: z.string(), output: z.string() });
const InputItem = z.union([InputMessage, OutputMessage, Reasoning, Called, Result]);

const Tool = z.strictObject({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().optional(),
  parameters: z.looseObject({ type: z.literal("object"), properties: z.record(z.string(), z.unknown()) }),
  strict: z.boolean(),
});
const Choice = z.union([
  z.enum(["auto", "none", "required"]),
  z.strictObject({ type: z.literal("function"), name: z.string() }).transform(({ name }) => name),
]);
/** Temperature is not among them: models that reason refuse it. */
const Body = z.strictObject({
  model: z.string(),
  input: z.array(InputItem).min(1),
  stream: z.boolean().optional(),
  store: z.literal(false),
  include: z.tuple([z.literal("reasoning.encrypted_content")]),
  reasoning: z.strictObject({ effort: z.string().optional(), summary: z.literal("auto").optional() }).optional(),
  max_output_tokens: z.number().int().min(16).optional(),
  tools: z.array(Tool).min(1).optional(),
  tool_choice: Choice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  prompt_cache_key: z.string().max(64).optional(),
});
type InputItem = z.infer<typeof InputItem>;

/** As the vendor checks a request: every field, every pair of call and result, and that reasoning came back as it left. */
function complaintAbout({ path, headers, body }: Arrived, given: readonly (readonly Item[])[]): string | undefined {
  if (path !== "/v1/responses") return `Invalid URL (POST ${path})`;
  if (!headers.accept?.includes("event-stream") && Object(body).stream === true)
    return "event streams are not accepted";
  const read = Body.safeParse(body);
  if (!read.success) return `Unknown or invalid parameter: ${z.prettifyError(read.error)}`;
  const { input } = read.data;
  const calls = input.flatMap((item) => ("call_id" in item && item.type === "function_call" ? [item.call_id] : []));
  const results = input.flatMap((item) => ("call_id" in item && item.type !== "function_call" ? [item.call_id] : []));
  const open = calls.find((id) => !results.includes(id));
  if (open !== undefined) return `No tool output found for function call ${open}.`;
  const stray = results.find((id) => !calls.includes(id));
  if (stray !== undefined) return `No tool call found for function call output with call_id ${stray}.`;
  for (const [index, item] of input.entries()) {
    const problem = "type" in item ? outOfPlace(item, input.slice(0, index), input[index + 1], given) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function outOfPlace(
  item: Exclude<InputItem, { role: "system" | "developer" | "user" }>,
  before: readonly InputItem[],
  next: InputItem | undefined,
  given: readonly (readonly Item[])[],
): string | undefined {
  if (!("id" in item) || item.id === undefined) return undefined;
  const { id, type } = item;
  const own = given.findLast((items) => items.some((one) => one.id === id)) ?? [];
  const place = own.findIndex((one) => one.id === id);
  const [original, following, leading] = [own[place], own[place + 1], own[place - 1]];
  if (original === undefined) return `Item with id '${id}' not found.`;
  if (type === "reasoning") {
    if (!isDeepStrictEqual(item, original)) return `The encrypted content for item ${id} could not be verified.`;
    const isFollowed = next !== undefined && "id" in next && next.id === following?.id;
    return isFollowed
      ? undefined
      : `Item '${id}' of type 'reasoning' was provided without its required following item.`;
  }
  const last = before.at(-1);
  const isLed = leading?.type !== "reasoning" || (last !== undefined && "id" in last && last.id === leading.id);
  if (!isLed)
    return `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${leading?.id}'.`;
  return isDeepStrictEqual(item, readable(original)) ? undefined : `Item ${id} is not as it was given.`;
}

/** Arguments that are not JSON come back as none. */
function readable(item: Item): Item {
  return "arguments" in item && parsedJson(String(item.arguments)) === undefined ? { ...item, arguments: "{}" } : item;
}

function seenIn({ input, tools, tool_choice }: z.infer<typeof Body>): Seen {
  const messages: SeenMessage[] = [];
  const system: string[] = [];
  let open: { role: "assistant"; text: string; calls: string[]; sealed: string[] } | undefined;
  const assistant = () => {
    if (open === undefined) {
      open = { role: "assistant", text: "", calls: [], sealed: [] };
      messages.push(open);
    }
    return open;
  };
  for (const item of input) {
    if ("type" in item && item.type !== "function_call_output") {
      if (item.type === "message") assistant().text += item.content.map(({ text }) => text).join("");
      if (item.type === "reasoning") assistant().sealed.push(item.encrypted_content);
      if (item.type === "function_call") assistant().calls.push(`${item.name} ${item.arguments}`);
      continue;
    }
    open = undefined;
    if ("type" in item) messages.push({ role: "tool", text: item.output });
    else if (item.role === "user") messages.push(userMessage(item.content));
    else system.push(String(item.content));
  }
  return {
    system: system.join("\n\n"),
    tools: (tools ?? []).map(({ name }) => name),
    toolChoice: tool_choice,
    messages,
  };
}

function userMessage(content: z.infer<typeof InputMessage>["content"]): SeenMessage {
  if (typeof content === "string") return { role: "user", text: content, images: 0 };
  const texts = content.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  return { role: "user", text: texts.join(""), images: content.length - texts.length };
}

function itemsOf(answer: Answer, number: number): Item[] {
  const { reasoning, text } = answer;
  const thought = (summary: string) => ({
    ...{ id: `rs_${number}`, type: "reasoning", summary: [{ type: "summary_text", text: summary }] },
    encrypted_content: `sealed ${number}: ${summary}`,
  });
  const said = (text: string) => ({
    ...{ id: `msg_${number}`, type: "message", status: "completed", role: "assistant" },
    ...{ content: [{ type: "output_text", text, annotations: [], logprobs: [] }], phase: "final_answer" },
  });
  return [
    ...(reasoning === undefined ? [] : [thought(reasoning)]),
    ...(text === undefined ? [] : [said(text)]),
    ...(answer.calls ?? []).map((call, index) => ({
      ...{ id: `fc_${number}_${index}`, type: "function_call", status: "completed" },
      ...{ arguments: call.arguments, call_id: call.id ?? `call_of_${number}_${index}`, name: call.name },
    })),
  ];
}

function responseOf(answer: Answer, number: number): object {
  const { finish = "completed" } = answer;
  const isWhole = finish === "completed" || finish === "failed";
  return {
    ...{
      id: `resp_${number}`,
      object: "response",
      created_at: 1_763_250_000,
      model: responsesWire.model,
      store: false,
    },
    status: isWhole ? finish : "incomplete",
    error: finish === "failed" ? { code: "server_error", message: "The model broke off." } : null,
    incomplete_details: isWhole ? null : { reason: finish },
    output: itemsOf(answer, number),
    usage: answer.usage === null ? null : usageOf(answer),
  };
}

function usageOf(answer: Answer): object {
  const { input, output, cached, reasoning } = costOf(answer);
  return {
    ...{ input_tokens: input, input_tokens_details: { cached_tokens: cached } },
    ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: reasoning } },
    total_tokens: input + output,
  };
}

const typed = (type: string, value: object) => eventOf({ type, ...value }, type);

function streamOf(answer: Answer, number: number): string[] {
  const response = responseOf(answer, number);
  const begun = { ...response, status: "in_progress", error: null, incomplete_details: null, output: [], usage: null };
  const parts = [typed("response.created", { response: begun }) + typed("response.in_progress", { response: begun })];
  for (const [output_index, item] of itemsOf(answer, number).entries()) parts.push(...itemStream(item, output_index));
  const { finish = "completed" } = answer;
  const end = finish === "completed" || finish === "failed" ? finish : "incomplete";
  parts.push(typed(`response.${end}`, { response }));
  return parts;
}

/** Each piece of an item is a part; what opens it comes with the first one, and what closes it with the last. */
function itemStream(item: Item, output_index: number): string[] {
  const at = { item_id: item.id, output_index };
  const [bare, pieces, opened, delta, closed] = piecesOf(item, at);
  const deltas = pieces.map((piece) => typed(delta, { ...at, ...opened.place, delta: piece }));
  const first = typed("response.output_item.added", { output_index, item: bare }) + opened.event;
  const last = closed + typed("response.output_item.done", { output_index, item });
  if (deltas.length === 0) return [first + last];
  return deltas.map((part, index) => {
    return (index === 0 ? first : "") + part + (index === deltas.length - 1 ? last : "");
  });
}

type Opened = { readonly place: object; readonly event: string };

function piecesOf(
  item: Item,
  at: object,
): [bare: object, pieces: string[], opened: Opened, delta: string, end: string] {
  if (item.type === "reasoning") {
    const place = { summary_index: 0 };
    const [{ text } = { text: "" }] = Reasoning.parse(item).summary;
    const event = typed("response.reasoning_summary_part.added", {
      ...at,
      ...place,
      part: { type: "summary_text", text: "" },
    });
    const closed = typed("response.reasoning_summary_text.done", { ...at, ...place, text });
    const bare = { id: item.id, type: "reasoning", summary: [] };
    return [bare, wordsOf(text), { place, event }, "response.reasoning_summary_text.delta", closed];
  }
  if (item.type === "message") {
    const place = { content_index: 0 };
    const [{ text } = { text: "" }] = OutputMessage.parse(item).content;
    const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const event = typed("response.content_part.added", { ...at, ...place, part });
    const closed = typed("response.output_text.done", { ...at, ...place, text, logprobs: [] });
    const bare = { ...item, status: "in_progress", content: [] };
    return [bare, wordsOf(text), { place, event }, "response.output_text.delta", closed];
  }
  const { arguments: text } = Called.parse(item);
  const half = Math.floor(text.length / 2);
  const closed = typed("response.function_call_arguments.done", { ...at, arguments: text });
  const bare = { ...item, status: "in_progress", arguments: "" };
  const pieces = [text.slice(0, half), text.slice(half)];
  return [bare, pieces, { place: {}, event: "" }, "response.function_call_arguments.delta", closed];
}

const refused = (status: number, message: string, type: string, code: string | null) => ({
  status,
  body: JSON.stringify({ error: { message, type, param: null, code } }),
});

const refusals: Record<Refusal, { status: number; body: string; headers?: Record<string, string> }> = {
  overloaded: refused(503, "The server is currently overloaded.", "service_unavailable_error", "server_is_overloaded"),
  overflow: refused(
    400,
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "invalid_request_error",
    "context_length_exceeded",
  ),
  "rate limit": {
    ...refused(429, "Rate limit reached for gpt-5.5 on requests per min (RPM)", "requests", "rate_limit_exceeded"),
    headers: { "retry-after": "0" },
  },
  key: refused(401, "Incorrect API key provided: sk-test.", "invalid_request_error", "invalid_api_key"),
};
