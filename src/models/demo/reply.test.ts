import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { errorForModel } from "../../tools/tools.ts";
import { forModels } from "../../words/words.ts";
import type { FoundServer } from "../detect.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

type Calls = readonly (readonly [name: string, parameters: Record<string, unknown>])[];
type Results = Readonly<Record<string, string | ((parameters: Record<string, unknown>) => string)>>;
type Files = Readonly<Record<string, string>>;

const tools = (
  "now todo_write todo_read list_files find_files read_file write_file edit_file search_file run_bash_command " +
  "execute_code"
).split(" ");

/** What the demo model says and calls, with tools that answer from these files, or as told. */
async function say(prompt: string, files: Files = {}, results: Results = {}, found: readonly FoundServer[] = []) {
  const messages: ChatRequest["messages"] = [{ role: "user", content: prompt }];
  const made: [name: string, parameters: Record<string, unknown>][] = [];
  for (let requests = 1; requests <= 10; requests += 1) {
    const request = { model: "demo", messages, tools: tools.map((name) => ({ function: { name } })) };
    const options = { clock: systemClock, ids: systemIds, findServers: async () => [...found] };
    const { text, calls } = await replyTo(request, options);
    if (calls.length === 0) return { text, calls: made };
    messages.push({
      role: "assistant",
      content: text,
      tool_calls: calls.map(({ id, name, arguments: json }) => ({ id, function: { name, arguments: json } })),
    });
    for (const { id, name, arguments: json } of calls) {
      const parameters: Record<string, unknown> = JSON.parse(json);
      made.push([name, parameters]);
      const given = results[name] ?? resultOf(name, String(parameters.path), files);
      messages.push({ role: "tool", tool_call_id: id, content: typeof given === "string" ? given : given(parameters) });
    }
  }
  throw new Error("the demo model does not come to an end");
}

function resultOf(tool: string, path: string, files: Files): string {
  const { listed, listEmpty, header, lines } = forModels.files;
  const text = files[path];
  if (tool === "list_files") {
    const below = Object.entries(files).filter(([name]) => name.startsWith(`${path}/`));
    return below.map(([name, { length }]) => listed.file(name, length)).join("\n") || listEmpty(path);
  }
  if (tool === "find_files") return "";
  if (tool !== "read_file") return "Success";
  if (text === undefined) return failed(makeFailure("file_not_found", { path, near: "" }));
  return `${header(path, `${lines(1, 1, 1)}, ${text.length} bytes, UTF-8`)}\n${text.trimEnd()}`;
}

const failed = (failure: Failure) => errorForModel(failure);

test("demo model: names the lines that connect a real model, and the servers of this machine with what to mend [M4][M5]", async () => {
  const { text } = await say("How do I connect a real model?");
  for (const line of ["OPENAI_API_KEY=sk-…", "MODEL_BASIC_BASE_URL=https://…/v1", "MODEL_BASIC_ID=qwen3"])
    assert.ok(text.includes(`\n${line}\n`), line);
  const command = "OLLAMA_CONTEXT_LENGTH=65536 ollama serve";
  const advice = { code: "served_window_small", model: "qwen3:8b", tokens: 4_096, command } as const;
  const models = [{ id: "qwen3:8b", windowTokens: 4_096, tools: true, advice }];
  const found: FoundServer = { kind: "ollama", baseUrl: "http://127.0.0.1:11434/v1", models };
  assert.match(
    (await say("connect a model", {}, {}, [found])).text,
    /qwen3:8b on Ollama \(window: 4,096 tokens, tools: yes\)\n\n```\nMODEL_BASIC_BASE_URL=http:\/\/127\.0\.0\.1:11434\/v1\nMODEL_BASIC_ID=qwen3:8b\n```\n\n.*OLLAMA_CONTEXT_LENGTH=65536 ollama serve/,
  );
});

const files = { "uploads/x.csv": "n\n1\n", "outputs/notes.txt": "red car\n", "outputs/two words.txt": "x" };
const write = (path: string, content: string): Calls => [["write_file", { path, content }]];
const search = (query: string, path?: string): Calls => [["search_file", { query, ...(path && { path }) }]];
const shell = (command: string): Calls => [["run_bash_command", { command }]];
const run = (language: string, code: string): Calls => [["execute_code", { language, code }]];

/** What people say, in English and Chinese, and what is called. */
const orders: readonly (readonly [prompt: string, calls: Calls])[] = [
  ["write a note: call Ada at 5", write("outputs/note.txt", "call Ada at 5\n")],
  ["Please create a file called plan.md with:\n# Plan\n\n- one", write("outputs/plan.md", "# Plan\n\n- one\n")],
  ["write hello world into temp/a.txt", write("temp/a.txt", "hello world\n")],
  ["写一个文件 你好.txt，内容是今天开会", write("outputs/你好.txt", "今天开会\n")],
  ["请把“你好”保存到 b.txt", write("outputs/b.txt", "你好\n")],
  ["search my files for red car", search("red car")],
  ["search outputs for red", search("red", "outputs")],
  ["在 outputs/notes.txt 里查找 red", search("red", "outputs/notes.txt")],
  ["delete uploads/x.csv", shell("rm -- uploads/x.csv")],
  ["请把 uploads/x.csv 删掉", shell("rm -- uploads/x.csv")],
  ['delete "outputs/two words.txt"', shell("rm -- 'outputs/two words.txt'")],
  ["run echo hello", shell("echo hello")],
  ["Please execute the command `seq 3 | wc -l`.", shell("seq 3 | wc -l")],
  ["请执行命令：`date`", shell("date")],
  ["run python: print(6 * 7)", run("python", "print(6 * 7)")],
  ["execute some code in JavaScript: console.log(1)", run("javascript", "console.log(1)")],
  ["bash: ls -l", run("bash", "ls -l")],
  ["Can you run this?\n```js\nconsole.log(1)\n```", run("javascript", "console.log(1)")],
  ["请运行这段代码：\nprint('你好')", run("python", "print('你好')")],
  ["What is 17 * 23?", run("python", "print(17 * 23)")],
  ["calculate (1 + 2) ^ 3", run("python", "print((1 + 2) ** 3)")],
  ["17 + 4 等于多少？", run("python", "print(17 + 4)")],
];

