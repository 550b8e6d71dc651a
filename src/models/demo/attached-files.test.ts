import assert from "node:assert/strict";
import { test } from "node:test";
import { startDemoTalk, type TalkFiles, type TalkOptions } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { replaceMentions } from "./mentions.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });
const startTalk = (present: TalkFiles, options?: TalkOptions) => startDemoTalk(reply, present, options);

const table = "city,units\nOslo,12\nRio,30\n";
const files = {
  "uploads/a.csv": table,
  "uploads/b.csv": "n\n1\n",
  "uploads/c.csv": "n\n2\n",
  "uploads/d.csv": "n\n3\n",
  "uploads/two words.csv": table,
  "uploads/numbers.txt": "red\n",
  "uploads/表.v2最终.docx": "x",
};
const read = (name: string) => ["read_file", { path: `uploads/${name}` }];

/** A message as AgentYard hands it on when these files came with it. */
function withFiles(text: string, ...names: string[]): string {
  return `${text}\n\nUploaded files:\n${names.map((name) => `- ${name} → uploads/${name} (csv)`).join("\n")}`;
}

test("a file named with # is worked on where it was put, however its name was typed [M5][F3]", async () => {
  const cases: [prompt: string, name: string][] = [
    ["summarise the numbers of #data/a.csv", "a.csv"],
    ["summarise the numbers of #data/*.csv", "a.csv"],
    ["summarise the numbers of #sub/**/a.csv, please", "a.csv"],
    ["summarise #/tmp/x/a.csv!", "a.csv"],
    ["summarise #~/a.csv", "a.csv"],
    ["summarise #two\\ words.csv", "two words.csv"],
    ['summarise #"two words.csv"', "two words.csv"],
    ["summarise #'my folder/two words.csv'.", "two words.csv"],
    ["请统计#数据/a.csv的数字", "a.csv"],
    ["统计#/tmp/some_long/path_of/a.csv谢谢", "a.csv"],
    ["summarise /srv/data/a.csv", "a.csv"],
  ];
  for (const [prompt, name] of cases) {
    const { calls, text } = await startTalk(files).say(withFiles(prompt, name));
    assert.deepEqual(calls, [read(name)], prompt);
    assert.match(text, /\| units \| 2 \| 12 \| 30 \| 21 \| 42 \|/, prompt);
    assert.equal(/\p{Script=Han}/u.test(text), /\p{Script=Han}/u.test(prompt), `the language of ${prompt}`);
  }
});

test("several tables are computed one by one, up to three, and the others are counted [M5][F3]", async () => {
  const names = ["a.csv", "b.csv", "c.csv", "d.csv"];
  for (const prompt of ["summarise the numbers of #data/*.csv", "#data/", ""]) {
    const { calls, text } = await startTalk(files).say(withFiles(prompt, ...names));
    assert.deepEqual(calls, names.slice(0, 3).map(read), prompt);
    assert.match(text, /`uploads\/a\.csv`: 2 rows[\s\S]*`uploads\/b\.csv`: 1 row[\s\S]*`uploads\/c\.csv`: 1 row/);
    assert.match(text, /\n\nOne more file was left out here\. Name it to have it next\.$/, prompt);
  }
  const chinese = await startTalk(files).say(withFiles("统计#data/*.csv", ...names, "two words.csv"));
  assert.match(chinese.text, /\n\n还有 2 个文件没有列出，说出名字就可以接着看。$/);
  const two = await startTalk(files).say(withFiles("summarise a.csv and b.csv", ...names));
  assert.deepEqual(two.calls, [read("a.csv"), read("b.csv")]);
});

test("long tables side by side are each read on, and end at the limit [M5]", async () => {
  const rows = (count: number) => `n\n${Array.from({ length: count }, () => "1000000").join("\n")}`;
  const long = { "uploads/a.csv": rows(9_999), "uploads/b (2).csv": rows(39_999), "uploads/c.csv": rows(9) };
  const { calls, text } = await startTalk(long).say(withFiles("summarise #*.csv", "a.csv", "b (2).csv", "c.csv"));
  assert.deepEqual(
    calls.map(([, { path, offset }]) => [path, offset]),
    [
      ["uploads/a.csv", undefined],
      ["uploads/b (2).csv", undefined],
      ["uploads/c.csv", undefined],
      ["uploads/a.csv", 6_251],
      ["uploads/b (2).csv", 6_251],
    ],
  );
  assert.match(text, /`uploads\/a\.csv`: 9,999 rows[\s\S]*`uploads\/b \(2\)\.csv`: 12,499 rows/);
  assert.match(text, /12,500 of 40,000 lines were read\.\n\n`uploads\/c\.csv`: 9 rows/);
});

