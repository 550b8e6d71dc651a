import assert from "node:assert/strict";
import { join } from "node:path";
import type { LogEvent } from "../../../src/protocol/events.ts";
import { localOwner } from "../../../src/protocol/ids.ts";
import { ChatCompletion, type ChatMessage } from "../../../src/protocol/openai.ts";
import { all } from "../../world/events.ts";
import { calls, says, stepOf } from "../../world/model-server.ts";
import { effectTool } from "../../world/tools.ts";
import { filesOf } from "../../world/undo.ts";
import { must, type TestYard } from "../../world/yard.ts";
import { begin, type Scenario, say, told, under } from "../scenario.ts";

/** A program asks over /v1, runs a function of its own, and sends what came of it; both requests under keys. */
export const functionOfTheCaller = {
  answer: (request) => (stepOf(request) === 0 ? calls(["get_weather", { city: "Paris" }]) : says("Rain.")),
  async play(yard) {
    await askForWeather(yard);
  },
  async outcome(yard) {
    const { conversation, said } = await askForWeather(yard);
    return {
      ...{ said, ...(await told(yard, conversation)) },
      results: all(await yard.events(conversation), "call.finished").map(({ text }) => text),
      // Of several, no beginning of an id would name just one.
      isOnly: (await yard.log.findByPrefix(localOwner, "")).ok,
    };
  },
} satisfies Scenario;

async function askForWeather(yard: TestYard): Promise<{ readonly conversation: string; readonly said: unknown }> {
  const question: ChatMessage = { role: "user", content: "How is the weather?" };
  const { message } = await completion(yard, "question", [question]);
  const [wanted] = message.tool_calls ?? [];
  assert.ok(wanted, "a function is asked for");
  const result: ChatMessage = { role: "tool", tool_call_id: wanted.id, content: "rain" };
  const last = await completion(yard, "result", [question, message, result]);
  return { conversation: last.conversation, said: last.message.content };
}

async function completion(yard: TestYard, key: string, messages: readonly ChatMessage[]) {
  const tools = [{ type: "function", function: { name: "get_weather", description: "The weather of a city." } }];
  const answer = await yard.fetch("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ messages, tools }),
  });
  const json: unknown = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(json));
  const [choice] = ChatCompletion.parse(json).choices;
  return { message: choice?.message ?? assert.fail(), conversation: answer.headers.get("x-conversation-id") ?? "" };
}

const id = "caller";

/** A file is put there twice under its name, one is replaced, and a turn is told of them. */
export const uploads = {
  answer: () => says("I see."),
  async play(yard) {
    await begin(yard, id);
    await must(under(yard, "first").upload(id, "a.txt", Buffer.from("first")));
    await must(under(yard, "beside").upload(id, "a.txt", Buffer.from("second"), { keep: true }));
    await must(under(yard, "over").upload(id, "a.txt", Buffer.from("third")));
    await say(yard, { id, text: "look", turns: 1, files: ["uploads/a.txt"] });
  },
  outcome: async (yard) => ({
    ...(await told(yard, id)),
    files: filesOf(yard, id, "uploads"),
    // What was sent again may have taken its own place: the ledger ends with what is there.
    ledger: Object.fromEntries(
      all(await yard.events(id), "file.changed").map(({ path, by, after }) => [path, [by, after?.hash]]),
    ),
  }),
} satisfies Scenario;

/** One call is allowed always, so that the next is not asked about; another is refused; the rule is revoked. */
export const decisions = {
  answer: (request) => {
    const step = stepOf(request);
    if (step === 0) return calls(["pay", { mark: "a" }]);
    if (step === 1) return calls(["pay", { mark: "a" }], ["pay", { mark: "b" }]);
    return says("paid");
  },
  tools: (data) => [effectTool("pay", "idempotent", join(data, "marks.jsonl"), { asks: true })],
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: "pay", turns: 1 }, (event) => decide(yard, event));
    await must(under(yard, "fact").call("addMemory", { body: { fact: "tea, not coffee" } }));
    for (const rule of (await must(yard.client.call("listRules", {}))).items)
      await must(yard.client.call("revokeRule", { params: { rule: rule.id } }));
  },
  async outcome(yard) {
    const events = await yard.events(id);
    return {
      ...(await told(yard, id)),
      asked: all(events, "decision.asked").map(({ arguments: given }) => given),
      made: all(events, "decision.made").map(({ verdict, by, rule }) => [verdict, by, rule?.scope]),
      // Of each call, in the order in which they were asked for: which of two ends first is nobody's promise.
      results: all(events, "message.assistant").flatMap(({ calls: asked = [] }) =>
        asked.map((call) => endsOf(call.id, events)),
      ),
      rules: (await must(yard.client.call("listRules", {}))).items,
      waiting: (await must(yard.client.call("listDecisions"))).items,
      memory: (await must(yard.client.call("listMemory"))).items.map(({ fact }) => fact),
    };
  },
} satisfies Scenario;

function endsOf(id: string, events: readonly LogEvent[]): string[] {
  return all(events, "call.finished").flatMap(({ call, outcome }) => (call === id ? [outcome] : []));
}

/** What was answered before a kill is answered the same under its key. */
async function decide(yard: TestYard, event: LogEvent): Promise<void> {
  if (event.type !== "decision.asked") return;
  const isFirst = event.arguments?.includes('"a"') === true;
  const body = isFirst
    ? { verdict: "approve" as const, always: { scope: "user" as const } }
    : { verdict: "reject" as const, reason: "too dear" };
  const made = await under(yard, event.id).call("decide", { params: { id, decision: event.id }, body });
  if (!made.ok && made.failure.code !== "decision_already_made") throw new Error(made.failure.code);
}
