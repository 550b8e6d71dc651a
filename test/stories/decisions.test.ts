import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Config, loadConfig } from "../../src/config/config.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { Decision } from "../../src/protocol/resources.ts";
import { firstOf, report } from "../world/company.ts";
import { inboxOf, type Said, say, toldResults, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { seedFor } from "../world/fuzz-chance.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { type AskedRequest, calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { validateRequest } from "../world/strict-validator.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-decisions-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  return data;
}

async function decide(
  yard: TestYard,
  id: string,
  index: number,
  body: { verdict: "approve" | "reject" | "edit" | "answer"; reason?: string; arguments?: string; answer?: string },
) {
  const { decisions } = await must(yard.client.call("getState", { params: { id } }));
  const decision = decisions[index]?.id ?? "none";
  return yard.client.call("decide", { params: { id, decision }, body });
}

test("of three calls one is approved, one rejected with a reason and one edited; each gets its own result [H2][L5]", async (t) => {
  const data = await folder(t);
  const marks = join(data, "marks.jsonl");
  await using model = await modelServer([
    calls(["pay", { mark: "a" }], ["pay", { mark: "b" }], ["pay", { mark: "c" }], ["now", {}]),
    says("done"),
  ]);
  await using yard = await startYard({ model, data, tools: [effectTool("pay", "unsafe", marks, { asks: true })] });
  const { conversation, status } = await yard.ask("go");
  assert.equal(status, "waiting");
  const { items } = await must(yard.client.call("listDecisions", {}));
  assert.deepEqual(
    items.map(({ kind, tool, arguments: input, reason, risk, path }) => ({ kind, tool, input, reason, risk, path })),
    ["a", "b", "c"].map((mark) => ({
      kind: "approval",
      tool: "pay",
      input: JSON.stringify({ mark }),
      reason: "it leaves a mark",
      risk: "medium",
      path: ["root"],
    })),
  );
  await must(decide(yard, conversation, 0, { verdict: "approve" }));
  await yard.whenAtRest(conversation);
  await must(decide(yard, conversation, 0, { verdict: "reject", reason: "too dear" }));
  await must(decide(yard, conversation, 0, { verdict: "edit", arguments: '{"mark":"changed"}' }));
  const { answer } = await yard.whenAtRest(conversation);
  assert.equal(answer, "done");
  const results = model.asked[1]?.body.messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => String(content));
  assert.equal(results?.[0], "pay left a");
  assert.match(results?.[1] ?? "", /^Error: tool_rejected: The user rejected pay: too dear\./);
  assert.equal(results?.[2], "pay left changed");
  const marked = (await readFile(marks, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).mark);
  assert.deepEqual(marked, ["a", "changed"]);
  assert.deepEqual((await must(yard.client.call("listDecisions", {}))).items, []);
});

test("a question waits, an empty answer gives the default, and one that is required is asked for again [H3]", async () => {
  await using model = await modelServer([
    calls(
      ["ask_human", { question: "Which colour?", context: "For the roof.", default: "red", required: true }],
      ["ask_human", { question: "How many?", required: true }],
    ),
    says("thanks"),
  ]);
  await using yard = await startYard({ model });
  const { conversation, status } = await yard.ask("go");
  assert.equal(status, "waiting");
  const [first, second] = (await must(yard.client.call("listDecisions", {}))).items;
  assert.deepEqual(
    { kind: first?.kind, question: first?.question, context: first?.context, default: first?.default },
    { kind: "question", question: "Which colour?", context: "For the roof.", default: "red" },
  );
  assert.equal(second?.required, true);
  await must(decide(yard, conversation, 0, { verdict: "answer", answer: "" }));
  const refused = await yard.client.call("decide", {
    params: { id: conversation, decision: second?.id ?? "" },
    body: { verdict: "answer", answer: "  " },
  });
  assert.equal(refused.ok ? "" : refused.failure.code, "answer_required");
  await must(
    yard.client.call("decide", {
      params: { id: conversation, decision: second?.id ?? "" },
      body: { verdict: "answer", answer: "seven" },
    }),
  );
  await yard.whenAtRest(conversation);
  const results = model.asked[1]?.body.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  assert.deepEqual(results, ["red\n(no answer, default used)", "seven"]);
});

