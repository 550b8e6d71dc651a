import assert from "node:assert/strict";
import { test } from "node:test";
import { must, startYard, type TestYard } from "../world/yard.ts";

test("without any configuration somebody answers, and says plainly that it is no AI [M5][P1]", async () => {
  await using yard = await startYard();
  const english = await yard.ask("hello");
  assert.equal(english.outcome, "done");
  assert.match(english.answer, /demo model: .*not an AI[\s\S]*Hello!/);
  const later = await yard.ask("write a poem", { conversation: english.conversation });
  assert.match(later.answer, /^I have no rule for that[\s\S]*OPENAI_API_KEY=/);
  assert.match((await yard.ask("你好")).answer, /演示模型：.*不是人工智能[\s\S]*您好！/);
});

test("the demo model writes a real list and reads it again later [M5]", async () => {
  await using yard = await startYard();
  const { answer, events, conversation } = await yard.ask("plan a birthday party");
  assert.deepEqual(
    events.flatMap((event) => (event.type === "todo.set" ? [event.todos.map(({ status }) => status)] : [])),
    [["in_progress", "pending", "pending"]],
  );
  assert.match(answer, /1\. Write down what “a birthday party” should lead to/);
  const list = await yard.ask("show my list", { conversation });
  assert.match(list.answer, /^This is your list:\n\n- \[in_progress\] Write down what “a birthday party”/);
});

test("the demo model asks a question, waits, and goes on with the answer [M5]", async () => {
  await using yard = await startYard();
  const asked = await yard.ask("ask me something");
  assert.equal(asked.status, "waiting");
  assert.match((await answerQuestion(yard, asked.conversation, "Ada")).answer, /Good to meet you, Ada\./);
  const again = await yard.ask("ask me something", { conversation: asked.conversation });
  assert.equal(again.status, "waiting");
  assert.match((await answerQuestion(yard, asked.conversation, "")).answer, /Good to meet you, friend\./);
});

test("the demo model computes the numbers of a table that was sent along [M5][F3][F1]", async () => {
  await using yard = await startYard();
  const conversation = await newConversation(yard);
  const rows = Array.from({ length: 6_000 }, (_, index) => `城市 ${index % 7},"1,000.5${index % 10}"\r\n`);
  await upload(yard, conversation, "销售.csv", `\uFEFF城市,金额\r\n${rows.join("")}`);
  const { answer, events } = await askWith(yard, conversation, "统计这些数字", ["uploads/销售.csv"]);
  // No code runs in this yard: the file is read instead.
  const [first, ...pages] = callsOf(events).flat();
  assert.deepEqual([first, new Set(pages)], ["execute_code", new Set(["read_file"])]);
  assert.ok(pages.length > 1, "a long file is read page by page");
  assert.match(answer, /`uploads\/销售\.csv`：共 6,000 行，1 列数字。/);
  assert.match(answer, /\| 金额 \| 6,000 \| 1,000\.5 \| 1,000\.59 \| 1,000\.545 \| 6,003,270 \|/);
});

test("the demo model writes, lists, reads, searches and changes real files [M5][F2]", async () => {
  await using yard = await startYard();
  const conversation = await newConversation(yard);
  const wrote = await yard.ask("write a note: the car is red", { conversation });
  assert.match(wrote.answer, /I wrote it into `outputs\/note\.txt`/);
  assert.equal(await contentOf(yard, conversation, "outputs/note.txt"), "the car is red\n");
  assert.match((await yard.ask("list my files", { conversation })).answer, /\[FILE\] outputs\/note\.txt \(15 bytes\)/);
  assert.match((await yard.ask("读取 note.txt", { conversation })).answer, /```\nthe car is red\n+```/);
  const found = await yard.ask("search my files for CAR", { conversation });
  assert.match(found.answer, /outputs\/note\.txt:1\nthe \*\*car\*\* is red/);
  const changed = await yard.ask("change red to dark blue in note.txt", { conversation });
  assert.match(changed.answer, /I changed “red” to “dark blue” in `outputs\/note\.txt`/);
  assert.equal(await contentOf(yard, conversation, "outputs/note.txt"), "the car is dark blue\n");
});

test("files named with # are worked on where they were put, one after another [M5][F3]", async () => {
  await using yard = await startYard();
  const conversation = await newConversation(yard);
  const names = ["a.csv", "b.csv", "two words.csv", "z.csv"];
  for (const [index, name] of names.entries()) await upload(yard, conversation, name, `n\n${index}\n`);
  const paths = names.map((name) => `uploads/${name}`);
  const all = await askWith(yard, conversation, "summarise the numbers of #data/*.csv", paths);
  assert.deepEqual(callsOf(all.events), [["execute_code"], ["read_file", "read_file", "read_file"]]);
  for (const path of paths.slice(0, 3))
    assert.ok(all.answer.includes(`\`${path}\`: 1 row, 1 column of numbers.`), path);
  assert.match(all.answer, /One more file was left out here\./);
  for (const named of ["#two\\ words.csv", '#"two words.csv"']) {
    const { answer } = await askWith(yard, conversation, `summarise ${named}`, ["uploads/two words.csv"]);
    assert.match(answer, /^I cannot run code here: .*\n\n`uploads\/two words\.csv`: 1 row/, named);
  }
});

async function newConversation(yard: TestYard): Promise<string> {
  return (await must(yard.client.call("createConversation", { body: {} }))).id;
}

async function upload(yard: TestYard, id: string, name: string, text: string): Promise<void> {
  await must(yard.client.upload(id, name, Buffer.from(text)));
}

async function askWith(yard: TestYard, id: string, text: string, files: string[]) {
  await must(yard.client.call("sendMessage", { params: { id }, body: { text, mode: "queue", files } }));
  return yard.whenAtRest(id);
}

async function contentOf(yard: TestYard, id: string, path: string): Promise<string> {
  const { chunks } = await must(yard.client.download(id, path));
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

async function answerQuestion(yard: TestYard, id: string, answer: string) {
  const { decisions } = await must(yard.client.call("getState", { params: { id } }));
  const decision = decisions[0]?.id ?? "";
  await must(yard.client.call("decide", { params: { id, decision }, body: { verdict: "answer", answer } }));
  return yard.whenAtRest(id);
}

function callsOf(events: Awaited<ReturnType<TestYard["ask"]>>["events"]): string[][] {
  return events
    .flatMap((event) => (event.type === "message.assistant" ? [event.calls ?? []] : []))
    .filter((calls) => calls.length > 0)
    .map((calls) => calls.map(({ name }) => name));
}
