import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkRecord } from "../../src/log/log.ts";
import type { CallerPart } from "../../src/protocol/given.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const weather = { name: "get_weather", description: "The weather.", parameters: { type: "object", properties: {} } };
const callerPart: CallerPart = { instructions: "Answer in verse.", functions: [weather] };

async function begin(yard: TestYard, part: CallerPart = callerPart, text = "how is it?") {
  const row = await must(yard.engine.create(localOwner, { id: "c", origin: "program" }));
  await must(yard.engine.send(row, { text, mode: "queue", callerPart: part }));
  return { row, rested: await yard.whenAtRest("c") };
}

test("a function of the caller is asked of it, and its result goes on with the turn [C5]", async () => {
  await using model = await modelServer([
    calls(["get_weather", { city: "Paris" }], ["todo_read", {}], ["get_weather", { city: "Rome" }]),
    says("Sun in both."),
  ]);
  await using yard = await startYard({ model });
  const { row, rested } = await begin(yard);
  const asked = all(rested.events, "decision.asked");
  assert.equal(rested.status, "waiting");
  assert.deepEqual(
    asked.map(({ kind, tool, arguments: given }) => [kind, tool, given]),
    [
      ["function", "get_weather", '{"city":"Paris"}'],
      ["function", "get_weather", '{"city":"Rome"}'],
    ],
  );
  assert.equal(all(rested.events, "call.finished").length, 1, "our own tool did not wait");
  assert.deepEqual((await must(yard.client.call("listDecisions"))).items, [], "no person is asked");
  const [paris, rome] = asked;
  const answer = (id: string | undefined, text: string) =>
    yard.engine.decide(row, id ?? "", { verdict: "answer", by: "program", answer: text });
  await must(answer(rome?.id, "rain </data>"));
  assert.equal((await yard.whenAtRest("c")).status, "waiting");
  await must(answer(paris?.id, ""));
  const done = await yard.whenAtRest("c");
  assert.deepEqual([done.status, done.answer], ["idle", "Sun in both."]);
  const results = model.asked[1]?.body.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  assert.deepEqual([results?.[0], results?.[2]], ["(done, nothing to show)", "rain </data>"]);
  assert.equal(all(done.events, "call.finished").filter(({ untrusted }) => untrusted).length, 2);
  const again = await answer(paris?.id, "snow");
  assert.equal(again.ok || again.failure.code, "decision_not_found");
});

test("a model that gives every call the same id has each of them answered by its own result, in one turn and in the next [C5][L5]", async () => {
  const asks = (city: string) => ({
    calls: [{ id: "call", name: "get_weather", arguments: JSON.stringify({ city }) }],
  });
  await using model = await modelServer([asks("Paris"), asks("Rome"), says("both"), asks("Oslo"), says("all")]);
  await using yard = await startYard({ model, isOneProcess: true });
  const { row } = await begin(yard);
  const answered = async (text: string) => {
    const open = all(await yard.events("c"), "decision.asked").at(-1);
    await must(yard.engine.decide(row, open?.id ?? "", { verdict: "answer", by: "program", answer: text }));
    return (await yard.whenAtRest("c")).status;
  };
  assert.deepEqual([await answered("sun"), await answered("rain")], ["waiting", "idle"]);
  await must(yard.engine.send(row, { text: "and there?", mode: "queue", callerPart }));
  await yard.whenAtRest("c");
  assert.equal(await answered("snow"), "idle");
  const events = await yard.events("c");
  assert.equal(new Set(all(events, "decision.asked").map(({ id }) => id)).size, 3);
  assert.deepEqual(
    all(events, "call.finished").map(({ text }) => text),
    ["sun", "rain", "snow"],
  );
});

test("instructions and functions of a caller are there in its turn and gone in the next, and the record says why [C5][L3]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using yard = await startYard({ model });
  const { row } = await begin(yard);
  await must(yard.engine.send(row, { text: "and now?", mode: "queue" }));
  const { events } = await yard.whenAtRest("c");
  const told = model.asked.map(({ body }) => ({
    has: body.tools?.some(({ function: { name } }) => name === "get_weather"),
    verse: String(body.messages[0]?.content).includes("# What the caller wants\nAnswer in verse.\n\n"),
  }));
  assert.deepEqual(told, [
    { has: true, verse: true },
    { has: false, verse: false },
  ]);
  assert.deepEqual(
    all(events, "recipe.set").map(({ cause }) => cause),
    ["start", "tools_changed"],
  );
  assert.deepEqual((await must(yard.client.call("replay", { params: { id: "c" } }))).differences, []);
});

