import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventOf, LogEvent } from "../../src/protocol/events.ts";
import { builtInAgents, withoutMarks } from "../../src/words/words.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const isAgents = (event: LogEvent) => "agent" in event && event.agent !== undefined;
const endsIn = (events: readonly LogEvent[]) =>
  events.filter((event): event is EventOf<"agent.ended"> => event.type === "agent.ended");
const resultsIn = (events: readonly LogEvent[]) =>
  events.flatMap((event) => (event.type === "call.finished" && !isAgents(event) ? [event] : []));

test("workers do their parts side by side with the same files; each answers once, and one that fails harms no other [A2][L5][L8]", async () => {
  const both = Promise.withResolvers<void>();
  const begun = new Set<string>();
  await using model = await modelServer((request) => {
    const first = firstOf(request);
    const last = lastOf(request);
    if (first.startsWith("go")) {
      if (last.role === "tool") return says("all parts are in");
      const parts = ["write", "read", "break", "loop"].map((name): [string, unknown] => [
        "delegate_task",
        { task: `${name} it`, ...(name === "loop" ? { max_loops: 2 } : {}) },
      ]);
      return calls(["todo_write", { todos: [{ content: "mine", status: "pending" }] }], ...parts);
    }
    // None of the first two answers before both have asked: they are at work at the same time.
    if (["write", "read"].some((name) => first.startsWith(name)) && last.role === "user" && !begun.has(first)) {
      begun.add(first);
      if (begun.size === 2) both.resolve();
      const call = first.startsWith("write")
        ? calls(["write_file", { path: "outputs/part.txt", content: "part" }])
        : calls(["todo_read", {}], ["list_files", { path: "uploads" }]);
      return { ...call, heldUntil: both.promise };
    }
    if (first.startsWith("break")) return { status: 401, body: "{}" };
    if (first.startsWith("loop") && request.body.tool_choice !== "none") return calls(["now", {}]);
    return says(report(`${first}: ${last.text.slice(0, 40)}`));
  });
  await using yard = await startYard({ model });
  const row = await yard.start("c");
  await must(yard.engine.upload(row, { name: "data.txt", keep: false, chunks: bytes("abc") }));
  const { answer, outcome, events } = await yard.ask("go", { conversation: "c" });
  assert.deepEqual({ answer, outcome }, { answer: "all parts are in", outcome: "done" });
  const asked = events.flatMap((event) => (event.type === "message.assistant" ? (event.calls ?? []) : []));
  const [, ...results] = asked.flatMap(({ id }) => resultsIn(events).filter(({ call }) => call === id));
  const told = results.map(({ text, outcome }) => ({ ...JSON.parse(withoutMarks(text)), outcome }));
  const contexts = told.map(({ context_id }) => context_id);
  assert.ok(contexts.every((context) => /^subagent-[0-9a-f]{8}$/.test(context)) && new Set(contexts).size === 4);
  assert.deepEqual(
    told.map(({ ok, loops, outcome, result, error }) => [
      ok,
      loops,
      outcome,
      result?.slice(0, 15) ?? error?.slice(0, 9),
    ]),
    [
      [true, 2, "ok", "write it: Succe"],
      [true, 2, "ok", "read it: [FILE]"],
      [false, 1, "error", "127.0.0.1"],
      [true, 3, "ok", "loop it: Error:"],
    ],
  );
  assert.deepEqual(
    endsIn(events)
      .map(({ outcome }) => outcome)
      .toSorted(),
    ["done", "done", "failed", "limit"],
  );
  const todos = events.find(
    (event) => event.type === "call.finished" && isAgents(event) && /list is empty/.test(event.text),
  );
  assert.ok(todos, "a worker has a list of its own");
  const read = await yard.engine.files(row).read("outputs/part.txt");
  assert.equal(read.ok && read.value.bytes.toString(), "part");
  assert.deepEqual(await yard.faults(), []);
});

test("a worker cannot delegate, spawn or write to others, and is told only of its task [A2]", async () => {
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("go")) {
      if (request.body.messages.some(({ role }) => role === "tool")) return says("ok");
      return calls(["delegate_task", { task: "inner" }]);
    }
    if (lastOf(request).role === "tool") return says(report(lastOf(request).text));
    return calls(
      ["delegate_task", { task: "nested" }],
      ["spawn_agent", { role: "a", task: "b" }],
      ["call_agent", { agent_id: "simple", task: "nested" }],
      ["send_message", { to: "root", text: "hello" }],
      ["terminate_agent", { agent_id: "root" }],
    );
  });
  await using yard = await startYard({ model });
  const { events } = await yard.ask("go and remember the colour blue");
  const inner = events.filter((event) => event.type === "call.finished" && isAgents(event));
  assert.deepEqual(
    inner.map((event) => event.type === "call.finished" && event.failure?.code),
    Array(5).fill("tool_not_found"),
  );
  assert.equal(events.filter(({ type }) => type === "agent.spawned").length, 1);
  const asked = model.asked.filter((request) => firstOf(request).startsWith("inner"));
  const names = asked[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
  assert.ok(names.includes("read_file") && !names.some((name) => ["delegate_task", "spawn_agent"].includes(name)));
  assert.ok(asked.every(({ text }) => !text.includes("colour blue")));
});