test("a table that cannot be read does not keep the others [M5][F3]", async () => {
  const { text } = await startTalk(files).say(withFiles("summarise #*.csv", "gone.csv", "a.csv"));
  assert.match(text, /\n\nThere is no file `uploads\/gone\.csv`.*\n\n`uploads\/a\.csv`: 2 rows/);
  assert.doesNotMatch(text, /Error/);
  const none = await startTalk(files).say(withFiles("summarise #gone.csv", "gone.csv"));
  assert.match(none.text, /\n\nThere is no file `uploads\/gone\.csv`[^\n]*$/);
});

test("the name of a file that came along decides nothing but the file [M5][F3]", async () => {
  const cases: [prompt: string, name: string, calls: unknown[]][] = [
    ["read #numbers.txt", "numbers.txt", [read("numbers.txt")]],
    ["show me #x/numbers.txt", "numbers.txt", [read("numbers.txt")]],
    ["打开#numbers.txt", "numbers.txt", [read("numbers.txt")]],
    ["看看#表.v2最终.docx吧", "表.v2最终.docx", [read("表.v2最终.docx")]],
    ["#todo.txt", "todo.txt", []],
    ["what time is it?", "todo.txt", [["now", {}]]],
    ["search #x/numbers.txt for red", "numbers.txt", [searchOf("red", "uploads/numbers.txt")]],
    ["在#numbers.txt中搜索red", "numbers.txt", [searchOf("red", "uploads/numbers.txt")]],
    ["write a note about #data/a.csv", "a.csv", [wrote("about #data/a.csv\n")]],
    ["write a note: see #data/a.csv", "a.csv", [wrote("see #data/a.csv\n")]],
    ["change red to #fff in #x/numbers.txt", "numbers.txt", [read("numbers.txt"), edited("#fff")]],
    ["把#numbers.txt里的red改成blue", "numbers.txt", [read("numbers.txt"), edited("blue")]],
  ];
  for (const [prompt, name, wanted] of cases) {
    const { calls } = await startTalk(files).say(withFiles(prompt, name));
    assert.deepEqual(calls, wanted, prompt);
  }
});

test("what is named beside the files that came along is still found [M5][F3]", async () => {
  const present = { ...files, "outputs/notes.txt": "x" };
  const look = [
    ["list_files", { path: "uploads" }],
    ["list_files", { path: "outputs" }],
  ];
  const notes = ["read_file", { path: "outputs/notes.txt" }];
  assert.deepEqual((await startTalk(present).say(withFiles("read outputs/notes.txt", "a.csv"))).calls, [notes]);
  assert.deepEqual((await startTalk(present).say(withFiles("read notes.txt #a.csv", "a.csv"))).calls, [...look, notes]);
});

test("of a message only what names a file is put aside, not tags, colours and numbers [M5][F3]", () => {
  const cases: [text: string, plain: string][] = [
    ["a #data.csv, b", "a @, b"],
    ["(see #report(1).csv) now", "(see @) now"],
    ["分析#数据.csv和#表格.xlsx。", "分析@和@。"],
    ["#src/ #Makefile.", "@ @."],
    ["#fff #12 #3/4 #urgent C# a#b.csv # x ##a.csv", "#fff #12 #3/4 #urgent C# a#b.csv # x ##a.csv"],
    ['#"" "#" #\'a b.csv\'', '#"" "#" @'],
  ];
  for (const [text, plain] of cases) assert.equal(replaceMentions(text, ["Makefile"], "@"), plain);
});

function searchOf(query: string, path: string) {
  return ["search_file", { query, path }];
}

function wrote(content: string) {
  return ["write_file", { path: "outputs/note.txt", content }];
}

function edited(text: string) {
  const change = { path: "uploads/numbers.txt", old_string: "red", new_string: text, replace_all: true };
  return ["edit_file", change];
}
