import { number, prices, wholeNumber } from "./kinds.ts";
import type { Setting } from "./settings.ts";

const tokens = wholeNumber(0, 1_000_000_000_000);
const usd = number(0, 1_000_000);
const seconds = number(0, 31_536_000);
const steps = wholeNumber(0, 1_000_000);

/** The blocks `budgets` and `prices`: what may be spent where nobody says otherwise, and what models cost. 0 is no limit. */
export const budgetSettings = {
  conversationTokens: {
    variables: ["AGENTYARD_BUDGET_TOKENS"],
    key: "budgets.conversation.tokens",
    kind: tokens,
    default: 0,
  },
  conversationUsd: { variables: ["AGENTYARD_BUDGET_USD"], key: "budgets.conversation.usd", kind: usd, default: 0 },
  conversationSteps: {
    variables: ["AGENTYARD_BUDGET_STEPS"],
    key: "budgets.conversation.steps",
    kind: steps,
    default: 0,
  },
  conversationSeconds: {
    variables: ["AGENTYARD_BUDGET_SECONDS"],
    key: "budgets.conversation.seconds",
    kind: seconds,
    default: 0,
  },
  conversationAgents: {
    variables: ["AGENTYARD_BUDGET_AGENTS"],
    key: "budgets.conversation.agents",
    kind: wholeNumber(0, 100_000),
    default: 200,
  },
  conversationDepth: {
    variables: ["AGENTYARD_BUDGET_DEPTH"],
    key: "budgets.conversation.depth",
    kind: wholeNumber(0, 100),
    default: 5,
  },
  turnTokens: { variables: ["AGENTYARD_TURN_TOKENS"], key: "budgets.turn.tokens", kind: tokens, default: 0 },
  turnUsd: { variables: ["AGENTYARD_TURN_USD"], key: "budgets.turn.usd", kind: usd, default: 0 },
  turnSeconds: { variables: ["AGENTYARD_TURN_SECONDS"], key: "budgets.turn.seconds", kind: seconds, default: 0 },
  agentTokens: { variables: ["AGENTYARD_AGENT_TOKENS"], key: "budgets.agent.tokens", kind: tokens, default: 0 },
  agentUsd: { variables: ["AGENTYARD_AGENT_USD"], key: "budgets.agent.usd", kind: usd, default: 0 },
  agentSteps: { variables: ["AGENTYARD_AGENT_STEPS"], key: "budgets.agent.steps", kind: steps, default: 0 },
  agentSeconds: { variables: ["AGENTYARD_AGENT_SECONDS"], key: "budgets.agent.seconds", kind: seconds, default: 0 },
  prices: { variables: ["AGENTYARD_PRICES"], key: "prices", kind: prices, default: {} },
} as const satisfies Record<string, Setting<unknown>>;
