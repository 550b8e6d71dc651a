import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
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

test("a turn that runs cannot be undone before it has ended [W12]", async () => {
  const free: (() => void)[] = [];
  const hold = defineTool({
    name: "hold",
    description: "Waits. For tests.",
    input: z.object({}),
    run: () => new Promise((resolve) => free.push(() => resolve(ok({ text: "on" })))),
  });
  await using model = await modelServer([calls(["hold", {}]), says("done")]);
  await using yard = await startYard({ model, tools: [hold] });
  const conversation = await newConversation(yard);
  const asked = yard.ask("go", { conversation });
  await until("the tool runs", () => free.length === 1);
  const refused = await yard.client.call("undoTurn", { params: { id: conversation } });
  assert.equal(refused.ok ? "" : refused.failure.code, "conversation_busy");
  free[0]?.();
  assert.equal((await asked).answer, "done");
  assert.equal((await undo(yard, conversation)).turn, 1);
});

test("a message that comes in during undo is answered afterwards [W12][L7]", async () => {
  await using model = await modelServer([calls(writes("outputs/a.txt", "new")), says("done"), says("I am here.")]);
  let sent: Promise<unknown> = Promise.resolve();
  const wrapStorage = rewindsMeet(async () => {
    sent = must(yard.client.call("sendMessage", { params: { id }, body: { text: "are you there?", mode: "queue" } }));
    await sent;
    return undefined;
  });
  await using yard = await startYard({ model, wrapStorage });
  const id = await newConversation(yard);
  await yard.ask("go", { conversation: id });
  assert.deepEqual((await undo(yard, id)).restored, [{ path: "outputs/a.txt", now: "removed" }]);
  const { answer } = await yard.whenAtRest(id);
  assert.equal(answer, "I am here.");
  const heard = model.asked.at(-1)?.body.messages.slice(1);
  assert.equal(heard?.length, 1);
  assert.match(String(heard?.[0]?.content), /^are you there\?/);
});

test("undo of a turn whose message had waited leaves the turn before it whole [W12][L7]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer((request) => {
    const newest = request.body.messages.findLast((message) => message.role === "user");
    return { ...says(`heard: ${String(newest?.content).split("\n")[0]}`), heldUntil: held.promise };
  });
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  for (const text of ["first", "second", "never"])
    await must(yard.client.call("sendMessage", { params: { id }, body: { id: text, text, mode: "queue" } }));
  await must(yard.client.call("withdrawMessage", { params: { id, message: "never" } }));
  held.resolve();
  await yard.whenAtRest(id);
  const report = await undo(yard, id);
  assert.deepEqual(report, { turn: 2, message: "second", restored: [], left: [] });
  const { status, answer } = await yard.ask("third", { conversation: id });
  assert.deepEqual([status, answer], ["idle", "heard: third"]);
  const heard = model.asked
    .at(-1)
    ?.body.messages.slice(1)
    .map(({ content }) => String(content).split("\n")[0]);
  assert.deepEqual(heard, ["first", "heard: first", "third"]);
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
