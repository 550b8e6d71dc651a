import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { peopledYard } from "../world/callers.ts";
import { accountServer } from "../world/mcp-account-server.ts";
import { everything } from "../world/mcp-servers.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** A data directory whose user has these servers in a file. */
async function withServers(t: TestContext, servers: object): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-mcp-routes-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  await mkdir(join(data, ".config/agentyard"), { recursive: true });
  await writeFile(join(data, ".config/agentyard/mcp_servers.yaml"), JSON.stringify({ servers }));
  return data;
}

function everythingInFile(): object {
  const { reached } = everything();
  return reached.by === "program" ? { command: reached.command, args: reached.args } : {};
}

test("the servers of the settings are listed, restarted, read from and asked for prompts [G1][P5]", async (t) => {
  const data = await withServers(t, { every: everythingInFile(), later: { command: "none", enabled: false } });
  await using yard = await startYard({ data, env: { PATH: process.env.PATH ?? "" } });
  const { client } = yard;
  const before = await must(client.call("listMcpServers", {}));
  assert.deepEqual(
    before.items.map(({ id, state, reachedBy, tools }) => [id, state, reachedBy, tools.length]),
    [
      ["every", "configured", "program", 0],
      ["later", "off", "program", 0],
    ],
  );
  const every = { server: "every" };
  const started = await must(client.call("restartMcpServer", { params: every }));
  assert.deepEqual([started.state, started.reason, started.generation], ["ready", null, "legacy"]);
  assert.deepEqual(
    started.tools.find(({ own }) => own === "echo"),
    {
      ...{ name: "mcp__every__echo", own: "echo", left: null },
      description: "Echoes back the input string (MCP server every)",
    },
  );

  const { items: resources } = await must(client.call("listMcpResources", { params: every }));
  const features = resources.find(({ uri }) => uri.endsWith("/features.md"));
  assert.equal(features?.mime, "text/markdown");
  const { id } = await must(client.call("createConversation", { body: {} }));
  const attach = { params: { id }, body: { server: "every", uri: features?.uri ?? "" } };
  const { path, type } = await must(client.call("attachMcpResource", attach));
  assert.deepEqual([path, type], ["uploads/features.md", "markdown"]);
  const again = await must(client.call("attachMcpResource", attach));
  assert.equal(again.path, "uploads/features (2).md", "what is there stays as it is");
  const missing = await client.call("attachMcpResource", { ...attach, body: { server: "every", uri: "demo://none" } });
  assert.equal(!missing.ok && missing.failure.code, "mcp_server_failed");

  const { items: prompts } = await must(client.call("listMcpPrompts", { params: every }));
  assert.deepEqual(
    prompts.find(({ name }) => name === "args-prompt")?.arguments.map(({ name, required }) => ({ name, required })),
    [
      { name: "city", required: true },
      { name: "state", required: false },
    ],
  );
  const filled = await must(
    client.call("fillMcpPrompt", {
      params: { ...every, prompt: "args-prompt" },
      body: { arguments: { city: "Bern" } },
    }),
  );
  assert.match(filled.text, /Bern/);

  for (const [call, code] of [
    [client.call("restartMcpServer", { params: { server: "evry" } }), "mcp_server_not_found"],
    [client.call("restartMcpServer", { params: { server: "later" } }), "mcp_server_not_found"],
    [client.call("signInToMcpServer", { params: every }), "mcp_no_sign_in"],
    [client.call("signOutOfMcpServer", { params: every }), "mcp_no_sign_in"],
  ] as const) {
    const answer = await call;
    assert.equal(!answer.ok && answer.failure.code, code);
  }
  assert.deepEqual(await yard.faults(), []);
});

test("signing in to a server leaves its tokens in no answer, event or log line, and survives a restart [G1][Q1]", async (t) => {
  const account = await accountServer(t);
  const data = await withServers(t, { far: { url: account.url } });
  const far = { params: { server: "far" } };
  const seen: string[] = [];
  {
    await using yard = await startYard({ data });
    const { state, reason } = await must(yard.client.call("restartMcpServer", far));
    assert.deepEqual([state, reason], ["sign_in_needed", null]);
    const refused = new URLSearchParams({ error: "access_denied", error_description: "They said no" });
    refused.set(
      "state",
      new URL((await must(yard.client.call("signInToMcpServer", far))).url).searchParams.get("state") ?? "",
    );
    const denied = await yard.fetch(`http://yard/api/v1/mcp/callback?${refused}`, { method: "GET", headers: {} });
    assert.match(await denied.text(), /They said no/);
    const { url, back } = await must(yard.client.call("signInToMcpServer", far));
    assert.equal(back, "http://127.0.0.1:7420/api/v1/mcp/callback");
    const came = await account.agree(url);
    const page = await yard.fetch(`http://yard${came.pathname}${came.search}`, { method: "GET", headers: {} });
    seen.push(await page.text());
    assert.match(seen.join(), /You are signed in to the MCP server far/);
    const again = await yard.client.call("finishMcpSignIn", { body: { address: came.href } });
    assert.equal(!again.ok && again.failure.code, "mcp_sign_in_failed");
    seen.push(JSON.stringify(await must(yard.client.call("listMcpServers", {}))));
  }
  await using yard = await startYard({ data, server: { port: 8000, basePath: "/yard" } });
  assert.equal((await must(yard.client.call("restartMcpServer", far))).state, "ready");
  const out = await must(yard.client.call("signOutOfMcpServer", far));
  assert.equal(out.state, "sign_in_needed");
  const { back: there } = await must(yard.client.call("signInToMcpServer", far));
  assert.equal(there, "http://127.0.0.1:8000/yard/api/v1/mcp/callback", "where the server would be");
  seen.push(...(await logLines(yard)));
  const tokens = account.tokens();
  assert.ok(tokens.length >= 2);
  for (const token of tokens) assert.ok(!seen.some((text) => text.includes(token)));
});

test("a browser comes back to the address it called, and whoever gets the name of a user who was removed is not signed in [G1][S7]", async (t) => {
  const account = await accountServer(t);
  const data = await withServers(t, { far: { url: account.url } });
  await using yard = await peopledYard({}, { data });
  const as = async () => ({ host: "localhost:9999", "x-api-key": await yard.keyOf("ann") });
  const ann = await as();
  const begun = await yard.call("POST /api/v1/mcp/servers/far/sign-in", { ...ann, body: {} });
  const { url, back } = JSON.parse(begun.text);
  assert.equal(back, "http://localhost:9999/api/v1/mcp/callback");
  const came = await account.agree(url);
  assert.equal((await yard.call(`GET ${came.pathname}${came.search}`, ann)).status, 200);
  const state = async (key: Record<string, string>) =>
    JSON.parse((await yard.call("GET /api/v1/mcp/servers", key)).text).items.map((one: { state: string }) => one.state);
  assert.deepEqual(await state(ann), ["ready"]);
  await must(yard.client.call("removeUser", { params: { user: "ann" } }));
  assert.deepEqual(await state(await as()), ["known"], "it was there, and nobody has it open");
});

async function logLines({ data, faults }: TestYard): Promise<string[]> {
  await faults();
  const files = await readdir(join(data, "logs"));
  return Promise.all(files.map((file) => readFile(join(data, "logs", file), "utf8")));
}