test("a decision survives a restart, is answered from anywhere, and cannot be made twice [H4]", async (t) => {
  const data = await folder(t);
  const tools = [effectTool("pay", "unsafe", join(data, "m"), { asks: true })];
  await using model = await modelServer([calls(["pay", { mark: "a" }]), says("done")]);
  const first = await startYard({ model, data, tools });
  const { conversation } = await first.ask("go");
  await first[Symbol.asyncDispose]();

  await using yard = await startYard({ model, data, tools });
  const [decision] = (await must(yard.client.call("listDecisions", {}))).items;
  assert.equal(decision?.conversation, conversation);
  assert.equal((await must(yard.client.call("getState", { params: { id: conversation } }))).status, "waiting");
  const params = { id: conversation, decision: decision?.id ?? "" };
  const unfit = await yard.client.call("decide", { params, body: { verdict: "answer", answer: "yes" } });
  assert.equal(unfit.ok ? "" : unfit.failure.code, "decision_verdict_unfit");
  const broken = await yard.client.call("decide", { params, body: { verdict: "edit", arguments: "{" } });
  assert.equal(broken.ok ? "" : broken.failure.code, "tool_arguments_broken");
  const [one, two] = await Promise.all([
    yard.client.call("decide", { params, body: { verdict: "approve" } }),
    yard.client.call("decide", { params, body: { verdict: "reject" } }),
  ]);
  assert.equal([one, two].filter(({ ok }) => ok).length >= 1, true);
  const { answer, events } = await yard.whenAtRest(conversation);
  assert.equal(answer, "done");
  assert.equal(all(events, "call.finished").length, 1);
  const late = await yard.client.call("decide", { params, body: { verdict: "approve" } });
  assert.equal(late.ok ? "" : late.failure.code, "decision_not_found");
});

test("a decision is made by its owner, in its conversation, and once: of twelve verdicts at the same time one counts [H2][Q1]", async (t) => {
  const data = await folder(t);
  const marks = join(data, "marks.jsonl");
  await using model = await modelServer([calls(["pay", { mark: "a" }]), says("done")]);
  await using yard = await startYard({ model, data, tools: [effectTool("pay", "unsafe", marks, { asks: true })] });
  const { conversation } = await yard.ask("go");
  const { decisions } = await must(yard.client.call("getState", { params: { id: conversation } }));
  const decision = decisions[0]?.id ?? "none";
  const decided = async (id: string, verdict: "approve" | "reject") => {
    const made = await yard.client.call("decide", { params: { id, decision }, body: { verdict } });
    return made.ok ? "ok" : made.failure.code;
  };
  const { id: other } = await must(yard.client.call("createConversation", { body: {} }));
  assert.equal(await decided(other, "approve"), "decision_not_found");
  const verdicts = Array.from({ length: 12 }, (_, at) => decided(conversation, at % 2 === 0 ? "approve" : "reject"));
  assert.equal((await Promise.all(verdicts)).filter((code) => code === "ok").length, 1);
  await yard.whenAtRest(conversation);
  const made = all(await yard.events(conversation), "decision.made");
  const written = existsSync(marks) ? (await readFile(marks, "utf8")).trim().split("\n").length : 0;
  assert.deepEqual([made.length, written], [1, made[0]?.verdict === "approve" ? 1 : 0]);
});

test("of arguments that name a path twice, what would be written is what a person is asked about [H1]", async () => {
  const twice = (first: string, second: string) => `{"path":"${first}","path":"${second}","content":"x"}`;
  const statusOf = async (written: string) => {
    await using model = await modelServer([calls(["write_file", written]), says("done")]);
    await using yard = await startYard({ model });
    const { conversation, status } = await yard.ask("go");
    return [status, all(await yard.events(conversation), "file.changed").map(({ path }) => path)];
  };
  assert.deepEqual(await statusOf(twice("outputs/a", "uploads/a")), ["waiting", []]);
  assert.deepEqual(await statusOf(twice("uploads/a", "outputs/a")), ["idle", ["outputs/a"]]);
});

