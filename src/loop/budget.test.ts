import assert from "node:assert/strict";
import { after, test } from "node:test";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { talkOf } from "../../test/world/talk.ts";
import { tokenStatus } from "../context/context.ts";
import { foldHistory } from "../log/log.ts";
import { addSpent, type BudgetLimits, heldFor, nothingSpent, type Spent } from "../protocol/budget.ts";
import type { NewEvent } from "../protocol/events.ts";
import {
  answerTokensMin,
  fitCall,
  isSpent,
  leftOf,
  reserve,
  reservedOf,
  spentOf,
  tightest,
  withLimits,
} from "./budget.ts";
import { defaultLimits } from "./parts.ts";
import { budgetLines, planCall, standingOf, stepsMaxOf } from "./spending.ts";

test("what is left is the limit without what was spent and without what children hold; time and depth are not shared out [A4]", () => {
  const limits = { tokens: 1_000, money: 0.3, steps: 10, ms: 60_000, agents: 5, depth: 3 };
  const spent = { ...nothingSpent, tokens: 300, money: 0.1, steps: 2, ms: 10_000, agents: 1 };
  const held = heldFor({ tokens: 400, money: 0.1, steps: 4, ms: 50_000, agents: 1, depth: 2 });
  assert.deepEqual(leftOf(limits, spent, [held]), {
    ...{ tokens: 300, money: 0.1, steps: 4, ms: 50_000, agents: 2, depth: 3 },
  });
  assert.deepEqual(leftOf({ tokens: 100 }, spent), { tokens: 0 }, "never less than nothing");
  assert.deepEqual(leftOf({}, spent, [held]), {}, "without a limit nothing is counted");
});

test("a child gets what it asks for, or half of what is left; more than that is refused with what there is [A4]", () => {
  const left = { tokens: 1_000, money: 0.5, steps: 9, ms: 30_000, agents: 4, depth: 2 };
  assert.deepEqual(reserve(left, { tokens: 700, agents: 0 }), {
    ok: true,
    value: { tokens: 700, money: 0.25, steps: 4, ms: 30_000, agents: 0, depth: 1 },
  });
  assert.deepEqual(reserve({}, { tokens: 700 }), { ok: true, value: { tokens: 700 } });
  const refused = (has: BudgetLimits, wanted: BudgetLimits) => {
    const made = reserve(has, wanted);
    return made.ok ? "given" : [made.failure.code, made.failure.params];
  };
  assert.deepEqual(refused(left, { tokens: 1_001 }), ["budget_short", { kind: "tokens", wanted: 1_001, left: 1_000 }]);
  assert.deepEqual(refused(left, { agents: 4 }), ["budget_short", { kind: "agents", wanted: 5, left: 4 }]);
  assert.deepEqual(refused(left, { depth: 2 }), ["budget_short", { kind: "depth", wanted: 3, left: 2 }]);
  assert.deepEqual(
    refused({ steps: 1 }, {}),
    ["budget_short", { kind: "steps", wanted: 2, left: 1 }],
    "the last is its own",
  );
  for (const kind of ["tokens", "money", "steps", "ms", "agents", "depth"] as const)
    assert.equal(refused({ [kind]: 0 }, {})[0], "budget_short", `nothing is made of nothing: ${kind}`);
});

test("a parent that may have two hundred agents makes thirty, and each of the first ones makes some itself [A4]", () => {
  const children: number[] = [];
  for (let left = 200; children.length < 30; ) {
    const made = reserve({ agents: left }, {});
    if (!made.ok) break;
    children.push(made.value.agents ?? 0);
    left -= 1 + (made.value.agents ?? 0);
  }
  assert.equal(children.length, 30);
  assert.deepEqual([children[0], children.at(-1)], [9, 2]);
  assert.deepEqual(reserve({ agents: 9 }, {}), { ok: true, value: { agents: 2 } });
  assert.deepEqual(reserve({ agents: 1 }, {}), { ok: true, value: { agents: 0 } });
});

test("the tighter of two budgets holds, and what is named stands over what is usual [A4]", () => {
  assert.deepEqual(tightest({ tokens: 5, steps: 1 }, { tokens: 3, ms: 9 }), { tokens: 3, steps: 1, ms: 9 });
  assert.deepEqual(withLimits({ steps: 100, agents: 8 }, { steps: 200 }), { steps: 200, agents: 8 });
});

