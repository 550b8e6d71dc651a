import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { estimateTokens } from "../../src/models/models.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { type Answer, type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

/** Says something else for each place, as a page of a long text would. */
const look = defineTool({
  name: "look",
  description: "Looks at a place. For tests.",
  class: "pure",
  input: z.object({ place: z.number() }),
  run: ({ place }) => ok({ text: `At place ${place} there is ${"nothing of interest, ".repeat(10)}and a stone.` }),
});

const list = (done: number) => ({
  todos: ["read", "compare", "write", "check"].map((content, index) => ({
    content: `${content} the report`,
    status: index < done ? "completed" : index === done ? "in_progress" : "pending",
  })),
});

const steps = 75;
const updates = [40, 41];

/** First a list, then a turn of 75 steps in which it is updated twice. */
function longTurn(request: AskedRequest): Answer {
  const step = stepOf(request) + 1;
  const isLong = newestUser(request).startsWith("go on");
  if (!isLong) return step === 1 ? calls(["todo_write", list(0)]) : says("Shall I go on?");
  if (step > steps) return says("done");
  return updates.includes(step) ? calls(["todo_write", list(1)]) : calls(["look", { place: step }]);
}

test("in a turn of 75 steps reminders are few, short, never twice in a message and never right after an update, and stay where they were said [L4][L3][R1]", async () => {
  await using model = await modelServer(longTurn);
  await using yard = await startYard({ model, tools: [look], env: { MAX_LOOPS: "80" } });
  const { conversation } = await yard.ask("plan it");
  const { answer, outcome } = await yard.ask("go on", { conversation });
  assert.deepEqual({ answer, outcome }, { answer: "done", outcome: "done" });

  const told = remindersOfTurn(model.asked.at(-1));
  const todoSteps = told.filter(({ block }) => block.includes("your list")).map(({ step }) => step);
  assert.deepEqual(todoSteps, [1, 9, 18, 36, 72], "at the start, after 8 steps, and then ever more rarely");
  assert.ok(updates.every((update) => !todoSteps.includes(update + 1) && !todoSteps.includes(update + 2)));
  assert.equal(told.length, todoSteps.length, "there was nothing else to say");
  assert.match(told[0]?.block ?? "", /- \[in_progress\] read the report\n- \[pending\] compare the report/);
  assert.match(told[3]?.block ?? "", /Still open on your list \(todo_write\): 4; in_progress: read the report/);

  for (const { content } of turnOf(model.asked.at(-1))) assert.ok(blocksIn(content).length <= 1);
  for (const { block } of told) assert.ok(estimateTokens(block) <= 300);
  const spent = sum(told.map(({ block }) => estimateTokens(block)));
  const whole = sum(turnOf(model.asked.at(-1)).map((message) => estimateTokens(JSON.stringify(message))));
  assert.ok(spent <= whole * 0.03, `${spent} of ${whole} tokens`);

  const requests = model.messageBytes();
  assert.equal(requests.length, 2 + steps + 1);
  for (const [n, request] of requests.entries())
    assert.ok(request.startsWith(requests[n - 1] ?? ""), `request ${n + 1} begins with the one before it`);
});

test("a list that was just told is not told again at the start of the next turn, unless it has changed [L4]", async () => {
  await using model = await modelServer((request) => {
    const isUpdate = newestUser(request).startsWith("update") && stepOf(request) === 0;
    return isUpdate ? calls(["todo_write", list(2)]) : says("yes");
  });
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("update it");
  for (const text of ["one", "two", "update again", "three", "four"]) await yard.ask(text, { conversation });
  const told = model.asked.filter((request) => blocksIn(request.body.messages.at(-1)?.content).length > 0);
  assert.deepEqual(
    told.map((request) => newestUser(request).split("\n")[0]),
    ["one", "three"],
  );
});

type Message = AskedRequest["body"]["messages"][number];

/** The newest turn in a request: the user's message and what came after it. */
function turnOf(request: AskedRequest | undefined): readonly Message[] {
  const messages = request?.body.messages ?? [];
  return messages.slice(messages.findLastIndex(({ role }) => role === "user"));
}

/** What was told in the newest turn, with the number of the step whose request said it first. */
function remindersOfTurn(request: AskedRequest | undefined): { step: number; block: string }[] {
  const turn = turnOf(request);
  return turn.flatMap(({ content }, index) => {
    const step = 1 + turn.slice(0, index).filter(({ role }) => role === "assistant").length;
    return blocksIn(content).map((block) => ({ step, block }));
  });
}

function blocksIn(content: unknown): string[] {
  return String(content ?? "").match(/<system_reminder>.*?<\/system_reminder>/gs) ?? [];
}

function newestUser({ body }: AskedRequest): string {
  return String(body.messages.findLast(({ role }) => role === "user")?.content ?? "");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
