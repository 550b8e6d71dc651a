/** What AgentYard promises about its engine, each promise as a number that must not be exceeded. */
import { appendConversations, works } from "./plan.ts";
import { appendMedian, type Results, reopeningMedian, workMedian } from "./results.ts";
import type { VariantName } from "./variant.ts";
import type { WorkFigures } from "./work.ts";

type Verdict = { name: string; atMost: number; value: number | null; verdict: "ok" | "MISSED" | "not measured" };

type Target = { name: string; atMost: number; measure: (results: Results) => number | null };

const targets: Target[] = [
  { name: "CPU per step, 200 steps ÷ bare loop", atMost: 1.8, measure: against("bare", "cpuMsPerStep") },
  { name: "CPU per step, 200 steps ÷ pi", atMost: 1 / 3, measure: against("pi", "cpuMsPerStep") },
  { name: "CPU per step, 200 steps ÷ AI SDK", atMost: 1 / 3, measure: against("ai-sdk", "cpuMsPerStep") },
  { name: "CPU per step, 200 steps ÷ LangGraph.js", atMost: 1 / 10, measure: against("langgraph", "cpuMsPerStep") },
  { name: "bytes to disk per step, 200 steps ÷ bare loop", atMost: 2.2, measure: against("bare", "diskBytesPerStep") },
  {
    name: "KB of log payload per step, 200 steps",
    atMost: 3,
    measure: (results) => ratio(workMedian(results, "agentyard", works.twoHundred, "payloadBytesPerStep"), 1024),
  },
  {
    name: "growth over 1,000 steps ÷ bare loop's",
    atMost: 1.2,
    measure: against("bare", "growth", works.thousand),
  },
  {
    name: `CPU per append, ${appendConversations} conversations ÷ one`,
    atMost: 0.6,
    measure: (results) => ratio(appendMedian(results, appendConversations), appendMedian(results, 1)),
  },
  {
    name: "opening 800 steps ÷ reading and parsing their rows",
    atMost: 2,
    measure: (results) => ratio(reopeningMedian(results, "openAndFoldMs"), reopeningMedian(results, "readAndParseMs")),
  },
];

export function judge(results: Results): Verdict[] {
  return targets.map(({ name, atMost, measure }) => {
    const value = measure(results);
    if (value === null) return { name, atMost, value, verdict: "not measured" };
    return { name, atMost, value, verdict: value <= atMost ? "ok" : "MISSED" };
  });
}

function against(other: VariantName, figure: keyof WorkFigures, work = works.twoHundred): Target["measure"] {
  return (results) => ratio(workMedian(results, "agentyard", work, figure), workMedian(results, other, work, figure));
}

function ratio(one: number | null, other: number | null): number | null {
  return one === null || other === null || other === 0 ? null : one / other;
}
