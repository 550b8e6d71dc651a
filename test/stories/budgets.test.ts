import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import type { BudgetLimits } from "../../src/protocol/budget.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type Answer, type AskedRequest, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// What may be spent holds: a conversation ends its work in good order when it is used up.

/** Works on and on: each step reads a file that is not there, each time another, until no more tools may be used. */
const tireless = ({ body }: AskedRequest): Answer => {
  const step = body.messages.filter(({ role }) => role === "assistant").length;
  const size = { prompt_tokens: 4_000 + 200 * step, completion_tokens: 100 };
  if (body.tool_choice === "none") return { text: `done after ${step}`, usage: size };
  return { calls: [{ name: "read_file", arguments: `{"path":"uploads/${step}.txt"}` }], usage: size };
};

const prices = (model: { wire: { model: string } }) => `${model.wire.model} 1 10 0.1`;

async function withBudget(yard: TestYard, limits: BudgetLimits, text = "work") {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("setBudget", { params: { id }, body: limits }));
  return yard.ask(text, { conversation: id });
}

const budgetOf = (yard: TestYard, id: string) => must(yard.client.call("getBudget", { params: { id } }));
const endOf = (events: readonly LogEvent[]) => all(events, "turn.finished").at(-1);

test("at the limit of tokens the agent sums up what it has, nothing beyond it is spent, and a larger budget lets it go on [A4][L1]", async () => {
  await using model = await modelServer(tireless);
  await using yard = await startYard({ model });
  const limit = 40_000;
  const { conversation, outcome, answer, events } = await withBudget(yard, { tokens: limit });
  const steps = model.asked.length;
  assert.deepEqual([outcome, answer, endOf(events)?.failure], ["limit", `done after ${steps - 1}`, undefined]);
  assert.ok(steps > 2, "some work was done");
  const last = model.asked.at(-1)?.body;
  assert.match(
    String(last?.messages.at(-1)?.content),
    /The budget for this work is used up and no more tools will run/,
  );
  const { spent, left, limits, by } = await budgetOf(yard, conversation);
  assert.deepEqual([limits.tokens, by, spent.steps, spent.unpriced], [limit, "person", steps, steps]);
  assert.equal((left.tokens ?? 0) + spent.tokens, limit);
  for (const event of all(events, "step.started")) assert.ok((event.reserved?.tokens ?? limit + 1) <= limit);
  const longest = model.asked.slice(0, -1).map(({ body }) => Object(body).max_tokens);
  assert.deepEqual(
    longest,
    longest.toSorted((a, b) => b - a),
    "answers may be as long as there is money for them",
  );

  let again = await yard.ask("go on", { conversation });
  assert.match(again.answer, /^done after/, "a last answer could be paid, but no step before it");
  while (endOf(again.events)?.failure === undefined) again = await yard.ask("go on", { conversation });
  const refused = endOf(again.events);
  const asked = model.asked.length;
  assert.deepEqual(
    [again.outcome, refused?.failure?.code, refused?.failure?.params],
    ["limit", "budget_spent", { kind: "tokens", limit, of: "conversation" }],
  );
  const tokensLeft = refused?.left?.[0]?.left ?? 0;
  assert.deepEqual(refused?.left, [{ kind: "tokens", left: tokensLeft, limit }], "the end of a turn says what is left");
  await yard.ask("and now", { conversation });
  assert.equal(model.asked.length, asked, "who cannot pay is not asked");
  const told = (["en", "zh"] as const).map((language) =>
    refused?.failure === undefined ? "" : failureWords(wordsFor(language), refused.failure)[0],
  );
  assert.deepEqual(told, [
    "The budget of this conversation is used up: 40,000 tokens.",
    "这个对话的预算已用完：40,000 个 token。",
  ]);
  await must(yard.client.call("setBudget", { params: { id: conversation }, body: { tokens: 2 * limit } }));
  const more = await yard.ask("go on now", { conversation });
  assert.equal(more.outcome, "limit");
  assert.ok(model.asked.length > asked);
  assert.ok((await budgetOf(yard, conversation)).spent.tokens <= 2 * limit);
});

