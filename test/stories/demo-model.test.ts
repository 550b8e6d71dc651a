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

async function newConversation(yard: TestYard): Promise<string> {
  return (await must(yard.client.call("createConversation", { body: {} }))).id;
}

async function contentOf(yard: TestYard, id: string, path: string): Promise<string> {
  const { chunks } = await must(yard.client.download(id, path));
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