const always = { verdict: "approve", always: { scope: "user" } } as const;

/** A yard whose tool `pay` asks first. */
async function paying(t: TestContext, answer: Parameters<typeof modelServer>[0]) {
  const model: ModelServer = await modelServer(answer);
  t.after(() => model.close());
  const tools = [effectTool("pay", "unsafe", join(folderWith(t, {}), "marks"), { asks: true })];
  const yard: TestYard = await startYard({ model, tools, isOneProcess: true });
  t.after(() => yard[Symbol.asyncDispose]());
  return { yard, model };
}

const refusals = (kind: string): readonly (readonly [Said, string])[] =>
  kind === "approval"
    ? [
        [{ verdict: "answer", answer: "yes" }, "decision_verdict_unfit"],
        [{ verdict: "edit", arguments: '{"sum":7}' }, "tool_arguments_unfit"],
        [{ verdict: "edit" }, "tool_arguments_unfit"],
        [{ verdict: "edit", arguments: '{"mark":"b"}', always: { scope: "user" } }, "rule_not_offered"],
        [{ verdict: "approve", always: { option: 99, scope: "user" } }, "rule_not_offered"],
      ]
    : [
        [{ verdict: "approve" }, "decision_verdict_unfit"],
        [{ verdict: "edit", arguments: "{}" }, "decision_verdict_unfit"],
        [always, "decision_verdict_unfit"],
        [{ verdict: "answer" }, "answer_required"],
        [{ verdict: "answer", answer: " \n" }, "answer_required"],
      ];

test("a verdict that does not fit what was asked is refused and nothing is stored; what was decided once stays so, whatever is said next [H2][H3]", async (t) => {
  const asks = calls(["pay", { mark: "a" }], ["ask_human", { question: "Which?", required: true }]);
  const { yard } = await paying(t, (request) => (stepOf(request) === 0 ? asks : says("done")));
  await yard.start("c");
  await yard.ask("go", { conversation: "c" });
  const open = await waitingIn(yard, "c");
  assert.deepEqual(open.map(({ kind }) => kind).toSorted(), ["approval", "question"]);
  for (const decision of open)
    for (const [said, code] of refusals(decision.kind))
      assert.deepEqual(await say(yard, decision, said), code, `${decision.kind}: ${JSON.stringify(said)}`);
  const [known] = open;
  const unknown = known && { ...known, id: "no-such" };
  for (const said of [{ verdict: "reject" }, { verdict: "edit", arguments: "{}" }, always] as const)
    assert.deepEqual(await say(yard, unknown, said), "decision_not_found");
  assert.deepEqual([all(await yard.events("c"), "decision.made"), await waitingIn(yard, "c")], [[], open]);
  const approval = open.find(({ kind }) => kind === "approval");
  const question = open.find(({ kind }) => kind === "question");
  assert.deepEqual(await say(yard, approval, { verdict: "reject" }), []);
  for (const said of [{ verdict: "approve" }, { verdict: "edit", arguments: '{"mark":"b"}' }, always] as const)
    assert.deepEqual(await say(yard, approval, said), "decision_already_made");
  assert.deepEqual(await say(yard, question, { verdict: "reject", reason: "none of them" }), []);
  const { events, outcome } = await yard.whenAtRest("c");
  assert.deepEqual(
    [outcome, all(events, "decision.made").map(({ verdict, reason }) => [verdict, reason])],
    [
      "done",
      [
        ["reject", undefined],
        ["reject", "none of them"],
      ],
    ],
  );
});

