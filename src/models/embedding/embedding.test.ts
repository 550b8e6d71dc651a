import assert from "node:assert/strict";
import { test } from "node:test";
import { answerTo, type EmbeddingAnswer, embeddingServer } from "../../../test/world/embedding-server.ts";
import { systemClock } from "../../base/clock.ts";
import { openAiEmbeddings } from "./embedding.ts";

const { signal } = new AbortController();

async function embedFrom(
  answer: Parameters<Awaited<ReturnType<typeof embeddingServer>>["answerWith"]>[0],
  texts: readonly string[] = ["a dog", "rain"],
  { timeoutMs = 30_000, dimensions }: { timeoutMs?: number; dimensions?: number } = {},
) {
  await using server = await embeddingServer();
  server.answerWith(answer);
  const settings = { baseUrl: server.url, apiKey: "sk-embedding-secret-123", model: "small", dimensions };
  const embedder = openAiEmbeddings({ settings, clock: systemClock });
  const embedded = await embedder.embed(texts, { signal, timeoutMs });
  embedder.close();
  return { embedded, asked: server.asked };
}

async function faultOf(answer: EmbeddingAnswer, more: { timeoutMs?: number } = {}) {
  const { embedded } = await embedFrom(answer, ["a dog", "rain"], more);
  assert.ok(!embedded.ok);
  const { kind, retryable, because, retryAfterMs } = embedded.failure;
  return { kind, retryable, ...(because && { because }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

test("texts become vectors of length one, asked for as OpenAI has it [D3]", async () => {
  const { embedded, asked } = await embedFrom("vectors", ["a dog", "rain \ud800 and half a character"], {
    dimensions: 8,
  });
  assert.ok(embedded.ok);
  const body = { model: "small", input: ["a dog", "rain \ufffd and half a character"] };
  assert.deepEqual(
    embedded.value.map((vector) => `${vector.length} ${Math.hypot(...vector).toFixed(4)}`),
    ["8 1.0000", "8 1.0000"],
  );
  assert.deepEqual(
    asked.flatMap(({ path, headers, body }) => [path, headers.authorization, body]),
    ["/v1/embeddings", "Bearer sk-embedding-secret-123", { ...body, encoding_format: "float", dimensions: 8 }],
  );
});

test("vectors count in the order that they name, and as bytes as well as numbers [D3]", async () => {
  const bytes = Buffer.from(Float32Array.of(0, 2).buffer).toString("base64");
  const data = [
    { index: 1, embedding: bytes },
    { index: 0, embedding: [3, 0] },
  ];
  const { embedded } = await embedFrom({ body: JSON.stringify({ data }) });
  assert.deepEqual(embedded.ok && embedded.value.map((vector) => vector.join()), ["1,0", "0,1"]);
});

test("a vector may have 8,192 numbers and an answer 32 MB, and not one more [D3]", async () => {
  const body = (numbers: number, blanks = 0) =>
    `{"data":[{"embedding":[${Array.from({ length: numbers }, () => 1).join()}]}]${" ".repeat(blanks)}}`;
  const most = 32 * 1024 * 1024;
  const answers = [body(8_192), body(8_193), body(2, most - body(2).length), body(2, most - body(2).length + 1)];
  const kept = [];
  for (const answer of answers) {
    const { embedded } = await embedFrom({ body: answer }, ["a dog"]);
    kept.push(embedded.ok ? embedded.value[0]?.length : embedded.failure.because);
  }
  assert.deepEqual(kept, [8_192, "no_vectors", 2, "too_long"]);
});

const [good, other] = [`{"index":0,"embedding":[1,2]}`, `{"index":1,"embedding":[3,4]}`];
const unfit: Readonly<Record<string, string>> = {
  "no list": `{"data":{}}`,
  "one too few": `{"data":[${good}]}`,
  "one too many": `{"data":[${good},${other},{"index":2,"embedding":[1,2]}]}`,
  "the same one twice": `{"data":[${good},${good}]}`,
  "a number of its own": `{"data":[${good},{"index":7,"embedding":[1,2]}]}`,
  "another size": `{"data":[${good},{"index":1,"embedding":[1,2,3]}]}`,
  "no vector": `{"data":[${good},{"index":1}]}`,
  "an empty one": `{"data":[${good},{"index":1,"embedding":[]}]}`,
  "words for numbers": `{"data":[${good},{"index":1,"embedding":["1","2"]}]}`,
  "nothing for a number": `{"data":[${good},{"index":1,"embedding":[1,null]}]}`,
  "a number beyond all": `{"data":[${good},{"index":1,"embedding":[1,1e999]}]}`,
  "nothing but zeros": `{"data":[${good},{"index":1,"embedding":[0,0]}]}`,
  "more numbers than any model has": `{"data":[${good},{"index":1,"embedding":[${"1,".repeat(9_000)}1]}]}`,
  "bytes that are no numbers": `{"data":[${good},{"index":1,"embedding":"AAAA"}]}`,
  "bytes of what is no number": `{"data":[${good},{"index":1,"embedding":"AADAfwAAwH8="}]}`,
  "the answer of a chat": `{"choices":[{"message":{"content":"hello"}}]}`,
};
for (const [name, body] of Object.entries(unfit))
  test(`an answer with ${name} is none [D3]`, async () => {
    assert.deepEqual(await faultOf({ body }), { kind: "protocol", retryable: false, because: "no_vectors" });
  });

test("what is no answer at all is told apart by whether trying again may help [D3]", async () => {
  assert.deepEqual(await faultOf({ body: "<html>hello" }), { kind: "protocol", retryable: true, because: "not_json" });
  assert.deepEqual(await faultOf("half"), { kind: "network", retryable: true, because: "closed" });
  assert.deepEqual(await faultOf("hang", { timeoutMs: 100 }), { kind: "network", retryable: true, because: "silent" });
  const busy = { status: 429, headers: { "retry-after": "7" }, body: '{"error":{"message":"slow down"}}' };
  assert.deepEqual(await faultOf(busy), { kind: "rate_limit", retryable: true, retryAfterMs: 7_000 });
  const inside = { body: '{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}' };
  assert.deepEqual(await faultOf(inside), { kind: "auth", retryable: false });
  assert.equal((await faultOf({ status: 404, body: '{"error":{"message":"no such model"}}' })).kind, "not_found");
});

test("a server that does not know the format of numbers is asked without it, and from then on [D3]", async () => {
  await using server = await embeddingServer();
  server.answerWith((request) =>
    "encoding_format" in request.body
      ? { status: 400, body: '{"error":{"message":"unknown parameter encoding_format","param":"encoding_format"}}' }
      : { body: answerTo(request, 8) },
  );
  const embedder = openAiEmbeddings({ settings: { baseUrl: server.url, model: "small" }, clock: systemClock });
  for (const text of ["a", "b"]) assert.ok((await embedder.embed([text], { signal, timeoutMs: 30_000 })).ok);
  embedder.close();
  assert.deepEqual(
    server.asked.map(({ body }) => `${body.input.join()} ${"encoding_format" in body}`),
    ["a true", "a false", "b false"],
  );
});
