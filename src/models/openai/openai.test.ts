import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { defaultProfile } from "../profile.ts";
import type { ModelRequest } from "../provider.ts";
import type { WireOptions } from "../wire/wire.ts";
import { openAiCompatible } from "./openai.ts";

const apiKey = "sk-secret-0123456789abcdef";
const hello: ModelRequest = { messages: [{ role: "user", text: "hello" }], stream: true };
const says = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}\n\n`;
const whole = `${says("ok")}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const never = new AbortController().signal;

type Handler = (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void;

/** A server that answers by `handler`, and a client for it. */
async function meet(
  t: TestContext,
  handler: Handler,
  { path = "/v1/", key = apiKey, ...options }: Partial<WireOptions> & { path?: string; key?: string } = {},
) {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push(body);
      handler(Object(body), response, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const provider = openAiCompatible({
    ...{ clock: systemClock, ids: systemIds },
    endpoint: {
      baseUrl: `http://127.0.0.1:${port}${path}`,
      apiKey: key,
      model: "m",
      profile: defaultProfile,
      idleTimeoutMs: 30_000,
      firstDataTimeoutMs: 30_000,
    },
    ...options,
  });
  t.after(async () => {
    await provider.close();
    await server[Symbol.asyncDispose]();
  });
  const ask = (request: ModelRequest = hello) => provider.prepare(request).send({}, never);
  return { server, provider, asked, ask, port };
}

function refuse(response: ServerResponse, message: string, status = 400): void {
  response.writeHead(status).end(JSON.stringify({ error: { message } }));
}

test("calls one after the other share one connection [M3]", async (t) => {
  const { server, ask } = await meet(t, (_body, response) => void response.end(whole));
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  for (let call = 0; call < 5; call += 1) assert.equal((await ask()).text, "ok");
  assert.equal(connections, 1);
});

test("a connection that died in the pool is not the caller's trouble [M3]", async (t) => {
  let hasDied = false;
  const { ask, asked } = await meet(t, (_body, response, request) => {
    if (asked.length !== 2) return void response.end(whole);
    hasDied = true;
    request.socket.resetAndDestroy();
  });
  await ask();
  const answer = await ask();
  assert.deepEqual([hasDied, answer.text, answer.finish, asked.length], [true, "ok", "stop", 3]);
});

test("a server that refuses everything is asked twice, and its word is not kept [M3]", async (t) => {
  const { ask, asked } = await meet(t, (_body, response) => refuse(response, "Unknown parameter: temperature"));
  const request = { ...hello, temperature: 0.5 };
  const answer = await ask(request);
  assert.deepEqual([answer.error?.kind, asked.length], ["bad_request", 2]);
  await ask(request);
  assert.equal(Object(asked[2]).temperature, 0.5);
});

test("an error for people holds no key and is no longer than a screen [M3]", async (t) => {
  const { ask } = await meet(t, (_body, response) => refuse(response, `Wrong key ${apiKey}! ${"x".repeat(600)}`, 401));
  const { error } = await ask();
  assert.equal(error?.kind, "auth");
  assert.equal(error?.message.length, 500);
  assert.match(error?.message ?? "", /^Wrong key \[key\]! xxx/);
});

test("a proxy of the environment is used [M3]", async (t) => {
  const proxied: string[] = [];
  const proxy = createServer((request, response) => {
    proxied.push(request.url ?? "");
    response.end(whole);
  });
  proxy.on("connect", (_request, client, head) => {
    const upstream = connect(port, "127.0.0.1", () => {
      proxied.push("tunnel");
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy[Symbol.asyncDispose]());
  const address = proxy.address();
  const proxyPort = typeof address === "object" && address !== null ? address.port : 0;
  const proxyEnv = { HTTP_PROXY: `http://127.0.0.1:${proxyPort}` };
  const { ask, port } = await meet(t, (_body, response) => void response.end(whole), { proxyEnv });
  assert.equal((await ask()).text, "ok");
  assert.equal(proxied.length, 1);
});

test("a key that no header can hold is refused before anything is sent [M3]", async (t) => {
  const options = { key: "sk-line\nbreak-0123456789" };
  const { asked, ask } = await meet(t, (_body, response) => void response.end(whole), options);
  const { error } = await ask();
  assert.deepEqual(
    [error?.because, error?.kind, error?.retryable, asked.length],
    ["unsendable", "bad_request", false, 0],
  );
  assert.doesNotMatch(error?.message ?? "", /0123456789/);
});

test("a base URL may hold a query, and may already name the route [M3]", async (t) => {
  const urls: (string | undefined)[] = [];
  const handler: Handler = (_body, response, { url }) => {
    urls.push(url);
    response.end(whole);
  };
  for (const path of ["/v1?version=1", "/x/chat/completions"]) await (await meet(t, handler, { path })).ask();
  assert.deepEqual(urls, ["/v1/chat/completions?version=1", "/x/chat/completions"]);
});
