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

test("the demo model looks at the real clock [M5]", async () => {
  await using yard = await startYard();
  const { answer, events } = await yard.ask("What time is it?");
  assert.deepEqual(callsOf(events), [["now"]]);
  const year = String(new Date().getUTCFullYear());
  assert.match(answer, new RegExp(`It is ${year}-`));
  assert.match((await yard.ask("现在几点？")).answer, new RegExp(`现在是 ${year}-`));
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

test("the demo model calls two tools side by side [M5]", async () => {
  await using yard = await startYard();
  const { answer, events } = await yard.ask("同时做两件事");
  assert.deepEqual(callsOf(events), [["now", "todo_read"]]);
  assert.match(answer, /两个工具同时运行完毕/);
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

test("the demo model is shown as what it is among the models [M5]", async () => {
  await using yard = await startYard();
  const { slots } = await must(yard.client.call("listModels", { query: { detect: false } }));
  assert.deepEqual(
    slots.map(({ slot, id, server, isDemo, filled }) => [slot, id, server, isDemo, filled]),
    [
      ["base", "demo", "demo", true, true],
      ...["reasoning", "vision", "code", "chat"].map((slot) => [slot, "demo", "demo", true, false]),
    ],
  );
});

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