test("money is counted by the prices of the settings, cached tokens by theirs; a model without a price is not asked where money is limited [A4]", async () => {
  await using model = await modelServer([
    { text: "hello", usage: { prompt_tokens: 1_000, completion_tokens: 100, cached: 400 } },
    says("free"),
  ]);
  await using yard = await startYard({ model, env: { AGENTYARD_PRICES: prices(model) } });
  const { conversation, events } = await withBudget(yard, { money: 1 });
  const cost = (600 * 1 + 400 * 0.1 + 100 * 10) / 1_000_000;
  assert.equal(all(events, "message.assistant")[0]?.cost, cost);
  const { spent, left, unpriced } = await budgetOf(yard, conversation);
  assert.deepEqual([spent.money, spent.unpriced, left.money, unpriced], [cost, 0, 1 - cost, []]);
  const { budget } = await must(yard.client.call("getState", { params: { id: conversation } }));
  assert.deepEqual([budget.spent.money, budget.turn], [cost, null], "the state has it, too");

  await using unknown = await startYard({ model });
  const refused = await withBudget(unknown, { money: 1 });
  assert.deepEqual(
    [refused.outcome, endOf(refused.events)?.failure?.code, endOf(refused.events)?.failure?.params],
    ["failed", "price_unknown", { model: model.wire.model }],
  );
  assert.deepEqual((await budgetOf(unknown, refused.conversation)).unpriced, [model.wire.model]);
  assert.equal(model.asked.length, 1);
  const free = await unknown.ask("without a limit");
  assert.deepEqual([free.outcome, (await budgetOf(unknown, free.conversation)).spent.unpriced], ["done", 1]);
});

test("a message can say what its turn may spend, in steps, tokens and money, and never more than the settings allow; the next turn has its own [A4][L8]", async () => {
  await using model = await modelServer(tireless);
  const env = { AGENTYARD_PRICES: prices(model), MAX_LOOPS: "6", AGENTYARD_TURN_TOKENS: "60000" };
  await using yard = await startYard({ model, env });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const send = async (budget: BudgetLimits) => {
    const before = model.asked.length;
    const body = { text: "work", mode: "queue" as const, budget };
    await must(yard.client.call("sendMessage", { params: { id }, body }));
    const { outcome, events } = await yard.whenAtRest(id);
    const notRun = all(events, "call.finished").filter((event) => event.outcome === "not_run");
    return { outcome, asked: model.asked.length - before, notRun: notRun.length, end: endOf(events) };
  };
  assert.deepEqual(await send({ steps: 2 }), { outcome: "limit", asked: 3, notRun: 1, end: await lastEnd(yard, id) });
  assert.match(String(model.asked.at(-1)?.body.messages.at(-1)?.content), /limit of 2 steps is reached/);
  assert.equal((await send({ steps: 50 })).asked, 7, "no more than the settings allow, and the last answer");
  const tokens = await send({ tokens: 16_000 });
  assert.deepEqual([tokens.outcome, tokens.end?.failure], ["limit", undefined]);
  assert.ok(tokens.asked < 7);
  const money = await send({ money: 0.0001 });
  assert.deepEqual(
    [money.outcome, money.asked, money.end?.failure?.params],
    ["limit", 0, { kind: "money", limit: 0.0001, of: "turn" }],
  );
  // Each request costs a quarter of what the settings let a turn spend: fewer are made than there are steps.
  model.answerWith((request) => ({ ...tireless(request), usage: { prompt_tokens: 15_000, completion_tokens: 100 } }));
  const more = await send({ tokens: 1_000_000 });
  assert.ok(more.asked < 5, `${more.asked} were made`);
  assert.deepEqual([more.outcome, more.end?.failure, more.end?.left?.[0]?.limit], ["limit", undefined, 60_000]);
  assert.deepEqual((await budgetOf(yard, id)).set, {}, "the conversation itself has none");
});

const lastEnd = async (yard: TestYard, id: string) => endOf(await yard.events(id));

test("time at work is limited, too: calls that come later are not run, and the agent still says what it has [A4]", async () => {
  const clock = manualClock();
  const slow = defineTool({
    ...{ name: "slow", description: "Takes its time.", class: "pure", input: z.object({ n: z.number() }) },
    run: () => {
      clock.move(40_000);
      return ok({ text: "slept" });
    },
  });
  await using model = await modelServer((request) => {
    const step = request.body.messages.filter(({ role }) => role === "assistant").length;
    if (request.body.tool_choice === "none") return says("no more time");
    return { calls: [{ name: "slow", arguments: `{"n":${step}}` }] };
  });
  await using yard = await startYard({ model, tools: [slow], clock });
  const { conversation, outcome, answer } = await withBudget(yard, { ms: 100_000 });
  assert.deepEqual([outcome, answer, model.asked.length], ["limit", "no more time", 4]);
  const { spent, left } = await budgetOf(yard, conversation);
  assert.deepEqual([spent.ms, left.ms], [120_000, 0]);
  const again = await yard.ask("go on", { conversation });
  assert.deepEqual([again.outcome, endOf(again.events)?.failure?.code], ["limit", "budget_spent"]);
});

