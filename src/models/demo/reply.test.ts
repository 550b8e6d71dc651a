import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { errorForModel } from "../../tools/tools.ts";
import { forModels } from "../../words/words.ts";
import type { FoundServer } from "../detect.ts";
import { type ReplyOptions, replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const builtins: readonly string[] = ["now", "todo_write", "todo_read", "ask_human"];
const results: Readonly<Record<string, string>> = {
  now: "2026-03-01 18:05:00 Sunday (UTC)\n2026-03-01T18:05:00Z (UTC)",
  todo_write: "✅ TODO 列表已更新: 3 个待完成, 0 个已完成 (list updated: 3 open, 0 done)",
  todo_read: "- [in_progress] water the flowers",
  ask_human: "Ada",
};

test("it tells the exact lines that connect a real model [M5]", async () => {
  const { text } = await startTalk().say("How do I connect a real model?");
  const lines = [
    "OPENAI_API_KEY=sk-…",
    "MODEL_BASIC_API_KEY=…",
    "MODEL_BASIC_BASE_URL=https://…/v1",
    "MODEL_BASIC_ID=…",
    "MODEL_BASIC_BASE_URL=http://127.0.0.1:11434/v1",
    "MODEL_BASIC_ID=qwen3",
  ];
  assert.deepEqual(
    lines.filter((line) => !text.includes(`\n${line}\n`)),
    [],
  );
});

test("it offers the local servers it was told of, with what to mend first [M5]", async () => {
  const advice = {
    code: "served_window_small",
    model: "qwen3:8b",
    tokens: 4_096,
    command: "OLLAMA_CONTEXT_LENGTH=65536 ollama serve",
  } as const;
  const found: FoundServer = {
    kind: "ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    models: [{ id: "qwen3:8b", windowTokens: 4_096, tools: true, advice }],
  };
  const findServers = async () => [found];
  assert.match(
    (await startTalk({ findServers }).say("connect a model")).text,
    /qwen3:8b on Ollama \(window: 4,096 tokens, tools: yes\)\n\n```\nMODEL_BASIC_BASE_URL=http:\/\/127\.0\.0\.1:11434\/v1\nMODEL_BASIC_ID=qwen3:8b\n```\n\n.*OLLAMA_CONTEXT_LENGTH=65536 ollama serve/,
  );
  assert.match(
    (await startTalk({ findServers }).say("接入模型")).text,
    /Ollama 上的 qwen3:8b（上下文窗口：4,096 tokens，工具调用：支持）/,
  );
});

test("a rejected or failed call is reported, not repeated [M5]", async () => {
  const rejected = await startTalk({
    results: { now: "Error: tool_rejected: The user rejected now. Go on without it." },
  }).say("what time is it?");
  assert.deepEqual([rejected.calls.length, /You rejected `now`/.test(rejected.text)], [1, true]);
  const half = await startTalk({ results: { now: "Error: tool_timeout: now took too long." } }).say(
    "do two things at once",
  );
  assert.match(half.text, /\n\n- `now` did not work \(tool_timeout\)\.\n- `todo_read`: .*water the flowers$/);
  const chinese = await startTalk({ results: { todo_write: "Error: tool_rejected: no" } }).say("计划一次旅行");
  assert.match(chinese.text, /您拒绝了 `todo_write`/);
});

type Talk = Partial<ReplyOptions> & {
  tools?: readonly string[];
  toolChoice?: string;
  results?: Readonly<Record<string, string>>;
};

/** A conversation: says something and answers the calls, until there is a text. */
function startTalk({ tools = builtins, toolChoice, results: own, ...options }: Talk = {}) {
  const messages: ChatRequest["messages"] = [{ role: "system", content: "You are the agent of AgentYard." }];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const made: [name: string, parameters: Record<string, unknown>][] = [];
    for (let requests = 1; requests <= 5; requests += 1) {
      const { text, calls } = await reply({ messages, tool_choice: toolChoice }, tools, options);
      if (calls.length === 0) {
        messages.push({ role: "assistant", content: text });
        return { text, calls: made, requests };
      }
      messages.push({
        role: "assistant",
        content: null,
        tool_calls: calls.map(({ id, name }) => ({ id, function: { name } })),
      });
      for (const { id, name, arguments: parameters } of calls) {
        made.push([name, JSON.parse(parameters)]);
        messages.push({ role: "tool", tool_call_id: id, content: own?.[name] ?? results[name] });
      }
    }
    throw new Error("the demo model does not come to an end");
  };
  return { say };
}

