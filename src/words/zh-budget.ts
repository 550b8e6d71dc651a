import { dollars, type enAgents, type enBudget, type enBudgetFailures, seconds } from "./en-budget.ts";

type Kind = Parameters<typeof enBudgetFailures.budget_short>[0]["kind"];

/** 多少，带单位。 */
export function zhAmount(kind: Kind, value: number): string {
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
  budget_spent: (p) => [
    `${p.of === "turn" ? "这个回合" : "这个对话"}的预算已用完：${zhAmount(p.kind, p.limit)}。`,
    p.of === "turn" ? "再发一条消息即可继续；每个回合有各自的预算。" : "请用 /budget 提高预算，或用 /new 开始新对话。",
  ],
  transfer_refused: (p) => [
    {
      acting: `不能转交给 ${p.agent}：它已在这个回合中工作（${p.stack}）。`,
      depth: `不能转交给 ${p.agent}：已有 ${p.max} 个智能体依次转交（${p.stack}）。`,
      twice: `不能转交给 ${p.agent}：同一回答中已经转交过一次。`,
    }[p.because] ?? "",
    "请直接回答用户；完成后会回到主智能体。",
  ],
  price_unknown: (p) => [
    `这里设有金额上限，但 ${p.model} 的价格未知，因此没有调用它。`,
    "请在 agentyard.yaml 的 prices 中填写它的价格，或改为限制 token：/budget tokens 200000。",
  ],
};

/** `/budget` 与回合结束时的一行。 */
export const zhBudget: typeof enBudget = {
  left: (p) => `预算：${p.lines.join(" · ")}`,
  leftOf: (p) => `剩余 ${p.left}，共 ${p.limit}`,
  spent: (p) => `已用 ${p.amount}，不限`,
  spentOf: (p) => `已用 ${p.amount}，上限 ${p.limit}，剩余 ${p.left}`,
  unpriced: (p) =>
    `! 模型价格未知：有 ${p.calls} 次调用没有计入金额。${p.models === "" ? "" : `没有价格的模型：${p.models}。请在 agentyard.yaml 的 prices 中填写。`}`,
  nothingYet: () => "尚未产生用量。用 /budget tokens 200k usd 2 可为这个对话设置上限。",
  hint: () => "修改：/budget tokens 200k、/budget usd 2、/budget minutes 10；off 表示恢复为设置中的值。",
  unknownKind: (p) => `✗ 没有“${p.word}”这种上限；可用：${p.kinds}。`,
  unfit: (p) => `✗ “${p.number}”不能作为 ${p.word} 的上限；请写数字，例如 /budget ${p.word} 10，或 off。`,
};

/** `/agents`。 */
export const zhAgents: typeof enAgents = {
  entry: (p) => `  @${p.id}  ${p.name}（${p.more}）`,
  allTools: "全部工具",
  tools: (p) => `${p.count} 个工具`,
  hint: () => "在消息中用 @ 指名即可转交给它；之后回到主智能体。",
};
