import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fileTools } from "../../../test/world/tools.ts";
import { noteWeb, siteServer } from "../../../test/world/web.ts";

async function api(t: TestContext) {
  const heard: unknown[] = [];
  const port = await siteServer(t, (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const { "content-type": type, "x-key": key, authorization } = request.headers;
      heard.push([request.method, request.url, type, key, authorization, Buffer.concat(pieces).toString()]);
      if (request.url === "/moved") response.writeHead(308, { location: "https://b.example/" });
      else if (request.url === "/none") response.writeHead(204);
      else
        response.writeHead(201, { "content-type": "application/json", etag: '"1"', "set-cookie": "s=1", server: "x" });
      response.end(request.url === "/bytes" ? Buffer.from([0, 1, 2, 255]) : '{"ok":true}');
    });
  });
  const { web } = noteWeb({ lookup: async () => ["93.184.215.14"], reach: () => port });
  const { call } = await fileTools(t);
  return { heard, ask: async (input: object) => (await call("http_fetch", input, { web })).text };
}

test("a request goes out with method, headers and body, and status, a few headers and the body come back [T2]", async (t) => {
  const { ask, heard } = await api(t);
  const url = "http://api.example/v1/items?a=1";
  const body = '{"name": "x"}';
  assert.equal(
    await ask({ method: "POST", url, headers: "X-Key: k\nAuthorization: Bearer t", body }),
    `Status 201 from ${url}\ncontent-type: application/json\netag: "1"\n\n{"ok":true}`,
  );
  assert.match(await ask({ method: "get", url, headers: '{"X-Key": "from json"}' }), /^Status 201 /);
  assert.match(await ask({ method: "PUT", url, body: "words" }), /^Status 201 /);
  assert.deepEqual(heard, [
    ["POST", "/v1/items?a=1", "application/json", "k", "Bearer t", body],
    ["GET", "/v1/items?a=1", undefined, "from json", undefined, ""],
    ["PUT", "/v1/items?a=1", "text/plain; charset=utf-8", undefined, undefined, "words"],
  ]);
});

test("an answer without a body, one that leads elsewhere and one of bytes are told as what they are [T2][T7]", async (t) => {
  const { ask } = await api(t);
  assert.equal(
    await ask({ method: "DELETE", url: "http://a.example/none" }),
    "Status 204 from http://a.example/none\n\n(no body)",
  );
  assert.equal(
    await ask({ method: "POST", url: "http://a.example/moved", body: "x" }),
    "Status 308 from http://a.example/moved\nlocation: https://b.example/\n\n(no body)",
  );
  assert.match(
    await ask({ method: "GET", url: "http://a.example/bytes" }),
    /^This is no text but a file \(application\/json, 4 bytes\)\. It was saved to temp\/downloads\/bytes/,
  );
});

test("headers that belong to the connection, or are none, and bodies that nobody reads are refused before anything is sent [T7]", async (t) => {
  const { ask, heard } = await api(t);
  const url = "http://a.example/";
  for (const headers of [
    "Host: b.example",
    "connection: x",
    "Content-Length: 5",
    "Proxy-Authorization: x",
    "Transfer-Encoding: chunked",
  ])
    assert.match(
      await ask({ method: "GET", url, headers }),
      /^Error: tool_arguments_unfit: .* is set by AgentYard itself/,
    );
  for (const headers of ["nonsense", "a b: c", "X-A: b\u0001c", ": x", "X: 中", `X: ${"y".repeat(8_192)}`])
    assert.match(
      await ask({ method: "GET", url, headers }),
      /^Error: tool_arguments_unfit: .* is no header/,
      headers.slice(0, 20),
    );
  assert.match(await ask({ method: "GET", url, body: "x" }), /^Error: tool_arguments_unfit: .*GET has none/);
  assert.deepEqual(heard, []);
});
