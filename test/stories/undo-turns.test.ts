import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import {
  drops,
  edits,
  filesOf,
  newConversation,
  noted,
  place,
  puts,
  rewindsMeet,
  roughTools,
  undo,
  writes,
} from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

test("an undo that was interrupted between the files and the log is simply done again [W12][L2]", async (t) => {
  const data = dataDirectory(t);
  await using model = await modelServer([calls(writes("outputs/a.txt", "new"), drops("outputs/b.txt")), says("done")]);
  const id = "interrupted";
  const broken = rewindsMeet(async () => failure("storage_full", {}));
  {
    await using yard = await startYard({ model, data, tools: roughTools, wrapStorage: broken });
    await must(yard.client.call("createConversation", { body: { id } }));
    place(yard, id, "b.txt", "kept", 0o640);
    await yard.ask("go", { conversation: id });
    const first = await yard.client.call("undoTurn", { params: { id } });
    assert.equal(first.ok ? "" : first.failure.code, "storage_full");
    assert.deepEqual(filesOf(yard, id), { "b.txt": "640 kept" });
  }
  await using yard = await startYard({ model, data });
  assert.deepEqual(await undo(yard, id), {
    turn: 1,
    message: "go",
    restored: [
      { path: "outputs/a.txt", now: "removed" },
      { path: "outputs/b.txt", now: "as_before" },
    ],
    left: [],
  });
  assert.deepEqual(filesOf(yard, id), { "b.txt": "640 kept" });
  const events = await yard.events(id);
  assert.deepEqual(
    all(events, "rewound").map(({ to, cause }) => ({ to, cause })),
    [{ to: 0, cause: "undo" }],
  );
});

test("what was changed in the workspace of a task is undone too [W12][W3]", async () => {
  const id = "with-task";
  const work = defineTool({
    name: "work",
    description: "Writes as the agent of a task does. For tests.",
    class: "idempotent",
    input: z.object({ content: z.string() }),
    async run({ content }, { call, key }) {
      const task = await yard.workspaces.taskOf(await rowOf(yard, id), "t1");
      if (!task.ok) return task;
      return noted(call, await task.value.write("a.txt", content, { key }), { workspace: "t1" });
    },
  });
  await using model = await modelServer([
    ...[calls(["work", { content: "one" }]), says("1")],
    ...[calls(["work", { content: "two" }], writes("outputs/a.txt", "x")), says("2")],
  ]);
  await using yard = await startYard({ model, tools: [work] });
  await must(yard.client.call("createConversation", { body: { id } }));
  await must(yard.workspaces.assignTask(await rowOf(yard, id), { agent: "t1", parent: "root" }));
  await yard.ask("first", { conversation: id });
  await yard.ask("second", { conversation: id });
  const { restored, left } = await undo(yard, id);
  const expected = [
    { path: "a.txt", now: "as_before" },
    { path: "outputs/a.txt", now: "removed" },
  ];
  assert.deepEqual([restored, left], [expected, []]);
  assert.equal(readFileSync(join(yard.data, "workspaces", "t1", "a.txt"), "utf8"), "one");
  const line = all(await yard.events(id), "file.changed").find(({ by, path }) => by === "undo" && path === "a.txt");
  assert.equal(line?.workspace, "t1");
});

test("after undo the model may edit what it knew and is there again, and has to look at all else [W12][F2]", async () => {
  await using model = await modelServer([
    ...[calls(writes("outputs/a.txt", "one two"), writes("outputs/b.txt", "one two")), says("1")],
    ...[calls(edits("outputs/a.txt", "two", "three"), puts("outputs/b.txt", "of the turn")), says("2")],
    calls(edits("outputs/a.txt", "one", "1"), edits("outputs/b.txt", "mine", "yours")),
    ...[calls(edits("outputs/b.txt", "mine", "yours")), says("3")],
  ]);
  await using yard = await startYard({ model, tools: roughTools });
  const { conversation } = await yard.ask("write");
  place(yard, conversation, "b.txt", "mine");
  await yard.ask("edit", { conversation });
  await undo(yard, conversation);
  const { events } = await yard.ask("edit again", { conversation });
  const results = all(events, "call.finished").slice(-3);
  assert.deepEqual(results.map(({ outcome }) => outcome).sort(), ["error", "ok", "ok"]);
  assert.match(results.find(({ outcome }) => outcome === "error")?.text ?? "", /mine/);
  assert.deepEqual(filesOf(yard, conversation), { "a.txt": "644 1 two", "b.txt": "644 yours" });
});

