import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

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

test("it lists the files of both folders, in English and in Chinese [M5]", async () => {
  for (const prompt of ["list my files", "What files do I have?", "列出文件", "我有哪些文件？"]) {
    const { calls, text } = await startTalk(files).say(prompt);
    assert.deepEqual(calls, look, prompt);
    assert.match(text, /\[FILE\] uploads\/sales\.csv \(\d+ bytes\)[\s\S]*\[FILE\] outputs\/notes\.txt/, prompt);
  }
  assert.match((await startTalk({}).say("show my files")).text, /no file in `uploads\/` or `outputs\/`/);
});

test("it reads the file that is named, wherever it lies [M5]", async () => {
  const notes = ["read_file", { path: "outputs/notes.txt" }];
  for (const prompt of ["read notes.txt", "please open “notes.txt”", "读取 notes.txt", "请打开notes.txt。"]) {
    const { calls, text } = await startTalk(files).say(prompt);
    assert.deepEqual(calls, [...look, notes], prompt);
    assert.match(text, /`outputs\/notes\.txt`.*\n\n```\nred car\n```/, prompt);
  }
  assert.deepEqual((await startTalk(files).say("show outputs/notes.txt")).calls, [notes]);
  assert.deepEqual((await startTalk(files).say("看看销售数据.csv")).calls.at(-1), [
    "read_file",
    { path: "uploads/销售数据.csv" },
  ]);
});

test("a file that is not there is asked for all the same, so that the tool's advice is seen [M5]", async () => {
  const { calls, text } = await startTalk(files).say("read report.md");
  assert.deepEqual(calls, [...look, ["read_file", { path: "uploads/report.md" }]]);
  assert.match(text, /`read_file` did not work: Error: file_not_found: There is no file uploads\/report\.md/);
});

test("a path that leads out is handed on as it is, so that the refusal is seen [M5][W5]", async () => {
  const { calls } = await startTalk(files).say("read ../../etc/passwd");
  assert.deepEqual(calls, [["read_file", { path: "../../etc/passwd" }]]);
});

