import assert from "node:assert/strict";
import { test } from "node:test";
import type { BudgetLimits } from "../../src/protocol/budget.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { all, until } from "../world/events.ts";
import { type Answer, type AskedRequest, modelServer, says } from "../world/model-server.ts";
import { keys, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { startYard } from "../world/yard.ts";

const texts = {
  en: {
    nothing: "Nothing was spent yet.",
    set: "0 tokens used of 200,000 tokens, 200,000 tokens left",
    end: /Budget: \d+,\d+ tokens of 200,000 tokens left · \$2\.00 of \$2\.00 left/,
    unpriced: "! What models cost is not known",
    wrongKind: "✗ There is no limit of “coins”",
    wrongNumber: "✗ “-5” is no limit for tokens",
    off: "110 tokens used, no limit",
    agents: "@simple  Simple (6 tools)",
  },
  zh: {
    nothing: "尚未产生用量。",
    set: "已用 0 个 token，上限 200,000 个 token，剩余 200,000 个 token",
    end: /预算：剩余 \d+,\d+ 个 token，共 200,000 个 token · 剩余 \$2\.00，共 \$2\.00/,
    unpriced: "! 模型价格未知",
    wrongKind: "✗ 没有“coins”这种上限",
    wrongNumber: "✗ “-5”不能作为 tokens 的上限",
    off: "已用 110 个 token，不限",
    agents: "@simple  Simple（6 个工具）",
  },
} as const;

for (const language of ["en", "zh"] as const) {
  test(`/budget sets limits before the first word, each turn ends with what is left, off takes one away (${language}) [U1][A4]`, async () => {
    await using model = await modelServer([says("hello")]);
    await using yard = await startYard({ model, env: { AGENTYARD_PRICES: `${model.wire.model} 0 0` } });
    const expected = texts[language];
    const chat = startChat({ client: yard.client, language });
    const say = async (line: string, awaited: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(awaited);
    };
    await chat.waitFor("You> ");
    await say("/budget", expected.nothing);
    await say("/budget coins 5", expected.wrongKind);
    await say("/budget tokens -5", expected.wrongNumber);
    await say("/budget tokens 200k usd 2 minutes 1.5", expected.set);
    await say("hi", "hello");
    await until("the end tells what is left", () =>
      expected.end.test(chat.text().replaceAll(/ · \d[^·\n]*(s|秒)[^·\n]*/g, "")),
    );
    await say("/budget tokens off", expected.off);
    const [row] = await yard.log.list(localOwner, { limit: 1 });
    const limits = all(await yard.events(row?.id ?? ""), "budget.set").map((event) => event.limits);
    assert.deepEqual(limits, [
      { tokens: 200_000, money: 2, ms: 90_000 },
      { money: 2, ms: 90_000 },
    ]);
    await say("/agents", expected.agents);
    chat.type(`/quit${keys.enter}`);
    await chat.ended;
  });
}

const tireless = ({ body }: AskedRequest): Answer => {
  const step = body.messages.filter(({ role }) => role === "assistant").length;
  if (body.tool_choice === "none") return says("that is all");
  return { calls: [{ name: "read_file", arguments: `{"path":"uploads/${step}.txt"}` }] };
};

test("run --max-turns and --max-budget end a turn with exit code 5 and what it has [P2][A4]", async () => {
  await using model = await modelServer(tireless);
  await using yard = await startYard({ model, env: { AGENTYARD_PRICES: `${model.wire.model} 5 20` } });
  const run = async (budget: BudgetLimits) => {
    const pipe = openTestPipe("");
    const code = await runInPipe(pipe, yard, { name: "run", output: "json", message: "work", budget });
    const { finish, answer, steps, error } = JSON.parse(pipe.written.output);
    return { code, finish, answer, steps, error };
  };
  assert.deepEqual(await run({ steps: 2 }), {
    ...{ code: 5, finish: "limit", answer: "that is all", steps: 3, error: null },
  });
  const spent = await run({ money: 0.001 });
  assert.deepEqual([spent.code, spent.finish, spent.steps, spent.error?.kind], [5, "limit", 0, "budget_spent"]);
  assert.equal((await run({ money: 0.2, steps: 3 })).finish, "limit");
});