async function rowOf(yard: TestYard, id: string): Promise<ConversationRow> {
  return must(yard.log.find(localOwner, id));
}

function dataDirectory(t: TestContext): string {
  const data = mkdtempSync(join(tmpdir(), "agentyard-undo-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

test("going back to a place gives back the files as they were there, over all turns since [L9][W12]", async () => {
  await using model = await modelServer([
    ...[calls(puts("outputs/a.txt", "one"), puts("outputs/b.txt", "one")), says("1")],
    ...[calls(puts("outputs/a.txt", "two"), puts("outputs/c.txt", "two")), says("2")],
    ...[calls(puts("outputs/a.txt", "three"), drops("outputs/b.txt"), puts("uploads/user.csv", "3")), says("3")],
    says("4"),
  ]);
  await using yard = await startYard({ model, tools: roughTools });
  const { conversation: id } = await yard.ask("first");
  const { checkpoint } = await must(yard.client.call("saveCheckpoint", { params: { id }, body: { name: "here" } }));
  await yard.ask("second", { conversation: id });
  await must(yard.client.upload(id, "user.csv", Buffer.from("of the user")));
  await yard.ask("third", { conversation: id });
  const point = await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint } }));
  assert.deepEqual([point.checkpoint, point.name], [checkpoint, "here"]);
  assert.deepEqual(
    [filesOf(yard, id), filesOf(yard, id, "uploads")],
    [{ "a.txt": "644 one", "b.txt": "644 one" }, { "user.csv": "644 of the user" }],
  );
  const ledger = all(await yard.events(id), "file.changed").filter(({ by }) => by === "undo");
  assert.deepEqual(
    ledger.map(({ path }) => path),
    ["outputs/a.txt", "outputs/b.txt", "outputs/c.txt", "uploads/user.csv"],
  );
  await yard.ask("fourth", { conversation: id });
  const said = model.asked.at(-1)?.body.messages.filter(({ role }) => role === "user");
  assert.deepEqual(
    said?.map(({ content }) => String(content).split("\n")[0]),
    ["first", "fourth"],
  );
});

test("a message that comes in while one goes back is answered from there [L9][L7]", async () => {
  await using model = await modelServer([
    says("1"),
    calls(puts("outputs/a.txt", "two")),
    says("2"),
    says("I am here."),
  ]);
  const wrapStorage = rewindsMeet(async () => {
    await must(yard.client.call("sendMessage", { params: { id }, body: { text: "are you there?", mode: "queue" } }));
    return undefined;
  });
  await using yard = await startYard({ model, tools: roughTools, wrapStorage });
  const id = await newConversation(yard);
  await yard.ask("first", { conversation: id });
  await yard.ask("second", { conversation: id });
  const [first] = (await must(yard.client.call("listCheckpoints", { params: { id } }))).items;
  await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: first?.checkpoint ?? 0 } }));
  assert.equal((await yard.whenAtRest(id)).answer, "I am here.");
  const heard = model.asked.at(-1)?.body.messages.slice(1);
  assert.deepEqual(
    heard?.map(({ content }) => String(content).split("\n")[0]),
    ["first", "1", "are you there?"],
  );
  assert.deepEqual(filesOf(yard, id), {});
});

type Work = (context: ToolContext) => Promise<unknown>;

/** Does its work and then never ends, whatever happens around it. */
function deafAfter(work: Work): Tool {
  return defineTool({
    ...{ name: "work", description: "Works and never ends. For tests.", input: z.object({}) },
    async run(_, context) {
      await work(context);
      return new Promise(() => {});
    },
  });
}

