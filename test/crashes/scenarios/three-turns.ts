import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ok } from "../../../src/base/result.ts";
import type { LogEvent } from "../../../src/protocol/events.ts";
import { defineTool } from "../../../src/tools/tools.ts";
import { type Answer, type AskedRequest, calls, says, stepOf } from "../../world/model-server.ts";
import { effectTool } from "../../world/tools.ts";
import type { TestYard } from "../../world/yard.ts";
import { begin, heard, type Scenario, say, told } from "../scenario.ts";

const id = "crash";

/**
 * Three turns with everything that can be interrupted: parallel tools of all three classes, an approval, a question, a
 * cancel, and a turn after it.
 */
export const threeTurns = {
  answer: scriptedAnswer,
  tools: (data) => {
    const marks = join(data, "marks.jsonl");
    return [
      effectTool("look", "pure", marks),
      effectTool("put", "idempotent", marks),
      effectTool("send", "unsafe", marks, { delayMs: 5 }),
      effectTool("pay", "unsafe", marks, { asks: true }),
      ...[hang, die],
    ];
  },
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: "first", turns: 1 }, (event) => decide(yard, event));
    await say(yard, { id, text: "second", turns: 2 }, async (event) => {
      const isHanging = event.type === "message.assistant" && event.calls?.some(({ name }) => name === "hang");
      if (isHanging === true) await heard(yard.client.call("cancelTurn", { params: { id } }));
    });
    await say(yard, { id, text: "third", turns: 3 });
  },
  outcome: async (yard) => ({
    ...(await told(yard, id)),
    results: await resultsOf(yard),
    marks: await marksOf(yard.data),
  }),
  check,
} satisfies Scenario;

/** A turn that ends the process whenever it runs. */
export const deadlyTurn = {
  ...threeTurns,
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: "crash me", turns: 1 });
  },
} satisfies Scenario;

function scriptedAnswer(request: AskedRequest): Answer {
  const asked = String(request.body.messages.findLast((message) => message.role === "user")?.content ?? "");
  const isFirstStep = stepOf(request) === 0;
  if (asked.startsWith("first")) {
    if (!isFirstStep) return says("first done");
    return calls(
      ["look", { mark: "p" }],
      ["put", { mark: "i" }],
      ["send", { mark: "u" }],
      ["pay", { mark: "a" }],
      ["ask_human", { question: "Which?" }],
    );
  }
  if (asked.startsWith("second")) return isFirstStep ? calls(["hang", {}]) : says("second done");
  if (asked.startsWith("crash")) return isFirstStep ? calls(["die", {}]) : says("survived");
  return says("third done");
}

const hang = defineTool({
  name: "hang",
  description: "Waits until it is stopped. For tests.",
  class: "pure",
  input: z.object({}),
  async run(_, { clock, signal }) {
    await clock.wait(60_000, signal);
    return ok({ text: "never" });
  },
});

const die = defineTool({
  name: "die",
  description: "Ends the process. For tests.",
  class: "pure",
  input: z.object({}),
  run() {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => {});
  },
});

/** One that was answered before stays as it is. */
async function decide(yard: TestYard, event: LogEvent): Promise<void> {
  if (event.type !== "decision.asked") return;
  const body =
    event.kind === "approval" ? { verdict: "approve" as const } : { verdict: "answer" as const, answer: "that one" };
  await heard(yard.client.call("decide", { params: { id, decision: event.id }, body }));
}

async function resultsOf(yard: TestYard): Promise<Record<string, string[]>> {
  const names = new Map<string, string>();
  const results: Record<string, string[]> = {};
  for (const event of await yard.events(id)) {
    if (event.type === "message.assistant") for (const call of event.calls ?? []) names.set(call.id, call.name);
    if (event.type !== "call.finished") continue;
    const name = names.get(event.call) ?? event.call;
    results[name] = [...(results[name] ?? []), event.outcome];
  }
  return results;
}

/** How often each tool really ran. */
export async function marksOf(data: string): Promise<Record<string, number>> {
  const text = await readFile(join(data, "marks.jsonl"), "utf8").catch(() => "");
  const marks: Record<string, number> = {};
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const { name } = Mark.parse(JSON.parse(line));
    marks[name] = (marks[name] ?? 0) + 1;
  }
  return marks;
}

const Mark = z.object({ name: z.string() });
const Outcome = z.object({
  turns: z.array(z.string()),
  answers: z.array(z.string()),
  results: z.record(z.string(), z.array(z.string())),
  marks: z.record(z.string(), z.number()),
});

/** What a kill may change: a tool that may run again ran again, and of one that may not nobody knows whether it ran. */
function check(outcome: unknown): void {
  const { turns, answers, results, marks } = Outcome.parse(outcome);
  assert.deepEqual(turns, ["done", "cancelled", "done"], `the turns end as in an undisturbed run`);
  assert.deepEqual(answers, ["first done", "third done"], `so do the answers`);
  assert.deepEqual(
    Object.entries(results)
      .flatMap(([name, outcomes]) => (outcomes.length === 1 ? [name] : []))
      .toSorted(),
    ["ask_human", "hang", "look", "pay", "put", "send"],
    `every call was answered once`,
  );
  for (const name of ["send", "pay"]) {
    const [result] = results[name] ?? [];
    const ran = marks[name] ?? 0;
    assert.ok(ran <= 1, `the unsafe ${name} ran ${ran} times`);
    assert.ok(result === "ok" || result === "unknown", `${name} is ${result}`);
    if (result === "ok") assert.equal(ran, 1, `${name} is reported as done and was done once`);
  }
}