test("a named agent does a part with its own words and tools and the same files, and its answer comes back; it cannot give work on [A2][T1][T2][W3]", async () => {
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("go"))
      return lastOf(request).role === "tool"
        ? says("ok")
        : calls(
            ["call_agent", { agent_id: "simple", task: "inner", max_loops: 7 }],
            ["call_agent", { agent_id: "nobody", task: "inner" }],
          );
    if (lastOf(request).role === "tool") return says(report("written"));
    return calls(
      ["write_file", { path: "outputs/part.txt", content: "part" }],
      ["call_agent", { agent_id: "general", task: "nested" }],
      ["run_bash_command", { command: "true" }],
    );
  });
  await using yard = await startYard({ model });
  const row = await yard.start("c");
  const { events } = await yard.ask("go", { conversation: "c" });
  const [wrong, right] = resultsIn(events).toSorted((a, b) => (a.outcome < b.outcome ? -1 : 1));
  assert.match(wrong?.text ?? "", /agent_id: .*"general"\|"simple"/);
  const { ok, result, context_id: context, loops } = JSON.parse(withoutMarks(right?.text ?? "{}"));
  assert.deepEqual([ok, result, loops], [true, report("written"), 2]);
  const [made, ...others] = events.flatMap((event) => (event.type === "agent.spawned" ? [event] : []));
  assert.deepEqual(
    [made?.mode, made?.role, made?.context, made?.loops, others.length],
    ["worker", "simple", context, 7, 0],
  );
  const inner = model.asked.find((request) => firstOf(request).startsWith("inner"));
  assert.ok(String(inner?.body.messages[0]?.content).includes(builtInAgents.simple.prompt));
  assert.deepEqual(
    inner?.body.tools?.map((tool) => tool.function.name),
    [...builtInAgents.simple.tools, "transfer_to_general"].toSorted(),
  );
  const failures = events.flatMap((event) =>
    event.type === "call.finished" && isAgents(event) && event.failure ? [event.failure.code] : [],
  );
  assert.deepEqual(
    failures,
    ["tool_not_found", "tool_not_found"],
    "it has what its role has, and nothing to give work on",
  );
  const read = await yard.engine.files(row).read("outputs/part.txt");
  assert.equal(read.ok && read.value.bytes.toString(), "part");
});

test("an answer below 200 characters is asked for once more, and never twice [A2]", async () => {
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("go"))
      return lastOf(request).role === "tool" ? says("ok") : calls(["delegate_task", { task: "be brief" }]);
    return says(`short ${request.body.messages.length}`);
  });
  await using yard = await startYard({ model });
  const { events } = await yard.ask("go");
  const more = events.filter((event) => event.type === "agent.mailed");
  assert.deepEqual(
    more.map((event) => event.type === "agent.mailed" && [event.kind, /请提供更详细的摘要/.test(event.text)]),
    [["more", true]],
  );
  assert.equal(JSON.parse(resultsIn(events)[0]?.text ?? "").result, "short 4");
});

test("a long answer of a worker is cut in the middle for the agent that gave it the work [A2][M5]", async () => {
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("write")) return says(`first ${"word ".repeat(6_000)}last`);
    return lastOf(request).role === "tool" ? says("ok") : calls(["delegate_task", { task: "write a lot" }]);
  });
  await using yard = await startYard({ model, env: { MODEL_BASIC_CONTEXT_WINDOW: "16000" } });
  const { events } = await yard.ask("go");
  const [told] = resultsIn(events);
  assert.ok((told?.text.length ?? 0) < 20_000, `${told?.text.length} characters`);
  assert.match(JSON.parse(told?.text ?? "{}").result, /^first word .* left out here.* last$/s);
});

test("what a worker asks a person stands in the one inbox with the way to it, outlives a restart, and its answer counts [A2][H4][L2]", async () => {
  await using model = await modelServer((request) => {
    const last = lastOf(request);
    if (firstOf(request).startsWith("go"))
      return last.role === "tool" ? says(`told: ${last.text}`) : calls(["delegate_task", { task: "ask them" }]);
    return last.role === "tool"
      ? says(report(`they said ${last.text}`))
      : calls(["ask_human", { question: "Which one?" }]);
  });
  const first = await startYard({ model });
  const { data } = first;
  await first.start("c");
  const waiting = await first.ask("go", { conversation: "c" });
  assert.equal(waiting.status, "waiting");
  const { agent } = waiting.events.find((event) => event.type === "decision.asked") as EventOf<"decision.asked">;
  await first.close();
  await using yard = await startYard({ model, data });
  const { items } = await must(yard.client.call("listDecisions", {}));
  assert.deepEqual(
    items.map(({ path, question }) => [path, question]),
    [[["root", agent], "Which one?"]],
  );
  const { decisions } = await must(yard.client.call("getState", { params: { id: "c" } }));
  assert.deepEqual(decisions, items);
  const asked = model.asked.length;
  const params = { id: "c", decision: items[0]?.id ?? "" };
  await must(yard.client.call("decide", { params, body: { verdict: "answer", answer: "the second" } }));
  const { answer, events } = await yard.whenAtRest("c");
  assert.match(answer, /they said the second/);
  assert.equal(events.filter(({ type }) => type === "agent.spawned").length, 1);
  assert.equal(model.asked.length, asked + 2, "no step that was taken is asked for again");
  assert.deepEqual((await must(yard.client.call("listDecisions", {}))).items, []);
});

async function* bytes(text: string) {
  yield Buffer.from(text);
}
