/**
 * `npm run bench context`: how much of each request a provider has in its cache already, and what a conversation still
 * knows after room was made in it.
 *
 *   -- --short  few steps, to see that it runs; nothing is judged
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Kind, type Recall, recallAfter, type Summariser } from "./context/fidelity.ts";
import { prefixReuse, type Reuse } from "./context/prefix-reuse.ts";

const resultsFolder = join(import.meta.dirname, "results");
const { values: flags } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const full = { turns: 10, stepsPerTurn: 10, windowTokens: 8_192, at: [1, 3, 10] };
const short = { turns: 4, stepsPerTurn: 4, windowTokens: 8_192, at: [1] };
const summarisers: readonly Summariser[] = ["honest", "mediocre", "forgetful"];
const kinds: readonly Kind[] = ["instructions", "files", "decisions", "to-dos", "facts", "errors"];
const sharePercentMin = 95;
await bench(flags.short ? short : full, flags.short ? "context-short.json" : "context.json");

async function bench(sizes: typeof full, resultsFile: string): Promise<void> {
  const { turns, stepsPerTurn, windowTokens, at } = sizes;
  const reuses = await prefixReuse({ turns, stepsPerTurn });
  const steps = turns * stepsPerTurn;
  console.log(`Prompt bytes that repeat the beginning of the request before, ${steps} steps, room made once`);
  for (const reuse of reuses) console.log(reuseLine(reuse));
  console.log(`\nFacts that the next request holds, window of ${windowTokens} tokens`);
  console.log(row("", kinds));
  const recalls: (Recall & { summariser: Summariser })[] = [];
  for (const summariser of summarisers) {
    for (const recall of await recallAfter(summariser, { windowTokens, at })) {
      recalls.push({ summariser, ...recall });
      console.log(recallLine(summariser, recall));
    }
  }
  mkdirSync(resultsFolder, { recursive: true });
  const file = join(resultsFolder, resultsFile);
  const results = { at: new Date().toISOString(), sizes, reuses, recalls };
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  console.log(`\nAll figures: ${file}`);
}

function reuseLine({ layout, share, bytes }: Reuse): string {
  const percent = 100 * share;
  const isJudged = layout === "ours" && !flags.short;
  const verdict = isJudged ? `; target ${sharePercentMin} %: ${percent >= sharePercentMin ? "held" : "missed"}` : "";
  const who = layout === "ours" ? layout : `naive, ${layout}`;
  return `  ${who.padEnd(32)}${percent.toFixed(1).padStart(6)} % of ${(bytes / 1e6).toFixed(1)} MB${verdict}`;
}

function recallLine(summariser: Summariser, { compactions, shares }: Recall): string {
  const times = compactions === 1 ? "once" : `${compactions} times`;
  return row(
    `${summariser} summariser, ${times}`,
    kinds.map((kind) => `${Math.round(100 * shares[kind])} %`),
  );
}

function row(first: string, others: readonly string[]): string {
  return `  ${first.padEnd(32)}${others.map((text) => text.padStart(13)).join("")}`.trimEnd();
}
