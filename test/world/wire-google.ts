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

/** Google's own API: contents made of parts, calls without ids, and signatures that stand on the parts. */
export const googleWire: Wire = {
  api: "google",
  model: "gemini-3-pro-preview",
  basePath: "/v1beta",
  open() {
    /** The signatures of the first calls that were given, by name and arguments. */
    const given: Given = new Map();
    return {
      isStream: ({ path }) => path.includes(":streamGenerateContent"),
      complaint: (request) => complaintAbout(request, given),
      seen: (body) => seenIn(Body.parse(body)),
      messageBytes: (text) => `${insideOf(text, '"systemInstruction":{')}${insideOf(text, '"contents":[')}`,
      stream: (answer, number) => streamOf(answer, number, given),
      whole: (answer, number) => responseOf(answer, partsOf(answer, number, given)),
      streamError: () => eventOf(failed(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
      refusal: (why) => (typeof why === "string" ? refusals[why] : refused(400, "INVALID_ARGUMENT", why.complaint)),
    };
  },
};

const Text = z.strictObject({
  text: z.string(),
  thought: z.literal(true).optional(),
  thoughtSignature: z.string().optional(),
});
const Call = z.strictObject({
  functionCall: z.strictObject({
    id: z.string().optional(),
    name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/),
    args: z.record(z.string(), z.unknown()).optional(),
  }),
  thoughtSignature: z.string().optional(),
});
const Response = z.strictObject({
  functionResponse: z.strictObject({
    id: z.string().optional(),
    name: z.string(),
    response: z.record(z.string(), z.unknown()),
  }),
});
const Picture = z.strictObject({
  inlineData: z.strictObject({ mimeType: z.string().startsWith("image/"), data: z.base64().min(1) }),
});
const Part = z.union([Text, Call, Response, Picture]);
const Content = z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(Part).min(1) });

/** What the documents name; anything else refuses the whole request. */
const inner = z.lazy((): z.ZodType => Schema).optional();
const [text, number] = [z.string().optional(), z.number().optional()];
const Schema = z.strictObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  ...{ $ref: text, title: text, description: text, format: text },
  ...{ $defs: z.record(z.string(), inner).optional(), properties: z.record(z.string(), inner).optional() },
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  ...{ required: z.array(z.string()).optional(), additionalProperties: z.union([z.boolean(), inner]).optional() },
  ...{ items: inner, prefixItems: z.array(inner).optional(), anyOf: z.array(inner).optional() },
  ...{ minItems: number, maxItems: number, minimum: number, maximum: number },
});
const Declaration = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  parametersJsonSchema: Schema.refine(({ properties }) => Object.keys(properties ?? {}).length > 0).optional(),
});
const Choice = z.strictObject({
  mode: z.enum(["AUTO", "ANY", "NONE"]),
  allowedFunctionNames: z.tuple([z.string()]).optional(),
});
const Body = z.strictObject({
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: z.string().min(1) })).min(1) }).optional(),
  contents: z.array(Content).min(1),
  tools: z.tuple([z.strictObject({ functionDeclarations: z.array(Declaration).min(1) })]).optional(),
  toolConfig: z.strictObject({ functionCallingConfig: Choice }).optional(),
  generationConfig: z
    .strictObject({
      maxOutputTokens: z.number().int().positive().optional(),
      temperature: z.number().optional(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean().optional(),
          thinkingLevel: z.enum(["minimal", "low", "medium", "high"]).optional(),
        })
        .optional(),
    })
    .optional(),
});
type Part = z.infer<typeof Part>;
type Content = z.infer<typeof Content>;

type Given = Map<string, string[]>;

const callsIn = ({ parts }: Content) => parts.flatMap((part) => ("functionCall" in part ? [part] : []));
const responsesIn = ({ parts }: Content) => parts.flatMap((part) => ("functionResponse" in part ? [part] : []));

/** As the vendor checks a request: every field, turn by turn, and the signatures of the newest turn. */
function complaintAbout({ path, headers, body }: Arrived, given: Given): string | undefined {
  const wanted = new RegExp(`^/v1beta/models/${googleWire.model}:(streamGenerateContent\\?alt=sse|generateContent)$`);
  if (!wanted.test(path)) return `models/${path} is not found for API version v1beta`;
  if (headers.authorization !== undefined) return "Request had invalid authentication credentials.";
  const read = Body.safeParse(body);
  if (!read.success) return `Invalid JSON payload received. ${z.prettifyError(read.error)}`;
  const { contents } = read.data;
  if (contents[0]?.role !== "user") return "Please ensure that the conversation begins with a user turn.";
  const newest = contents.findLastIndex((content) => content.role === "user" && responsesIn(content).length === 0);
  for (const [index, content] of contents.entries()) {
    const problem = badTurn(content, contents[index - 1]) ?? (index > newest ? unsigned(content, given) : undefined);
    if (problem !== undefined) return problem;
  }
  const isOpen = contents.some((content, index) => {
    const [calls, next] = [callsIn(content).length, contents[index + 1]];
    return calls > 0 && (next === undefined || responsesIn(next).length !== calls);
  });
  return isOpen ? unpaired : undefined;
}

const unpaired =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

function badTurn(content: Content, before: Content | undefined): string | undefined {
  if (callsIn(content).length > 0 && before?.role !== "user")
    return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
  const results = responsesIn(content);
  const calls = before === undefined ? [] : callsIn(before);
  if (results.length > 0 && results.length !== content.parts.length) return "Function responses stand by themselves.";
  const isPaired = results.every((result, index) => result.functionResponse.name === calls[index]?.functionCall.name);
  return results.length > 0 && !(isPaired && results.length === calls.length) ? unpaired : undefined;
}

