import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, says, stepOf } from "../world/model-server.ts";
import { skillText } from "../world/skill-folder.ts";
import { effectTool } from "../world/tools.ts";
import { filesOf, writes } from "../world/undo.ts";
import { must, type TestYard } from "../world/yard.ts";
import { begin, count, heard, type Scenario, say, told, under, unlessDone } from "./scenario.ts";

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
      ...[hang],
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
async function marksOf(data: string): Promise<Record<string, number>> {
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

const later = { id: "m-later", text: "later", mode: "queue" } as const;
const besides = { id: "m-besides", text: "besides @brewing", mode: "steer" } as const;

/**
 * Somebody chats with an agent of theirs, whose model is too busy at first and then keeps a list and files; while it waits
 * for an answer they say something and withdraw it, and steer it with a skill; then the model is told of one more tool,
 * and the conversation gets a budget, a name, and a place in it that is given up again.
 */
export const secondThoughts = {
  answer: answerOfThoughts(),
  async play(yard) {
    const params = { id };
    const skill = join(yard.data, ".agents/skills/brewing");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), skillText("brewing"));
    await chat(yard);
    await say(yard, { id, text: "which", turns: 2 }, (event) => think(yard, event));
    await must(yard.client.call("loadTool", { params: { id, tool: "now" } }));
    await must(yard.client.call("setBudget", { params, body: { tokens: 1_000_000 } }));
    await unlessDone(yard, { id, shows: ({ type }) => type === "conversation.renamed" }, () =>
      must(yard.client.call("changeConversation", { params, body: { title: "Tea" } })),
    );
    const place = await must(under(yard, "place").call("saveCheckpoint", { params, body: { name: "here" } }));
    await unlessDone(yard, { id, shows: ({ type }) => type === "checkpoint.deleted" }, () =>
      must(yard.client.call("deleteCheckpoint", { params: { id, checkpoint: place.checkpoint } })),
    );
  },
  async outcome(yard) {
    const events = await yard.events(id);
    return {
      ...(await told(yard, id)),
      agent: all(events, "agent.chosen").map(({ agentId }) => agentId),
      todos: all(events, "todo.set")
        .at(-1)
        ?.todos.map(({ content }) => content),
      skills: all(events, "skill.linked").map(({ skill }) => skill),
      tools: all(events, "tool.loaded").map(({ tool }) => tool),
      withdrawn: all(events, "message.withdrawn").length,
      joined: all(events, "step.started").flatMap(({ joined = [] }) => joined),
      budgets: all(events, "budget.set").map(({ limits }) => limits),
      title: (await must(yard.client.call("getConversation", { params: { id } }))).title,
      places: (await must(yard.client.call("listCheckpoints", { params: { id } }))).items.map(({ name }) => name),
      files: filesOf(yard, id),
    };
  },
} satisfies Scenario;

/** The chat names its yard, for the model is busy once for each of them. */
async function chat(yard: TestYard): Promise<void> {
  const answer = await yard.fetch("http://localhost/api/agent-app/v1/app/tea/chat/completion", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "chat" },
    body: JSON.stringify({
      query: `first in ${basename(yard.data)}`,
      conversation_id: id,
      agent_id: "tea",
      stream: false,
    }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** While the turn waits for an answer: each message has an id, and who repeats one says nothing new. */
async function think(yard: TestYard, event: LogEvent): Promise<void> {
  if (event.type !== "decision.asked") return;
  const params = { id };
  await must(yard.client.call("sendMessage", { params, body: later }));
  await unlessDone(yard, { id, shows: ({ type }) => type === "message.withdrawn" }, () =>
    must(yard.client.call("withdrawMessage", { params: { id, message: later.id } })),
  );
  await must(yard.client.call("sendMessage", { params, body: besides }));
  const body = { verdict: "answer" as const, answer: "that one" };
  await unlessDone(yard, { id, shows: ({ type }) => type === "decision.made" }, () =>
    must(yard.client.call("decide", { params: { id, decision: event.id }, body })),
  );
}

function answerOfThoughts(): (request: AskedRequest) => Answer {
  const refused = new Set<string>();
  return (request) => {
    const said = request.body.messages.filter(({ role }) => role === "user").map(({ content }) => String(content));
    const [first = ""] = said[0]?.split("\n") ?? [];
    if (!refused.has(first)) {
      refused.add(first);
      return { status: 503, headers: { "retry-after": "0" } };
    }
    if (said.some((text) => text.startsWith("besides"))) return says("second done");
    if (said.some((text) => text.startsWith("which"))) return calls(["ask_human", { question: "Which?" }]);
    const list = { todos: [{ content: "drink tea", status: "pending" }] };
    if (stepOf(request) === 0) return calls(["todo_write", list], writes("outputs/tea.txt", "tea"));
    return stepOf(request) === 1 ? calls(["read_file", { path: "outputs/tea.txt" }]) : says("first done");
  };
}

const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");

/** Somebody says so much that the window of the model is full: room is made in the middle of a turn, which then goes on. */
export const fullWindow = {
  answer: ({ body }) => {
    const isSummary = String(body.messages[0]?.content).startsWith("You sum up");
    return { ...says(isSummary ? summary : "I see."), usage: null };
  },
  env: { MODEL_BASIC_CONTEXT_WINDOW: "8192" },
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: "Always drink tea.", turns: 1 });
    for (const turns of [2, 3, 4]) await say(yard, { id, text: `part ${turns} ${"tell me more ".repeat(500)}`, turns });
  },
  async outcome(yard) {
    const events = await yard.events(id);
    const found = await yard.log.find(localOwner, id);
    return {
      ...(await told(yard, id)),
      compacted: all(events, "compacted").map(({ strategy, summary: text = "" }) => [
        strategy,
        /<user_words>\nAlways drink tea\.\n/.test(text),
      ]),
      differences: found.ok ? (await yard.engine.replay(found.value)).differences : found.failure.code,
    };
  },
} satisfies Scenario;

const questions = ["first", "second", "third"];

/** Somebody asks three things in one go and leaves: what has been taken is answered, though nobody says it again. */
export const nobodyBack = {
  answer: answerOfQuestions,
  async play(yard) {
    await begin(yard, id);
    for (const text of questions)
      await unlessDone(yard, { id, shows: (event) => event.type === "message.user" && event.id === text }, () =>
        must(yard.client.call("sendMessage", { params: { id }, body: { id: text, text, mode: "queue" } })),
      );
    await until("all three are answered", async () => (await count(yard, id, "turn.finished")) >= questions.length);
  },
  outcome: (yard) => told(yard, id),
} satisfies Scenario;

/** The first takes two steps, so that the others wait behind it. */
function answerOfQuestions({ body }: AskedRequest): Answer {
  const last = body.messages.at(-1);
  if (last?.role === "user" && String(last.content).startsWith("first")) return calls(["list_files", {}]);
  const asked = body.messages.findLast(({ role }) => role === "user");
  return says(`answer to ${String(asked?.content).split("\n")[0]}`);
}
