import assert from "node:assert/strict";
import { test } from "node:test";
import { McpServer } from "@modelcontextprotocol/server";
import { manualClock } from "../../test/world/manual-clock.ts";
import { systemIds } from "../base/ids.ts";
import { Sessions } from "./sessions.ts";

test("at the limit of all users the session that was unused for longest makes room, and one in use never [G2]", async () => {
  const clock = manualClock();
  const limits = { sessionsPerUserMax: 2, sessionsMax: 3, sessionIdleMs: 1_000 };
  const sessions = new Sessions({ clock, ids: systemIds, limits });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "n", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  /** The answer is left unread: the session is in use. */
  const begin = async (owner: string) => {
    const session = await sessions.begin(owner, new McpServer({ name: "n", version: "1" }));
    if (session === undefined) return undefined;
    const request = new Request("http://localhost/mcp", { method: "POST", headers, body });
    const response = await sessions.use(session, () => session.transport.handleRequest(request));
    const id = response.headers.get("mcp-session-id") ?? "";
    return { id, isThere: () => sessions.find(id, owner) !== undefined, read: () => response.text() };
  };
  const [a, b, c] = [await begin("ann"), await begin("bob"), await begin("cat")];
  assert.equal(await begin("dan"), undefined);
  await b?.read();
  await a?.read();
  const d = await begin("dan");
  assert.deepEqual(
    [a, b, c, d].map((session) => session?.isThere()),
    [true, false, true, true],
  );
  clock.move(limits.sessionIdleMs);
  assert.deepEqual([a?.isThere(), c?.isThere()], [false, true]);
  await sessions.close();
  assert.deepEqual([c?.isThere(), d?.isThere(), clock.timers()], [false, false, 0]);
});

test("a session whose answer fails is not in use any more, and makes room like others [G2]", async () => {
  const limits = { sessionsPerUserMax: 1, sessionsMax: 1, sessionIdleMs: 1_000 };
  const sessions = new Sessions({ clock: manualClock(), ids: systemIds, limits });
  const begin = () => sessions.begin("ann", new McpServer({ name: "n", version: "1" }));
  const session = (await begin()) ?? assert.fail("there is room");
  await assert.rejects(
    sessions.use(session, () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.notEqual(await begin(), undefined);
  await sessions.close();
});