function reply(
  chat: Pick<ChatRequest, "messages" | "tool_choice">,
  tools = builtins,
  options: Partial<ReplyOptions> = {},
) {
  const offered = tools.map((name) => ({ function: { name } }));
  return replyTo(
    { model: "demo", tools: offered, ...chat },
    { clock: systemClock, ids: systemIds, findServers: async () => [], ...options },
  );
}

const sales = "city,units,price\nOslo,12,9.5\nRio,30,10\n";
const files = {
  "uploads/sales.csv": sales,
  "uploads/销售数据.csv": "城市;金额\n北京;1,5\n",
  "outputs/notes.txt": "red car\n",
};
const look = [
  ["list_files", { path: "uploads" }],
  ["list_files", { path: "outputs" }],
];

test("it writes the user's own text into outputs and says where [M5]", async () => {
  const cases: [prompt: string, path: string, content: string][] = [
    ["write a note: call Ada at 5", "outputs/note.txt", "call Ada at 5\n"],
    ["Please create a file called plan.md with:\n# Plan\n\n- one", "outputs/plan.md", "# Plan\n\n- one\n"],
    ["write hello world into temp/a.txt", "temp/a.txt", "hello world\n"],
    ["save “two words” to b.txt.", "outputs/b.txt", "two words\n"],
    ["write a file", "outputs/note.txt", "Written by AgentYard's demo model.\n"],
    ["写一个文件 你好.txt，内容是今天开会", "outputs/你好.txt", "今天开会\n"],
    ["写一条笔记：给小王打电话", "outputs/笔记.txt", "给小王打电话\n"],
    ["请把“你好”保存到 b.txt", "outputs/b.txt", "你好\n"],
  ];
  for (const [prompt, path, content] of cases) {
    const { calls, text } = await startDemoTalk(files).say(prompt);
    assert.deepEqual(calls, [["write_file", { path, content }]], prompt);
    assert.ok(text.includes(`\`${path}\``), text);
  }
});

test("it searches one file, a folder or all files [M5]", async () => {
  const cases: [prompt: string, ...calls: unknown[]][] = [
    ["search my files for red car", ["search_file", { query: "red car" }]],
    ["search for “red”", ["search_file", { query: "red" }]],
    ["search outputs for red", ["search_file", { query: "red", path: "outputs" }]],
    ["find red in notes.txt", ...look, ["search_file", { query: "red", path: "outputs/notes.txt" }]],
    ["在文件中搜索 red", ["search_file", { query: "red" }]],
    ["在 outputs/notes.txt 里查找 red", ["search_file", { query: "red", path: "outputs/notes.txt" }]],
    ["搜索red", ["search_file", { query: "red" }]],
  ];
  for (const [prompt, ...wanted] of cases) {
    const { calls, text } = await startDemoTalk(files).say(prompt);
    assert.deepEqual(calls, wanted, prompt);
    assert.match(text, /“red( car)?”[\s\S]*outputs\/notes\.txt:1\n\*\*red( car)?\*\*/, prompt);
  }
  assert.match(
    (await startDemoTalk(files).say("search my files for blue")).text,
    /I found “blue” in none of these files\./,
  );
  for (const prompt of ["search the web for cats", "在网上搜索猫"])
    assert.deepEqual((await startDemoTalk(files).say(prompt)).calls, [], prompt);
});