test("what an agent that works for another asks is decided like the rest, edited and for all equal ones, and the record names the agent [H2][A2]", async (t) => {
  const isWorker = (request: AskedRequest) => firstOf(request).startsWith("part");
  const { yard, model } = await paying(t, (request) => {
    if (stepOf(request) > 0) return says(report("done"));
    if (isWorker(request)) return calls(["pay", { mark: "a" }]);
    return calls(["delegate_task", { task: "part 1" }], ["delegate_task", { task: "part 2" }]);
  });
  await yard.start("c");
  await yard.ask("go", { conversation: "c" });
  const open = await inboxOf(yard);
  assert.equal(open.length, 2);
  const [first, second] = open;
  assert.deepEqual(await say(yard, first, { verdict: "edit", arguments: '{"mark":"b"}', equal: true }), [second?.id]);
  const { events, outcome } = await yard.whenAtRest("c");
  const made = all(events, "decision.made").map(({ id, agent, arguments: edited }) => [id, agent, edited]);
  const asked = all(events, "decision.asked").map(({ id, agent }) => [id, agent, '{"mark":"b"}']);
  assert.deepEqual(
    [outcome, made.toSorted(), made.every(([, agent]) => agent !== undefined)],
    ["done", asked.toSorted(), true],
  );
  const told = model.asked.filter(isWorker).map(({ body }) => String(body.messages.at(-1)?.content));
  assert.equal(told.filter((text) => text === "pay left b").length, 2);
});

test("what the operator forbids while a person still thinks is not done, though they then approve it [H1][H2][P5]", async (t) => {
  const data = folderWith(t, {});
  let changed: Config | undefined;
  const tools = [effectTool("pay", "unsafe", join(data, "marks"), { asks: true })];
  await using model = await modelServer((request) =>
    stepOf(request) === 0 ? calls(["pay", { mark: "poison" }]) : says("done"),
  );
  await using yard = await startYard({ model, data, tools, reload: async () => changed, isOneProcess: true });
  await yard.start("c");
  await yard.ask("go", { conversation: "c" });
  const [open] = await waitingIn(yard, "c");
  mkdirSync(join(data, "config"));
  const rules = "global: {risk_patterns: {high: {patterns: [poison], action: deny, reason: poison is out}}}\n";
  writeFileSync(join(data, "config", "hitl_rules.yaml"), rules);
  const place = { cwd: data, homeDir: data, programDir: data, flags: {} };
  const loaded = await loadConfig({ env: { AGENTYARD_DATA: data }, ...place });
  assert.ok(loaded.ok);
  changed = { ...yard.config, approvals: loaded.value.approvals };
  assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
  const { events } = await yard.whenAtRest("c");
  const ends = all(events, "call.finished").map(({ outcome, failure }) => [outcome, failure?.code]);
  assert.deepEqual([ends, existsSync(join(data, "marks"))], [[["rejected", "tool_denied"]], false]);
});

const pay = (data: string) => effectTool("pay", "unsafe", join(data, "marks"), { asks: true });

test("one rejected among five parallel calls leaves a history that the strictest server takes [H2][L5]", async (t) => {
  const data = folderWith(t, {});
  const wanted = ["a", "b", "c", "d", "e"].map((mark): [string, unknown] => ["pay", { mark }]);
  for (const refused of [0, 3]) {
    await using model = await modelServer([calls(...wanted), says("done"), says("and on")]);
    await using yard = await startYard({ model, tools: [pay(data)] });
    const { conversation } = await yard.ask("go");
    for (const [index, decision] of (await waitingIn(yard, conversation)).entries())
      await say(yard, decision, index === refused ? { verdict: "reject", reason: "no" } : { verdict: "approve" });
    assert.equal((await yard.whenAtRest(conversation)).answer, "done");
    assert.equal((await yard.ask("go on", { conversation })).answer, "and on");
    assert.deepEqual([model.asked.map(({ body }) => validateRequest(body))], [[[], [], []]]);
    const told = toldResults(model.asked[1]?.body ?? { messages: [] });
    assert.deepEqual(
      told.map((text) => text.startsWith("Error: tool_rejected:")),
      wanted.map((_, index) => index === refused),
    );
  }
});

