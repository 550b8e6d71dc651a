import { dollars, type enBudgetFailures, seconds } from "./en-budget.ts";

type Kind = Parameters<typeof enBudgetFailures.budget_short>[0]["kind"];

/** 多少，带单位。 */
function zhAmount(kind: Kind, value: number): string {
  if (kind === "money") return dollars(value);
  if (kind === "ms")
    return seconds(
      value,
      (n) => `${n} 秒`,
      (n) => `${n} 分钟`,
    );
  const unit = { tokens: "个 token", steps: "步", agents: "个智能体", depth: "层" }[kind];
  return `${Math.round(value).toLocaleString("en-US")} ${unit}`;
}

/** 预算方面可能出的问题。 */
export const zhBudgetFailures: typeof enBudgetFailures = {
  budget_short: (p) => [
    `预算余额不足：至少需要 ${zhAmount(p.kind, p.wanted)}，剩余 ${zhAmount(p.kind, p.left)}。`,
    "请减少用量，等其他智能体结束，或用 /budget 提高预算。",
  ],
};