test("demo model: writes, searches, deletes and runs what it is told to, in both languages [M5][H1][X1]", async () => {
  for (const [prompt, calls] of orders) assert.deepEqual((await say(prompt, files)).calls, calls, prompt);
});

const noOrders = [
  ...["search the web for cats", "在网上搜索猫", "run the numbers", "how do I run ls?", "运行一下这个项目"],
  ...["what is python?", "What is this?\n```python\nprint(1)\n```", "```\njust a text\n```", "run code:", "2026-11-18"],
  ...["+49 (30) 123456", "42", "remove my doubts", "删除我的烦恼", "write a poem about files"],
];

test("demo model: what only sounds like an order calls nothing [M5]", async () => {
  for (const prompt of noOrders) assert.deepEqual((await say(prompt, files)).calls, [], prompt);
});

test("demo model: a text that is nearly an order is read at once, whatever it repeats [M5][Q2]", async () => {
  const blanks = " ".repeat(45_000);
  const texts = [
    ...["算".repeat(290), "请帮我".repeat(90), `算${"算".repeat(48_000)}`, `1${" + 1".repeat(10_000)}`],
    ...[`运行${blanks}x`, `运行 pythonic${blanks}x`, `run${blanks}python${blanks.slice(1_000)}x`.slice(0, 49_000)],
    ...[`python${blanks}x`, `run print(${")(".repeat(20_000)}`, `please ${"please, ".repeat(6_000)}`],
  ];
  for (const text of texts) assert.deepEqual((await say(text)).calls, [], text.slice(0, 20));
});

test("demo model: a failed or rejected call is told in one sentence, and not as done [M5][H2][W7]", async () => {
  const path = "outputs/notes.txt";
  const near = failed(makeFailure("file_not_found", { path, near: "outputs/a.txt" }));
  const missing = await say(`read ${path}`, files, { read_file: near });
  assert.match(missing.text, /There is no file `outputs\/notes\.txt`; did you mean outputs\/a\.txt\?$/);
  const rejected = failed(makeFailure("tool_rejected", { tool: "run_bash_command", why: ": keep it" }));
  const kept = await say("delete uploads/x.csv", files, { run_bash_command: rejected });
  assert.match(kept.text, /You rejected `run_bash_command`, so I left it\.$/);
});

const python = "/usr/bin/python3";
const noPython = !existsSync(python) && "there is no /usr/bin/python3 here";

const sales =
  '\uFEFFcity,units,price,day\r\nOslo,12,"1,000.50",2026-01-02\r\nRio,,n/a,2026-01-03\r\nOslo,30,¥2.25,2026-02-01\r\n\r\n';
const profile = [
  "This came with your message:\n\n- `uploads/sales.csv` (csv)\n\n`uploads/sales.csv`: 3 rows, 4 columns.\n",
  "| Column | Type | Values | Gaps | Smallest | Largest | Mean | Median | Sum |",
  "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  "| city | text | 3 | 0 |  |  |  |  |  |",
  "| units | number | 2 | 1 | 12 | 30 | 21 | 21 | 42 |",
  "| price | number | 2 | 1 | 2.25 | 1,000.5 | 501.375 | 501.375 | 1,002.75 |",
  "| day | date | 3 | 0 | 2026-01-02 | 2026-02-01 |  |  |  |",
  "\n2 gaps, in units, price.\n\n- city: 2 different values, most often “Oslo” (2 times).",
].join("\n");

test("demo model: profiles a table by code, also with plain Python only [M5][X1]", {
  skip: noPython,
}, async (t: TestContext) => {
  const folder = folderWith(t, { "uploads/sales.csv": sales });
  const execute_code = ({ code }: Record<string, unknown>) => {
    const env = { LANG: "C.UTF-8", HOME: folder, PYTHONWARNINGS: "ignore" };
    const ended = spawnSync(python, ["-I", "-S", "-c", String(code)], { cwd: folder, encoding: "utf8", env });
    return `${ended.stdout}${ended.stderr}[exit code ${ended.status}, 1 s]`;
  };
  const prompt = "#sales.csv\n\nUploaded files:\n- sales.csv → uploads/sales.csv (csv)";
  const { calls, text } = await say(prompt, { "uploads/sales.csv": sales }, { execute_code });
  assert.equal(calls.length, 1);
  assert.ok(text.includes(profile), text);
  assert.ok(text.endsWith("because matplotlib is missing in the sandbox; `agentyard doctor` tells how to get it."));
});
