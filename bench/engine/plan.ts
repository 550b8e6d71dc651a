/** Which measures a run makes, in which order. */
import type { Job } from "./jobs.ts";
import type { VariantName } from "./variant.ts";
import type { Work } from "./work.ts";

/** `quick` fits into `npm test`; `full` adds what takes minutes. */
export type Extent = "quick" | "normal" | "full";

export const appendConversations = 32;
const all: VariantName[] = ["bare", "agentyard", "pi", "ai-sdk", "langgraph"];
const own: VariantName[] = ["bare", "agentyard"];

export const works = {
  fifty: { steps: 50, conversations: 1 },
  twoHundred: { steps: 200, conversations: 1 },
  thousand: { steps: 1000, conversations: 1 },
  atOnce: { steps: 50, conversations: 32 },
} satisfies Record<string, Work>;

export function roundsOf(extent: Extent): number {
  return extent === "quick" ? 1 : 3;
}

/** One round. Rounds are repeated as a whole, so that a noisy minute of the machine hits all variants alike. */
export function jobsOfRound(extent: Extent): Job[] {
  if (extent === "quick") return worksOf(works.fifty, own);
  return [
    ...worksOf(works.fifty, all),
    ...worksOf(works.twoHundred, all),
    ...worksOf(works.thousand, extent === "full" ? all : all.filter((name) => name !== "langgraph")),
    ...worksOf(works.atOnce, extent === "full" ? all : own),
    { kind: "appends", conversations: 1 },
    { kind: "appends", conversations: appendConversations },
    { kind: "reopening" },
  ];
}

/** What this extent leaves out, for the reader of the table. */
export function omissionsOf(extent: Extent): string[] {
  if (extent === "full") return [];
  if (extent === "quick") return ["quick run: 50 steps, one round, no peers; the targets need the whole bench"];
  return ["langgraph at 1,000 steps and the peers at 32 conversations take minutes: run with --full"];
}

function worksOf(work: Work, variants: VariantName[]): Job[] {
  return variants.map((variant) => ({ kind: "work", variant, work }));
}
