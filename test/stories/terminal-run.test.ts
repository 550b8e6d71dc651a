import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import type { Client } from "../../src/client/client.ts";
import { parseCommandLine } from "../../src/terminal/command-line.ts";
import type { ClientCommand } from "../../src/terminal/terminal.ts";
import { wordsFor } from "../../src/words/words.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { openTestPipe, runInPipe } from "../world/pty.ts";
import { modelEnv } from "../world/served.ts";
import { effectTool, heldTool } from "../world/tools.ts";
import { must, startYard, type TestYard, type TestYardOptions } from "../world/yard.ts";

type RunObject = Record<string, unknown> & { conversation_id: string | null; error: { kind: string } | null };

async function runJson(
  yard: Parameters<typeof runInPipe>[1],
  command: Partial<Extract<ClientCommand, { name: "run" }>> & { message: string },
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
const once = { AGENTYARD_ATTEMPTS_MAX: "1" };
const asking = { tools: [effectTool("mark", "unsafe", "/dev/null", { asks: true })] };
const tooLong = refusal(400, "maximum context length", "context_length_exceeded");
type Ending = readonly [when: string, code: number, reason: string, finish: string, kind: string | undefined];
const endings: readonly (readonly [...Ending, answers: readonly Answer[], options?: TestYardOptions])[] = [
  ["the key is refused", 3, "configuration", "failed", "auth", [refusal(401, "Incorrect API key", "invalid_api_key")]],
  ["there is no such model", 4, "model_unavailable", "failed", "not_found", [refusal(404, "no", "model_not_found")]],
  ["it is overloaded", 4, "model_unavailable", "failed", "overloaded", [refusal(503, "overloaded")], { env: once }],
  [
    "the request is refused",
    1,
    "failed",
    "failed",
    "bad_request",
    [refusal(400, "you must provide a model parameter")],
  ],
  ["the talk is too long", 9, "context_exhausted", "failed", "context_overflow", [tooLong, tooLong, tooLong]],
  [
    "a person would have to decide",
    6,
    "approval_needed",
    "waiting",
    undefined,
    [calls(["mark", { mark: "x" }])],
    asking,
  ],
];
for (const [when, code, reason, finish, kind, answers, options] of endings) {
  test(`run ends with ${code} (${reason}) when ${when} [P2]`, async () => {
    await using model = await modelServer(answers);
    await using yard = await startYard({ model, ...options });
    const ended = await runJson(yard, { message: "go" });
    const { exit, finish: told, error } = ended.object;
    assert.deepEqual([ended.code, exit, told, error?.kind], [code, { code, reason }, finish, kind]);
  });
}

test("--max-turns and --max-budget end the turn with a summing up, at their limit and not before [P2][A4]", async () => {
  // A call costs five cents.
  const usage = { prompt_tokens: 50_000, completion_tokens: 10, total_tokens: 50_010 };
  const step = { ...calls(["now", {}]), usage };
  for (const [options, code, finish, steps] of [
    ["--max-turns 2", 5, "limit", 3],
    ["--max-budget 0.18", 5, "limit", 3],
    ["--max-turns 9 --max-budget 1", 0, "done", 4],
  ] as const) {
    await using model = await modelServer(({ body }) =>
      model.asked.length > 3 || body.tool_choice === "none" ? says("Summed up.") : step,
    );
    await using yard = await startYard({ model, env: { AGENTYARD_PRICES: `${model.wire.model} 1 1` } });
    const typed = parseCommandLine(["run", "--json", ...options.split(" "), "go"], wordsFor("en").terminal);
    assert.ok(typed.ok && typed.value.name === "run");
    const pipe = openTestPipe("");
    const ended = await runInPipe(pipe, yard, typed.value);
    const object = JSON.parse(pipe.written.output);
    assert.deepEqual([ended, object.finish, object.answer, object.steps], [code, finish, "Summed up.", steps], options);
  }
});

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

/** A run in a folder of this machine. */
async function run(yard: Pick<TestYard, "client">, folder: string, command: Parameters<typeof runJson>[1]) {
  const { code, object } = await runJson({ client: yard.client, place: { folder, homeDir: folder } }, command);
  return { code, object };
}

test("the object tells of every file: where it lies, or why it could not be sent [F3][P2]", async (t) => {
  const folder = folderWith(t, { "a.csv": "1\n", "sub/a.csv": "2\n" });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const { code, object } = await run(yard, folder, { message: "read #a.csv", files: ["sub/a.csv", "pipe"] });
  assert.equal(code, 0);
  const message = "pipe cannot be used: it is a pipe, a socket or a device. Choose another file.";
  assert.deepEqual(object.files, [
    { success: false, name: "pipe", error: { kind: "permission_denied", message, retryable: false } },
    { success: true, path: "uploads/a.csv", type: "csv", name: "a.csv" },
    { success: true, path: "uploads/sub-a.csv", type: "csv", name: "sub/a.csv" },
  ]);
});

test("--continue passes over conversations in which nothing was said [P2]", async (t) => {
  const folder = folderWith(t, {});
  await using model = await modelServer([says("First."), says("Second."), says("Third.")]);
  await using yard = await startYard({ model });
  assert.equal((await run(yard, folder, { message: "and?", going: "newest" })).code, 2);
  const { conversation } = await yard.ask("one");
  const { id: empty } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(empty, "a.txt", Buffer.from("a")));
  const second = (await run(yard, folder, { message: "two", going: "newest" })).object;
  assert.deepEqual([second.conversation_id, second.answer], [conversation, "Second."]);
  const named = (await run(yard, folder, { message: "three", going: { id: empty } })).object;
  assert.deepEqual([named.conversation_id, named.answer], [empty, "Third."]);
});

