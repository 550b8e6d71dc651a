import { type Budget, type BudgetKind, budgetKinds } from "../../../src/protocol/budget.ts";
import { countText, durationText, moneyText } from "../app/format.ts";
import { useWords, type Words } from "../words/words.ts";

export type Purse = Pick<Budget, "limits" | "spent" | "left">;

/** A line for each kind that has a limit: what was spent of it, as words and as a bar. */
export function BudgetLines({ purse }: { readonly purse: Purse }) {
  const words = useWords();
  return (
    <ul className="budget">
      {shareOf(purse).map(({ kind, spent, limit, share }) => {
        const name = words.team.budgetKinds[kind];
        const text = words.team.spentOf({
          spent: amountText(kind, spent, words),
          limit: amountText(kind, limit, words),
        });
        return (
          <li key={kind}>
            <span>{name}</span>
            <span className="meta">{text}</span>
            <meter aria-label={`${name}: ${text}`} min={0} max={1} high={0.8} optimum={0} value={share} />
          </li>
        );
      })}
    </ul>
  );
}

export type Share = {
  readonly kind: BudgetKind;
  readonly spent: number;
  readonly limit: number;
  /** Of the limit, at most 1. */
  readonly share: number;
};

/** The kinds that have a limit and can be spent; what is held back for others counts as spent. */
export function shareOf({ limits, left }: Purse): Share[] {
  return budgetKinds.flatMap((kind) => {
    const limit = limits[kind];
    if (limit === undefined || kind === "depth") return [];
    const spent = Math.max(0, limit - (left[kind] ?? limit));
    return [{ kind, spent, limit, share: limit === 0 ? 1 : Math.min(1, spent / limit) }];
  });
}

export function amountText(kind: BudgetKind, amount: number, { language }: Words): string {
  if (kind === "money") return moneyText(amount, language);
  return kind === "ms" ? durationText(amount, language) : countText(amount, language);
}
