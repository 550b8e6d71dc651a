import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { modelServer, says } from "../world/model-server.ts";
import { type Home, makeHome, typedHere } from "../world/program.ts";
import { saidOf } from "../world/said.ts";

// `agentyard serve` as an operator starts it: the real program, a real port.

test("the server says where it is, who may call and how it ends, answers there, and ends well when told to [P2][C6]", async (t) => {
  const home = makeHome(t);
  const { server, address } = await serve(home);
  assert.deepEqual(server.written.output.split("\n").slice(0, 6), [
    `AgentYard 0.1.0 listens on ${address} (data: ${join(home.folder, "data")})`,
    `Model:    demo model: not an AI — \`${typedHere} model\` tells how to connect one`,
    `Browser:  ${address}/`,
    `HTTP API: ${address}/docs · OpenAI-compatible: ${address}/v1`,
    `Callers:  this machine alone, without sign-in; \`${typedHere} user add NAME\` asks for one`,
    `Terminal: ${typedHere} (in another window, on the same data)`,
  ]);
  const health = await fetch(`${address}/api/v1/health`);
  assert.deepEqual([health.status, health.headers.get("x-request-id")?.length], [200, 36]);
  server.child.kill("SIGTERM");
  assert.deepEqual(
    [(await server.ended).code, server.written.errors],
    [0, "Ending: turns stop where they can go on. Ctrl+C again ends at once.\n"],
  );
});

test("a terminal beside a running server is its client, in both directions [P2][P3]", async (t) => {
  const home = makeHome(t);
  const { address } = await serve(home);
  const run = await home.start("run", "--json", "what time is it").ended;
  const { conversation_id: id } = JSON.parse(run.output);
  const client = createClient({ fetch, baseUrl: address });
  const found = await client.call("getConversation", { params: { id } });
  assert.equal(found.ok && found.value.id, id);
});

test("a second server on the same data names the first and where it is, in both languages [P2][P4]", async (t) => {
  const home = makeHome(t);
  const { server, address } = await serve(home);
  const { pid } = server.child;
  assert.deepEqual(await home.start("serve", "--port", "0").ended, {
    code: 1,
    output: "",
    errors: `✗ AgentYard is already served at ${address} (process ${pid}). Use it there, end that process first, or choose another data directory with --data.\n`,
  });
  const { errors } = await home.start("serve", "--port", "0", "--lang", "zh").ended;
  const served = saidOf("already_served", { address, pid: pid ?? 0 }, "zh");
  assert.equal(errors, `✗ ${served}请直接使用它，先结束那个进程，或者用 --data 指定其他数据目录。\n`);
});

test("where a terminal has the data, the server says which process to end [P2]", async (t) => {
  const home = makeHome(t);
  const sandbox = home.start("sandbox", "--port", "0");
  await sandbox.until("output", /Ctrl\+C/);
  const { code, errors } = await home.start("serve", "--port", "0").ended;
  assert.deepEqual(
    [code, errors],
    [
      1,
      `✗ Another AgentYard (process ${sandbox.child.pid}) uses this data directory. End that process first, which may be a terminal that is still open, or choose another data directory with --data.\n`,
    ],
  );
});

test("a port that is taken is refused with the next free one, and the data directory is free again [P2]", async (t) => {
  const other = createServer();
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const port = portOf(other.address());
  const home = makeHome(t);
  const { code, errors } = await home.start("serve", "--port", String(port)).ended;
  assert.equal(code, 1);
  const [, next = ""] = /^✗ \S+:\d+ cannot be listened on: .* node \S+ serve --port (\d+)\n$/.exec(errors) ?? [];
  assert.ok(Number(next) > port, errors);
  await serve(home);
});

test("an address that others can reach is refused until there is a user, with the command to run [C6][P2]", async (t) => {
  const home = makeHome(t);
  const refused = await home.start("serve", "--host", "0.0.0.0", "--port", "0").ended;
  assert.deepEqual([refused.code, refused.output], [3, ""]);
  assert.ok(refused.errors.startsWith(`✗ ${saidOf("users_needed", { host: "0.0.0.0" })} `), refused.errors);
  assert.match(refused.errors, / node \S+ user add NAME\. /);
  assert.equal((await home.start("user", "add", "ada").ended).code, 0);
  const server = home.start("serve", "--host", "0.0.0.0", "--port", "0");
  const [, port = ""] = await server.until(
    "output",
    /listens on http:\/\/\S+:(\d+) and all other addresses of this machine [\s\S]*Ctrl\+C/,
  );
  assert.match(server.written.output, /^Callers: {2}1 user, by sign-in or API key; others are refused$/m);
  assert.equal((await fetch(`http://127.0.0.1:${port}/api/v1/conversations`)).status, 401);
});

