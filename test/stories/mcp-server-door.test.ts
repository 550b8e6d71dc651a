import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { mcpLimits } from "../../src/mcp-server/mcp-server.ts";
import { peopledYard } from "../world/callers.ts";
import { until } from "../world/events.ts";
import { callTool, connect, generations, mcpAddress, overHttp, post } from "../world/mcp-client.ts";
import { modelServer, says } from "../world/model-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { must, startYard } from "../world/yard.ts";

const { batchMax, callsPerUserMax, sessionIdleMs, sessionsPerUserMax } = mcpLimits;
const hello = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "by hand", version: "1" } },
};
const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };

test("whoever is not known is not let in, and nobody finds what is another's [G2][C6][Q1]", async (t) => {
  await using model = await modelServer(() => says("for ada"));
  await using yard = await peopledYard({}, { model });
  const keys = { ada: await yard.keyOf("ada"), bob: await yard.keyOf("bob"), cat: await yard.keyOf("cat", ["chat"]) };
  const url = await mcpAddress(t, yard.app);
  const asUser = (user: keyof typeof keys) => overHttp(url, { authorization: `Bearer ${keys[user]}` });

  const nobody = await post(yard.app, hello);
  assert.deepEqual([nobody.status, nobody.headers.get("www-authenticate")], [401, 'Bearer realm="AgentYard"']);
  const wrong = await post(yard.app, hello, { authorization: "Bearer ay_wrong" });
  assert.match(wrong.headers.get("www-authenticate") ?? "", /error="invalid_token"/);

  for (const generation of generations) {
    const [ada, bob, cat] = await Promise.all([
      connect(t, asUser("ada"), { generation }),
      connect(t, asUser("bob"), { generation }),
      connect(t, asUser("cat"), { generation }),
    ]);
    const { conversation } = (await callTool(ada, "send_message", { text: "hi" })).data;
    assert.equal(
      (await callTool(ada, "write_file", { conversation, path: "outputs/s.txt", content: "mine" })).code,
      "",
    );
    const missing = "conversation_not_found";
    const tried: readonly [string, object][] = [
      ["read_conversation", {}],
      ["wait_for_answer", {}],
      ["stop_turn", {}],
      ["list_files", {}],
      ["send_message", { text: "let me in" }],
      ["read_file", { path: "outputs/s.txt" }],
      ["write_file", { path: "outputs/s.txt", content: "not yours" }],
      ["answer_question", { decision: "d", answer: "a" }],
      ["run_code", { code: "1" }],
    ];
    for (const [name, input] of tried)
      assert.deepEqual([name, (await callTool(bob, name, { conversation, ...input })).code], [name, missing]);
    assert.deepEqual((await callTool(bob, "list_conversations")).data.conversations, []);
    const uri = `agentyard://conversations/${conversation}/files/outputs/s.txt`;
    await assert.rejects(bob.readResource({ uri }), /Conversation not found/);
    await assert.rejects(bob.getPrompt({ name: "conversation", arguments: { conversation: `${conversation}` } }));
    assert.deepEqual((await bob.listResources()).resources, []);
    // A key that only opens conversations opens no files here either.
    const own = (await callTool(cat, "send_message", { text: "hi" })).data;
    assert.equal((await callTool(cat, "list_files", { conversation: own.conversation })).code, "scope_missing");
  }
});

