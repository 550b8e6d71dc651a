import { all } from "../../test/world/events.ts";
import { type Answer, type AskedRequest, modelServer } from "../../test/world/model-server.ts";
import { textsOf } from "../../test/world/torture-model.ts";
import { tortureTools } from "../../test/world/torture-plan.ts";
import { startYard } from "../../test/world/yard.ts";
import { longTalk } from "./resting.ts";

// What a conversation still knows after room was made: facts are told at its beginning, and the next request is probed.

export type Kind = "instructions" | "files" | "decisions" | "to-dos" | "facts" | "errors";
/** The share of the facts of each kind that stand in the next request. */
export type Recall = { readonly compactions: number; readonly shares: Readonly<Record<Kind, number>> };
export type Summariser = "honest" | "mediocre" | "forgetful";

const probes: Readonly<Record<Kind, readonly string[]>> = {
  instructions: [
    "Always write amounts in euros, never in dollars.",
    "From now on every table must have a row with totals.",
    "Never touch uploads/ledger-2025.csv.",
    "以后报告一律用中文写摘要。",
    "Remember that invoices before 2019 do not count.",
  ],
  files: ["report", "totals", "chart", "notes", "draft"].map((name) => `outputs/tamarind-${name}.md`),
  decisions: Array.from({ length: 5 }, (_, n) => `medlar-${n}`),
  "to-dos": ["read the ledger", "sum up the quarters", "draw the chart", "ask about the gap in May"],
  facts: [
    "The budget of project Tamarind is 48,213 euros.",
    "The ledger has 1,204 rows, of which 17 are broken.",
    "Mrs Okonkwo signs for everything above 5,000.",
    "The second quarter closed at 311,870.",
    "Supplier 77 was renamed to Baltic Freight in 2021.",
    "The gap in May is 2,345.10.",
    "The tax key is 19 for goods and 7 for books.",
    "The board meets on 2026-12-03.",
  ],
  errors: Array.from({ length: 4 }, (_, n) => `no column amount_${n}`),
};

const kinds = ["instructions", "files", "decisions", "to-dos", "facts", "errors"] as const;

/** Tells everything, talks until room was made so many times, and looks each time what is still there. */
export async function recallAfter(
  summariser: Summariser,
  { windowTokens, at }: { readonly windowTokens: number; readonly at: readonly number[] },
): Promise<Recall[]> {
  let newest: readonly string[] = [];
  let script: readonly Answer[] = [];
  await using server = await modelServer();
  server.answerWith((request) => {
    server.asked.length = 0;
    if (request.body.tools === undefined) return { text: summaryBy(summariser, request), usage: null };
    newest = textsOf(request);
    const [answer = { text: "I see." }, ...rest] = script;
    script = rest;
    return { usage: null, ...answer };
  });
  const env = { MODEL_BASIC_CONTEXT_WINDOW: String(windowTokens) };
  await using yard = await startYard({ model: server, env, tools: tortureTools });
  const talk = await longTalk(yard);
  for (const text of probes.instructions) await talk.say(text);
  script = deeds();
  await talk.say("Do what has to be done.");
  for (const n of probes.decisions.keys()) await talk.decide(() => (n % 2 === 0 ? "approve" : "reject"));
  for (const text of probes.facts) await talk.say(text);
  const recalls: Recall[] = [];
  for (let n = 0, made = 0; made < Math.max(...at); n += 1) {
    const fresh = await talk.say(`talk ${n}: ${"and what else is there to say ".repeat(160)}`);
    const count = all(fresh, "compacted").filter(({ strategy }) => strategy !== "trim").length;
    made += count;
    if (count > 0 && at.includes(made)) recalls.push({ compactions: made, shares: sharesIn(newest) });
  }
  return recalls;
}

/** One step each: the list, the files, what a person decides, what goes wrong. */
function deeds(): Answer[] {
  const one = (name: string, input: object): Answer => ({ calls: [{ name, arguments: JSON.stringify(input) }] });
  const todos = probes["to-dos"].map((content) => ({ content, status: "pending" }));
  return [
    one("todo_write", { todos }),
    ...probes.files.map((path) => one("write_file", { path, content: "a page" })),
    ...probes.decisions.map((mark) => one("sign", { mark })),
    ...probes.errors.map((mark) => one("stumble", { mark })),
  ];
}

function sharesIn(sent: readonly string[]): Record<Kind, number> {
  const text = sent.join("\n");
  const share = (kind: Kind) => probes[kind].filter((probe) => text.includes(probe)).length / probes[kind].length;
  const [instructions, files, decisions, todos, facts, errors] = kinds.map(share);
  return {
    ...{ instructions: instructions ?? 0, files: files ?? 0, decisions: decisions ?? 0 },
    ...{ "to-dos": todos ?? 0, facts: facts ?? 0, errors: errors ?? 0 },
  };
}

const summaryCharactersMax = 3_000;

/**
 * The honest one takes over every line with a number or an error, oldest first, as far as there is room; the mediocre one
 * every second of them; the forgetful one nothing.
 */
function summaryBy(summariser: Summariser, request: AskedRequest): string {
  const part = (lines: readonly string[]) => (line: string, index: number) =>
    `## ${index + 1}. ${line}\n${lines[index] ?? "- None"}`;
  const headings = ["Requests", "Decisions", "Facts", "Files", "Tools", "Errors", "State"];
  if (summariser === "forgetful") return headings.map(part([])).join("\n");
  const lines = textsOf(request)
    .slice(1)
    .flatMap((text) => text.split("\n"))
    .map((line) => line.replace(/^(?:\[\w+\]|-) ?/, "").trim())
    .filter((line) => /\d|error/i.test(line) && !/^(?:<|#|talk \d)|messages? did not fit/.test(line));
  const chosen = [...new Set(lines)].filter((_, index) => summariser === "honest" || index % 2 === 0);
  const kept = within(chosen, summaryCharactersMax).map((line) => `- ${line}`);
  return headings.map(part(["", "", kept.join("\n")])).join("\n");
}

function within(lines: readonly string[], charactersMax: number): string[] {
  let left = charactersMax;
  return lines
    .map((line) => line.slice(0, 200))
    .filter((line) => {
      left -= line.length + 3;
      return left >= 0;
    });
}