test("a turn that runs when the server is told to end goes on at the next start, and its reader is told [C3][L6]", async (t) => {
  const stalled = { ...says("Here it is, all of it."), splitBytes: 8, fault: { after: 2, kind: "stall" } } as const;
  await using model = await modelServer([stalled, says("Here it is.")]);
  const env = { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "test", MODEL_BASIC_CONTEXT_WINDOW: "128000" };
  const home = makeHome(t, { env });
  const first = await serve(home);
  const client = createClient({ fetch, baseUrl: first.address });
  await client.call("createConversation", { body: { id: "talk" } });
  await client.call("sendMessage", { params: { id: "talk" }, body: { text: "Go" } });
  const { body } = await fetch(`${first.address}/api/v1/conversations/talk/stream`);
  let said = "";
  // It ends by itself: a connection that breaks would throw here.
  for await (const piece of body ?? []) {
    said += Buffer.from(piece).toString();
    if (said.includes('"delta"')) first.server.child.kill("SIGINT");
  }
  assert.match(said, /"frame":"delta"/);
  assert.equal((await first.server.ended).code, 0);
  const { address } = await serve(home);
  const again = createClient({ fetch, baseUrl: address });
  for await (const frame of again.follow("talk", { signal: AbortSignal.timeout(60_000) })) {
    if (frame.frame === "event" && frame.event.type === "turn.finished") {
      assert.equal(frame.event.outcome, "done");
      return;
    }
  }
  assert.fail("the turn did not go on");
});

test("whoever tells it twice to end does not wait for anybody [P2]", async (t) => {
  const { server, address } = await serve(makeHome(t));
  // A request that never comes in whole: it would be waited for.
  const headers = { "content-type": "application/json", "content-length": "10", expect: "100-continue" };
  const half = request(`${address}/api/v1/conversations`, { method: "POST", headers });
  half.on("error", () => {});
  half.flushHeaders();
  await once(half, "continue");
  const again = setInterval(() => server.child.kill("SIGINT"), 50);
  t.after(() => clearInterval(again));
  assert.equal((await server.ended).code, 130);
});

test("every page and route works below the path of a proxy, with links that stay below it [P2][C7]", async (t) => {
  const home = makeHome(t);
  const { address: shown } = await serve(home, "--base-path", "/yard");
  assert.match(shown, /:\d+\/yard$/);
  const { origin } = new URL(shown);
  for (const path of ["/yard/api/v1/health", "/yard/docs", "/yard", "/yard/", "/yard/v1/models", "/api/v1/health"])
    assert.equal((await fetch(origin + path)).status, 200, path);
  assert.equal((await fetch(`${origin}/yardstick`)).status, 404);
  const document = JSON.parse(await (await fetch(`${shown}/openapi.json`)).text());
  assert.deepEqual(document.servers, [{ url: "/yard" }]);
  const page = await (await fetch(`${shown}/docs`)).text();
  const links = [...page.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = ""]) => link);
  assert.deepEqual(
    links.filter((link) => !link.startsWith("/yard/")),
    [],
  );
  assert.ok(links.length >= 3);
});

test("the path that a proxy takes away is believed from proxies that the settings name, and from nobody else [C6]", async (t) => {
  const home = makeHome(t);
  const { address } = await serve(home);
  const servers = async (at: string) => {
    const headers = { "x-forwarded-prefix": "/far" };
    return JSON.parse(await (await fetch(`${at}/openapi.json`, { headers })).text()).servers;
  };
  assert.deepEqual(await servers(address), [{ url: "/" }]);
  const other = makeHome(t);
  other.configure("server:\n  trusted_proxies: [127.0.0.1]\n");
  const { address: trusting } = await serve(other);
  assert.deepEqual(await servers(trusting), [{ url: "/far" }]);
});

test("what is no request is refused in the one error shape, and headers have a limit [C6][Q1]", async (t) => {
  const { address } = await serve(makeHome(t));
  const { port, hostname } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.end("NONSENSE\r\n\r\n");
  const said = await text(socket);
  assert.match(said, /^HTTP\/1\.1 400 Bad Request\r\n/);
  assert.equal(JSON.parse(said.slice(said.indexOf("\r\n\r\n"))).code, "request_unreadable");
  const outgoing = request(`${address}/api/v1/health`, { headers: { "x-long": "x".repeat(40_000) } });
  outgoing.end();
  const [answer] = await once(outgoing, "response");
  assert.equal(answer.statusCode, 431);
  assert.equal(JSON.parse(await text(answer)).status, 431);
});

/** Started, and everything said that it says at its start. */
async function serve(home: Home, ...more: string[]) {
  const server = home.start("serve", "--port", "0", ...more);
  const [, address = ""] = await server.until("output", /listens on (http:\/\/127\.0\.0\.1:\S+) [\s\S]*Ctrl\+C/);
  return { server, address };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