type Limits = NonNullable<Extract<ClientCommand, { name: "run" }>["limits"]>;

async function runWith(
  yard: Parameters<typeof runInPipe>[1],
  limits: Limits,
  output: "json" | "text" | "stream-json" = "json",
) {
  const pipe = openTestPipe("");
  const code = await runInPipe(pipe, yard, { name: "run", output, message: "go", limits });
  const lines = pipe.written.output.trimEnd().split("\n");
  return { code, lines, errors: pipe.written.errors };
}

/** As the command line reads them. */
function rules(...written: string[]): NonNullable<Limits["yes"]> {
  return written.map((one) => {
    const [tool = "", pattern] = one.split(":");
    return { tool, pattern, written: one };
  });
}

const marks = () => effectTool("mark", "unsafe", "/dev/null", { asks: true });

test("--yes allows what fits and says so; what does not fit still needs a person [P2][H2]", async () => {
  await using model = await modelServer([
    calls(["mark", { mark: "a" }], ["mark", { mark: "b" }]),
    says("Both are done."),
    calls(["mark", { mark: "c" }]),
  ]);
  await using yard = await startYard({ model, tools: [marks()] });
  const allowed = await runWith(yard, { yes: rules("other_tool", "mark") });
  assert.equal(allowed.code, 0);
  assert.equal(JSON.parse(allowed.lines[0] ?? "").answer, "Both are done.");
  assert.equal(allowed.errors, "✓ Allowed by --yes mark: mark\n✓ Allowed by --yes mark: mark\n");
  const refused = await runWith(yard, { yes: rules("mark:nothing like it", "other_tool") });
  assert.equal(refused.code, 6);
  assert.equal(JSON.parse(refused.lines[0] ?? "").finish, "waiting");
});

const schema = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
};

test("--json-schema: an answer that does not fit is told to the model; what fits is a value of its own [P2]", async (t) => {
  const folder = folderWith(t, { "schema.json": JSON.stringify(schema) });
  const answerSchema = join(folder, "schema.json");
  await using model = await modelServer([
    says("It is Bern, with many people."),
    says('{"city":"Bern","people":"many"}'),
    says('Here it is:\n```json\n{"city":"Bern","people":134000}\n```'),
    says('{"city":"伯尔尼","people":1}'),
    ...Array.from({ length: 3 }, () => says("no")),
  ]);
  await using yard = await startYard({ model });
  const fitting = await runWith(yard, { answerSchema });
  const { structured, finish, steps, usage } = JSON.parse(fitting.lines[0] ?? "");
  assert.deepEqual(
    [fitting.code, structured, finish, steps, usage],
    [0, { city: "Bern", people: 134000 }, "done", 3, { input: 300, output: 30 }],
  );
  const said = model.asked.map(({ body }) => JSON.stringify(body.messages.at(-1)));
  assert.match(said[0] ?? "", /must be JSON that fits this JSON Schema/);
  assert.match(said[1] ?? "", /does not fit the JSON Schema/);
  assert.match(said[2] ?? "", /people/);
  const text = await runWith(yard, { answerSchema }, "text");
  assert.deepEqual([text.code, ...text.lines], [0, '{"city":"伯尔尼","people":1}']);
  const unfit = await runWith(yard, { answerSchema });
  const last = JSON.parse(unfit.lines[0] ?? "");
  assert.deepEqual([unfit.code, last.structured, last.error.kind, last.finish], [1, null, "answer_unfit", "failed"]);
  assert.match(last.error.message, /asked for: .+ Run it again/);
});

test("a schema that is missing, no JSON or no schema is wrong usage, and nothing is sent [P2]", async (t) => {
  const folder = folderWith(t, { "list.json": "[1]", "broken.json": "{", "odd.json": '{"type":"nothing"}' });
  await using model = await modelServer([]);
  await using yard = await startYard({ model });
  for (const name of ["list.json", "broken.json", "odd.json", "none.json"]) {
    const { code, lines } = await runWith(yard, { answerSchema: join(folder, name) });
    const { conversation_id, error } = JSON.parse(lines[0] ?? "");
    assert.deepEqual([code, conversation_id, error.kind], [2, null, "usage"], name);
    assert.ok(error.message.includes(name), error.message);
  }
  assert.equal(model.asked.length, 0);
});

test("a second machine: --url uses a server, --file - sends standard input as a file; one that is away is said [P2][F3]", async (t) => {
  await using model = await modelServer(({ body }: AskedRequest) =>
    says(JSON.stringify(body.messages.at(-1)).includes("uploads/stdin.txt") ? "I have the file." : "I have nothing."),
  );
  const home = makeHome(t, { env: modelEnv(model) });
  const url = await home.serve();
  const sent = home.start("run", "--url", `${url}/`, "--json", "--file", "-", "look");
  sent.child.stdin.end("a,b\n1,2\n");
  const { code, output, errors } = await sent.ended;
  assert.deepEqual(
    [code, JSON.parse(output).answer, JSON.parse(output).files[0]?.path],
    [0, "I have the file.", "uploads/stdin.txt"],
    errors,
  );
  const gone = await home.start("log", "--url", "http://127.0.0.1:9", "abc").ended;
  assert.deepEqual([gone.code, gone.output, /^✗ AgentYard cannot be reached/.test(gone.errors)], [1, "", true]);
});
