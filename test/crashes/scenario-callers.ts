import assert from "node:assert/strict";
import { join } from "node:path";
import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { ChatCompletion, type ChatMessage } from "../../src/protocol/openai.ts";
import { all } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, says, stepOf } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { filesOf, puts, roughTools } from "../world/undo.ts";
import { must, type TestYard } from "../world/yard.ts";
import { begin, count, type Scenario, say, told, under, unlessDone } from "./scenario.ts";

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

/** A summary is of no use and paid for; then room is made, undone, and so is the last turn with the file that it wrote. */
export const roomAndUndo = {
  answer: (request) => (isSummary(request) ? summaryFor(request) : { usage: null, ...writesAsTold(request, 5) }),
  env: { CONTEXT_KEEP_RECENT_MESSAGES: "2" },
  tools: () => roughTools,
  async play(yard) {
    const params = { id };
    await begin(yard, id);
    await say(yard, { id, text: "one", turns: 1 });
    await say(yard, { id, text: "two", turns: 2 });
    // It makes nothing that a repeat could find: whoever asks once more pays once more, and that is noted, too.
    await unlessDone(yard, { id, shows: ({ type }) => type === "usage.noted" }, () =>
      must(yard.client.call("compactConversation", { params, body: { focus: useless } })),
    );
    await must(under(yard, "room").call("compactConversation", { params, body: { strategy: "compact" } }));
    await unlessDone(yard, { id, shows: ({ type }) => type === "compaction.undone" }, () =>
      must(yard.client.call("undoCompaction", { params })),
    );
    await unlessDone(yard, { id, shows: wentBack }, () => must(yard.client.call("undoTurn", { params })));
    await say(yard, { id, text: "end", turns: 3 });
  },
  outcome: async (yard) => ({
    ...(await told(yard, id)),
    made: await Promise.all(
      (["compacted", "compaction.undone", "rewound"] as const).map((type) => count(yard, id, type)),
    ),
    noted: all(await yard.events(id), "usage.noted").map(({ usage }) => [usage.input, usage.output]),
    files: filesOf(yard, id),
    differences: await differences(yard),
  }),
} satisfies Scenario;

/** A place is kept, a branch made from it; then back to it, everything forgotten, and the branch deleted. */
export const branchAndDelete = {
  answer: (request) => writesAsTold(request),
  tools: () => roughTools,
  async play(yard) {
    const params = { id };
    await begin(yard, id);
    await say(yard, { id, text: "one", turns: 1 });
    const place = await must(under(yard, "place").call("saveCheckpoint", { params, body: { name: "here" } }));
    await say(yard, { id, text: "two", turns: 2 });
    const at = place.checkpoint;
    const branch = await must(under(yard, "branch").call("branchConversation", { params, body: { at } }));
    await unlessDone(yard, { id, shows: wentBack }, () =>
      must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: at } })),
    );
    if ((await yard.events(branch.id)).length > 0) await say(yard, { id: branch.id, text: "three", turns: 2 });
    await unlessDone(yard, { id, shows: forgot }, () => must(yard.client.call("resetConversation", { params })));
    await say(yard, { id, text: "end", turns: 3 });
    // Gone already is as good.
    await yard.client.call("deleteConversation", { params: { id: branch.id } });
  },
  outcome: async (yard) => ({
    ...(await told(yard, id)),
    conversations: (await must(yard.client.call("listConversations", {}))).items.map((item) => item.id),
    made: await Promise.all((["checkpoint.saved", "rewound"] as const).map((type) => count(yard, id, type))),
    files: filesOf(yard, id),
    differences: await differences(yard),
  }),
} satisfies Scenario;

const wentBack = (event: LogEvent) => event.type === "rewound" && event.cause !== "reset";
const forgot = (event: LogEvent) => event.type === "rewound" && event.cause === "reset";

const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");
const useless = "what nobody can sum up";
const isSummary = ({ body }: AskedRequest) => String(body.messages[0]?.content).startsWith("You sum up");

function summaryFor({ text }: AskedRequest): Answer {
  if (text.includes(useless)) return { text: "", usage: { prompt_tokens: 700, completion_tokens: 10 } };
  return { usage: null, ...says(summary) };
}

/** The first word of what was asked goes into files, but for the last one. */
function writesAsTold(request: AskedRequest, files = 1): Answer {
  const asked = String(request.body.messages.findLast(({ role }) => role === "user")?.content ?? "");
  const [word = ""] = asked.split(/\s/);
  if (word !== "end" && stepOf(request) === 0) {
    const paths = Array.from({ length: files }, (_, n) => `outputs/${n}.txt`);
    return calls(...paths.map((path) => puts(path, word)));
  }
  return says(`${word} done`);
}

/** Whether the log still gives exactly the requests that were sent. */
async function differences(yard: TestYard): Promise<unknown> {
  const found = await yard.log.find(localOwner, id);
  return found.ok ? (await yard.engine.replay(found.value)).differences : found.failure.code;
}
