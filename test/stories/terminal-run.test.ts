import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "../../src/client/client.ts";
import { until } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { openTestPipe, runInPipe } from "../world/pty.ts";
import { effectTool, heldTool } from "../world/tools.ts";
import { must, startYard, type TestYardOptions } from "../world/yard.ts";

type RunObject = Record<string, unknown> & { conversation_id: string | null; error: { kind: string } | null };

async function runJson(
  yard: Parameters<typeof runInPipe>[1],
  command: { message: string; going?: "newest" | { id: string } },
  signal?: AbortSignal,
) {
  const pipe = openTestPipe("");
  const code = await runInPipe(pipe, yard, { name: "run", output: "json", ...command }, signal);
  const [line = "", ...more] = pipe.written.output.trimEnd().split("\n");
  assert.deepEqual(more, [], "exactly one line");
  const object: RunObject = JSON.parse(line);
  return { code, object, errors: pipe.written.errors };
}

test("run --json prints one object: answer, calls with parsed arguments, usage of all steps [P2]", async () => {
  await using model = await modelServer([
    { ...calls(["now", { timezone: "Asia/Shanghai" }], ["now", "{broken"]), reasoning: "Let me look." },
    { text: "Late.", usage: { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 } },
  ]);
  await using yard = await startYard({ model });
  const { code, object } = await runJson(yard, { message: "what time is it?" });
  const { conversation_id, tool_calls, ...rest } = object;
  assert.equal(code, 0);
  assert.match(String(conversation_id), /^[0-9a-f-]{36}$/);
  assert.ok(Array.isArray(tool_calls));
  assert.deepEqual(
    tool_calls.map(({ name, arguments: args }) => ({ name, args })),
    [
      { name: "now", args: { timezone: "Asia/Shanghai" } },
      { name: "now", args: "{broken" },
    ],
  );
  assert.deepEqual(rest, {
    answer: "Late.",
    reasoning: "Let me look.",
    finish: "done",
    steps: 2,
    usage: { input: 150, output: 15 },
    files: [],
    error: null,
    exit: { code: 0, reason: "done" },
  });
});

test("without --json the answer is on standard output and what happens on standard error [P2]", async () => {
  await using model = await modelServer([calls(["now", {}]), says("Late.")]);
  await using yard = await startYard({ model });
  const pipe = openTestPipe("what time\nis it?\n");
  assert.equal(await runInPipe(pipe, yard, { name: "run", output: "text", message: "" }), 0);
  assert.equal(pipe.written.output, "Late.\n");
  assert.match(pipe.written.errors, /^⚙ now \{\}\n✓ now [\d.]+ m?s\n$/);
  assert.match(String(model.asked[0]?.body.messages.at(-1)?.content), /^what time\nis it\?/);
});

test("--stream-json prints a line an event, and the object last [P2]", async () => {
  const pipe = openTestPipe("");
  // The last word waits until somebody has read of the answer: what is over when it is read has no pieces any more.
  const heardOf = async (index: number) => {
    if (index === 2) await until("a piece is printed", () => pipe.written.output.includes('"frame":"delta"'));
  };
  await using model = await modelServer([{ ...says("Hello there, and more of it."), heldAt: heardOf }]);
  await using yard = await startYard({ model });
  assert.equal(await runInPipe(pipe, yard, { name: "run", output: "stream-json", message: "hi" }), 0);
  const lines = pipe.written.output.trimEnd().split("\n");
  const frames = lines.map((line) => JSON.parse(line));
  assert.equal(frames[0].frame, "conversation");
  assert.equal(frames[0].conversation_id, frames.at(-1).conversation_id);
  assert.ok(frames.some(({ frame }) => frame === "delta"));
  assert.deepEqual(
    frames.filter(({ frame }) => frame === "event").map(({ event }) => event.type),
    ["turn.started", "recipe.set", "step.started", "message.assistant", "turn.finished"],
  );
  assert.equal(frames.at(-1).answer, "Hello there, and more of it.");
});

