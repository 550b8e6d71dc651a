import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import { BudgetLines } from "../parts/budget-lines.tsx";
import { useWords } from "../words/words.ts";

/** What it may spend, and what it has. */
export function AgentBudget({ agent }: { readonly agent: AgentInfo }) {
  const words = useWords().team;
  if (Object.keys(agent.budget.limits).length === 0) return <p className="meta">{words.noBudget}</p>;
  return <BudgetLines purse={agent.budget} />;
}
