import type { Query } from "./queries.ts";

/** What somebody is shown: a document and the pages that a result says it lies on. */
export type Shown = { readonly document: string; readonly from: number; readonly to: number };
export type Scope = "one file" | "all files";
export const scopes: readonly Scope[] = ["one file", "all files"];
export type Asked = { readonly query: Query; readonly scope: Scope };

/** When a result counts: it lies on the page that answers, or in its section, which is how the study judged. */
export type Judge = (each: Shown, query: Query) => boolean;
export const judges: Readonly<Record<"page" | "section", Judge>> = {
  page: (each, { pages }) => pages.some((page) => each.from <= page && page <= each.to),
  section: (each, { section }) => each.from <= section.to && section.from <= each.to,
};

/** From 0 on; undefined where no answer in the right manual is among the first ten. */
export function rankIn(shown: readonly Shown[], query: Query, judge: Judge): number | undefined {
  const rank = shown.slice(0, 10).findIndex((each) => each.document === query.document && judge(each, query));
  return rank === -1 ? undefined : rank;
}

export type Score = { readonly recall: number; readonly mrr: number; readonly count: number };

/** Recall among the first five, and the mean of 1 / place among the first ten. */
export function scoreOf(ranks: readonly (number | undefined)[]): Score {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return {
    recall: mean(ranks.map((rank) => (rank !== undefined && rank < 5 ? 1 : 0))),
    mrr: mean(ranks.map((rank) => (rank === undefined ? 0 : 1 / (rank + 1)))),
    count: ranks.length,
  };
}

export type Rows = ReadonlyMap<Asked, number | undefined>;

const groups: readonly (readonly [label: string, has: (query: Query) => boolean])[] = [
  ["all", () => true],
  ["settings were chosen on", ({ isHeldOut }) => !isHeldOut],
  ["kept apart", ({ isHeldOut }) => isHeldOut],
  ...(["heading", "words", "question"] as const).flatMap((kind) =>
    (["en", "zh"] as const).map(
      (language) =>
        [`${kind} ${language}`, (query: Query) => query.kind === kind && query.language === language] as const,
    ),
  ),
];

/** A line for each group of queries: recall@5 / MRR in both scopes, ours and the reference's. */
export function tableOf(ours: Rows, reference: Rows): string[] {
  const cell = (rows: Rows, scope: Scope, has: (query: Query) => boolean) => {
    const { recall, mrr } = scoreOf(
      [...rows].flatMap(([asked, rank]) => (asked.scope === scope && has(asked.query) ? [rank] : [])),
    );
    return `${recall.toFixed(3)}/${mrr.toFixed(3)}`;
  };
  const counted = (has: (query: Query) => boolean) =>
    [...ours.keys()].filter(({ query, scope }) => scope === "one file" && has(query)).length;
  return [
    "| queries | count | one file | reference | all files | reference |",
    "| --- | --- | --- | --- | --- | --- |",
    ...groups.map(([label, has]) => {
      const cells = scopes.flatMap((scope) => [cell(ours, scope, has), cell(reference, scope, has)]);
      return `| ${[label, counted(has), ...cells].join(" | ")} |`;
    }),
  ];
}
