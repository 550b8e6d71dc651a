import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { all, until } from "../world/events.ts";
import { callTool, connect, generations, mcpAddress, overHttp } from "../world/mcp-client.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool, heldTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

test("an IDE gives an agent files and a task, hears how it goes, and finds what was made, in both generations [G2]", async (t) => {
  await using model = await modelServer(({ body }) => {
    const isDone = body.messages.at(-1)?.role === "tool";
    return isDone ? says("made it") : calls(["write_file", { path: "outputs/a.txt", content: "one\ntwo\nthree\n" }]);
  });
  await using yard = await startYard({ model });
  const url = await mcpAddress(t, yard.app);
  for (const generation of generations) {
    const client = await connect(t, overHttp(url), { generation });
    assert.equal(client.getNegotiatedProtocolVersion(), generation === "auto" ? "2026-07-28" : "2025-11-25");
    assert.match(client.getInstructions() ?? "", /send_message/);

    const started = await callTool(client, "start_conversation", { title: "Report" });
    const { conversation } = started.data;
    const written = { conversation, path: "uploads/notes/plan.md", content: "# Plan" };
    assert.equal((await callTool(client, "write_file", written)).text, "uploads/notes/plan.md (6 bytes)");

    const heard: string[] = [];
    const task = { conversation, text: "make it", files: ["uploads/notes/plan.md"] };
    const onprogress = ({ message = "" }) => void heard.push(message);
    const answered = await callTool(client, "send_message", task, { onprogress });
    assert.deepEqual(answered.data, { conversation, status: "done", answer: "made it" });
    assert.deepEqual(heard, ["step 1", "calls write_file", "step 2"]);

    const read = (input: object) => callTool(client, "read_file", { conversation, path: "outputs/a.txt", ...input });
    assert.equal((await read({})).text, "one\ntwo\nthree\n");
    assert.deepEqual((await read({ offset: 2, limit: 1 })).text.split("\n"), [
      "two",
      "",
      "… The file goes on: read it with offset 3.",
    ]);
    const listed = await callTool(client, "list_files", { conversation, path: "outputs" });
    assert.equal(listed.text, "outputs/a.txt (14 bytes)");

    const search = (query: string) => callTool(client, "search_files", { conversation, query });
    assert.match((await search("tw")).text, /^outputs\/a\.txt:2\n[\s\S]*\*\*tw\*\*o/);
    assert.equal((await search("four")).text, "Nothing was found. Try other words, or fewer of them.");
    assert.equal(
      (await callTool(client, "search_files", { conversation, query: "(", regex: true })).code,
      "pattern_invalid",
    );

    const { resources } = await client.listResources();
    const uri = `agentyard://conversations/${conversation}/files/outputs/a.txt`;
    assert.ok(resources.some((resource) => resource.uri === uri));
    const { contents } = await client.readResource({ uri });
    assert.deepEqual(contents, [{ uri, mimeType: "text/plain", text: "one\ntwo\nthree\n" }]);

    const talk = await callTool(client, "read_conversation", { conversation });
    assert.deepEqual(talk.data.messages, [
      { from: "user", text: "make it" },
      { from: "agent", text: "made it" },
    ]);
    const { messages } = await client.getPrompt({
      name: "conversation",
      arguments: { conversation: `${conversation}` },
    });
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content.type === "text" ? content.text : ""]),
      [
        ["user", "make it"],
        ["assistant", "made it"],
      ],
    );
    assert.match((await callTool(client, "list_conversations", { limit: 1 })).text, /Report$/);
    assert.match((await callTool(client, "list_agents")).text, /^general: .*\nsimple: /);
  }
  assert.deepEqual(await yard.faults(), []);
});

test("a turn that takes long goes on without whoever asked, and its answer is there later [G2]", async (t) => {
  const { tool, isHeld, release } = heldTool("work");
  await using model = await modelServer([calls(["work", {}]), says("at last")]);
  await using yard = await startYard({ model, tools: [tool] });
  const client = await connect(t, overHttp(await mcpAddress(t, yard.app)));
  const sent = await callTool(client, "send_message", { text: "go", wait_seconds: 0 });
  assert.equal(sent.data.status, "running");
  assert.match(sent.text, /^The turn goes on\. Get its answer with wait_for_answer\.\n\nconversation: /);
  const { conversation } = sent.data;
  await until("the tool runs", isHeld);
  const aside = new AbortController();
  const waiting = callTool(client, "wait_for_answer", { conversation }, { signal: aside.signal });
  aside.abort("enough");
  await assert.rejects(waiting);
  release();
  const waited = await callTool(client, "wait_for_answer", { conversation });
  assert.deepEqual(waited.data, { conversation, status: "done", answer: "at last" });
  const again = await callTool(client, "wait_for_answer", { conversation });
  assert.deepEqual(again.data, waited.data);
  const empty = await callTool(client, "start_conversation");
  const nothing = await callTool(client, "wait_for_answer", { conversation: empty.data.conversation });
  assert.deepEqual(nothing.data, { conversation: empty.data.conversation, status: "idle" });
});

