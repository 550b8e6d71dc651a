import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits } from "./parts.ts";

test("what a turn may take where nobody has said otherwise: steps, attempts, agents, calls, and time [L8][M3]", () => {
  const { window: _, ...limits } = defaultLimits;
  assert.deepEqual(limits, {
    ...{ stepsMax: 100, agentStepsMax: 50, agentsAtOnceMax: 8, parallelCallsMax: 8 },
    ...{ attemptsMax: 4, retryDelayMs: 500, retryDelayMsMax: 60_000 },
    ...{ crashesMax: 3, recoveriesMax: 4, leaseMs: 15_000 },
    ...{ toolTimeoutMs: 120_000, stopGraceMs: 500, summaryTimeoutMs: 180_000, messagesKeptMax: 150 },
    budgets: { conversation: { agents: 200, depth: 5 }, turn: {}, agent: {} },
    prices: {},
  });
});
