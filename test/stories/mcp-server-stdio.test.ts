import assert from "node:assert/strict";
import { test } from "node:test";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createClient } from "../../src/client/client.ts";
import { until } from "../world/events.ts";
import { callTool, connect } from "../world/mcp-client.ts";
import { modelServer, says } from "../world/model-server.ts";
import { type Home, makeHome, type Program } from "../world/program.ts";
import { agentyard } from "../world/pty.ts";
import { modelEnv, serve } from "../world/served.ts";

const hello = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "by hand", version: "1" } },
};

/** A message of the protocol in each line of what was said, and nothing else. */
function messagesIn({ written }: Pick<Program, "written">): Record<string, unknown>[] {
  return written.output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

function ide(home: Home, env: Record<string, string>) {
  const { PATH = "" } = process.env;
  return new StdioClientTransport({
    command: process.execPath,
    args: [agentyard, "mcp"],
    env: { PATH, HOME: home.folder, TMPDIR: home.folder, AGENTYARD_DATA: `${home.folder}/data`, ...env },
    cwd: home.folder,
    stderr: "pipe",
  });
}

test("an IDE starts `agentyard mcp`, alone or beside a server of the same data, in both generations [G2]", async (t) => {
  await using model = await modelServer(() => says("hello"));
  const env = modelEnv(model);
  const home = makeHome(t, { env });
  const alone = await connect(t, ide(home, env), { generation: "legacy" });
  const sent = await callTool(alone, "send_message", { text: "hi" });
  assert.deepEqual([sent.data.status, sent.data.answer], ["done", "hello"]);
  await alone.close();

  const { service } = await serve(home);
  const beside = await connect(t, ide(home, env), { generation: "auto" });
  const { messages } = (await callTool(beside, "read_conversation", { conversation: sent.data.conversation })).data;
  assert.deepEqual(messages, [
    { from: "user", text: "hi" },
    { from: "agent", text: "hello" },
  ]);
  assert.equal((await callTool(beside, "send_message", { text: "and you" })).data.answer, "hello");
  await beside.close();
  assert.equal(service.written.errors, "");
});

test("standard output has the protocol alone, bad lines are answered, and the end of the input is the end [G2]", async (t) => {
  const home = makeHome(t);
  const program = home.start("mcp");
  const { stdin } = program.child;
  const lines = [
    "nonsense",
    "[]",
    '{"jsonrpc":"1.0","id":7,"method":"ping"}',
    "",
    JSON.stringify(hello),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":2,"method":"no/such"}',
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_agents","arguments":{}}}',
  ];
  stdin.write(`{"jsonrpc":"2.0","id":0,"method":"${"x".repeat(33 * 1024 * 1024)}"}\n`);
  stdin.end(`${lines.join("\n")}\n`);
  const { code, errors } = await program.ended;
  assert.equal(code, 0);
  const said = messagesIn(program).map(({ id, error, result }) => [id, codeOf(error) ?? typeof result]);
  const byId = said.toSorted(([a], [b]) => Number(a ?? -1) - Number(b ?? -1));
  assert.deepEqual(byId, [
    [null, -32_600],
    [null, -32_700],
    [null, -32_600],
    [null, -32_600],
    [1, "object"],
    [2, -32_601],
    [3, "object"],
  ]);
  // What people should know of the models is beside it.
  assert.doesNotMatch(errors, /jsonrpc/);
});

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

test("an IDE that goes takes its turn along; a process that is told to end leaves it to the next one [G2]", async (t) => {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  await using model = await modelServer(() => ({ text: "late", heldUntil: held.promise }));
  const home = makeHome(t, { env: modelEnv(model) });
  const { service, address } = await serve(home);
  const client = createClient({ fetch, baseUrl: address });
  const begin = async () => {
    const program = home.start("mcp");
    const asked = model.asked.length;
    program.child.stdin.write(`${JSON.stringify(hello)}\n`);
    await program.until("output", /"serverInfo"/);
    const call = { name: "send_message", arguments: { text: "go" } };
    program.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call })}\n`);
    await until("the model is asked", () => model.asked.length > asked);
    const page = await client.call("listConversations", { query: { limit: 1 } });
    assert.ok(page.ok);
    return { program, id: page.value.items[0]?.id ?? "" };
  };
  const outcomeOf = async (id: string) => {
    const events = await client.call("readEvents", { params: { id } });
    assert.ok(events.ok);
    return events.value.items.filter(({ type }) => type === "turn.finished").map(({ outcome }) => outcome);
  };
  const gone = await begin();
  gone.program.child.stdin.end();
  assert.equal((await gone.program.ended).code, 0);
  await until("it has ended", async () => (await outcomeOf(gone.id)).length === 1);
  assert.deepEqual(await outcomeOf(gone.id), ["cancelled"]);

  const told = await begin();
  told.program.child.kill("SIGTERM");
  await told.program.ended;
  assert.deepEqual(await outcomeOf(told.id), []);
  held.resolve();
  const stop = new AbortController();
  for await (const frame of client.follow(told.id, { signal: stop.signal }))
    if (frame.frame === "event" && frame.event.type === "turn.finished") {
      assert.equal(frame.event.outcome, "done");
      stop.abort();
    }
  assert.equal(service.written.errors, "");
});
