import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { flow } from "../../docs/api/flow.ts";
import { createClient } from "../../src/client/client.ts";
import { browserCommand } from "../../src/open-browser.ts";
import { openableAddress } from "../../src/openable-address.ts";
import { protocolVersion } from "../../src/protocol/routes.ts";
import { modelServer, says } from "../world/model-server.ts";
import { type Home, makeHome, typedHere } from "../world/program.ts";
import { saidOf } from "../world/said.ts";

// `agentyard serve` as an operator starts it: the real program, a real port.

test("the server says where it is, who may call and how it ends, serves what is started beside it, and ends well when told to [P2][P3][C6]", async (t) => {
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
  const { conversation_id: id } = JSON.parse((await home.start("run", "--json", "what time is it").ended).output);
  const found = await createClient({ fetch, baseUrl: address }).call("getConversation", { params: { id } });
  assert.equal(found.ok && found.value.id, id, "a command beside it is its client");
  server.child.kill("SIGTERM");
  assert.deepEqual(
    [(await server.ended).code, server.written.errors],
    [0, "Ending: turns stop where they can go on. Ctrl+C again ends at once.\n"],
  );
});

test("a second server on the same data names the first and where it is [P2][P4]", async (t) => {
  const home = makeHome(t);
  const { server, address } = await serve(home);
  const { pid } = server.child;
  assert.deepEqual(await home.start("serve", "--port", "0").ended, {
    code: 1,
    output: "",
    errors: `✗ AgentYard is already served at ${address} (process ${pid}). Use it there, end that process first, or choose another data directory with --data.\n`,
  });
});

test("a port that is taken, and an address that others can reach before there is a user, are refused with what to do [C6][P2]", async (t) => {
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
  // The data directory is free again.
  const refused = await home.start("serve", "--host", "0.0.0.0", "--port", "0").ended;
  assert.deepEqual([refused.code, refused.output], [3, ""]);
  assert.ok(refused.errors.startsWith(`✗ ${saidOf("users_needed", { host: "0.0.0.0" })} `), refused.errors);
  assert.match(refused.errors, / node \S+ user add NAME\. /);
  assert.equal((await home.start("user", "add", "ada").ended).code, 0);
  const server = home.start("serve", "--host", "0.0.0.0", "--port", "0");
  const [, free = ""] = await server.until(
    "output",
    /listens on http:\/\/\S+:(\d+) and all other addresses of this machine [\s\S]*Ctrl\+C/,
  );
  assert.match(server.written.output, /^Callers: {2}1 user, by sign-in or API key; others are refused$/m);
  assert.equal((await fetch(`http://127.0.0.1:${free}/api/v1/conversations`)).status, 401);
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
  home.configure("server:\n  trusted_proxies: [127.0.0.1]\n");
  const { address: shown } = await serve(home, "--base-path", "/yard");
  assert.match(shown, /:\d+\/yard$/);
  const { origin } = new URL(shown);
  for (const path of ["/yard/api/v1/health", "/yard/docs", "/yard", "/yard/", "/yard/v1/models", "/api/v1/health"])
    assert.equal((await fetch(origin + path)).status, 200, path);
  assert.equal((await fetch(`${origin}/yardstick`)).status, 404);
  const document = JSON.parse(await (await fetch(`${shown}/openapi.json`)).text());
  assert.deepEqual(document.servers, [{ url: "/yard" }]);
  const headers = { "x-forwarded-prefix": "/far" };
  const proxied = JSON.parse(await (await fetch(`${shown}/openapi.json`, { headers })).text());
  assert.deepEqual(proxied.servers, [{ url: "/far" }], "a proxy that the settings name takes away another one");
  const page = await (await fetch(`${shown}/docs`)).text();
  const links = [...page.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = ""]) => link);
  assert.deepEqual(
    links.filter((link) => !link.startsWith("/yard/")),
    [],
  );
  assert.ok(links.length >= 3);
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

test("a data directory that an AgentYard of another version uses is left alone, with what to do [P3][P4]", async (t) => {
  const home = makeHome(t);
  ownedBy(t, home, { protocol: "0" });
  const { code, errors } = await home.start("run", "hello").ended;
  const what = `The AgentYard that uses this data directory speaks version 0, this one ${protocolVersion}.`;
  assert.deepEqual([code, errors], [1, `✗ ${what} End the older one and start again.\n`]);
});

test("a data directory whose AgentYard does not answer is left alone, and the process is named that is to be ended [P3][P4]", async (t) => {
  const home = makeHome(t);
  ownedBy(t, home, { protocol: protocolVersion });
  const { code, errors } = await home.start("run", "hello").ended;
  const what = `Another AgentYard (process ${process.pid}) uses this data directory and does not answer.`;
  const next = "End that process, or choose another data directory with --data.";
  assert.deepEqual([code, errors], [1, `✗ ${what} ${next}\n`]);
});