test("an answer that was lost with its process counts as all that was held back for it [A4][L2]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer(() => ({ text: "never", fault: { after: 0, kind: "stall" } }));
  await using first = await startYard({ data, model });
  const { id } = await must(first.client.call("createConversation", { body: {} }));
  await must(first.client.call("setBudget", { params: { id }, body: { tokens: 100_000 } }));
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("the model was asked", () => model.asked.length === 1);
  model.answerWith([says("here I am")]);
  await using second = await startYard({ data, model });
  const { events, answer } = await second.whenAtRest(id);
  const [lost] = all(events, "step.started");
  assert.equal(answer, "here I am");
  assert.equal((await budgetOf(second, id)).spent.tokens, (lost?.reserved?.tokens ?? 0) + 110);
});

test("limits that make no sense are refused with what is wrong, and setting the same again changes nothing [A4]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const put = async (body: unknown) => {
    const response = await yard.fetch(`http://yard/api/v1/conversations/${id}/budget`, {
      ...{ method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
    });
    return [response.status, Object(await response.json()).code];
  };
  for (const body of [{ tokens: -1 }, { tokens: 1.5 }, { money: "5" }, { dollars: 5 }, { steps: 1e300 }, [], null, "x"])
    assert.deepEqual(await put(body), [400, "bad_request"], JSON.stringify(body));
  assert.deepEqual(await put({ tokens: 5_000, agents: 2 }), [200, undefined]);
  assert.deepEqual(await put({ tokens: 5_000, agents: 2 }), [200, undefined]);
  assert.deepEqual(
    all(await yard.events(id), "budget.set").map(({ limits, by }) => ({ limits, by })),
    [{ limits: { tokens: 5_000, agents: 2 }, by: "person" }],
  );
  const { limits } = await budgetOf(yard, id);
  assert.deepEqual(limits, { tokens: 5_000, agents: 2, depth: 5 }, "what is left out is as the settings have it");
  assert.deepEqual(await put({}), [200, undefined]);
  assert.deepEqual((await budgetOf(yard, id)).limits, { agents: 200, depth: 5 });
  const other = await yard.client.call("getBudget", { params: { id: "no-such" } });
  assert.equal(other.ok ? "" : other.failure.code, "conversation_not_found");
});

test("summaries cost as well, also one that is of no use, and none is asked for that cannot be paid [A4][Z2]", async () => {
  const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");
  let sums = summary;
  await using model = await modelServer(({ body }) => {
    const isSummary = String(body.messages[0]?.content).startsWith("You sum up");
    return {
      text: isSummary ? sums : "I see.",
      usage: { prompt_tokens: isSummary ? 700 : 100, completion_tokens: 10 },
    };
  });
  await using yard = await startYard({ model, env: { AGENTYARD_PRICES: prices(model) } });
  const { conversation: id } = await yard.ask("question 0");
  for (let n = 1; n < 10; n += 1) await yard.ask(`question ${n}`, { conversation: id });
  const compact = () => must(yard.client.call("compactConversation", { params: { id }, body: {} }));
  const before = (await budgetOf(yard, id)).spent;
  assert.deepEqual([before.tokens, before.unpriced], [1_100, 0]);
  sums = "";
  assert.equal((await compact()).seq, null);
  assert.deepEqual(
    all(await yard.events(id), "usage.noted").map(({ usage, cost }) => [usage.input, usage.output, cost]),
    [[700, 10, 0.0008]],
  );
  const useless = (await budgetOf(yard, id)).spent;
  assert.deepEqual([useless.tokens, useless.steps], [before.tokens + 710, before.steps], "it is no step");
  const asked = model.asked.length;
  await must(yard.client.call("setBudget", { params: { id }, body: { tokens: useless.tokens + 300 } }));
  assert.deepEqual([(await compact()).strategy, model.asked.length], ["fallback", asked]);
  await must(yard.client.call("setBudget", { params: { id }, body: {} }));
  sums = summary;
  assert.equal((await compact()).strategy, "compact");
  assert.equal((await budgetOf(yard, id)).spent.tokens, useless.tokens + 710);
});