/** The first call of each step is signed, and with what was given for it. A call of another model says so. */
function unsigned(content: Content, given: Given): string | undefined {
  const [first] = callsIn(content);
  if (first === undefined) return undefined;
  const { functionCall, thoughtSignature } = first;
  if (thoughtSignature === undefined)
    return `Function call is missing a thought_signature in functionCall parts: ${functionCall.name}`;
  const own = given.get(keyOf(functionCall.name, functionCall.args)) ?? ["skip_thought_signature_validator"];
  const isOwn = own.includes(thoughtSignature);
  return isOwn ? undefined : `Thought signature is not valid: ${thoughtSignature}`;
}

const keyOf = (name: string, args: unknown) => `${name} ${JSON.stringify(args ?? {})}`;

function seenIn({ systemInstruction, contents, tools, toolConfig }: z.infer<typeof Body>): Seen {
  const choice = toolConfig?.functionCallingConfig;
  const spelt = { AUTO: "auto", ANY: "required", NONE: "none" };
  return {
    system: (systemInstruction?.parts ?? []).map(({ text }) => text).join("\n\n"),
    tools: tools?.[0].functionDeclarations.map(({ name }) => name) ?? [],
    toolChoice: choice === undefined ? undefined : (choice.allowedFunctionNames?.[0] ?? spelt[choice.mode]),
    messages: contents.flatMap(seenMessages),
  };
}

function seenMessages(content: Content): SeenMessage[] {
  const results = responsesIn(content);
  if (results.length > 0)
    return results.map(({ functionResponse: { response } }) => ({
      role: "tool",
      text: String(response.output ?? response.error),
    }));
  const text = content.parts.map((part) => ("text" in part && part.thought !== true ? part.text : "")).join("");
  const images = content.parts.filter((part) => "inlineData" in part).length;
  if (content.role === "user") return [{ role: "user", text, images }];
  const calls = callsIn(content).map(({ functionCall: { name, args } }) => keyOf(name, args));
  const sealed = content.parts.flatMap((part) => ("thoughtSignature" in part ? [part.thoughtSignature ?? ""] : []));
  return [{ role: "assistant", text, calls, sealed }];
}

const Arguments = z.record(z.string(), z.unknown()).catch({});

/** The parts of an answer in the order they come. Only the first call is signed; a text is signed at its end. */
function partsOf(answer: Answer, number: number, given: Given): Part[] {
  const seal = answer.reasoning === undefined ? undefined : `sealed ${number}: ${answer.reasoning}`;
  const thoughts = wordsOf(answer.reasoning ?? "").map((text) => ({ text, thought: true as const }));
  const words = wordsOf(answer.text ?? "").map((text) => ({ text }));
  const calls = (answer.calls ?? []).map((call, index) => {
    // This server has no text of arguments that could be broken: it sends objects.
    const args = Arguments.parse(parsedJson(call.arguments));
    const thoughtSignature = seal ?? `sealed ${number}: ${call.name}`;
    const key = keyOf(call.name, args);
    if (index === 0) given.set(key, [...(given.get(key) ?? []), thoughtSignature]);
    const functionCall = { name: call.name, args, ...(call.id === undefined ? {} : { id: call.id }) };
    return { functionCall, ...(index === 0 ? { thoughtSignature } : {}) };
  });
  const end = seal === undefined || calls.length > 0 ? [] : [{ text: "", thoughtSignature: seal }];
  return [...thoughts, ...words, ...calls, ...end];
}

const chunkOf = (parts: readonly Part[], more: object = {}) => ({
  candidates: [{ content: { parts, role: "model" }, index: 0, ...more }],
  ...{ modelVersion: googleWire.model, responseId: "r" },
});

function streamOf(answer: Answer, number: number, given: Given): string[] {
  const parts = partsOf(answer, number, given);
  const last = parts.at(-1);
  const isEnd = last !== undefined && "text" in last && last.text === "";
  const said = isEnd ? parts.slice(0, -1) : parts;
  const counted = answer.usage === null ? {} : { usageMetadata: usageOf(answer) };
  const end = { ...chunkOf(isEnd ? [last] : [{ text: "" }], { finishReason: answer.finish ?? "STOP" }), ...counted };
  const opening = { usageMetadata: { promptTokenCount: costOf(answer).input }, modelVersion: googleWire.model };
  return [
    eventOf(answer.usage === null ? { modelVersion: googleWire.model } : opening),
    ...said.map((part) => eventOf(chunkOf([part]))),
    eventOf(end),
  ];
}

function responseOf(answer: Answer, parts: readonly Part[]): object {
  const counted = answer.usage === null ? {} : { usageMetadata: usageOf(answer) };
  return { ...chunkOf(parts, { finishReason: answer.finish ?? "STOP" }), ...counted };
}

/** Thoughts are counted beside the candidates, not among them. */
function usageOf(answer: Answer): object {
  const { input, output, cached, reasoning } = costOf(answer);
  return {
    ...{ promptTokenCount: input, candidatesTokenCount: output - reasoning, totalTokenCount: input + output },
    ...(cached === 0 ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
  };
}

const failed = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, message, status, ...(details.length === 0 ? {} : { details }) },
});

const refused = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  status: code,
  body: JSON.stringify(failed(code, status, message, details)),
});

const refusals: Record<Refusal, { status: number; body: string }> = {
  overloaded: refused(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
  overflow: refused(
    400,
    "INVALID_ARGUMENT",
    "The input token count (7100) exceeds the maximum number of tokens allowed (7000).",
  ),
  "rate limit": refused(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", [
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0s" },
  ]),
  key: refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
  ]),
};
