import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Storage } from "../../src/storage/storage.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool, heldTool } from "../world/tools.ts";
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

test("each decision carries who decided, the hash of what was decided on, and the one before it [H2]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([calls(["pay", { mark: "a" }], ["pay", { mark: "b" }]), says("done")]);
  await using yard = await startYard({
    model,
    data,
    tools: [effectTool("pay", "unsafe", join(data, "m"), { asks: true })],
  });
  const { conversation } = await yard.ask("go");
  await must(decide(yard, conversation, 0, { verdict: "approve" }));
  await yard.whenAtRest(conversation);
  await must(decide(yard, conversation, 0, { verdict: "approve" }));
  const made = all((await yard.whenAtRest(conversation)).events, "decision.made");
  assert.deepEqual(
    made.map(({ by, verdict }) => ({ by, verdict })),
    Array(2).fill({ by: "local", verdict: "approve" }),
  );
  assert.equal(made[0]?.previous, "");
  assert.match(made[0]?.hash ?? "", /^[0-9a-f]{64}$/);
  assert.equal(made[1]?.previous, made[0]?.hash);
  assert.notEqual(made[0]?.argumentsHash, made[1]?.argumentsHash);
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

test("a decision that comes in while another call's result is being stored is acted on at once, whatever else still runs [H2][L5]", async (t) => {
  const data = await folder(t);
  const marks = join(data, "marks.jsonl");
  const slow = heldTool("slow");
  const quick = heldTool("quick");
  await using model = await modelServer([calls(["slow", {}], ["quick", {}], ["pay", { mark: "a" }]), says("done")]);
  let yard: TestYard | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(wanted) {
      // Right before the result of the quick call.
      const isResult = wanted.events.some(({ type }) => type === "call.finished");
      if (isResult && slow.isHeld() && !existsSync(marks) && yard !== undefined)
        await must(decide(yard, conversation, 0, { verdict: "approve" }));
      return storage.append(wanted);
    },
  });
  const tools = [slow.tool, quick.tool, effectTool("pay", "unsafe", marks, { asks: true })];
  yard = await startYard({ model, data, tools, wrapStorage });
  const { id: conversation } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id: conversation }, body: { text: "go", mode: "queue" } }));
  await until("a person is asked and both run", async () => {
    const asked = (await yard?.events(conversation))?.some(({ type }) => type === "decision.asked");
    return asked === true && slow.isHeld() && quick.isHeld();
  });
  quick.release();
  await until("what was approved is done", () => existsSync(marks));
  assert.equal(slow.isHeld(), true);
  slow.release();
  assert.equal((await yard.whenAtRest(conversation)).answer, "done");
  await yard[Symbol.asyncDispose]();
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