const filesOfFailures = { "uploads/a.txt": "red\n" };
const path = "uploads/a.txt";
const missing = failedResult(makeFailure("file_not_found", { path, near: "outputs/a.txt, outputs/b.txt" }));
const setting = "AGENTYARD_SETTING";

const cases: [result: string, prompt: "read" | "write" | "change", told: string][] = [
  [missing, "read", "There is no file `uploads/a.txt`; did you mean outputs/a.txt, outputs/b.txt?"],
  [
    failedResult(makeFailure("file_not_found", { path, near: "" })),
    "read",
    "There is no file `uploads/a.txt`; “list my files” shows what is there, and `#` before a name sends one of yours along.",
  ],
  [
    failedResult(makeFailure("path_traversal_blocked", { path })),
    "read",
    "`uploads/a.txt` is not one of the files of this conversation, and I reach no others; `#` before a name sends one of yours along.",
  ],
  [
    `${forModels.files.notFound(path)} ${forModels.files.nothingNear(path)}`,
    "change",
    "“red” does not stand in `uploads/a.txt`, so I changed nothing.",
  ],
  [
    `${forModels.files.unseen(path, "write_file")}\n=== ${path} ===\nred`,
    "change",
    "`uploads/a.txt` has content that I have not seen, so I left it as it is; let me read it first, then ask again.",
  ],
  [
    failedResult(makeFailure("quota_exceeded", { path, what: "bytes", limit: 9, setting })),
    "write",
    "There is no room left for `outputs/a.txt`; delete files that are no longer needed, then ask again.",
  ],
  [failedResult(makeFailure("read_failed", { path, why: "io" })), "read", "`read_file` did not work (read_failed)."],
];

const promptsOfFailures = {
  read: { tool: "read_file", prompt: "read uploads/a.txt" },
  write: { tool: "write_file", prompt: "write hello to a.txt" },
  change: { tool: "edit_file", prompt: "change red to blue in uploads/a.txt" },
};

test("demo model: tells a failed call in one sentence [M5][W7]", async () => {
  for (const [result, kind, told] of cases) {
    const { tool, prompt } = promptsOfFailures[kind];
    const { text } = await startDemoTalk(filesOfFailures, { results: { [tool]: result } }).say(prompt);
    assert.equal(text.split("\n\n").at(-1), told);
  }
});

const present = { "uploads/x.csv": "n\n1\n", "outputs/two words.txt": "x" };
const talk = (results: TalkOptions["results"] = {}) =>
  startDemoTalk(present, {
    and: ["run_bash_command"],
    results: { run_bash_command: "(no output)", ...results },
  });
const shell = (command: string) => ["run_bash_command", { command }];

test("who tells the demo model to delete a file makes it call the shell, in both languages [M5][H1]", async () => {
  const cases: [prompt: string, command: string, told: RegExp][] = [
    ["delete uploads/x.csv", "rm -- uploads/x.csv", /I deleted `uploads\/x\.csv`\. `\/undo` undoes it\.$/],
    ["Please remove uploads/x.csv.", "rm -- uploads/x.csv", /I deleted `uploads\/x\.csv`/],
    ["删除 uploads/x.csv", "rm -- uploads/x.csv", /已删除 `uploads\/x\.csv`。/],
    ["请把 uploads/x.csv 删掉", "rm -- uploads/x.csv", /已删除 `uploads\/x\.csv`。/],
    ['delete "outputs/two words.txt"', "rm -- 'outputs/two words.txt'", /I deleted `outputs\/two words\.txt`/],
  ];
  for (const [prompt, command, told] of cases) {
    const { calls, text } = await talk().say(prompt);
    assert.deepEqual(calls, [shell(command)], prompt);
    assert.match(text, told, prompt);
  }
  const named = await talk().say("delete x.csv");
  assert.deepEqual(named.calls.at(-1), shell("rm -- uploads/x.csv"));
});