const refusal = (status: number, message: string, code = ""): Answer => ({
  status,
  body: JSON.stringify({ error: { message, code } }),
});
const endings: readonly {
  readonly when: string;
  readonly answers: readonly Answer[];
  readonly options?: TestYardOptions;
  readonly expected: { code: number; reason: string; finish: string; kind?: string };
}[] = [
  {
    when: "the key is refused",
    answers: [refusal(401, "Incorrect API key provided", "invalid_api_key")],
    expected: { code: 3, reason: "configuration", finish: "failed", kind: "auth" },
  },
  {
    when: "the model does not exist",
    answers: [refusal(404, "The model does not exist", "model_not_found")],
    expected: { code: 4, reason: "model_unavailable", finish: "failed", kind: "not_found" },
  },
  {
    when: "the server is overloaded for good",
    answers: [refusal(503, "overloaded")],
    options: { env: { AGENTYARD_ATTEMPTS_MAX: "1" } },
    expected: { code: 4, reason: "model_unavailable", finish: "failed", kind: "overloaded" },
  },
  {
    when: "the server refuses the request",
    answers: [refusal(400, "you must provide a model parameter")],
    expected: { code: 1, reason: "failed", finish: "failed", kind: "bad_request" },
  },
  {
    when: "the conversation is too long",
    answers: Array.from({ length: 3 }, () => refusal(400, "maximum context length", "context_length_exceeded")),
    expected: { code: 9, reason: "context_exhausted", finish: "failed", kind: "context_overflow" },
  },
  {
    when: "the step limit is reached",
    answers: [calls(["now", {}]), says("That is all I know.")],
    options: { env: { MAX_LOOPS: "1" } },
    expected: { code: 5, reason: "limit", finish: "limit" },
  },
  {
    when: "a person would have to decide",
    answers: [calls(["mark", { mark: "x" }])],
    options: { tools: [effectTool("mark", "unsafe", "/dev/null", { asks: true })] },
    expected: { code: 6, reason: "approval_needed", finish: "waiting" },
  },
];
for (const { when, answers, options, expected } of endings) {
  test(`run ends with ${expected.code} (${expected.reason}) when ${when} [P2]`, async () => {
    await using model = await modelServer(answers);
    await using yard = await startYard({ model, ...options });
    const { code, object } = await runJson(yard, { message: "go" });
    const { code: exitCode, reason, finish, kind } = expected;
    assert.equal(code, exitCode);
    assert.deepEqual(object.exit, { code: exitCode, reason });
    assert.equal(object.finish, finish);
    assert.equal(object.error?.kind, kind);
  });
}

test("a decision that comes while other calls run ends the run only when these are done [P2] [H4]", async () => {
  await using model = await modelServer([calls(["mark", { mark: "x" }], ["slow", {}])]);
  const slow = heldTool("slow");
  const tools = [effectTool("mark", "unsafe", "/dev/null", { asks: true }), slow.tool];
  await using yard = await startYard({ model, tools });
  const follow: Client["follow"] = async function* (...wanted) {
    for await (const frame of yard.client.follow(...wanted)) {
      yield frame;
      // It has read of the decision and reads on.
      if (frame.frame === "event" && frame.event.type === "decision.asked") slow.release();
    }
  };
  const { code, object } = await runJson({ client: { ...yard.client, follow } }, { message: "go" });
  assert.equal(code, 6);
  const events = await yard.events(String(object.conversation_id));
  assert.equal(events.at(-1)?.type, "call.finished");
});

test("--continue and --resume go on with a conversation; an interrupted turn is finished first [P2]", async () => {
  await using model = await modelServer([says("First."), says("Second."), calls(["slow", {}]), says("Third.")]);
  const slow = heldTool("slow");
  await using yard = await startYard({ model, tools: [slow.tool] });
  const first = await runJson(yard, { message: "one" });
  const id = String(first.object.conversation_id);
  const second = await runJson(yard, { message: "two", going: { id: id.slice(0, 8) } });
  assert.deepEqual([second.object.conversation_id, second.object.answer], [id, "Second."]);

  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "three" } }));
  await until("the turn runs", slow.isHeld);
  const follow: Client["follow"] = (...wanted) => {
    slow.release();
    return yard.client.follow(...wanted);
  };
  const third = await runJson({ client: { ...yard.client, follow } }, { message: "", going: "newest" });
  assert.deepEqual([third.code, third.object.answer, third.object.steps], [0, "Third.", 2]);
});

