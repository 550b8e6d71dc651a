import { type Features, type Hit, totalOf, type Weights, weights } from "../../src/search/search.ts";
import { familyOf } from "./queries.ts";
import { type Asked, judges, type Rows, rankIn, type Shown, scopes, scoreOf } from "./score.ts";

/** What the index proposed for a query, each with what speaks for it. */
export type Proposals = ReadonlyMap<Asked, readonly (Shown & { readonly hit: Hit })[]>;

const steps = [0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8];
const folds = 5;

export function ranksBy(proposals: Proposals, by: Weights, judge = judges.section): Rows {
  return new Map([...proposals].map(([asked, shown]) => [asked, rankIn(ordered(shown, by), asked.query, judge)]));
}

/**
 * Chooses weights on four fifths of the manuals and judges them on the last, five times over: how far what was chosen
 * holds on manuals that had no part in the choice.
 */
export function crossValidate(proposals: Proposals): string[] {
  const families = [...new Set([...proposals.keys()].map(({ query }) => familyOf(query.document)))];
  const foldOf = ({ query }: Asked) => families.indexOf(familyOf(query.document)) % folds;
  const lines: string[] = [];
  const ranks = new Map<Asked, number | undefined>();
  for (let fold = 0; fold < folds; fold += 1) {
    const chosen = choose(new Map([...proposals].filter(([asked]) => foldOf(asked) !== fold)));
    const judged = ranksBy(new Map([...proposals].filter(([asked]) => foldOf(asked) === fold)), chosen);
    for (const [asked, rank] of judged) ranks.set(asked, rank);
    lines.push(`weights without fold ${fold}: ${JSON.stringify(chosen)}`);
  }
  const shown = (rows: Rows, without: string) =>
    scopes.map((scope) => {
      const { recall, mrr } = scoreOf([...rows].flatMap(([asked, rank]) => (asked.scope === scope ? [rank] : [])));
      return `${without}, ${scope}: ${recall.toFixed(3)}/${mrr.toFixed(3)}`;
    });
  const parts = Object.keys(weights).filter((part): part is keyof Features => part !== "score");
  return [
    ...lines,
    ...shown(ranks, "cross-validated"),
    ...shown(ranksBy(proposals, weights), "as it is"),
    ...parts.flatMap((part) => shown(ranksBy(proposals, { ...weights, [part]: 0 }), `without ${part}`)),
  ];
}

/** Each weight in turn, as long as it helps by more than chance would. */
function choose(proposals: Proposals): Weights {
  let [best, bestWorth] = [weights, worthOf(proposals, weights)];
  for (const part of Object.keys(weights)) {
    if (part === "score" || part === "worth") continue;
    for (const step of steps) {
      const tried = { ...best, [part]: step };
      const worth = worthOf(proposals, tried);
      if (worth > bestWorth + 0.001) [best, bestWorth] = [tried, worth];
    }
  }
  return best;
}

function worthOf(proposals: Proposals, by: Weights): number {
  const { recall, mrr } = scoreOf([...ranksBy(proposals, by).values()]);
  return recall + mrr;
}

/** As the search does it: by the sum, then one of each page first. */
function ordered(shown: Proposals extends ReadonlyMap<Asked, infer S> ? S : never, by: Weights): Shown[] {
  const sorted = shown.toSorted((one, other) => totalOf(other.hit.features, by) - totalOf(one.hit.features, by));
  const seen = new Set<string>();
  const [first, later]: [Shown[], Shown[]] = [[], []];
  for (const each of sorted) {
    const page = `${each.document} ${each.from}`;
    (seen.has(page) ? later : first).push(each);
    seen.add(page);
  }
  return [...first, ...later];
}