const talkOfCommandIntent = () =>
  startDemoTalk({}, { and: ["run_bash_command"], results: { run_bash_command: "hello" } });

test("who tells the demo model to run a command sees it run, and what came back, in both languages [M5][H1]", async () => {
  const cases: [prompt: string, command: string, told: RegExp][] = [
    ["run echo hello", "echo hello", /this came back:[\s\S]*hello/],
    ["Please execute the command `seq 3 | wc -l`.", "seq 3 | wc -l", /this came back:/],
    ["运行 ls -l", "ls -l", /返回的是：[\s\S]*hello/],
    ["请执行命令：`date`", "date", /返回的是：/],
  ];
  for (const [prompt, command, told] of cases) {
    const { calls, text } = await talkOfCommandIntent().say(prompt);
    assert.deepEqual(calls, [["run_bash_command", { command }]], prompt);
    assert.match(text, told, prompt);
  }
});

test("what only sounds like a command is none [M5]", async () => {
  for (const prompt of ["run a company of agents", "run the numbers", "how do I run ls?", "运行一下这个项目"]) {
    const { calls } = await talkOfCommandIntent().say(prompt);
    assert.ok(!calls.some(([name]) => name === "run_bash_command"), prompt);
  }
});

const talkOfRunCode = (result = "42") =>
  startDemoTalk({}, { and: ["execute_code", "run_bash_command"], results: { execute_code: result } });

const wishes: [prompt: string, language: string, code: string][] = [
  ["run python: print(6 * 7)", "python", "print(6 * 7)"],
  ["Please run this Python code:\nfor i in range(3):\n    print(i)", "python", "for i in range(3):\n    print(i)"],
  ["execute some code in JavaScript: console.log(1)", "javascript", "console.log(1)"],
  ["run python: `print(1)`", "python", "print(1)"],
  ["bash: ls -l", "bash", "ls -l"],
  ["```python\nprint(1)\n```", "python", "print(1)"],
  ["Can you run this?\n```js\nconsole.log(1)\n```", "javascript", "console.log(1)"],
  ["运行 python：print(6 * 7)", "python", "print(6 * 7)"],
  ["请运行这段代码：\nprint('你好')", "python", "print('你好')"],
  ["What is 17 * 23?", "python", "print(17 * 23)"],
  ["calculate (1 + 2) ^ 3", "python", "print((1 + 2) ** 3)"],
  ["计算 3 - 1.5", "python", "print(3 - 1.5)"],
  ["17 + 4 等于多少？", "python", "print(17 + 4)"],
];
test("demo model: runs the code that it is given [M5][X1]", async () => {
  for (const [prompt, language, code] of wishes) {
    const { calls, text } = await talkOfRunCode().say(prompt);
    assert.deepEqual(calls, [["execute_code", { language, code }]], prompt);
    assert.match(text, /(this came back|返回的是)[:：]\n\n```\n42\n```$/);
  }
});

test("what only looks like code or a sum is none [M5]", async () => {
  const prompts = [
    "what is python?",
    "运行 pythonic things",
    "run the numbers",
    "What is this?\n```python\nprint(1)\n```",
    "```\njust a text\n```",
    "run this:\n```python\n1\n```\nand this:\n```python\n2\n```",
    "```rust\nfn main() {}\n```",
    "run code:",
    "2026-11-18",
    "1.2.3",
    "+49 (30) 123456",
    "42",
    "how do I run python code?",
  ];
  for (const prompt of prompts) {
    const { calls } = await talkOfRunCode().say(prompt);
    assert.ok(!calls.some(([name]) => name === "execute_code"), prompt);
  }
});

