import assert from "node:assert/strict";
import { cpSync, mkdtempSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { inboxOf, say } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { everything } from "../world/mcp-servers.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { cannotUseSkills, skillsFolder } from "../world/skill-guest.ts";
import { filesOf, newConversation } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

async function conversationWith(yard: TestYard, name: string): Promise<string> {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(id, name, Buffer.from("n\n1\n")));
  return id;
}

async function uploadsOf(yard: TestYard, id: string): Promise<string[]> {
  const { items } = await must(yard.client.call("listFiles", { params: { id }, query: { path: "uploads" } }));
  return items.flatMap(({ name, type }) => (type === "file" ? [name] : []));
}

test("the demo model deletes an upload only after it was approved [M5][H1][H2]", {
  skip: cannotRunCode,
}, async () => {
  await using yard = await startYard({ runsCode: true });
  const conversation = await conversationWith(yard, "x.csv");
  assert.equal((await yard.ask("删除 uploads/x.csv", { conversation })).status, "waiting");
  const [open, ...others] = await inboxOf(yard);
  assert.deepEqual(
    [open?.tool, open?.arguments, open?.findings?.map(({ kind }) => kind), others.length],
    ["run_bash_command", '{"command":"rm -- uploads/x.csv"}', ["delete"], 0],
  );
  assert.deepEqual(await uploadsOf(yard, conversation), ["x.csv"]);
  assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
  assert.match((await yard.whenAtRest(conversation)).answer, /已删除 `uploads\/x\.csv`/);
  assert.deepEqual(await uploadsOf(yard, conversation), []);
});