test("a session is its user's alone, ends when it is told to, and after a restart it is not found [G2]", async () => {
  await using yard = await peopledYard();
  const [ada, bob] = [await yard.keyOf("ada"), await yard.keyOf("bob")].map((key) => ({
    authorization: `Bearer ${key}`,
  }));
  const begun = await post(yard.app, hello, ada);
  const id = begun.headers.get("mcp-session-id") ?? "";
  assert.equal(begun.status, 200);
  const inSession = (headers: object, session = id) =>
    post(yard.app, listTools, { ...headers, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" });
  assert.match((await inSession({ ...ada })).text, /"send_message"/);
  const notFound = { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Session not found" } };
  for (const [headers, session] of [
    [bob, id],
    [ada, "made-up"],
  ] as const) {
    const { status, text } = await inSession({ ...headers }, session);
    assert.deepEqual([status, JSON.parse(text)], [404, notFound]);
  }
  const end = (headers: object) =>
    yard.call("DELETE /mcp", { ...headers, "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" });
  assert.equal((await end({ ...bob })).status, 404);
  assert.equal((await end({ ...ada })).status, 200);
  assert.equal((await inSession({ ...ada })).status, 404);
});

test("sessions that nobody uses make room or end, those in use do not, and there are only so many [G2]", async () => {
  const timers: { ms: number; action: () => void; isOff: boolean }[] = [];
  const clock = {
    ...systemClock,
    after(ms: number, action: () => void) {
      if (ms !== sessionIdleMs) return systemClock.after(ms, action);
      const timer = { ms, action, isOff: false };
      timers.push(timer);
      return () => {
        timer.isOff = true;
      };
    },
  };
  await using yard = await startYard({ clock });
  const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
  const begin = async () => (await post(yard.app, hello, headers)).headers.get("mcp-session-id") ?? "";
  const isThere = async (id: string) =>
    (await post(yard.app, listTools, { ...headers, "mcp-session-id": id })).status === 200;
  const leave = new AbortController();
  const listen = async (id: string) => {
    const request = new Request("http://127.0.0.1:7420/mcp", {
      headers: { ...headers, host: "127.0.0.1:7420", "mcp-session-id": id },
      signal: leave.signal,
    });
    const response = await yard.app.fetch(request, { door: "tcp", address: "127.0.0.1" });
    assert.equal(response.status, 200);
    return response;
  };
  const first = await begin();
  const kept = await begin();
  const stream = await listen(kept);
  for (let n = 2; n < sessionsPerUserMax; n += 1) await begin();
  assert.ok(await isThere(first));
  // `first` was used last now, so another one makes room.
  const added = await begin();
  assert.deepEqual([await isThere(first), await isThere(kept), await isThere(added)], [true, true, true]);

  const idle = timers.filter(({ isOff }) => !isOff);
  assert.equal(idle.length, sessionsPerUserMax - 1);
  for (const { action } of idle) action();
  assert.deepEqual([await isThere(first), await isThere(added), await isThere(kept)], [false, false, true]);
  // Whoever was gone without a word is idle from then on.
  await stream.body?.cancel();
  const last = timers.findLast(({ isOff }) => !isOff);
  last?.action();
  assert.equal(await isThere(kept), false);

  const streams: Response[] = [];
  for (let n = 0; n < sessionsPerUserMax; n += 1) streams.push(await listen(await begin()));
  const refused = await post(yard.app, hello, headers);
  assert.deepEqual([refused.status, JSON.parse(refused.text).error.data], [429, { code: "mcp_full" }]);
  await streams[0]?.body?.cancel();
  assert.notEqual(await begin(), "");
  await Promise.all(streams.slice(1).map(({ body }) => body?.cancel()));
});

test("a user listens on only so many streams, and another one's are not counted with them [G2][Q1]", async () => {
  await using yard = await startYard();
  const about = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1" },
  };
  const listen = async (user: string) => {
    const params = { notifications: { toolsListChanged: true }, _meta: about };
    const request = new Request("http://127.0.0.1:7420/mcp", {
      method: "POST",
      headers: {
        ...{ host: "127.0.0.1:7420", "content-type": "application/json", "x-account-id": user },
        ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28" },
        "mcp-method": "subscriptions/listen",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }),
    });
    return yard.app.fetch(request, { door: "tcp", address: "127.0.0.1" });
  };
  const open: Response[] = [];
  for (let n = 0; n < mcpLimits.subscriptionsPerUserMax; n += 1) open.push(await listen("ada"));
  assert.deepEqual(
    new Set(open.map(({ status, headers }) => `${status} ${headers.get("content-type")}`)),
    new Set(["200 text/event-stream"]),
  );
  const refused = await listen("ada");
  assert.deepEqual([refused.status, JSON.parse(await refused.text()).error.data], [429, { code: "mcp_full" }]);
  const [first, ...others] = [await listen("bob"), ...open];
  assert.equal(first?.status, 200);
  await open[0]?.body?.cancel();
  const again = await listen("ada");
  assert.equal(again.status, 200);
  await Promise.all([again, first, ...others.slice(1)].map((one) => one?.body?.cancel()));
});

test("a user has only so many calls under way, and another one's are not counted with them [G2]", async (t) => {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  await using model = await modelServer(() => ({ text: "late", heldUntil: held.promise }));
  await using yard = await startYard({ model });
  const url = await mcpAddress(t, yard.app);
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map((user) => connect(t, overHttp(url, { "x-account-id": user }))),
  );
  assert.ok(ada !== undefined && bob !== undefined);
  const { conversation } = (await callTool(ada, "send_message", { text: "go", wait_seconds: 0 })).data;
  const waiting = Array.from({ length: callsPerUserMax }, () => callTool(ada, "wait_for_answer", { conversation }));
  await until("all wait", async () => (await callTool(ada, "list_agents")).code === "mcp_full");
  assert.equal(
    (await callTool(ada, "list_agents")).text,
    "You have 64 calls under way, as many as there may be. Wait for one of them to end, then call again.",
  );
  assert.equal((await callTool(bob, "list_agents")).code, "");
  held.resolve();
  const answers = await Promise.all(waiting);
  assert.deepEqual(new Set(answers.map(({ data }) => data.answer)), new Set(["late"]));
  assert.equal((await callTool(ada, "list_agents")).code, "");
});

