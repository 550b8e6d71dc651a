type Kind = "tokens" | "money" | "steps" | "ms" | "agents" | "depth";

/** 1,234: as English writes it. */
const count = (value: number) => Math.round(value).toLocaleString("en-US");

/** Dollars with as many digits as a small price needs. */
export function dollars(value: number): string {
  const digits = value === 0 || value >= 0.995 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(value)));
  return `$${value.toFixed(Math.max(2, digits))}`;
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  tokens: ["token", "tokens"],
  steps: ["step", "steps"],
  agents: ["agent", "agents"],
  depth: ["level", "levels"],
};

/** So many of a kind. */
export function enAmount(kind: Kind, value: number): string {
  if (kind === "money") return dollars(value);
  if (kind === "ms")
    return seconds(
      value,
      (n) => `${n} s`,
      (n) => `${n} min`,
    );
  const [one = "", many = ""] = units[kind] ?? [];
  return `${count(value)} ${value === 1 ? one : many}`;
}

const secondMs = 1_000;
const minuteSeconds = 60;

/** Seconds up to two minutes, then minutes. */
export function seconds(ms: number, inSeconds: (n: number) => string, inMinutes: (n: number) => string): string {
  const whole = Math.round(ms / secondMs);
  return whole < 2 * minuteSeconds ? inSeconds(whole) : inMinutes(Math.round(whole / minuteSeconds));
}

/** What can go wrong with budgets. */
export const enBudgetFailures = {
  budget_short: (p: { kind: Kind; wanted: number; left: number }) => [
    `The budget has too little left: at least ${enAmount(p.kind, p.wanted)} wanted, ${enAmount(p.kind, p.left)} left.`,
    "Ask for less, wait until other agents have ended, or raise the budget with /budget.",
  ],
  budget_spent: (p: { kind: Kind; limit: number; of: "conversation" | "turn" }) => [
    `The budget of this ${p.of} is used up: ${enAmount(p.kind, p.limit)}.`,
    p.of === "turn"
      ? "Send another message to go on; each turn has its own budget."
      : "Raise it with /budget, or start a new conversation: /new.",
  ],
  transfer_refused: (p: { agent: string; because: "acting" | "depth" | "twice"; stack: string; max: number }) => [
    {
      acting: `${p.agent} cannot be handed over to: it is at work in this turn already (${p.stack}).`,
      depth: `${p.agent} cannot be handed over to: ${p.max} agents stand behind one another already (${p.stack}).`,
      twice: `${p.agent} cannot be handed over to: the user was handed over in the same answer already.`,
    }[p.because] ?? "",
    "Answer the user yourself: when you are done, the main agent is back.",
  ],
  price_unknown: (p: { model: string }) => [
    `A limit of money holds here, and nobody knows what ${p.model} costs: it is not asked.`,
    `Name its price below prices in agentyard.yaml, or limit tokens instead: /budget tokens 200000.`,
  ],
} satisfies Record<string, (params: never) => [string, string]>;

/** `/budget`, and the line at the end of a turn. */
export const enBudget = {
  left: (p: { lines: readonly string[] }) => `Budget: ${p.lines.join(" · ")}`,
  leftOf: (p: { left: string; limit: string }) => `${p.left} of ${p.limit} left`,
  spent: (p: { amount: string }) => `${p.amount} used, no limit`,
  spentOf: (p: { amount: string; limit: string; left: string }) => `${p.amount} used of ${p.limit}, ${p.left} left`,
  unpriced: (p: { calls: number; models: string }) =>
    `! What models cost is not known: ${p.calls} calls are not counted in dollars.${p.models === "" ? "" : ` Without a price: ${p.models}. Name it below prices in agentyard.yaml.`}`,
  nothingYet: () => "Nothing was spent yet. /budget tokens 200k usd 2 sets limits for this conversation.",
  hint: () => "Change it with /budget tokens 200k, /budget usd 2, /budget minutes 10; off is what the settings say.",
  unknownKind: (p: { word: string; kinds: string }) => `✗ There is no limit of “${p.word}”; use one of: ${p.kinds}.`,
  unfit: (p: { word: string; number: string }) =>
    `✗ “${p.number}” is no limit for ${p.word}; write a number such as /budget ${p.word} 10, or off.`,
};

/** `/agents`. */
export const enAgents = {
  entry: (p: { id: string; name: string; more: string }) => `  @${p.id}  ${p.name} (${p.more})`,
  allTools: "all tools",
  tools: (p: { count: number }) => (p.count === 1 ? "1 tool" : `${p.count} tools`),
  hint: () => "Name one with @ in a message, and you are handed over to it; the main agent is back afterwards.",
};