test("a tool that was stopped changes nothing any more, and what it did before is in the ledger and can be undone [L6][W12]", async () => {
  let goOn = () => {};
  const stopped = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const late: unknown[] = [];
  const tool = deafAfter(async ({ workspace }) => {
    await workspace.write("outputs/before.txt", "before the stop", { key: "1" });
    await stopped;
    late.push(await workspace.write("outputs/late.txt", "after the stop"));
    late.push(await workspace.remove("outputs/old.txt"));
    late.push(await workspace.restore("outputs/before.txt", undefined));
    late.push(await workspace.empty("outputs"));
  });
  await using model = await modelServer([calls(["work", {}])]);
  await using yard = await startYard({ model, tools: [tool] });
  const id = await newConversation(yard);
  place(yard, id, "old.txt", "old");
  const ended = yard.ask("go", { conversation: id });
  await until("it has written", () => "before.txt" in filesOf(yard, id));
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await ended;
  goOn();
  await until("it has tried", () => late.length === 4);
  const refusal = (path: string) => failure("write_failed", { path, why: "broken_off" });
  assert.deepEqual(late, ["outputs/late.txt", "outputs/old.txt", "outputs/before.txt", "outputs"].map(refusal));
  assert.deepEqual(filesOf(yard, id), { "before.txt": "644 before the stop", "old.txt": "644 old" });
  assert.deepEqual(await ledgerOf(yard, id), ["work cancelled: outputs/before.txt"]);
  assert.deepEqual((await undo(yard, id)).restored, [{ path: "outputs/before.txt", now: "removed" }]);
  assert.deepEqual(filesOf(yard, id), { "old.txt": "644 old" });
});

test("what a tool had written before it broke down is in the ledger and can be undone [W12]", async () => {
  const tool = deafAfter(async (context) => {
    await writeOne(context);
    throw new Error("afterwards");
  });
  await undoesOne(tool, "tool_crashed");
});

async function undoesOne(tool: Tool, code: string, clock = systemClock): Promise<void> {
  await using model = await modelServer([calls(["work", {}]), says("sorry")]);
  await using yard = await startYard({ model, tools: [tool], clock });
  const { conversation, outcome, events } = await yard.ask("go");
  assert.deepEqual([outcome, all(events, "call.finished")[0]?.failure?.code], ["done", code]);
  assert.deepEqual(await ledgerOf(yard, conversation), ["work error: outputs/a.txt"]);
  assert.deepEqual((await undo(yard, conversation)).restored, [{ path: "outputs/a.txt", now: "removed" }]);
  assert.deepEqual(filesOf(yard, conversation), {});
}

test("a tool that forgets to tell what it changed is found out [W12]", async () => {
  const forgetful = defineTool({
    ...{ name: "work", description: "Writes and says nothing of it. For tests.", input: z.object({}) },
    async run(_, { workspace }) {
      await workspace.write("outputs/a.txt", "a", { key: "a" });
      await workspace.write("outputs/a.txt", "a", { key: "same again" });
      return ok({ text: "nothing happened" });
    },
  });
  await using model = await modelServer([calls(["work", {}]), says("done")]);
  await using yard = await startYard({ model, tools: [forgetful] });
  const { conversation } = await yard.ask("go");
  assert.deepEqual(await ledgerOf(yard, conversation), ["work ok: outputs/a.txt"]);
});

async function writeOne({ workspace, key }: ToolContext): Promise<void> {
  await workspace.write("outputs/a.txt", "a", { key });
}

/** Each change by a tool, with its call and how that ended. */
async function ledgerOf(yard: TestYard, id: string): Promise<string[]> {
  const events = await yard.events(id);
  const asked = all(events, "message.assistant").flatMap(({ calls = [] }) => calls);
  const ends = all(events, "call.finished");
  return all(events, "file.changed").map(({ call, path, by }) => {
    assert.equal(by, "tool");
    const outcome = ends.find((end) => end.call === call)?.outcome;
    return `${asked.find((one) => one.id === call)?.name} ${outcome}: ${path}`;
  });
}
