import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { modelServer, says } from "../world/model-server.ts";
import { openAiYard } from "../world/openai.ts";

const word = fc.oneof(
  fc.constantFrom("general", "simple", "text", "function", "user", "call_0123456789abcweird", "\u0000", "\ud83d", "界"),
  fc.string(),
);
const any = fc.oneof(word, fc.jsonValue(), fc.constantFrom(null, true, 0, -1, 1e300));
const content = fc.oneof(
  word,
  fc.constant(null),
  fc.array(
    fc.record({
      type: fc.constantFrom("text", "input_text", "image_url", "input_image", "refusal", "file"),
      text: word,
      image_url: fc.oneof(
        fc.constantFrom("data:image/png;base64,AAAA", "http://127.0.0.1/x", { url: "data:image/png;base64,AAAA" }),
        any,
      ),
    }),
    { maxLength: 3 },
  ),
);
const call = fc.record({
  id: word,
  type: fc.constant("function"),
  function: fc.record({ name: word, arguments: word }),
});
const message = fc.record(
  {
    role: fc.constantFrom("system", "user", "user", "assistant", "tool"),
    ...{ content, tool_calls: fc.oneof(fc.array(call, { maxLength: 2 }), fc.constant(null)), tool_call_id: word },
  },
  { requiredKeys: ["role", "content"] },
);
const item = fc.record(
  {
    type: fc.constantFrom("message", "function_call", "function_call_output", "reasoning", "item_reference"),
    ...{ role: fc.constantFrom("user", "assistant", "system"), content, call_id: word, name: word },
    ...{ arguments: word, output: content },
  },
  { requiredKeys: [] },
);
const described = { name: fc.constantFrom("f", "now", "a b", "__proto__"), parameters: fc.dictionary(word, any) };
const common = {
  model: fc.oneof(fc.constantFrom("general", "simple"), word),
  stream: fc.constantFrom(true, false, null),
  ...{ n: fc.constantFrom(1, 2, null), metadata: fc.dictionary(word, any) },
  tool_choice: fc.oneof(fc.constantFrom("none", "auto", "required"), any),
  conversation_id: fc.oneof(fc.constantFrom("one", "two"), word),
};
const chat = fc.record(
  {
    ...{ ...common, messages: fc.array(message, { maxLength: 4 }) },
    tools: fc.array(fc.record({ type: fc.constant("function"), function: fc.record(described) }), { maxLength: 2 }),
    ...{ response_format: any, stream_options: any },
  },
  { requiredKeys: ["messages"] },
);
const response = fc.record(
  {
    ...{ ...common, input: fc.oneof(word, fc.array(item, { maxLength: 4 })), instructions: fc.oneof(word, any) },
    tools: fc.array(fc.record({ type: fc.constant("function"), ...described }), { maxLength: 2 }),
    ...{ previous_response_id: word, store: fc.boolean(), text: any, conversation: any },
  },
  { requiredKeys: ["input"] },
);
const plain = fc.record({ model: fc.constant("general"), input: word, metadata: fc.dictionary(word, any) });
const request = fc.oneof(
  plain.map((body) => ({ path: "/v1/responses", body })),
  chat.map((body) => ({ path: "/v1/chat/completions", body })),
  response.map((body) => ({ path: "/v1/responses", body })),
);

test("whatever a caller sends, it gets an answer or a refusal in OpenAI's shape [C5][Q1]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const kinds = new Set<number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ path, body }) => {
      const { status, text } = await post(server.url + path, JSON.stringify(body));
      kinds.add(status);
      assert.ok([200, 400, 404, 409, 422].includes(status), `${status} ${text}`);
      if (status === 200) return;
      const { error } = JSON.parse(text);
      assert.deepEqual(Object.keys(error), ["message", "type", "param", "code"]);
    }),
    { numRuns: 300 },
  );
  assert.ok(kinds.has(200) && kinds.has(400));
});

test("a request that is nested without end is refused, and one that is too large as well [C5]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using server = await openAiYard({ model });
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const wanted = '"model":"general","messages":[{"role":"user","content":"hello"}]';
  const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":${deep}}}]`;
  const chat = `${server.url}/v1/chat/completions`;
  assert.equal((await post(chat, `{${wanted},${tools}}`)).status, 400);
  assert.equal((await post(`${server.url}/v1/responses`, `{"input":"hello","metadata":${deep}}`)).status, 400);
  const large = `{${wanted},"user":"${"x".repeat(33 * 1024 * 1024)}"}`;
  const { status, text } = await post(chat, large);
  assert.deepEqual([status, JSON.parse(text).error.code], [413, "body_too_large"]);
});

async function post(url: string, body: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return { status: answer.status, text: await answer.text() };
}