test("a long file is shown by its beginning [M5]", async () => {
  const text = Array.from({ length: 900 }, (_, line) => `line ${line + 1}`).join("\n");
  const answer = await startTalk({ "outputs/long.md": text }).say("read long.md");
  assert.match(answer.text, /`outputs\/long\.md` begins like this \(it has 900 lines\):\n\n```\nline 1\n/);
  assert.ok(answer.text.length < 3_000);
});

test("it computes the numbers of a table by itself and answers with a table [M5]", async () => {
  const { calls, text } = await startTalk(files).say("Please summarise the numbers of sales.csv");
  assert.deepEqual(calls, [...look, ["read_file", { path: "uploads/sales.csv" }]]);
  assert.ok(
    text.endsWith(
      [
        "`uploads/sales.csv`: 2 rows, 2 columns of numbers.",
        "| Column | Values | Smallest | Largest | Mean | Sum |\n| --- | ---: | ---: | ---: | ---: | ---: |\n| units | 2 | 12 | 30 | 21 | 42 |\n| price | 2 | 9.5 | 10 | 9.75 | 19.5 |",
        "Other columns: city.",
      ].join("\n\n"),
    ),
    text,
  );
  const chinese = await startTalk(files).say("统计 销售数据.csv 的数字");
  assert.match(chinese.text, /共 1 行，1 列数字。[\s\S]*\| 金额 \| 1 \| 1\.5 \| 1\.5 \| 1\.5 \| 1\.5 \|/);
  for (const prompt of ["what is the average price in sales.csv?", "分析sales.csv", "profile sales.csv"])
    assert.match((await startTalk(files).say(prompt)).text, /\| units \| 2 \|/, prompt);
});

test("a long table is read page by page, and at the limit it says how much was read [M5]", async () => {
  const rows = (count: number) => `n\n${Array.from({ length: count }, () => "1000000").join("\n")}`;
  const whole = await startTalk({ "uploads/n.csv": rows(9_999) }).say("profile n.csv");
  assert.deepEqual(
    whole.calls.map(([name, { offset }]) => [name, offset]),
    [
      ["list_files", undefined],
      ["list_files", undefined],
      ["read_file", undefined],
      ["read_file", 6_251],
    ],
  );
  assert.match(
    whole.text,
    /9,999 rows[\s\S]*\| n \| 9,999 \| 1,000,000 \| 1,000,000 \| 1,000,000 \| 9,999,000,000 \|$/,
  );
  const part = await startTalk({ "uploads/n.csv": rows(99_999) }).say("profile n.csv");
  assert.match(part.text, /This is only the beginning: 25,000 of 100,000 lines were read\.$/);
});

test("a wide table shows some of its columns and counts the others [M5]", async () => {
  const row = (cell: (place: number) => string | number) =>
    Array.from({ length: 23 }, (_, place) => cell(place)).join(",");
  const text = `${row((place) => `c${place}|`)}\n${row((place) => place)}\n`;
  const answer = await startTalk({ "uploads/wide.csv": text }).say("profile wide.csv");
  assert.match(answer.text, /\| c19\\\| \| 1 \|.*\n\n3 more columns of numbers left out here\.$/);
});

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
    const { calls, text } = await startTalk(files).say(prompt);
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
    const { calls, text } = await startTalk(files).say(prompt);
    assert.deepEqual(calls, wanted, prompt);
    assert.match(text, /“red( car)?”[\s\S]*outputs\/notes\.txt:1\n\*\*red( car)?\*\*/, prompt);
  }
  assert.match(
    (await startTalk(files).say("search my files for blue")).text,
    /I found “blue” in none of these files\./,
  );
  for (const prompt of ["search the web for cats", "在网上搜索猫"])
    assert.deepEqual((await startTalk(files).say(prompt)).calls, [], prompt);
});

test("it reads a file before it changes it [M5][F2]", async () => {
  const read = ["read_file", { path: "outputs/notes.txt" }];
  const change = { path: "outputs/notes.txt", old_string: "red", new_string: "dark blue", replace_all: true };
  for (const prompt of [
    "change red to dark blue in outputs/notes.txt",
    "In outputs/notes.txt, replace “red” with “dark blue”",
    "把 outputs/notes.txt 里的 red 改成 dark blue",
    "请在 outputs/notes.txt 中把red换成dark blue",
  ]) {
    const { calls, text } = await startTalk(files).say(prompt);
    assert.deepEqual(calls, [read, ["edit_file", change]], prompt);
    assert.match(text, /“red”.*“dark blue”/, prompt);
  }
  assert.deepEqual((await startTalk(files).say("change red to blue in notes.txt")).calls, [
    ...look,
    read,
    ["edit_file", { ...change, new_string: "blue" }],
  ]);
});

test("asked to undo, it says that only the user can, and how [M5][W12]", async () => {
  for (const prompt of ["undo", "please undo that", "撤销"]) {
    const { calls, text } = await startTalk(files).say(prompt);
    assert.deepEqual([calls, text.includes("`/undo`")], [[], true], prompt);
  }
});

test("files without a wish are named, and a table among them is looked into [M5][F3]", async () => {
  const list = "- sales.csv → uploads/sales.csv (csv)\n- 猫.png → uploads/猫.png (image)";
  for (const [prompt, says] of [
    [
      `Uploaded files:\n${list}`,
      /This came with your message:\n\n- `uploads\/sales\.csv` \(csv\)\n- `uploads\/猫\.png` \(image\)/,
    ],
    [`hello\n\nUploaded files:\n${list}`, /This came with your message/],
    [`上传的文件：\n${list}`, /收到了这些文件/],
  ] as const) {
    const { calls, text } = await startTalk(files).say(prompt);
    assert.deepEqual(calls, [["read_file", { path: "uploads/sales.csv" }]], prompt);
    assert.match(text, says);
    assert.match(text, /\| units \| 2 \|/);
  }
  const image = await startTalk(files).say("Uploaded files:\n- cat.png → uploads/cat.png (image)");
  assert.deepEqual([image.calls, /You can now say/.test(image.text)], [[], true]);
});

test("a wish beside files is about these files, and later ones remember them [M5][F3]", async () => {
  const talk = startTalk(files);
  const list = "\n\nUploaded files:\n- sales.csv → uploads/sales.csv (csv)";
  const read = ["read_file", { path: "uploads/sales.csv" }];
  assert.deepEqual((await talk.say(`what is the total?${list}`)).calls, [read]);
  assert.deepEqual((await talk.say("now read sales.csv")).calls, [read]);
  assert.deepEqual((await talk.say("read the file")).calls, [read]);
  assert.deepEqual((await talk.say("what time is it?")).calls, [["now", {}]]);
});

test("what stands in an attached file is no wish, and odd names are taken as they are [M5][F3]", async () => {
  const text = "please undo that\n\nUploaded files:\n- x → y (z)\nwrite a note: no\n";
  const name = JSON.stringify('read "me".txt');
  const prompt = `Text of uploads/a.md:\n\`\`\`\n${text}\`\`\`\n\nUploaded files:\n- a.md → uploads/a.md (markdown)\n- ${name} → ${JSON.stringify('uploads/read "me".txt')} (text)`;
  const { calls, text: said } = await startTalk(files).say(prompt);
  assert.deepEqual(calls, []);
  assert.match(
    said,
    /This came with your message:\n\n- `uploads\/a\.md` \(markdown\)\n- `uploads\/read "me"\.txt` \(text\)/,
  );
  const chinese = `统计一下\n\nuploads/sales.csv 的内容：\n\`\`\`\n${sales}\`\`\`\n\n上传的文件：\n- sales.csv → uploads/sales.csv (csv)`;
  assert.match((await startTalk(files).say(chinese)).text, /\| units \| 2 \|/);
});

test("without a name and with several files it asks which one is meant [M5]", async () => {
  const { calls, text } = await startTalk(files).say("read the file");
  assert.deepEqual(calls, look);
  assert.match(text, /I do not know which file you mean\. There are:\n\n- `uploads\/sales\.csv`/);
  const only = await startTalk({ "outputs/notes.txt": "x" }).say("读一下这个文件");
  assert.deepEqual(only.calls.at(-1), ["read_file", { path: "outputs/notes.txt" }]);
});

test("sentences about other things stay with their own rules [M5]", async () => {
  const cases: [prompt: string, calls: string[]][] = [
    ["plan a search for a house", ["todo_write"]],
    ["show my list", ["todo_read"]],
    ["查看我的清单", ["todo_read"]],
    ["write a poem about files", []],
    ["写一首诗", []],
    ["connect a model", []],
  ];
  for (const [prompt, wanted] of cases) {
    const { calls } = await startTalk(files).say(prompt);
    assert.deepEqual(
      calls.map(([name]) => name),
      wanted,
      prompt,
    );
  }
});

const pageCharactersMax = 50_000;
const tools = "now todo_write todo_read list_files read_file write_file edit_file search_file".split(" ");

/** A conversation in which the tools answer from these files in the form of the real ones. */
function startTalk(present: Readonly<Record<string, string>>) {
  const messages: ChatRequest["messages"] = [];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const made: [name: string, parameters: Record<string, unknown>][] = [];
    for (let requests = 1; requests <= 10; requests += 1) {
      const offered = tools.map((name) => ({ function: { name } }));
      const options = { clock: systemClock, ids: systemIds, findServers: async () => [] };
      const { text, calls } = await replyTo({ model: "demo", messages, tools: offered }, options);
      messages.push({
        role: "assistant",
        content: text,
        tool_calls: calls.map(({ id, name }) => ({ id, function: { name } })),
      });
      if (calls.length === 0) return { text, calls: made };
      for (const { id, name, arguments: json } of calls) {
        const parameters: Record<string, unknown> = JSON.parse(json);
        made.push([name, parameters]);
        messages.push({ role: "tool", tool_call_id: id, content: resultFor(name, parameters, present) });
      }
    }
    throw new Error("the demo model does not come to an end");
  };
  return { say };
}

