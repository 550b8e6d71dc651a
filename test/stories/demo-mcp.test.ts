import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { all } from "../world/events.ts";
import { everything } from "../world/mcp-servers.ts";
import { must, startYard } from "../world/yard.ts";

/** A data directory whose configuration has a real server, and what else its tools are to be. */
async function withServer(t: TestContext, tools: object = {}) {
  const data = await mkdtemp(join(tmpdir(), "agentyard-demo-mcp-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  const config = join(data, ".config/agentyard");
  await mkdir(config, { recursive: true });
  const { reached } = everything();
  const every = reached.by === "program" ? { command: reached.command, args: reached.args } : {};
  await writeFile(join(config, "mcp_servers.yaml"), JSON.stringify({ servers: { every } }));
  await writeFile(join(config, "tools.yaml"), JSON.stringify(tools));
  return { data, env: { PATH: process.env.PATH ?? "" } };
}

/** The calls of the last turn; what use_tool called stands for itself. */
function madeCalls(events: readonly LogEvent[]): string[] {
  const { turn } = all(events, "turn.started").at(-1) ?? {};
  const made = all(events, "message.assistant").filter((message) => message.turn === turn);
  return made.flatMap(({ calls = [] }) => calls.map(({ name, arguments: json }) => `${name} ${json}`));
}

test("the demo model calls a tool of an MCP server that is named or fits, in both languages [M5][G1][T1]", async (t) => {
  await using yard = await startYard({ ...(await withServer(t)), approves: true });
  await must(yard.client.call("restartMcpServer", { params: { server: "every" } }));
  const sum = await yard.ask("what is the sum of 2 and 40?");
  const { conversation } = sum;
  assert.deepEqual(madeCalls(sum.events), [
    'find_tools {"query":"what is the sum of 2 and 40?"}',
    'mcp__every__get-sum {"a":2,"b":40}',
  ]);
  assert.match(
    sum.answer,
    /not an AI[\s\S]*I called the tool `get-sum` of the MCP server `every` with `\{"a":2,"b":40\}`\. It answered:\n\n```\n.*The sum of 2 and 40 is 42[\s\S]*a real model would understand/,
  );
  const echoed = await yard.ask("调用 echo：你好，世界", { conversation });
  assert.match(
    echoed.answer,
    /^我调用了 MCP 服务器 `every` 的工具 `echo`，参数是 `\{"message":"你好，世界"\}`。[\s\S]*Echo: 你好，世界/,
  );
  const quoted = await yard.ask('use mcp__every__echo with "good day"', { conversation });
  assert.match(quoted.answer, /Echo: good day\n/);
  const place = await yard.ask("get-structured-content for New York", { conversation });
  assert.match(place.answer, /`\{"location":"New York"\}`/);
  const few = await yard.ask("the sum of 2, please", { conversation });
  assert.match(few.answer, /^The MCP server `every` has a tool `get-sum` that may fit, but .*\(`a`, `b`\)/);
  assert.equal(madeCalls(few.events).length, 1);
  const none = await yard.ask("写一首诗", { conversation });
  assert.match(none.answer, /^这个问题不在我的规则之内/);
});

test("a tool of an MCP server that models are told of is called at once [M5][G1][T1]", async (t) => {
  const place = await withServer(t, { optional: { "mcp__every__get-sum": { always_available: true } } });
  {
    await using yard = await startYard(place);
    await must(yard.client.call("restartMcpServer", { params: { server: "every" } }));
  }
  await using yard = await startYard({ ...place, approves: true });
  const { events, answer } = await yard.ask("用 get-sum 计算 1.5 和 -4");
  assert.deepEqual(madeCalls(events), ['mcp__every__get-sum {"a":1.5,"b":-4}']);
  assert.match(answer, /The sum of 1\.5 and -4 is -2\.5/);
});

test("who has no MCP server hears that there is no rule [M5][G1]", async () => {
  await using yard = await startYard();
  const { answer, events } = await yard.ask("what is the sum of 2 and 40?");
  assert.match(answer, /I have no rule for that/);
  assert.deepEqual(madeCalls(events), ['find_tools {"query":"what is the sum of 2 and 40?"}']);
});
