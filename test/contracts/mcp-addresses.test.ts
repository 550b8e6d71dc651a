import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { address, everythingAt, startMcp, textOf } from "../world/mcp-servers.ts";
import { noteWeb, siteServer } from "../world/web.ts";

test("a real MCP server behind an address works: tools and pictures [G1]", async (t) => {
  const { url } = await everythingAt(t, "streamableHttp");
  const place = await startMcp(t, [address("far", url)]);
  const { state, generation, reachedBy } = await place.ready("far");
  assert.deepEqual({ state, generation, reachedBy }, { state: "ready", generation: "legacy", reachedBy: "address" });
  assert.equal(textOf(await place.call("mcp__far__get-sum", { a: 1, b: 2 })), "The sum of 1 and 2 is 3.");
  const picture = await place.call("mcp__far__get-tiny-image");
  assert.ok("images" in picture && picture.images?.length === 1);
});

test("a server that cannot be reached is reached again when it is back, and users have sessions of their own [G1]", async (t) => {
  const first = await everythingAt(t, "streamableHttp");
  const place = await startMcp(t, [address("far", first.url)]);
  await place.ready("far");
  await first.end();
  const gone = await place.call("mcp__far__echo", { message: "1" });
  assert.ok("failure" in gone && gone.failure.code === "mcp_server_failed", textOf(gone));
  assert.equal(gone.failure.params.why, "network");
  assert.equal(place.mcp.servers(localOwner)[0]?.state, "failed");

  await everythingAt(t, "streamableHttp", first.port);
  assert.equal((await place.ready("far")).state, "ready");
  const other = OwnerId.parse("other");
  assert.equal(place.mcp.servers(other)[0]?.state, "configured");
  await place.ready("far", other);
  assert.equal(textOf(await place.call("mcp__far__echo", { message: "2" }, { owner: other })), "Echo: 2");
});

test("a session that the server lost is begun anew, and the call is made in it [G1]", async (t) => {
  const sessions: string[] = [];
  const url = await forgetfulServer(t, sessions);
  const place = await startMcp(t, [address("far", url)]);
  await place.ready("far");
  assert.equal(textOf(await place.call("mcp__far__echo")), "in session-2");
  assert.deepEqual(sessions, ["session-1", "session-2"]);
});

test("the first kind of MCP servers, over HTTP with events, is spoken with as well [G1]", async (t) => {
  const { url } = await everythingAt(t, "sse");
  const place = await startMcp(t, [address("old", url)]);
  assert.equal((await place.ready("old")).state, "ready");
  assert.equal(textOf(await place.call("mcp__old__echo", { message: "hello" })), "Echo: hello");
});

test("an address where nobody is, or something else, says so [G1][P4]", async (t) => {
  const other = createServer((_, response) => response.writeHead(500).end("<html>/srv/www/secret.php broke"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  // The near end of a connection: nobody listens there, and nobody else can have it meanwhile.
  const held = connect(port, "127.0.0.1");
  t.after(() => held.destroy());
  await once(held, "connect");
  const place = await startMcp(t, [
    address("other", `http://127.0.0.1:${port}/mcp`),
    address("nobody", `http://127.0.0.1:${held.localPort}/mcp`),
  ]);
  const reasons = [];
  for (const id of ["other", "nobody"]) {
    const { code, params } = Object((await place.ready(id)).failure);
    reasons.push([code, params.why, params.said]);
  }
  assert.deepEqual(reasons, [
    ["mcp_server_failed", "http", "500"],
    ["mcp_server_failed", "network", "ECONNREFUSED"],
  ]);
});

/** It forgets the first session with the first call. */
async function forgetfulServer(t: { after(end: () => void): void }, sessions: string[]): Promise<string> {
  const answerAll = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const session = String(request.headers["mcp-session-id"] ?? "");
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    const answer = (result: object, headers = {}) =>
      response
        .writeHead(200, { "content-type": "application/json", ...headers })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "initialize") {
      sessions.push(`session-${sessions.length + 1}`);
      const { protocolVersion } = params;
      const serverInfo = { name: "forgetful", version: "1" };
      return void answer(
        { protocolVersion, capabilities: { tools: {} }, serverInfo },
        { "mcp-session-id": sessions.at(-1) },
      );
    }
    if (method === "tools/list") return void answer({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });
    if (method === "tools/call" && session === "session-2")
      return void answer({ content: [{ type: "text", text: `in ${session}` }] });
    response
      .writeHead(404)
      .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32001, message: "Session not found" } }));
  };
  const server = createServer((request, response) => void answerAll(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const back = "http://127.0.0.1:7420/api/v1/mcp/callback";
const outside = "93.184.215.14";
const own = { out: [outside], within: ["10.0.0.7"] } as const;

/** A server that wants a sign-in, and names addresses of its choice for everything that belongs to one. */
async function hostileServer(t: { after(end: () => unknown): void }, named: string) {
  const port = await siteServer(t, (request, response) => {
    const json = (value: object) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (request.url === "/mcp")
      return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${named}/resource"` }).end();
    if (request.url?.includes("oauth-protected-resource"))
      return void json({ resource: `http://${request.headers.host}/mcp`, authorization_servers: [named] });
    if (/oauth-authorization-server|openid-configuration/.test(request.url ?? ""))
      return void json({
        ...{ issuer: `http://${request.headers.host}`, response_types_supported: ["code"] },
        ...{ authorization_endpoint: `${named}/authorize`, token_endpoint: `${named}/token` },
        registration_endpoint: `${named}/register`,
        code_challenge_methods_supported: ["S256"],
      });
    response.writeHead(404).end();
  });
  return port;
}

for (const [where, url, leads] of [
  ["out there leads nobody into the private network", "http://mcp.out.test/mcp", false],
  ["in the private network may name its neighbours", "http://mcp.within.test/mcp", true],
] as const) {
  test(`the sign-in of an MCP server ${where} [G1][T7]`, async (t) => {
    const targets = ["http://10.0.0.9", "http://127.0.0.1:8080", "http://169.254.169.254", "http://router.local"];
    for (const named of targets) {
      const port = await hostileServer(t, named);
      const { web, called } = noteWeb({
        lookup: async (host) =>
          host.endsWith(".out.test") ? own.out : host.endsWith(".within.test") ? own.within : [],
        reach: () => port,
      });
      const { mcp } = await startMcp(t, [address("far", url)], { web });
      await mcp.beginSignIn(localOwner, "far", back);
      const others = new Set(called.filter((one) => one !== `${own.out[0]}:80` && one !== `${own.within[0]}:80`));
      const isMachine = named.includes("169.254");
      const isKnown = !named.endsWith(".local");
      const wanted = leads && !isMachine && isKnown ? [named.includes(":8080") ? "127.0.0.1:8080" : "10.0.0.9:80"] : [];
      assert.deepEqual([...others], wanted, named);
    }
  });
}
