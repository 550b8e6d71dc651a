import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { all } from "../world/events.ts";
import { everything } from "../world/mcp-servers.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("an agent finds a tool of a configured server and uses it, and nothing was started before [G1][T1]", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-mcp-agent-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  await mkdir(join(data, ".config/agentyard"), { recursive: true });
  const { reached } = everything();
  const every = reached.by === "program" ? { command: reached.command, args: reached.args } : {};
  await writeFile(join(data, ".config/agentyard/mcp_servers.yaml"), JSON.stringify({ servers: { every } }));
  await using model = await modelServer([
    calls(["find_tools", { query: "sum of two numbers" }]),
    calls(["use_tool", { name: "mcp__every__get-sum", arguments: '{"a":2,"b":40}' }]),
    calls(["mcp__every__get-sum", { a: 1, b: 1 }]),
    says("42"),
  ]);
  const env = { PATH: process.env.PATH ?? "" };
  {
    await using yard = await startYard({ data, env });
    await must(yard.client.call("restartMcpServer", { params: { server: "every" } }));
  }
  await using yard = await startYard({ model, data, env });
  const { events, outcome } = await yard.ask("what is 2 + 40?");
  const results = all(events, "call.finished").map(({ text }) => text);
  assert.equal(outcome, "done", JSON.stringify(results));
  assert.match(results[0] ?? "", /mcp__every__get-sum/);
  assert.match(results[1] ?? "", /The sum of 2 and 40 is 42/);
  assert.match(results[2] ?? "", /The sum of 1 and 1 is 2/);
});