test("what is no request of the protocol is refused in its own words, and nothing breaks [G2][Q1]", async (t) => {
  await using yard = await startYard();
  const fault = async (body: unknown, headers: Record<string, string> = {}) => {
    const { status, text } = await post(yard.app, body, headers);
    const error = /\{.*\}/s.exec(text)?.[0];
    return [status, error === undefined ? text : JSON.parse(error).error?.code];
  };
  const deep = "[".repeat(100_000);
  const huge = `"${"x".repeat(33 * 1024 * 1024)}"`;
  const many = Array.from({ length: batchMax + 1 }, () => listTools);
  const unknown = { jsonrpc: "2.0", id: 3, method: "tools/destroy" };
  const future = {
    ...{ "io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {} },
  };
  const tried: readonly [sent: unknown, headers: Record<string, string>, told: readonly unknown[]][] = [
    ["{nonsense", {}, [400, -32_700]],
    ["{}", {}, [400, -32_600]],
    ["[]", {}, [400, -32_600]],
    ["7", {}, [400, -32_600]],
    [deep, {}, [400, -32_600]],
    [huge, {}, [413, -32_600]],
    [listTools, { "content-type": "text/plain" }, [400, -32_700]],
    [listTools, { accept: "text/html" }, [406, -32_000]],
    [listTools, { "mcp-protocol-version": "1999-01-01" }, [400, -32_000]],
    [many, {}, [400, -32_600]],
    [unknown, {}, [200, -32_601]],
    [{ ...listTools, params: { _meta: future } }, {}, [400, -32_022]],
    [hello, { origin: "https://evil.example" }, [403, undefined]],
  ];
  const told: unknown[] = [];
  for (const [sent, headers] of tried) told.push(await fault(sent, headers));
  assert.deepEqual(
    told,
    tried.map(([, , expected]) => expected),
  );
  const put = await yard.app.fetch(
    new Request("http://127.0.0.1:7420/mcp", { method: "PUT", headers: { host: "127.0.0.1:7420" } }),
    { door: "tcp", address: "127.0.0.1" },
  );
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "POST, GET, DELETE"]);
  // Several in one request, and none without a session, as some clients send them.
  const several = await post(yard.app, [listTools, { ...listTools, id: 4 }]);
  assert.deepEqual([several.status, several.text.match(/"send_message"/g)?.length], [200, 2]);

  for (const generation of generations) {
    const client = await connect(t, overHttp(await mcpAddress(t, yard.app)), { generation });
    await assert.rejects(callTool(client, "no_such_tool"), /no_such_tool not found/);
    const unfit = await callTool(client, "send_message", { text: 7, wait_seconds: -1 });
    assert.deepEqual([unfit.isError, /text[\s\S]*wait_seconds/.test(unfit.text)], [true, true]);
    const calls: readonly [string, object, string][] = [
      ["send_message", { text: " " }, "message_blank"],
      ["send_message", { text: "hi", agent: "nobody" }, "agent_not_found"],
      ["send_message", { text: "hi", conversation: "none" }, "conversation_not_found"],
      ["send_message", { text: "hi", files: ["uploads/none"] }, "file_not_found"],
      ["write_file", { conversation: "none", path: "outputs/a", content: "" }, "conversation_not_found"],
    ];
    for (const [name, input, code] of calls)
      assert.deepEqual([name, (await callTool(client, name, { ...input })).code], [name, code]);
    await assert.rejects(client.readResource({ uri: "agentyard://conversations/%/files/%" }));
    await assert.rejects(client.readResource({ uri: "file:///etc/passwd" }), /not found/i);
  }
  // What could not be sent has left no conversation behind.
  assert.deepEqual(await must(yard.client.call("listConversations", {})), { items: [], next: null });
  assert.deepEqual(await yard.faults(), []);
});