test("where there is nothing to go on with, the object says so and the exit code is 2 [P2]", async () => {
  await using model = await modelServer([says("Hi.")]);
  await using yard = await startYard({ model });
  const none = await runJson(yard, { message: "", going: "newest" });
  assert.deepEqual([none.code, none.object.conversation_id, none.object.error?.kind], [2, null, "usage"]);
  const { object } = await runJson(yard, { message: "hi" });
  const rested = await runJson(yard, { message: "", going: "newest" });
  assert.deepEqual([rested.code, rested.object.conversation_id], [2, object.conversation_id]);
  const unknown = await runJson(yard, { message: "hi", going: { id: "zzz" } });
  assert.deepEqual([unknown.code, unknown.object.error?.kind], [2, "conversation_not_found"]);
  const empty = await runJson(yard, { message: "" });
  assert.deepEqual([empty.code, empty.object.finish], [2, "failed"]);
});

test("an interrupted run stops its turn, prints its object and ends with 130 [L6] [P2]", async () => {
  await using model = await modelServer([{ text: "one two three", fault: { after: 3, kind: "stall" } }]);
  await using yard = await startYard({ model });
  const leave = new AbortController();
  const running = runJson(yard, { message: "count" }, leave.signal);
  await until("the model was asked", () => model.asked.length === 1);
  leave.abort();
  const { code, object } = await running;
  assert.deepEqual([code, object.finish, object.exit], [130, "cancelled", { code: 130, reason: "interrupted" }]);
  assert.equal((await yard.whenAtRest(String(object.conversation_id))).outcome, "cancelled");
});

test("lines from a pipe are answered one after another, and the exit code is the last answer's [U1]", async () => {
  await using model = await modelServer([
    says("One."),
    calls(["now", {}]),
    says("Two."),
    refusal(401, "no", "invalid_api_key"),
  ]);
  await using yard = await startYard({ model });
  const pipe = openTestPipe("first\n\nsecond");
  assert.equal(await runInPipe(pipe, yard), 0);
  assert.equal(pipe.written.output, "One.\nTwo.\n");
  assert.match(pipe.written.errors, /✓ now/);
  const broken = openTestPipe("third\n");
  assert.equal(await runInPipe(broken, yard), 3);
  assert.match(broken.written.errors, /refuses the key/);
});

test("log prints every event as JSON lines or for people, replay finds no difference [P2]", async () => {
  await using model = await modelServer([calls(["now", {}]), says("Late.")]);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("what time is it?");
  const print = async (name: "log" | "replay", json: boolean, id = conversation.slice(0, 8)) => {
    const pipe = openTestPipe("");
    const code = await runInPipe(pipe, yard, { name, id, json });
    return { code, ...pipe.written };
  };
  const events = (await print("log", true)).output.trimEnd().split("\n");
  assert.deepEqual(
    events.map((line) => JSON.parse(line)),
    await yard.events(conversation),
  );
  assert.match(
    (await print("log", false)).output,
    /^ {4}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}message\.user .+what time is it/,
  );
  assert.deepEqual(await print("replay", false), {
    code: 0,
    output: "✓ No differences (1 turns, 2 steps)\n",
    errors: "",
  });
  const errors = "✗ Conversation not found: zzz. To list them, start `agentyard` and type /sessions.\n";
  assert.deepEqual(await print("log", false, "zzz"), { code: 2, output: "", errors });
});

test("an empty answer is nothing on standard output and a note on standard error [P2]", async () => {
  await using model = await modelServer([says("")]);
  await using yard = await startYard({ model });
  const pipe = openTestPipe("");
  assert.equal(await runInPipe(pipe, yard, { name: "run", output: "text", message: "hi" }), 0);
  assert.deepEqual(pipe.written, { output: "", errors: "(The model gave an empty answer.)\n" });
});

test("a run that waits for a decision names it to scripts, and people are told where to answer it [P2][H4]", async () => {
  await using model = await modelServer([calls(["mark", { mark: "x" }]), calls(["mark", { mark: "x" }])]);
  const tools = [effectTool("mark", "unsafe", "/dev/null", { asks: true })];
  await using yard = await startYard({ model, tools });
  const json = openTestPipe("");
  assert.equal(await runInPipe(json, yard, { name: "run", message: "mark it", output: "json" }), 6);
  const { decisions } = JSON.parse(json.written.output);
  const { items } = await must(yard.client.call("listDecisions"));
  assert.deepEqual(
    decisions,
    items.map(({ id }) => id),
  );
  const text = openTestPipe("");
  await runInPipe(text, yard, { name: "run", message: "mark it", output: "text" });
  assert.match(
    text.written.errors,
    /✗ mark needs a decision and nobody is here to make it\. Answer it with `agentyard`, then \/inbox\.\n$/,
  );
});