/** This process has the directory, says so, and answers nobody. */
function ownedBy(t: TestContext, { folder }: Home, { protocol }: { readonly protocol: string }): void {
  const data = join(folder, "data");
  mkdirSync(data);
  const lock = new DatabaseSync(join(data, "owner.lock"));
  lock.exec("BEGIN IMMEDIATE");
  t.after(() => lock.close());
  const info = { pid: process.pid, startedAt: 0, socket: join(folder, "nobody.sock"), protocol };
  writeFileSync(join(data, "owner.json"), JSON.stringify(info));
}

// The world is made to break under the program: what follows is what its user sees of a mistake of ours.

test("a mistake of ours ends the command in words, with an id that the log file has, and with 1 [O1][P2]", async (t) => {
  const home = brokenHome(t, 'Object.defineProperty(process.stdout, "isTTY", { get: planted });');
  const { code, output, errors } = await home.start("model").ended;
  const [, id = "", logFile = ""] =
    /^✗ Something went wrong inside AgentYard \(error ([0-9a-f]{8})\)\. .*\nLog file: (\S+)\n$/.exec(errors) ?? [];
  assert.deepEqual([code, output, id === ""], [1, "", false], errors);
  const line = readFileSync(logFile, "utf8")
    .split("\n")
    .find((one) => one.includes(`the command broke down (${id})`));
  assert.match(line ?? "", /planted/);
});

test("what breaks where nobody waits for it ends the process in the same words [O1]", async (t) => {
  const home = brokenHome(
    t,
    `const write = process.stdout.write;
    process.stdout.write = function (text, ...more) {
      if (String(text).includes("Ctrl+C")) setImmediate(planted);
      return write.call(this, text, ...more);
    };`,
  );
  const { code, errors } = await home.start("serve", "--port", "0").ended;
  assert.equal(code, 1);
  assert.match(errors, /✗ Something went wrong inside AgentYard \(error [0-9a-f]{8}\)\. .*\nLog file: \S+\n$/);
});

function brokenHome(t: TestContext, fault: string, env: Record<string, string> = {}) {
  const made = makeHome(t);
  const file = join(made.folder, "fault.mjs");
  const planted = 'const planted = () => { throw new Error("planted"); };';
  writeFileSync(
    file,
    `import fs from "node:fs";\nimport { syncBuiltinESMExports as sync } from "node:module";\n${planted}\n${fault}\n`,
  );
  return makeHome(t, { env: { ...env, NODE_OPTIONS: `--import=${pathToFileURL(file).href}` } });
}

test("the flow of the documents runs with the API key of a user, and not without one: upload, list, select, chat, download [C7][C6]", async (t) => {
  const home = makeHome(t);
  const address = await home.serve();
  assert.equal((await home.start("user", "add", "grace").ended).code, 0);
  const { output: key } = await home.start("user", "key", "add", "grace").ended;
  const { listed, answer, results } = await flow(address, key.trim());
  assert.deepEqual(listed, ["sales.csv"]);
  assert.match(answer, /\| sales \| number \| 3 \| 0 \| 80 \| 200 \| 133\.5 \| 120\.5 \| 400\.5 \|/);
  assert.match(
    results.join("\n"),
    /^sales-report-1\.png: \d{4,} bytes\nsales-report-2\.png: \d{4,} bytes\nsales-report\.md: \d{3,} bytes$/,
  );
  await assert.rejects(flow(address), /You are not signed in|sign/i);
});

test("a browser is opened where somebody sits before a screen, and nowhere else [B1][P1]", () => {
  const on = (platform: string, env: Record<string, string>) => browserCommand({ platform, env })?.[0];
  assert.deepEqual(
    [
      ...[on("linux", {}), on("linux", { DISPLAY: ":0" }), on("linux", { WAYLAND_DISPLAY: "wayland-0" })],
      ...[on("darwin", {}), on("win32", {})],
      ...[on("linux", { DISPLAY: ":0", CI: "1" }), on("darwin", { SSH_CONNECTION: "10.0.0.1" })],
      on("darwin", { BROWSER: "none" }),
    ],
    [undefined, "xdg-open", "xdg-open", "open", "rundll32", undefined, undefined, undefined],
  );
});

test("a server that listens everywhere is named by an address that a browser can open [P2]", () => {
  const lan = { lo: [on("127.0.0.1", true)], eth0: [on("169.254.1.1"), on("fe80::1"), on("fd00::2"), on("192.0.2.7")] };
  assert.equal(openableAddress("http://0.0.0.0:7420", lan), "http://192.0.2.7:7420");
  assert.equal(openableAddress("http://[::]:7420", lan), "http://192.0.2.7:7420");
  assert.equal(openableAddress("http://[::]:7420", { eth0: [on("fd00::2")] }), "http://[fd00::2]:7420");
  assert.equal(openableAddress("http://0.0.0.0:7420", { lo: [on("127.0.0.1", true)] }), "http://127.0.0.1:7420");
  for (const one of ["http://127.0.0.1:7420", "http://10.0.0.0:7420", "http://[::1]:7420"])
    assert.equal(openableAddress(one, lan), one);
});

function on(address: string, internal = false): NetworkInterfaceInfo {
  const more = { address, internal, netmask: "", mac: "", cidr: null };
  return address.includes(":") ? { ...more, family: "IPv6", scopeid: 0 } : { ...more, family: "IPv4" };
}
