import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../test/world/manual-clock.ts";
import { systemIds } from "../base/ids.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { App, Caller, Env, HandOn } from "./door.ts";
import { bindMcp } from "./mcp.ts";
import { partsWith } from "./routes/handling.testing.ts";

const ann = OwnerId.parse("ann");
const known: Caller = { signedIn: ann, scopes: ["chat", "files"] };
const initialize = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

/** The door for MCP clients, and a way to call it while the server is not closing. */
function opened({ caller = known, handOn }: { caller?: Caller; handOn?: HandOn } = {}) {
  const [closing, lines] = [new AbortController(), [] as string[]];
  const app: App = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("caller", caller);
    c.set("arrival", {
      ...{ address: "192.0.2.1", isVeiled: false, isFromHere: false, host: "h", scheme: undefined, prefix: "" },
    });
    await next();
  });
  const logger = (line: string) => void lines.push(line);
  bindMcp(app, partsWith({ clock: manualClock(), ids: systemIds, version: "1", logger }), handOn);
  const ask = async (method: string, headers: Record<string, string> = {}, body?: object) => {
    const accept = method === "GET" ? "text/event-stream" : "application/json, text/event-stream";
    const all = { accept, "content-type": "application/json", "mcp-protocol-version": "2025-06-18", ...headers };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return app.fetch(new Request("http://h/mcp", { method, headers: all, ...sent }), {
      ...{ door: "tcp", address: "192.0.2.1", closing: closing.signal },
    });
  };
  return { ask, closing, lines };
}

test("what an MCP client listens to ends with the server, and nothing of that is a mistake [G2][L6]", async () => {
  const { ask, closing, lines } = opened();
  const begun = await ask("POST", {}, initialize);
  const session = begun.headers.get("mcp-session-id") ?? assert.fail(await begun.text());
  await begun.text();
  const listening = await ask("GET", { "mcp-session-id": session });
  assert.deepEqual([listening.status, listening.headers.get("content-type")], [200, "text/event-stream"]);
  const heard = new Response(listening.body).text();
  closing.abort();
  await heard;
  assert.deepEqual(lines, []);
});

test("sessions of MCP clients are kept where their user is at home, whoever that is named to be [G2][N1]", async () => {
  const keys: unknown[] = [];
  const handOn: HandOn = async (_, key, body) => {
    keys.push([key, "stream" in body]);
    return new Response("there");
  };
  const there = async (caller: Caller, headers: Record<string, string> = {}, method = "POST") =>
    (await opened({ caller, handOn }).ask(method, headers, method === "POST" ? initialize : undefined)).text();
  assert.equal(await there(known), "there");
  assert.equal(await there({ signedIn: undefined, scopes: ["chat"] }, { "x-account-id": "bob" }), "there");
  assert.equal(await there({ signedIn: undefined, scopes: ["chat"] }, {}, "DELETE"), "there");
  assert.deepEqual(keys, [
    ["u:ann", true],
    ["u:bob", true],
    ["u:local", false],
  ]);
  assert.match(await there(known, { "x-account-id": "bob" }), /"code":"user_unknown"/);
  assert.equal(keys.length, 3, "who is signed in is nobody else");
});

test("by another method an MCP client is told which ones there are, and what is no JSON in the words of its protocol [G2][P4]", async () => {
  const { ask } = opened();
  const other = await ask("PUT");
  const { code, params } = Object(await other.json());
  const allowed = "POST, GET, DELETE";
  assert.deepEqual([other.status, other.headers.get("allow"), code], [405, allowed, "method_not_allowed"]);
  assert.deepEqual(params, { method: "PUT", allowed });
  const broken = await ask("POST", { "content-type": "text/plain" }, initialize);
  const { error } = Object(await broken.json());
  assert.deepEqual([broken.status, error.code, error.data], [400, -32_700, { code: "bad_json" }]);
  const deep = JSON.parse("[".repeat(201) + "]".repeat(201));
  const refused = Object(await (await ask("POST", {}, deep)).json()).error;
  assert.deepEqual([refused.code, refused.data], [-32_600, { code: "bad_request" }]);
});