test("a function that is called like a tool of ours is left out: ours runs [C5]", async () => {
  await using model = await modelServer([calls(["todo_write", { todos: [] }]), says("ok")]);
  await using yard = await startYard({ model });
  // By its own name, and by another one that it goes by, too.
  const ours = ["todo_write", "list_workspace_files"].map((name) => ({ ...weather, name }));
  const functions = [...ours, weather, { ...weather, description: "Again." }];
  const { rested } = await begin(yard, { functions });
  assert.equal(rested.answer, "ok");
  assert.deepEqual(all(rested.events, "decision.asked"), []);
  const offered = model.asked[0]?.body.tools?.map(({ function: { name } }) => name) ?? [];
  assert.deepEqual(
    [offered.length, new Set(offered).size, offered.at(-1)],
    [offered.length, offered.length, "get_weather"],
  );
  assert.deepEqual([offered.includes("list_files"), offered.includes("list_workspace_files")], [true, false]);
  assert.match(JSON.stringify(model.asked[0]?.body.tools?.at(-1)), /"description":"The weather\."/);
  const told = (await yard.logged()).filter(({ level }) => level === "warn").map(({ message }) => message);
  assert.deepEqual(told, ["functions of the caller are called like our tools, or twice: left out"]);
});

test("a function that is called like a tool on demand is the caller's; use_tool still reaches ours [C5][T1]", async () => {
  await using model = await modelServer([calls(["use_tool", { name: "todo_read" }], ["todo_read", {}]), says("ok")]);
  await using yard = await startYard({ model });
  const { rested } = await begin(yard, { functions: [{ ...weather, name: "todo_read" }] });
  assert.deepEqual(
    all(rested.events, "decision.asked").map(({ kind, tool }) => [kind, tool]),
    [["function", "todo_read"]],
  );
  assert.match(all(rested.events, "call.finished")[0]?.text ?? "", /^The list is empty/);
});

test("arguments of a function that are no object are answered with an error, and nobody is asked [C5][L5]", async () => {
  await using model = await modelServer([calls(["get_weather", "[1]"], ["get_weather", "{broken"]), says("sorry")]);
  await using yard = await startYard({ model });
  const { rested } = await begin(yard);
  assert.deepEqual([rested.answer, all(rested.events, "decision.asked")], ["sorry", []]);
  for (const { content } of model.asked[1]?.body.messages.filter(({ role }) => role === "tool") ?? [])
    assert.match(String(content), /^Error: .*get_weather/);
});

test("a turn that waits for a function can be stopped, or refused, and the history stays whole [C5][L6]", async () => {
  await using model = await modelServer([
    calls(["get_weather", {}]),
    says("fine"),
    calls(["get_weather", {}]),
    says("ok"),
  ]);
  await using yard = await startYard({ model });
  const { row } = await begin(yard);
  await must(yard.engine.cancel(row));
  assert.equal((await yard.whenAtRest("c")).outcome, "cancelled");
  await must(yard.engine.send(row, { text: "never mind", mode: "queue" }));
  assert.equal((await yard.whenAtRest("c")).answer, "fine");
  await must(yard.engine.send(row, { text: "once more", mode: "queue", callerPart }));
  const waiting = await yard.whenAtRest("c");
  const id = all(waiting.events, "decision.asked").at(-1)?.id ?? "";
  const unfit = await yard.engine.decide(row, id, { verdict: "approve", by: "me" });
  assert.equal(unfit.ok || unfit.failure.code, "decision_verdict_unfit");
  await must(yard.engine.decide(row, id, { verdict: "reject", by: "program", reason: "no network" }));
  assert.equal((await yard.whenAtRest("c")).answer, "ok");
  assert.match(String(model.asked.at(-1)?.body.messages.at(-1)?.content), /no network/);
});

test("a function that waits when the server stops can be answered after the next start [C5][L2]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-functions-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  await using model = await modelServer([calls(["get_weather", {}]), says("Sun.")]);
  const first = await startYard({ model, data });
  const { row, rested } = await begin(first);
  await first[Symbol.asyncDispose]();
  await using second = await startYard({ model, data });
  const [asked] = all(rested.events, "decision.asked");
  assert.deepEqual((await second.engine.state(row)).status, "waiting");
  await must(second.engine.decide(row, asked?.id ?? "", { verdict: "answer", by: "program", answer: "sun" }));
  assert.equal((await second.whenAtRest("c")).answer, "Sun.");
});

test("what waits for a caller is no fault of the record of decisions [C5][H4]", async () => {
  await using model = await modelServer([calls(["get_weather", {}])]);
  await using yard = await startYard({ model });
  const { row, rested } = await begin(yard);
  const rows = rested.events.map(({ seq, at, type, ...body }) => ({
    ...{ number: row.number, seq, at, type, version: 1, body: JSON.stringify(body) },
  }));
  const beside = { isOld: () => false, isOpen: () => false, ownerOf: () => "local" };
  assert.deepEqual([...checkRecord(rows, beside)], []);
});

test("a long result of a function is cut in the middle for the model, and kept whole in the log [C5][T4]", async () => {
  await using model = await modelServer([calls(["get_weather", {}]), says("ok")]);
  await using yard = await startYard({ model });
  const { row, rested } = await begin(yard);
  const [asked] = all(rested.events, "decision.asked");
  const answer = "line\n".repeat(100_000);
  await must(yard.engine.decide(row, asked?.id ?? "", { verdict: "answer", by: "program", answer }));
  const { events } = await yard.whenAtRest("c");
  const [result] = all(events, "call.finished");
  assert.match(result?.text ?? "", /^line\n[\s\S]*bytes left out here[\s\S]*line\n$/);
  assert.equal(all(events, "decision.made")[0]?.answer, answer);
});
