import assert from "node:assert/strict";
import { cpSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { all } from "../world/events.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { cannotUseSkills, skillsFolder } from "../world/skill-guest.ts";
import { filesOf, newConversation } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

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
function madeCalls(events: readonly LogEvent[]): string[] {
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

test("the demo model makes slides and reports by the shipped skills, in both languages [M5][K1][X6]", {
  skip: cannotUseSkills,
}, async (t) => {
  const data = shippedSkills(t, "slides", "data-analysis");
  await using yard = await startYard({ data, runsCode: true });
  const conversation = await newConversation(yard);
  const english = await yard.ask("make slides about tea", { conversation });
  assert.deepEqual(madeCalls(english.events), [
    "read_file skills/slides/SKILL.md",
    "write_file outputs/tea-outline.md",
    "run_bash_command pptx_make.py pptx_check.py",
  ]);
  assert.match(english.answer, /not an AI[\s\S]*I followed the skill `slides`[\s\S]*`outputs\/tea\.pptx` \(6 slides\)/);
  assert.match(filesOf(yard, conversation)["tea.pptx"] ?? "", /^\d+ PK/);
  const again = await yard.ask("请帮我做一个关于中国茶的PPT", { conversation });
  assert.match(again.answer, /我按技能 `slides` 来做[\s\S]*“中国茶”的幻灯片在 `outputs\/中国茶\.pptx`（共 6 页）/);
  assert.match((await yard.ask("make slides about tea", { conversation })).answer, /`outputs\/tea\.pptx` \(6 slides\)/);

  await must(yard.client.upload(conversation, "sales.csv", Buffer.from(table)));
  const dropped = await drop(yard, conversation, "#sales.csv", ["uploads/sales.csv"]);
  assert.deepEqual(madeCalls(dropped.events), [
    "read_file skills/data-analysis/SKILL.md",
    "run_bash_command profile_table.py report.py",
  ]);
  assert.match(
    dropped.answer,
    /I followed the skill `data-analysis`[\s\S]*`uploads\/sales\.csv`: 4 rows, 4 columns\.[\s\S]*\| amount \| number \| 3 \| 1 \| 95\.5 \| 300 \| 171\.8333 \| 120 \| 515\.5 \|[\s\S]*The report is in `outputs\/sales-report\.md`, with 4 charts beside it \(`outputs\/sales-report-1\.png`/,
  );
  assert.match(filesOf(yard, conversation)["sales-report-1.png"] ?? "", /^\d+ \x89PNG/);
  const asked = await yard.ask("分析一下这个表格", { conversation });
  assert.match(asked.answer, /共 4 行，4 列。[\s\S]*报告在 `outputs\/sales-报告\.md`，旁边有 4 张图表/);
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
  const inChinese = await yard.ask("制作幻灯片，主题是茶", { conversation });
  assert.match(
    inChinese.answer,
    /^这里不能运行技能 `slides` 的脚本：.*所以没有 PowerPoint 文件。提纲在 `outputs\/茶-提纲\.md`。$/,
  );
  const read = await drop(yard, conversation, "analyse this table", ["uploads/sales.csv"]);
  assert.deepEqual(madeCalls(read.events), [
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
  assert.match(
    (await yard.ask("有哪些技能？", { conversation })).answer,
    /^这里的智能体有这些技能：\n\n- `data-analysis`: /,
  );
});

test("a topic is only words: it neither runs nor draws anything, and what is not wanted is not made [M5][K1][X3]", {
  skip: cannotUseSkills,
}, async (t) => {
  const data = shippedSkills(t, "slides");
  await using yard = await startYard({ data, runsCode: true });
  const conversation = await newConversation(yard);
  const hostile = await yard.ask("make slides about $(touch outputs/x); `id` 'q' ![a](/etc/passwd) # ../..", {
    conversation,
  });
  assert.match(hostile.answer, /`outputs\/touch-outputs-x-id-q-a-etc-passw\.pptx` \(6 slides\)/);
  assert.deepEqual(Object.keys(filesOf(yard, conversation)).sort(), [
    "touch-outputs-x-id-q-a-etc-passw-outline.md",
    "touch-outputs-x-id-q-a-etc-passw.pptx",
  ]);
  const long = await yard.ask(`做一份关于${"很长的题目".repeat(30)}的幻灯片`, { conversation });
  assert.match(long.answer, /（共 6 页）/);
  for (const text of ["search for slides about tea", "read slides.pptx", "what are slides?"]) {
    const { events } = await yard.ask(text, { conversation });
    assert.ok(!madeCalls(events).some((call) => call.startsWith("run_bash")), text);
  }
});

test("where the skill is not offered the demo model says so, and works on tables as before [M5][K1]", async () => {
  await using yard = await startYard();
  const conversation = await newConversation(yard);
  assert.match((await yard.ask("make slides about tea", { conversation })).answer, /I would follow the skill `slides`/);
  assert.match((await yard.ask("做一个PPT", { conversation })).answer, /^要做幻灯片，我需要按技能 `slides` 来做/);
  assert.match((await yard.ask("which skills are there", { conversation })).answer, /^No skill is offered to me here/);
  await must(yard.client.upload(conversation, "sales.csv", Buffer.from(table)));
  const read = await drop(yard, conversation, "#sales.csv", ["uploads/sales.csv"]);
  assert.deepEqual(madeCalls(read.events), ["execute_code", "read_file uploads/sales.csv"]);
});
