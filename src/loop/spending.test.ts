import assert from "node:assert/strict";
import { after, test } from "node:test";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { talkOf } from "../../test/world/talk.ts";
import { tokenStatus } from "../context/context.ts";
import type { BudgetLimits } from "../protocol/budget.ts";
import { defaultLimits } from "./parts.ts";
import { budgetLines, planCall, standingOf, stepsMaxOf } from "./spending.ts";

const clock = manualClock();
const models = await baseModel(clock, 128_000);
after(() => models.close());

type Limits = { readonly whole?: BudgetLimits; readonly asked?: BudgetLimits; readonly turn?: BudgetLimits };

/** A turn after one step with tools, with these limits of the conversation, of the message and of all turns. */
function talk({ whole = {}, asked = {}, turn = {} }: Limits, { hasPrice = true, steps = 1 } = {}) {
  const { history, add } = talkOf([]);
  const at = { turn: 1, attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;
  add(
    { type: "budget.set", limits: whole, by: "person" },
    { type: "message.user", id: "m1", text: "word".repeat(400), mode: "queue", budget: asked },
    { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
  );
  for (let step = 1; step <= steps; step += 1) {
    const calls = [{ id: `c${step}`, name: "look", arguments: "{}" }];
    const usage = { input: 500, output: 20 };
    add(
      { type: "step.started", ...at, step },
      { type: "message.assistant", turn: 1, step, text: "", calls, finish: "stop", usage, durationMs: 1, cost: 0.001 },
      { type: "call.finished", call: `c${step}`, outcome: "ok", text: "seen" },
    );
  }
  const limits = {
    ...{ ...defaultLimits, budgets: { ...defaultLimits.budgets, turn } },
    prices: hasPrice ? { m: { input: 10, output: 20 } } : {},
  };
  return { history, parts: { limits, clock, models, agents: () => [] } };
}

function planFor(limits: Limits, more?: Parameters<typeof talk>[1]) {
  const { history, parts } = talk(limits, more);
  const plan = planCall(history, parts);
  if (plan.next !== "none") return [plan.next, plan.reserved?.outputTokensMax];
  return [plan.next, plan.reason.code, plan.reason.params];
}

/** What the next request has at the most: what is known with a tenth more, and what is attached to it. */
const input = (() => {
  const { used } = tokenStatus(talk({}).history, 128_000);
  return Math.ceil(used * 1.1) + 300;
})();
const spent = 520;

test("a step is taken while the last answer can be paid after it, then that answer alone, and then none, to the token [A4][L1]", () => {
  assert.deepEqual(planFor({}), ["step", undefined]);
  const left = (tokens: number) => planFor({ whole: { tokens: spent + tokens } });
  // The step is read once more with the last answer, for which 1,500 are kept; less than 256 say nothing.
  const leastStep = 2 * input + 1_500 + 2 * 256;
  assert.deepEqual(left(leastStep), ["step", 256]);
  assert.deepEqual(left(leastStep + 2_000), ["step", 1_256]);
  assert.deepEqual(left(leastStep - 1), ["final", leastStep - 1 - input]);
  assert.deepEqual(left(input + 256), ["final", 256]);
  const none = ["none", "budget_spent", { kind: "tokens", limit: spent + input + 255, of: "conversation" }];
  assert.deepEqual(left(input + 255), none);
  assert.deepEqual(left(1_000_000), ["step", 16_384], "no longer than answers are");
});

test("money is kept for the last answer in the same way; where a model has no price none is asked [A4]", () => {
  const cost = (tokens: { input?: number; output?: number }) =>
    ((tokens.input ?? 0) * 10 + (tokens.output ?? 0) * 20) / 1_000_000;
  const left = (money: number, more?: Parameters<typeof talk>[1]) => planFor({ whole: { money: 0.001 + money } }, more);
  const leastStep = 2 * cost({ input }) + cost({ output: 1_500 }) + 2 * cost({ output: 256 });
  assert.deepEqual(left(leastStep + 0.000_001), ["step", 256]);
  assert.equal(left(leastStep - 0.000_1)[0], "final");
  assert.deepEqual(left(cost({ input, output: 256 })), ["final", 256]);
  assert.deepEqual(left(cost({ input, output: 255 })).slice(0, 2), ["none", "budget_spent"]);
  assert.deepEqual(left(10, { hasPrice: false }), ["none", "price_unknown", { model: "m" }]);
});

test("of the last tenth of the time, at most thirty seconds, and of the last step the agent makes its last answer [A4][L1]", () => {
  assert.deepEqual(planFor({ whole: { steps: 3 } }), ["step", 16_384]);
  assert.deepEqual(planFor({ whole: { steps: 2 } }), ["final", 16_384]);
  const ofTime = (ms: number, { used, isAsked = true }: { used: number; isAsked?: boolean }) => {
    const { history, parts } = talk(isAsked ? { asked: { ms } } : { whole: { ms } });
    history.budget.spent = { ...history.budget.spent, ms: used };
    return planCall(history, parts).next;
  };
  assert.deepEqual([ofTime(10_000, { used: 8_999 }), ofTime(10_000, { used: 9_000 })], ["step", "final"]);
  assert.deepEqual([ofTime(900_000, { used: 869_999 }), ofTime(900_000, { used: 870_000 })], ["step", "final"]);
  assert.equal(ofTime(10_000, { used: 10_000 }), "final", "who has worked may say what came of it");
  assert.deepEqual(planFor({ asked: { ms: 0 } }, { steps: 0 }).slice(0, 2), ["none", "budget_spent"]);
});

test("of a turn and its conversation the nearer limit holds and is named; a turn never has more than the settings allow [A4][L8]", () => {
  const limits = {
    whole: { tokens: 5_000, steps: 9 },
    asked: { tokens: 4_000, steps: 3, ms: 70_000 },
    turn: { ms: 60_000 },
  };
  const { history, parts } = talk(limits);
  const { whole, turn, left } = standingOf(history, parts);
  assert.deepEqual(whole.limits, { ...defaultLimits.budgets.conversation, tokens: 5_000, steps: 9 });
  assert.deepEqual([whole.left.tokens, turn?.limits, left.tokens], [4_480, { tokens: 4_000, ms: 60_000 }, 3_480]);
  assert.deepEqual(budgetLines(history, parts), [
    { kind: "tokens", limit: 4_000, left: 3_480 },
    { kind: "steps", limit: 3, left: 2 },
    { kind: "ms", limit: 60_000, left: 60_000 },
  ]);
  assert.equal(stepsMaxOf(history, parts.limits), 3);
  assert.equal(stepsMaxOf(talk({ asked: { steps: 1_000 } }).history, parts.limits), defaultLimits.stepsMax);
  for (const tokens of [900, 800]) {
    const small = planFor({ whole: { tokens }, asked: { tokens: 800 } });
    assert.deepEqual(small, ["none", "budget_spent", { kind: "tokens", limit: 800, of: "turn" }]);
  }
});