test("a text that is nearly an order is read at once, whatever it repeats [M5][Q2]", async () => {
  const blanks = " ".repeat(45_000);
  const texts = [
    ...["算".repeat(290), "请帮我".repeat(90), `算${"算".repeat(48_000)}`, `1${" + 1".repeat(10_000)}`],
    ...[`运行${blanks}x`, `运行 pythonic${blanks}x`, `run${blanks}python${blanks.slice(1_000)}x`.slice(0, 49_000)],
    ...[`python${blanks}x`, `run print(${")(".repeat(20_000)}`, `please ${"please, ".repeat(6_000)}`],
  ];
  for (const text of texts) assert.deepEqual((await talkOfRunCode().say(text)).calls, [], text.slice(0, 20));
});

const python = "/usr/bin/python3";
const noPython = !existsSync(python) && "there is no /usr/bin/python3 here";

const salesOfCodeProfile =
  '\uFEFFcity,units,price,day\r\nOslo,12,"1,000.50",2026-01-02\r\nRio,,n/a,2026-01-03\r\nOslo,30,¥2.25,2026-02-01\r\n\r\n';
const sent = (text: string, name: string) => `${text}\n\nUploaded files:\n- ${name} → uploads/${name} (csv)`;

/** A talk in which code really runs, by this Python and in a folder of its own. */
function talkWithCode(t: TestContext, files: TalkFiles, options: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-demo-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, path.includes("gbk") ? "latin1" : "utf8");
  }
  const printed: string[] = [];
  const run = ({ code }: Record<string, unknown>) => {
    const env = { LANG: "C.UTF-8", MPLBACKEND: "agg", MPLCONFIGDIR: folder, HOME: folder, PYTHONWARNINGS: "ignore" };
    const ended = spawnSync(python, [...options, "-c", String(code)], { cwd: folder, encoding: "utf8", env });
    printed.push(ended.stdout);
    return `${ended.stdout}${ended.stderr}[exit code ${ended.status}, 1 s]`;
  };
  const talk = startDemoTalk(files, { and: ["execute_code"], results: { execute_code: run } });
  return { ...talk, folder, printed };
}

const tableOfCodeProfile = [
  "| Column | Type | Values | Gaps | Smallest | Largest | Mean | Median | Sum |",
  "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  "| city | text | 3 | 0 |  |  |  |  |  |",
  "| units | number | 2 | 1 | 12 | 30 | 21 | 21 | 42 |",
  "| price | number | 2 | 1 | 2.25 | 1,000.5 | 501.375 | 501.375 | 1,002.75 |",
  "| day | date | 3 | 0 | 2026-01-02 | 2026-02-01 |  |  |  |",
].join("\n");

test("demo model: profiles a table by code, also with plain Python only [M5][X1]", { skip: noPython }, async (t) => {
  const { say } = talkWithCode(t, { "uploads/sales.csv": salesOfCodeProfile }, ["-I", "-S"]);
  const { calls, text } = await say(sent("#sales.csv", "sales.csv"));
  assert.deepEqual(
    calls.map(([name, { timeout }]) => [name, timeout]),
    [["execute_code", 300]],
  );
  const [, came, head, shown, gaps, often, chart] = text.split("\n\n");
  assert.deepEqual(
    [came, head, shown, gaps, often],
    [
      "This came with your message:",
      "- `uploads/sales.csv` (csv)",
      "`uploads/sales.csv`: 3 rows, 4 columns.",
      tableOfCodeProfile,
      "2 gaps, in units, price.",
    ],
  );
  assert.equal(chart, "- city: 2 different values, most often “Oslo” (2 times).");
  assert.ok(text.endsWith("because matplotlib is missing in the sandbox; `agentyard doctor` tells how to get it."));
});

type TalkFiles = Readonly<Record<string, string>>;
type Parameters = Record<string, unknown>;
type TalkOptions = {
  /** What a tool answers in place of its usual result. */
  readonly results?: Readonly<Record<string, string | ((parameters: Parameters) => string)>>;
  /** Tools that are offered too. */
  readonly and?: readonly string[];
  /** Tools that are not offered. */
  readonly without?: readonly string[];
};

