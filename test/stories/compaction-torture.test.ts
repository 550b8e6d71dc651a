import assert from "node:assert/strict";
import { test } from "node:test";
import { seedFor } from "../world/fuzz-chance.ts";
import { type TortureReport, torture } from "../world/torture.ts";
import { planOf, type RunPlan, windows } from "../world/torture-plan.ts";

// `npm run torture` runs many of them, and five that are as long as a long week.
const runs = Number(process.env.AGENTYARD_TORTURE_RUNS ?? 0);
const longSteps = Number(process.env.AGENTYARD_TORTURE_STEPS ?? 0);
/** Any one of the runs again, by the number that was printed. */
const only = process.env.AGENTYARD_TORTURE_SEED;

/** The smallest window with a server that counts far more than we do, and a larger one. */
const chosen = [
  planOf(8, { windowTokens: 4_096, stepsMax: 10, weight: 1.6 }),
  planOf(10, { windowTokens: 32_000, stepsMax: 6, weight: 1 }),
];

test("whatever is said, called, shown, refused and broken off, and however bad the summaries: every request is valid and fits, nothing is lost that must not be, and the conversation goes on [Z1][Z2][Z3][L5]", async (t) => {
  const plans = only === undefined ? plansOf(runs) : [planOf(Number(only))];
  t.diagnostic(totals(await all(plans)));
});

// Part of `npm run torture`.
if (longSteps > 0)
  test("so does a conversation of 2,000 steps, in every window [Z2][Z3][L5]", async (t) => {
    const plans = windows.map((windowTokens, index) =>
      planOf(900_000 + index, { windowTokens, stepsMax: longSteps, weight: 1 }),
    );
    t.diagnostic(totals(await all(plans)));
  });

function plansOf(count: number): RunPlan[] {
  if (count === 0) return chosen;
  const first = (seedFor("compactions") % 1_000_000) * 1_000;
  return Array.from({ length: count }, (_, index) => planOf(first + index));
}

/** Two at a time: one works while the other waits for its model. */
async function all(plans: readonly RunPlan[]): Promise<TortureReport[]> {
  const left = [...plans];
  const done: TortureReport[] = [];
  const bad: string[] = [];
  const work = async () => {
    for (let plan = left.shift(); plan !== undefined; plan = left.shift()) {
      const report = await torture(plan);
      done.push(report);
      if (report.problems.length === 0) continue;
      bad.push(
        `AGENTYARD_TORTURE_SEED=${plan.seed} ${JSON.stringify(plan)}: ${report.problems.slice(0, 3).join("; ")}`,
      );
    }
  };
  await Promise.all([work(), work()]);
  assert.deepEqual(bad, []);
  return done;
}

function totals(reports: readonly TortureReport[]): string {
  const sum = (figure: "steps" | "turns" | "refusals" | "summaries") =>
    reports.reduce((total, one) => total + one[figure], 0);
  return `${reports.length} conversations, ${sum("steps")} steps in ${sum("turns")} turns, ${sum("refusals")} requests refused by a server that counts otherwise, ${sum("summaries")} summaries`;
}