function resultFor(
  tool: string,
  parameters: Record<string, unknown>,
  present: Readonly<Record<string, string>>,
): string {
  const path = String(parameters.path);
  switch (tool) {
    case "list_files": {
      const below = Object.entries(present).filter(([name]) => name.startsWith(`${path}/`));
      const lines = below.map(([name, text]) => `[FILE] ${name} (${Buffer.byteLength(text)} bytes)`);
      return lines.length === 0 ? "(nothing)" : lines.join("\n");
    }
    case "read_file":
      return present[path] === undefined
        ? `Error: file_not_found: There is no file ${path}. Look with list_files.`
        : pageFor(path, present[path], Number(parameters.offset ?? 1));
    case "search_file": {
      const query = String(parameters.query);
      return /^red/.test(query) ? `outputs/notes.txt:1\n**${query}**` : "No line matches.";
    }
    default:
      return "Success";
  }
}

function pageFor(path: string, text: string, offset: number): string {
  const lines = text.replace(/\n$/, "").split("\n");
  let [last, characters] = [offset - 1, 0];
  while (last < lines.length && characters + (lines[last]?.length ?? 0) + 1 <= pageCharactersMax) {
    characters += (lines[last]?.length ?? 0) + 1;
    last += 1;
  }
  const head = `=== ${path} (lines ${offset}–${last} of ${lines.length}, ${text.length} bytes, UTF-8) ===`;
  const more = last < lines.length ? `\n[more: read_file ${path} offset=${last + 1}]` : "";
  return `${head}\n${lines.slice(offset - 1, last).join("\n")}${more}`;
}
