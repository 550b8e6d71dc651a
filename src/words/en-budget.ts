type Kind = "tokens" | "money" | "steps" | "ms" | "agents" | "depth";

/** 1,234: as English writes it. */
const count = (value: number) => Math.round(value).toLocaleString("en-US");

/** Dollars with as many digits as a small price needs. */
export function dollars(value: number): string {
  const digits = value === 0 || value >= 0.995 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(value)));
  return `$${value.toFixed(Math.max(2, digits))}`;
}

/** So many of a kind. */
function enAmount(kind: Kind, value: number): string {
  if (kind === "money") return dollars(value);
  if (kind === "ms")
    return seconds(
      value,
      (n) => `${n} s`,
      (n) => `${n} min`,
    );
  const [one, many] = {
    tokens: ["token", "tokens"],
    steps: ["step", "steps"],
    agents: ["agent", "agents"],
    depth: ["level", "levels"],
  }[kind];
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
} satisfies Record<string, (params: never) => [string, string]>;