test("large files come whole as resources, larger ones in parts, and none leads out of its folder [G2][W2]", async (t) => {
  await using yard = await startYard();
  const client = await connect(t, overHttp(await mcpAddress(t, yard.app)));
  const { conversation } = (await callTool(client, "start_conversation")).data;
  const write = (path: string, content: string, encoding = "utf-8") =>
    callTool(client, "write_file", { conversation, path, content, encoding });
  const bytes = Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    Buffer.alloc(6 * 1024 * 1024, "\u0000\u0001abc"),
  ]);
  const stored = await write("outputs/a b%.png", bytes.toString("base64"), "base64");
  assert.deepEqual([stored.code, stored.data.bytes], ["", bytes.length]);
  const { contents } = await client.readResource({ uri: `${stored.data.uri}` });
  const [blob] = contents;
  assert.ok(blob !== undefined && "blob" in blob);
  assert.ok(Buffer.from(`${blob.blob}`, "base64").equals(bytes));
  const shown = await callTool(client, "read_file", { conversation, path: "outputs/a b%.png" });
  assert.deepEqual(
    shown.content.map(({ type }) => type),
    ["text", "resource_link"],
  );

  const line = `${"0123456789".repeat(10)}\n`;
  const large = line.repeat(180_000);
  assert.equal((await write("outputs/large.txt", large)).code, "");
  await assert.rejects(
    client.readResource({ uri: `agentyard://conversations/${conversation}/files/outputs/large.txt` }),
    /17\.3 MB, and a resource may have 16 MB\. Read it in parts with read_file/,
  );
  const part = (offset: number, limit: number) =>
    callTool(client, "read_file", { conversation, path: "outputs/large.txt", offset, limit });
  const cut = await part(1, 100_000);
  assert.ok(`${cut.data.text}`.length < 110_000);
  assert.equal(cut.data.next, `${cut.data.text}`.split("\n").length);
  assert.equal((await write("outputs/wide.txt", `${"x".repeat(250_000)}\nsecond\n`)).code, "");
  const wide = await callTool(client, "read_file", { conversation, path: "outputs/wide.txt" });
  assert.deepEqual([wide.data.text, wide.data.next], [`${"x".repeat(100_000)} […]\n`, 2]);
  const end = await part(179_999, 100);
  assert.deepEqual([end.data.text, end.data.next], [line.repeat(2), null]);

  for (const path of ["../x", "/etc/passwd", "skills/x", "outputs/../../x"])
    assert.match((await write(path, "x")).code, /^(path_traversal_blocked|permission_denied|path_invalid)$/, path);
  assert.equal((await write("x.txt", "x")).data.path, "uploads/temparea/x.txt");
  assert.equal((await write("outputs/b.bin", "no base64!", "base64")).code, "bad_request");
  const empty = await write("outputs/empty.txt", "");
  assert.equal(empty.code, "");
  assert.equal((await callTool(client, "read_file", { conversation, path: "outputs/empty.txt" })).data.text, "");
});

test("other software runs code in its user's sandbox, and a cancelled call ends the program [G2][X1]", {
  skip: cannotRunCode,
}, async (t) => {
  await using yard = await startYard({ runsCode: true });
  const client = await connect(t, overHttp(await mcpAddress(t, yard.app)));
  const { conversation } = (await callTool(client, "start_conversation")).data;
  const run = (code: string, more: object = {}, options = {}) =>
    callTool(client, "run_code", { conversation, code, ...more }, options);
  const made = await run("open('outputs/n.txt', 'w').write('7')\nprint('hello')\n6 * 7");
  assert.equal(made.text, "stdout:\nhello\n\n\nvalue:\n42\n\nfiles: outputs/n.txt\n\ncompleted (exit code 0)");
  assert.equal((await callTool(client, "read_file", { conversation, path: "outputs/n.txt" })).data.text, "7");
  const failed = await run("exit 3", { language: "bash" });
  assert.deepEqual([failed.isError, failed.data.exit_code], [true, 3]);

  const stop = new AbortController();
  const heard = Promise.withResolvers<void>();
  const onprogress = ({ message = "" }) => (message.includes("begun") ? heard.resolve() : undefined);
  const running = assert.rejects(
    run("echo begun; sleep 600", { language: "bash", timeout: 700 }, { signal: stop.signal, onprogress }),
  );
  await heard.promise;
  stop.abort("enough");
  await running;
  const params = { id: "sess-agent-default" };
  await until("the program is stopped", async () => {
    const { items } = await must(yard.client.call("listExecutions", { params }));
    return items[0]?.status === "cancelled";
  });
});