test("a turn that waits for a person is stopped at once, and what it asked is gone from the inbox [L6][H4]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer([calls(["pay", { mark: "a" }], ["ask_human", { question: "Which?" }])]);
  await using yard = await startYard({ data, model, tools: [pay(data)], clock: endlessClock });
  const { conversation } = await yard.ask("go");
  assert.equal((await inboxOf(yard)).length, 2);
  await must(yard.client.call("cancelTurn", { params: { id: conversation } }));
  const { outcome, events } = await yard.whenAtRest(conversation);
  assert.equal(outcome, "cancelled");
  assert.deepEqual([all(events, "call.finished").map((event) => event.outcome)], [["not_run", "not_run"]]);
  assert.deepEqual(await inboxOf(yard), []);
});

/** The same numbers for the same seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What waits by the log: asked, not answered, and its turn has not ended. */
function waitingByLog(events: readonly LogEvent[]): string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === "decision.asked") open.add(event.id);
    if (event.type === "decision.made") open.delete(event.id);
    if (event.type === "turn.finished") open.clear();
  }
  return [...open];
}

/** Something that a person does at random. */
async function act(yard: TestYard, open: readonly Decision[], pick: (below: number) => number): Promise<void> {
  const decision = open[pick(open.length)];
  if (decision === undefined) return;
  const equal = pick(3) === 0;
  const isQuestion = decision.kind === "question";
  const verdicts: readonly Said[] = [
    { verdict: isQuestion ? "answer" : "approve", answer: "that", equal },
    { verdict: "reject", reason: "no", equal },
    isQuestion ? { verdict: "answer", answer: "" } : { verdict: "edit", arguments: '{"mark":"z"}' },
    { verdict: "approve", always: { scope: pick(2) === 0 ? "user" : "conversation" } },
  ];
  const body = verdicts[pick(isQuestion ? 3 : 4)] ?? { verdict: "reject" };
  if (pick(8) === 0) await yard.client.call("cancelTurn", { params: { id: decision.conversation } });
  else await say(yard, decision, body);
}

async function checkWaiting(yard: TestYard, conversations: readonly string[], label: string): Promise<Decision[]> {
  for (const id of conversations) await yard.whenAtRest(id);
  const inbox = await inboxOf(yard);
  for (const id of conversations) {
    const byLog = waitingByLog(await yard.events(id));
    const byInbox = inbox.filter((decision) => decision.conversation === id).map((decision) => decision.id);
    const byState = (await waitingIn(yard, id)).map((decision) => decision.id);
    assert.deepEqual([byInbox, byState], [byLog, byLog], label);
  }
  return inbox;
}

async function play(t: TestContext, seed: number): Promise<void> {
  const pick = numbersFrom(seed);
  const data = folderWith(t, {});
  await using model = await modelServer((request) => {
    if (stepOf(request) > 2) return says("done");
    const wanted = Array.from({ length: 1 + (request.text.length % 4) }, (_, index): [string, unknown] =>
      index === 2 ? ["ask_human", { question: "Which?" }] : ["pay", { mark: "abc"[(request.text.length + index) % 3] }],
    );
    return calls(...wanted);
  });
  const parts = { data, model, tools: [pay(data)] };
  let yard = await startYard(parts);
  const conversations: string[] = [];
  for (let round = 0; round < Number(process.env.AGENTYARD_DECISION_ROUNDS ?? 12); round += 1) {
    if (conversations.length < 3 && pick(4) === 0) conversations.push((await yard.ask("go")).conversation);
    if (pick(10) === 0) {
      await yard[Symbol.asyncDispose]();
      yard = await startYard(parts);
    }
    const open = await checkWaiting(yard, conversations, `seed ${seed}, round ${round}`);
    // Two at the same time, as from two surfaces.
    await Promise.all([act(yard, open, pick), act(yard, open, pick)]);
    if (open.length === 0) for (const conversation of conversations) await yard.ask("go on", { conversation });
  }
  await checkWaiting(yard, conversations, `seed ${seed}, at the end`);
  await yard[Symbol.asyncDispose]();
}

test("what the inbox shows is what the log has open, however decisions come in [H4]", async (t) => {
  await play(t, seedFor("decisions", 1));
});