const tools = "now todo_write todo_read list_files find_files read_file write_file edit_file search_file".split(" ");
const requestsMax = 10;

/** A conversation with the demo model in which the tools answer from these files in the form of the real ones. */
function startDemoTalk(present: TalkFiles, { results = {}, without = [], and = [] }: TalkOptions = {}) {
  const messages: ChatRequest["messages"] = [];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const made: [name: string, parameters: Parameters][] = [];
    for (let requests = 1; requests <= requestsMax; requests += 1) {
      const { text, calls } = await reply(
        { messages },
        [...tools, ...and].filter((name) => !without.includes(name)),
      );
      messages.push({
        role: "assistant",
        content: text,
        tool_calls: calls.map(({ id, name, arguments: json }) => ({ id, function: { name, arguments: json } })),
      });
      if (calls.length === 0) return { text, calls: made };
      for (const { id, name, arguments: json } of calls) {
        const parameters: Parameters = JSON.parse(json);
        made.push([name, parameters]);
        const given = results[name] ?? resultOf(name, parameters, present);
        const result = typeof given === "string" ? given : given(parameters);
        messages.push({ role: "tool", tool_call_id: id, content: result });
      }
    }
    throw new Error("the demo model does not come to an end");
  };
  return { say };
}

/** What a model reads of a failed call. */
function failedResult(failure: Failure): string {
  return errorForModel(failure);
}

function resultOf(tool: string, parameters: Parameters, present: TalkFiles): string {
  const path = String(parameters.path);
  switch (tool) {
    case "list_files":
      return listOf(path, present);
    case "find_files":
      return foundIn(present);
    case "read_file":
      return present[path] === undefined
        ? failedResult(makeFailure("file_not_found", { path, near: "" }))
        : pageOf(path, present[path], Number(parameters.offset ?? 1), Number(parameters.column ?? 1));
    case "search_file": {
      const query = String(parameters.query);
      return /^red/.test(query) ? `outputs/notes.txt:1\n**${query}**` : "No line matches.";
    }
    default:
      return "Success";
  }
}

function listOf(folder: string, present: TalkFiles): string {
  const { listed, listEmpty } = forModels.files;
  const lines = Object.entries(present).flatMap(([path, text]) => {
    if (!path.startsWith(`${folder}/`)) return [];
    const [name = "", ...below] = path.slice(folder.length + 1).split("/");
    return below.length === 0 ? listed.file(path, Buffer.byteLength(text)) : listed.folder(`${folder}/${name}`);
  });
  return lines.length === 0 ? listEmpty(folder) : [...new Set(lines)].join("\n");
}

function foundIn(present: TalkFiles): string {
  const { found, size, age } = forModels.files;
  return Object.entries(present)
    .map(([path, text]) => found(path, size(Buffer.byteLength(text)), age(0)))
    .join("\n");
}

const pageCharactersMax = 50_000;

function pageOf(path: string, text: string, offset: number, column: number): string {
  const all = text.replace(/\n$/, "").split("\n");
  const first = (all[offset - 1] ?? "").slice(column - 1);
  const { header, lines, more } = forModels.files;
  if (first.length > pageCharactersMax) {
    const head = header(path, `${lines(offset, offset, all.length)}, ${text.length} bytes, UTF-8`);
    return [head, first.slice(0, pageCharactersMax), more(path, offset, column + pageCharactersMax)].join("\n");
  }
  all[offset - 1] = first;
  let [last, characters] = [offset - 1, 0];
  while (last < all.length && characters + (all[last]?.length ?? 0) + 1 <= pageCharactersMax) {
    characters += (all[last]?.length ?? 0) + 1;
    last += 1;
  }
  const head = header(path, `${lines(offset, last, all.length)}, ${text.length} bytes, UTF-8`);
  const next = last < all.length ? `\n${more(path, last + 1)}` : "";
  return `${head}\n${all.slice(offset - 1, last).join("\n")}${next}`;
}