test("cancelling a call stops its turn, and only that one [G2]", async (t) => {
  for (const generation of generations) {
    const held = Promise.withResolvers<void>();
    t.after(() => held.resolve());
    await using model = await modelServer(() => ({ text: "never", heldUntil: held.promise }));
    await using yard = await startYard({ model });
    const client = await connect(t, overHttp(await mcpAddress(t, yard.app)), { generation });
    const { conversation } = (await callTool(client, "start_conversation")).data;
    const id = `${conversation}`;
    const send = (text: string, signal: AbortSignal) =>
      callTool(client, "send_message", { conversation, text }, { signal, onprogress: () => {} });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = assert.rejects(send("first", first.signal));
    await until("the model is asked", () => model.asked.length === 1);
    const queued = assert.rejects(send("second", second.signal));
    await until("both are there", async () => all(await yard.events(id), "message.user").length === 2);

    second.abort("no longer");
    await queued;
    await until("it is withdrawn", async () => all(await yard.events(id), "message.withdrawn").length === 1);
    assert.deepEqual(all(await yard.events(id), "cancel.asked"), []);
    first.abort("no longer");
    await running;
    const { outcome } = await yard.whenAtRest(id);
    assert.equal(outcome, "cancelled");
    assert.equal(model.asked.length, 1);
  }
});

test("what an agent may not do alone is put to a person through the client, and only a yes is one [G2][H2]", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-mcp-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  const marks = join(data, "marks.jsonl");
  for (const generation of generations) {
    await using model = await modelServer(({ body }) => {
      const told = body.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
      if (told.length === 0) return calls(["pay", { mark: "a" }], ["pay", { mark: "b" }]);
      return told.length === 2
        ? calls(["ask_human", { question: "Which year?", default: "2026" }])
        : says(told.join(" | "));
    });
    await using yard = await startYard({ model, tools: [effectTool("pay", "unsafe", marks, { asks: true })] });
    const url = await mcpAddress(t, yard.app);
    const asked: string[] = [];
    const elicit = ({ params }: ElicitRequest): ElicitResult => {
      asked.push(params.message);
      if (params.message.includes("year")) return { action: "accept", content: { answer: "1984" } };
      if (params.message.includes('"b"')) return { action: "decline" };
      return { action: "accept", content: { verdict: "approve" } };
    };
    const client = await connect(t, overHttp(url), { generation, elicit });
    const answered = await callTool(client, "send_message", { text: "go" });
    assert.deepEqual(asked.toSorted(), [
      'May it call pay with {"mark":"a"}?\nit leaves a mark\nRisk: medium',
      'May it call pay with {"mark":"b"}?\nit leaves a mark\nRisk: medium',
      "Which year?",
    ]);
    assert.match(`${answered.data.answer}`, /^pay left a \| .*rejected.* \| 1984$/is);
    const events = await yard.events(`${answered.data.conversation}`);
    assert.deepEqual(
      all(events, "decision.made")
        .map(({ verdict }) => verdict)
        .toSorted(),
      ["answer", "approve", "reject"],
    );
    assert.equal(all(events, "message.user").length, 1);
  }
});

test("where a client can ask nobody, it is told what waits and where; other software never says yes [G2][H4]", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-mcp-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  await using model = await modelServer([
    calls(["pay", { mark: "a" }]),
    calls(["ask_human", { question: "Which year?", required: true }]),
    says("done"),
  ]);
  await using yard = await startYard({
    model,
    tools: [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })],
  });
  const client = await connect(t, overHttp(await mcpAddress(t, yard.app)));
  const sent = await callTool(client, "send_message", { text: "go" });
  const { conversation, decisions } = sent.data;
  assert.equal(sent.data.status, "waiting");
  assert.match(sent.text, /The agent waits for a decision:[\s\S]*May it call pay[\s\S]*\/inbox in the terminal/);
  const [{ id: decision, ...shown }] = decisionsIn(decisions);
  assert.deepEqual(shown, { conversation, kind: "approval", tool: "pay", arguments: '{"mark":"a"}', risk: "medium" });
  const inbox = await callTool(client, "list_decisions");
  assert.deepEqual(decisionsIn(inbox.data.decisions), decisionsIn(decisions));

  const forced = await callTool(client, "answer_question", { conversation, decision, answer: "approve" });
  assert.deepEqual(
    [forced.code, forced.text.slice(0, 33)],
    ["decision_verdict_unfit", "Whether this call may be made is "],
  );
  await must(
    yard.client.call("decide", {
      params: { id: `${conversation}`, decision: `${decision}` },
      body: { verdict: "reject" },
    }),
  );
  const asked = await callTool(client, "wait_for_answer", { conversation });
  const [question] = decisionsIn(asked.data.decisions);
  assert.equal(question.question, "Which year?");
  const blank = await callTool(client, "answer_question", { conversation, decision: question.id, answer: "" });
  assert.equal(blank.code, "answer_required");
  const unknown = await callTool(client, "answer_question", { conversation, decision: "none", answer: "1984" });
  assert.equal(unknown.code, "decision_not_found");
  const answered = await callTool(client, "answer_question", { conversation, decision: question.id, answer: "1984" });
  assert.deepEqual(answered.data, { conversation, status: "done", answer: "done" });
  assert.equal((await callTool(client, "list_decisions")).text, "Nothing waits for a decision.");
});

type ShownDecision = { readonly id: unknown; readonly question?: unknown };

function decisionsIn(value: unknown): [ShownDecision, ...ShownDecision[]] {
  assert.ok(Array.isArray(value) && value.length > 0);
  const [first, ...others] = value;
  return [first, ...others];
}