/** A data directory whose configuration has a real server. */
async function withServer(t: TestContext) {
  const data = await mkdtemp(join(tmpdir(), "agentyard-demo-mcp-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  const config = join(data, ".config/agentyard");
  await mkdir(config, { recursive: true });
  const { reached } = everything();
  const every = reached.by === "program" ? { command: reached.command, args: reached.args } : {};
  await writeFile(join(config, "mcp_servers.yaml"), JSON.stringify({ servers: { every } }));
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
  const few = await yard.ask("the sum of 2, please", { conversation });
  assert.match(few.answer, /^The MCP server `every` has a tool `get-sum` that may fit, but .*\(`a`, `b`\)/);
  assert.equal(madeCalls(few.events).length, 1);
});

const table =
  "region,product,amount,date\nEast,tea,120,2024-01-02\nNorth,coffee,95.5,2024-02-03\nEast,coffee,,2024-02-09\nSouth,tea,300,2024-03-01\n";

/** As an installation has them. */
function shippedSkills(t: TestContext, ...names: string[]): string {
  const data = mkdtempSync(join(tmpdir(), "agentyard-demo-skills-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  for (const name of names) cpSync(join(skillsFolder, name), join(data, ".agents/skills", name), { recursive: true });
  return data;
}

/** The calls of the last turn: tools, with the file or the scripts that they are about. */
function callsAbout(events: readonly LogEvent[]): string[] {
  const { turn } = all(events, "turn.started").at(-1) ?? {};
  const made = all(events, "message.assistant").filter((message) => message.turn === turn);
  return made
    .flatMap(({ calls = [] }) => calls)
    .map(({ name, arguments: json }) => {
      const { path, command = "" } = JSON.parse(json);
      return [name, path ?? [...String(command).matchAll(/\w+\.py/g)].join(" ")].join(" ").trim();
    });
}

async function drop(yard: TestYard, id: string, text: string, files: string[]) {
  await must(yard.client.call("sendMessage", { params: { id }, body: { text, mode: "queue", files } }));
  return yard.whenAtRest(id);
}

test("the demo model makes slides and reports by the shipped skills, whatever stands in the topic, and none that are not wanted [M5][K1][X3][X6]", {
  skip: cannotUseSkills,
}, async (t) => {
  const data = shippedSkills(t, "slides", "data-analysis");
  await using yard = await startYard({ data, runsCode: true });
  const conversation = await newConversation(yard);
  // A topic is only words: it neither runs nor draws anything.
  const topic = "tea $(touch outputs/x); `id` 'q' ![a](/etc/passwd) # ../..";
  const english = await yard.ask(`make slides about ${topic}`, { conversation });
  const name = "tea-touch-outputs-x-id-q-a-etc-p";
  assert.deepEqual(Object.keys(filesOf(yard, conversation)).sort(), [`${name}-outline.md`, `${name}.pptx`]);
  assert.deepEqual(callsAbout(english.events), [
    "read_file skills/slides/SKILL.md",
    `write_file outputs/${name}-outline.md`,
    "run_bash_command pptx_make.py pptx_check.py",
  ]);
  assert.match(english.answer, /not an AI[\s\S]*I followed the skill `slides`[\s\S]*\.pptx` \(6 slides\)/);
  assert.match(filesOf(yard, conversation)[`${name}.pptx`] ?? "", /^\d+ PK/);
  for (const text of ["search for slides about tea", "read slides.pptx", "what are slides?"]) {
    const { events } = await yard.ask(text, { conversation });
    assert.ok(!callsAbout(events).some((call) => call.startsWith("run_bash")), text);
  }
  await must(yard.client.upload(conversation, "sales.csv", Buffer.from(table)));
  const dropped = await drop(yard, conversation, "#sales.csv", ["uploads/sales.csv"]);
  assert.deepEqual(callsAbout(dropped.events), [
    "read_file skills/data-analysis/SKILL.md",
    "run_bash_command profile_table.py report.py",
  ]);
  assert.match(
    dropped.answer,
    /I followed the skill `data-analysis`[\s\S]*`uploads\/sales\.csv`: 4 rows, 4 columns\.[\s\S]*\| amount \| number \| 3 \| 1 \| 95\.5 \| 300 \| 171\.8333 \| 120 \| 515\.5 \|[\s\S]*The report is in `outputs\/sales-report\.md`, with 4 charts beside it \(`outputs\/sales-report-1\.png`/,
  );
  assert.match(filesOf(yard, conversation)["sales-report-1.png"] ?? "", /^\d+ \x89PNG/);
});

test("code and sums that somebody writes to the demo model run in the sandbox, in both languages [M5][X1]", {
  skip: cannotRunCode,
}, async () => {
  await using yard = await startYard({ runsCode: true });
  const conversation = await newConversation(yard);
  const english = await yard.ask("run python: n = 6\nprint(n * 7)", { conversation });
  assert.match(english.answer, /not an AI[\s\S]*I ran it, and this came back:\n\n```\n42\n/);
  const fenced = await yard.ask("```js\nconsole.log([1, 2].map((n) => n * 2))\n```", { conversation });
  assert.match(fenced.answer, /^I ran it, and this came back:\n\n```\n\[ 2, 4 \]\n/);
  assert.match((await yard.ask("17 * 23 等于多少？", { conversation })).answer, /^已运行，返回的是：\n\n```\n391\n/);
  assert.match((await yard.ask("run python: print(n + missing)", { conversation })).answer, /NameError: .*missing/);
});

test("without a sandbox the demo model says so, and gives what can be had without one [M5][K1][X1]", async (t) => {
  const data = shippedSkills(t, "slides", "data-analysis");
  await using yard = await startYard({ data, approves: true });
  const conversation = await newConversation(yard);
  await must(yard.client.upload(conversation, "sales.csv", Buffer.from(table)));
  const slides = await yard.ask("slides about tea", { conversation });
  assert.match(
    slides.answer,
    /not an AI[\s\S]*I cannot run the scripts of the skill `slides` here: There is no sandbox in this test\. To get it: Use a real one\. .*So there is no PowerPoint file\. The outline is in `outputs\/tea-outline\.md`\.$/,
  );
  assert.match(filesOf(yard, conversation)["tea-outline.md"] ?? "", /# tea\nMade by AgentYard's demo model\n/);
  const read = await drop(yard, conversation, "analyse this table", ["uploads/sales.csv"]);
  assert.deepEqual(callsAbout(read.events), [
    "read_file skills/data-analysis/SKILL.md",
    "run_bash_command profile_table.py report.py",
    "read_file uploads/sales.csv",
  ]);
  assert.match(read.answer, /^I cannot run code here: [\s\S]*`uploads\/sales\.csv`: 4 rows, 1 column of numbers\./);
  assert.match(
    (await yard.ask("which skills are there?", { conversation })).answer,
    /- `data-analysis`: Analyse tables/,
  );
  assert.match(
    (await yard.ask("run python: print(1)", { conversation })).answer,
    /^I cannot run code here: There is no sandbox in this test\. To get it: Use a real one\./,
  );
});
