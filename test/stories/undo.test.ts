import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { drops, edits, filesOf, newConversation, place, puts, roughTools, undo, writes } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

test("undo gives back the exact bytes and modes of what a turn wrote, edited, overwrote and deleted [W12]", async () => {
  await using model = await modelServer([
    calls(["read_file", { path: "outputs/run.sh" }]),
    calls(
      ...[writes("outputs/new/deep/a.txt", "new"), puts("outputs/blob.bin", "now a text")],
      ...[edits("outputs/run.sh", "echo old", "echo new"), drops("outputs/gone.txt")],
    ),
    calls(writes("outputs/new/deep/a.txt", "newer"), drops("outputs/new/deep/a.txt"), writes("outputs/b.txt", "b")),
    says("done"),
    says("Which files?"),
  ]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  place(yard, conversation, "blob.bin", Buffer.from([0, 255, 13, 10, 200, 0]), 0o640);
  place(yard, conversation, "run.sh", "#!/bin/sh\r\necho old\n", 0o755);
  place(yard, conversation, "gone.txt", "not quite", 0o600);
  place(yard, conversation, "other.txt", "untouched");
  const before = filesOf(yard, conversation);
  const { outcome } = await yard.ask("change everything", { conversation });
  assert.equal(outcome, "done");
  const changed = filesOf(yard, conversation);
  assert.deepEqual(Object.keys(changed), ["b.txt", "blob.bin", "other.txt", "run.sh"]);
  assert.match(changed["run.sh"] ?? "", /^755 .*echo new/s);

  const report = await undo(yard, conversation);
  assert.deepEqual(report, {
    turn: 1,
    message: "change everything",
    restored: [
      { path: "outputs/b.txt", now: "removed" },
      { path: "outputs/blob.bin", now: "as_before" },
      { path: "outputs/gone.txt", now: "as_before" },
      { path: "outputs/new/deep/a.txt", now: "removed" },
      { path: "outputs/run.sh", now: "as_before" },
    ],
    left: [],
  });
  assert.deepEqual(filesOf(yard, conversation), before);

  await yard.ask("what was that?", { conversation });
  const said = model.asked.at(-1)?.body.messages.slice(1);
  assert.deepEqual(
    said?.map(({ role }) => role),
    ["user"],
    "the model is not told of the turn",
  );
});

test("undo again goes one turn further back, until nothing is left [W12]", async () => {
  await using model = await modelServer([
    ...[calls(writes("outputs/a.txt", "one")), says("1")],
    ...[calls(writes("outputs/a.txt", "two"), writes("outputs/b.txt", "two")), says("2")],
  ]);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("first");
  await yard.ask("second", { conversation });
  const steps = [];
  for (let times = 0; times < 2; times += 1) {
    const { turn, message, left } = await undo(yard, conversation);
    steps.push({ turn, message, left, files: filesOf(yard, conversation) });
  }
  assert.deepEqual(steps, [
    { turn: 2, message: "second", left: [], files: { "a.txt": "644 one" } },
    { turn: 1, message: "first", left: [], files: {} },
  ]);
  const again = await yard.client.call("undoTurn", { params: { id: conversation } });
  assert.equal(again.ok ? "" : again.failure.code, "nothing_to_undo");
});

test("what was changed since stays as it is, and the report says so [W12]", async () => {
  await using model = await modelServer([
    calls(...["a", "b", "c", "d", "e"].map((name) => puts(`outputs/${name}.txt`, `new ${name}`))),
    says("done"),
  ]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "old a");
  place(yard, conversation, "c.txt", "old c");
  place(yard, conversation, "e.txt", "old e");
  await yard.ask("go", { conversation });
  place(yard, conversation, "a.txt", "mine");
  place(yard, conversation, "b.txt", "mine");
  place(yard, conversation, "c.txt", "old c");
  await must(yard.client.call("removeFile", { params: { id: conversation }, query: { path: "outputs/d.txt" } }));
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual(
    { restored, left, files: filesOf(yard, conversation) },
    {
      restored: [
        { path: "outputs/c.txt", now: "as_before" },
        { path: "outputs/d.txt", now: "removed" },
        { path: "outputs/e.txt", now: "as_before" },
      ],
      left: [
        { path: "outputs/a.txt", why: "changed_since" },
        { path: "outputs/b.txt", why: "changed_since" },
      ],
      files: { "a.txt": "644 mine", "b.txt": "644 mine", "c.txt": "644 old c", "e.txt": "644 old e" },
    },
  );
});

test("a folder that somebody made in the place of a file stays, also when all that lies in it is hidden [W12]", async () => {
  await using model = await modelServer([calls(puts("outputs/a.txt", "new a")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "old a");
  await yard.ask("go", { conversation });
  const path = join(yard.data, "workspace", conversation, "outputs", "a.txt");
  rmSync(path);
  mkdirSync(path);
  place(yard, conversation, "a.txt/.mine", "mine");
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual(
    { restored, left, files: filesOf(yard, conversation) },
    { restored: [], left: [{ path: "outputs/a.txt", why: "changed_since" }], files: { "a.txt/.mine": "644 mine" } },
  );
});

test("what somebody put there in the middle of the turn is what comes back [W12]", async () => {
  await using model = await modelServer([
    ...[calls(puts("uploads/a.csv", "of the model")), calls(["wait_for_upload", {}])],
    ...[calls(puts("uploads/a.csv", "of the model again")), says("done")],
  ]);
  let uploaded = () => {};
  const waited = new Promise<void>((resolve) => {
    uploaded = resolve;
  });
  const wait = defineTool({
    name: "wait_for_upload",
    description: "Waits. For tests.",
    input: z.object({}),
    run: async () => waited.then(() => ok({ text: "it is there" })),
  });
  await using yard = await startYard({ model, tools: [wait, ...roughTools] });
  const conversation = await newConversation(yard);
  const asked = yard.ask("go", { conversation });
  await until("the tool waits", () => model.asked.length === 2);
  await must(yard.client.upload(conversation, "a.csv", Buffer.from("of the user")));
  uploaded();
  await asked;
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual([restored, left], [[{ path: "uploads/a.csv", now: "as_before" }], []]);
  assert.deepEqual(filesOf(yard, conversation, "uploads"), { "a.csv": "644 of the user" });
});

test("contents that were too large to be kept are named, in the ledger and by undo, and the quota holds [W12][W11]", async () => {
  await using model = await modelServer([
    ...[calls(puts("outputs/a.txt", "new a")), calls(puts("outputs/b.txt", "new b"))],
    ...[calls(puts("outputs/c.txt", "new c")), calls(puts("outputs/large.txt", "new")), says("done")],
  ]);
  const env = { AGENTYARD_KEPT_FILE_BYTES_MAX: "500", AGENTYARD_KEPT_BYTES_MAX: "700" };
  await using yard = await startYard({ model, env, tools: roughTools });
  const conversation = await newConversation(yard);
  for (const name of ["a", "b", "c"]) place(yard, conversation, `${name}.txt`, name.repeat(300));
  place(yard, conversation, "large.txt", "x".repeat(501));
  const { events } = await yard.ask("go", { conversation });
  assert.deepEqual(
    all(events, "file.changed").map(({ path, lost }) => ({ path, lost })),
    [
      { path: "outputs/a.txt", lost: undefined },
      { path: "outputs/b.txt", lost: undefined },
      { path: "outputs/c.txt", lost: undefined },
      { path: "outputs/large.txt", lost: "too_large" },
    ],
  );
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual(
    { restored, left },
    {
      restored: [
        { path: "outputs/b.txt", now: "as_before" },
        { path: "outputs/c.txt", now: "as_before" },
      ],
      left: [
        { path: "outputs/a.txt", why: "not_kept" },
        { path: "outputs/large.txt", why: "not_kept" },
      ],
    },
  );
  assert.deepEqual(filesOf(yard, conversation), {
    "a.txt": "644 new a",
    "b.txt": `644 ${"b".repeat(300)}`,
    "c.txt": `644 ${"c".repeat(300)}`,
    "large.txt": "644 new",
  });
});

test("a folder that was removed with everything in it cannot be given back, and undo says so [W12]", async () => {
  await using model = await modelServer([calls(drops("outputs/old")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  mkdirSync(join(yard.data, "workspace", conversation, "outputs/old"));
  place(yard, conversation, "old/a.txt", "a");
  await yard.ask("go", { conversation });
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual([restored, left], [[], [{ path: "outputs/old", why: "not_kept" }]]);
});

test("two edits of one file in one answer are both made, in their order [F2][W11]", async () => {
  await using model = await modelServer([
    calls(writes("outputs/a.txt", "one")),
    calls(
      edits("outputs/a.txt", "one", "two"),
      edits("outputs/a.txt", "two", "three"),
      edits("outputs/a.txt", "three", "four"),
    ),
    says("done"),
  ]);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("go");
  assert.deepEqual(filesOf(yard, conversation), { "a.txt": "644 four" });
  await undo(yard, conversation);
  assert.deepEqual(filesOf(yard, conversation), {});
});

test("the ledger has every change with its call, and undo has its own lines [W12]", async () => {
  await using model = await modelServer([calls(puts("outputs/a.txt", "new")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "old", 0o600);
  await yard.ask("go", { conversation });
  await undo(yard, conversation);
  const events = await yard.events(conversation);
  const call = all(events, "message.assistant")[0]?.calls?.[0]?.id;
  const state = (text: string) => ({ hash: createHash("sha256").update(text).digest("hex"), bytes: 3, mode: 0o600 });
  assert.deepEqual(
    all(events, "file.changed").map(({ seq: _, at: __, ...line }) => line),
    [
      { type: "file.changed", by: "tool", path: "outputs/a.txt", call, before: state("old"), after: state("new") },
      { type: "file.changed", by: "undo", path: "outputs/a.txt", before: state("new"), after: state("old") },
    ],
  );
});
