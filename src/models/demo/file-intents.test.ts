import assert from "node:assert/strict";
import { test } from "node:test";
import { startDemoTalk, type TalkFiles, type TalkOptions } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { forModels } from "../../words/words.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });
const startTalk = (present: TalkFiles, options?: TalkOptions) => startDemoTalk(reply, present, options);

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
const deeper = ["find_files", { pattern: "**/*" }];

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

test("a file that is not there is asked for all the same, so that the tool can say what is near [M5]", async () => {
  const asked = ["read_file", { path: "uploads/report.md" }];
  for (const prompt of ["read report.md", "read #report.md", "请读取文件#report.md"])
    assert.deepEqual((await startTalk(files).say(prompt)).calls, [...look, deeper, asked], prompt);
  const { calls } = await startTalk(files, { without: ["find_files"] }).say("read report.md");
  assert.deepEqual(calls, [...look, asked]);
});

test("files in sub-folders and other places are seen too [M5][F2]", async () => {
  const inside = { ...files, "outputs/may/day 1/report.md": "# May\n", "temp/scratch.txt": "x\n" };
  for (const [prompt, path] of [
    ["read report.md", "outputs/may/day 1/report.md"],
    ["打开 scratch.txt", "temp/scratch.txt"],
  ] as const)
    assert.deepEqual((await startTalk(inside).say(prompt)).calls, [...look, deeper, ["read_file", { path }]], prompt);
  const list = await startTalk(inside).say("list my files");
  assert.deepEqual(list.calls, [...look, deeper]);
  assert.match(
    list.text,
    /```\n\[FILE\] uploads\/sales\.csv .*\n.*\n\[FILE\] outputs\/notes\.txt .*\n\[DIR\] {2}outputs\/may\/\n\[FILE\] outputs\/may\/day 1\/report\.md \(6 bytes\)\n```$/,
  );
  const only = await startTalk({ "uploads/x/a.csv": sales, "temp/b.csv": "n\n1\n" }).say("summarise the csv");
  assert.deepEqual(only.calls, [...look, deeper, ["read_file", { path: "uploads/x/a.csv" }]]);
  const plain = await startTalk(inside, { without: ["find_files"] }).say("list my files");
  assert.match(plain.text, /\n\[DIR\] {2}outputs\/may\/\n```$/);
});

test("a list that is not complete says so [M5]", async () => {
  const results = { find_files: `outputs/may/a.md (6 bytes, just now)\n${forModels.files.foundMore(9)}` };
  const { text } = await startTalk({ "outputs/may/a.md": "# May\n" }, { results }).say("列出文件");
  assert.match(text, /\n\[FILE\] outputs\/may\/a\.md \(6 bytes\)\n…\n```$/);
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

test("a line that is longer than a page is put together again [M5]", async () => {
  const present = { "uploads/n.csv": `${Array.from({ length: 15_000 }, () => "10000").join(";")}\n7\n` };
  const { calls, text } = await startTalk(present).say("profile uploads/n.csv");
  const path = "uploads/n.csv";
  assert.deepEqual(calls, [
    ["read_file", { path }],
    ["read_file", { path, offset: 1, column: 50_001 }],
  ]);
  assert.match(text, /`uploads\/n\.csv`: 2 rows, 15,000 columns of numbers\./);
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