test("a call is shortened until it fits, and refused by the kind that is too small [A4]", () => {
  const price = { input: 1, output: 10 };
  const wanted = { inputTokens: 1_000, outputTokensMax: 4_000, price };
  assert.deepEqual(fitCall({}, wanted), { fits: { tokens: 5_000, outputTokensMax: 4_000, money: 0.041 } });
  assert.deepEqual(fitCall({ tokens: 2_000 }, wanted), {
    fits: { tokens: 2_000, outputTokensMax: 1_000, money: 0.011 },
  });
  assert.deepEqual(fitCall({ tokens: 1_000 + answerTokensMin - 1 }, wanted), { kind: "tokens" });
  assert.deepEqual(fitCall({ money: 0.011 }, wanted), {
    fits: { tokens: 2_000, outputTokensMax: 1_000, money: 0.011 },
  });
  assert.deepEqual(fitCall({ money: 0.001 }, wanted), { kind: "money" });
  assert.deepEqual(fitCall({ money: 5 }, { ...wanted, price: undefined }), { kind: "money" }, "nobody knows the price");
  assert.deepEqual(fitCall({ steps: 0 }, wanted), { kind: "steps" });
  assert.deepEqual(fitCall({ ms: 0, agents: 0 }, wanted), { kind: "ms" });
  assert.equal(isSpent({ agents: 0, depth: 0, tokens: 1 }), undefined, "who may make no agents may work all the same");
});

test("many small prices add up to the cent [A4]", () => {
  const sum = Array.from({ length: 100_000 }).reduce<Spent>(
    (spent) => addSpent(spent, { money: 0.0000001 }),
    nothingSpent,
  );
  assert.equal(sum.money, 0.01);
});

test("what was spent is read from the log: answers, attempts that failed or were lost, summaries, and time at work [A4]", () => {
  const usage = { input: 100, output: 20 };
  const place = { turn: 1, step: 1 };
  const started = { ...place, slot: "base", model: "m", reason: "", hash: "", bytes: 0, reused: 0 } as const;
  const reserved = { tokens: 500, money: 0.5 };
  const call = { id: "x", name: "now", arguments: "{}" };
  const compacted = { strategy: "compact", upTo: 1, summary: "", messagesBefore: 1, messagesAfter: 1 };
  const said = { ...place, text: "", finish: "stop", durationMs: 1, usage } as const;
  const events: [at: number, event: NewEvent][] = [
    [0, { type: "message.user", id: "a", text: "go", mode: "queue" }],
    [0, { type: "turn.started", turn: 1, message: "a", epoch: 1 }],
    [10, { type: "step.started", ...started, attempt: 1, reserved }],
    // The process was killed here, and started an hour later.
    [3_600_000, { type: "turn.recovered", turn: 1, epoch: 2 }],
    [3_600_010, { type: "step.started", ...started, attempt: 2, reserved }],
    [
      3_600_100,
      {
        type: "step.failed",
        ...{ ...place, attempt: 2, kind: "network", failure: { code: "model_network", params: {} }, usage, cost: 0.01 },
      },
    ],
    [3_600_200, { type: "step.started", ...started, attempt: 3, reserved }],
    [3_600_300, { type: "message.assistant", ...said, cost: 0.02, calls: [call] }],
    // A person takes a day.
    [90_000_300, { type: "call.started", call: "x", class: "pure", attempt: 1 }],
    [90_000_400, { type: "call.finished", call: "x", outcome: "ok", text: "" }],
    [90_000_400, { type: "compacted", turn: 1, ...compacted, usage }],
    [90_000_400, { type: "budget.set", limits: { tokens: 9 }, by: "person" }],
    [90_000_400, { type: "rewound", to: 0, cause: "reset" }],
  ];
  const log = events.map(([at, event], index) => ({ ...event, at, seq: index + 1 }));
  const history = foldHistory(log);
  assert.deepEqual(spentOf(history), {
    ...{ tokens: 500 + 3 * 120, money: 0.53, steps: 1, agents: 0, unpriced: 1 },
    ms: 10 + 90 + 100 + 100 + 100,
  });
  assert.deepEqual([history.budget.set, reservedOf(history)], [{ limits: { tokens: 9 }, by: "person" }, []]);
  const branched = { type: "branched", parent: "p", place: 9, copiedUpTo: log.length + 1, seq: 1, at: 0 } as const;
  const branch = foldHistory([branched, ...log.map((event) => ({ ...event, seq: event.seq + 1 }))]);
  assert.deepEqual(
    [spentOf(branch), branch.budget.set?.limits],
    [nothingSpent, { tokens: 9 }],
    "a branch was paid for where it comes from",
  );
});

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
