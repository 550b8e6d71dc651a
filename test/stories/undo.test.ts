import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { drops, edits, filesOf, newConversation, place, puts, roughTools, runs, undo, writes } from "../world/undo.ts";
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

test("undo gives back what programs changed, made, deleted and locked, with exact bytes and modes, and names what was too large [W12]", async () => {
  const first = `
    const { chmodSync, mkdirSync, rmSync, renameSync, symlinkSync, writeFileSync } = fs;
    process.chdir("outputs");
    writeFileSync("blob.bin", "as text");
    mkdirSync("made/deep", { recursive: true });
    writeFileSync("made/deep/x.txt", "new");
    rmSync("gone", { recursive: true });
    chmodSync("run.sh", 0o600);
    renameSync("old-name.txt", "new-name.txt");
    rmSync("becomes-a-folder");
    mkdirSync("becomes-a-folder/inner", { recursive: true });
    writeFileSync("becomes-a-folder/inner/f", "f");
    rmSync("becomes-a-file", { recursive: true });
    writeFileSync("becomes-a-file", "file");
    writeFileSync("large.txt", "short");
    writeFileSync("two\\nlines.txt", "odd");
  `;
  await using model = await modelServer([
    calls(runs(first)),
    calls(writes("outputs/made/deep/y.txt", "by a tool"), runs(`fs.writeFileSync("outputs/blob.bin", "twice")`)),
    says("done"),
  ]);
  const env = { AGENTYARD_KEPT_FILE_BYTES_MAX: "500" };
  await using yard = await startYard({ model, env, tools: roughTools });
  const conversation = await newConversation(yard);
  for (const folder of ["gone/deep", "becomes-a-file"])
    mkdirSync(join(yard.data, "workspace", conversation, "outputs", folder), { recursive: true });
  place(yard, conversation, "blob.bin", Buffer.from([0, 255, 13, 10, 200, 0]), 0o640);
  place(yard, conversation, "gone/deep/a.txt", "a", 0o400);
  place(yard, conversation, "run.sh", "#!/bin/sh\n", 0o755);
  place(yard, conversation, "old-name.txt", "moved");
  place(yard, conversation, "becomes-a-folder", "was a file");
  place(yard, conversation, "becomes-a-file/x", "was in a folder");
  place(yard, conversation, "large.txt", "x".repeat(501));
  const before = filesOf(yard, conversation);

  const { outcome, events } = await yard.ask("run it", { conversation });
  assert.equal(outcome, "done");
  const told = all(events, "file.changed").map(({ path }) => path);
  assert.deepEqual(told.filter((path) => path === "outputs/made/deep/x.txt").length, 1, "each change is told once");
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual(restored, [
    { path: "outputs/becomes-a-file", now: "removed" },
    { path: "outputs/becomes-a-file/x", now: "as_before" },
    { path: "outputs/becomes-a-folder", now: "as_before" },
    { path: "outputs/becomes-a-folder/inner/f", now: "removed" },
    { path: "outputs/blob.bin", now: "as_before" },
    { path: "outputs/gone/deep/a.txt", now: "as_before" },
    { path: "outputs/made/deep/x.txt", now: "removed" },
    { path: "outputs/made/deep/y.txt", now: "removed" },
    { path: "outputs/new-name.txt", now: "removed" },
    { path: "outputs/old-name.txt", now: "as_before" },
    { path: "outputs/run.sh", now: "as_before" },
  ]);
  assert.deepEqual(left, [
    { path: "outputs/large.txt", why: "not_kept" },
    { path: "outputs/two\nlines.txt", why: "not_kept" },
  ]);
  assert.deepEqual(filesOf(yard, conversation), {
    ...before,
    "large.txt": "644 short",
    "two\nlines.txt": "644 odd",
  });
});

const dayMs = 86_400_000;

test("an undo for which there is no room is refused and not used up: with room again it gives everything back [W12][W11]", async () => {
  await using model = await modelServer([calls(puts("outputs/a.txt", "x")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, env: { AGENTYARD_WORKSPACE_BYTES_MAX: "1000" } });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "a".repeat(800));
  const before = filesOf(yard, conversation);
  await yard.ask("shorten it", { conversation });
  place(yard, conversation, "ballast", "b".repeat(900));
  const refused = await yard.client.call("undoTurn", { params: { id: conversation } });
  assert.equal(refused.ok || refused.failure.code, "quota_exceeded");
  await must(yard.client.call("removeFile", { params: { id: conversation }, query: { path: "outputs/ballast" } }));
  const { turn, restored } = await undo(yard, conversation);
  assert.deepEqual([turn, restored], [1, [{ path: "outputs/a.txt", now: "as_before" }]]);
  assert.deepEqual(filesOf(yard, conversation), before);
});

test("a turn whose files lie in the trash is undone when they are back, not before [W12][W10]", async () => {
  let now = systemClock.now();
  const clock = { ...systemClock, now: () => now };
  await using model = await modelServer([calls(puts("outputs/a.txt", "new")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, clock });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "old");
  await yard.ask("change it", { conversation });
  const other = await newConversation(yard);
  place(yard, other, "b.txt", "of another conversation");
  now += 8 * dayMs;
  assert.equal((await must(yard.client.call("cleanWorkspaces", { body: {} }))).workspaces, 2);
  const refused = await yard.client.call("undoTurn", { params: { id: conversation } });
  assert.equal(refused.ok || refused.failure.code, "files_in_trash");
  const { items } = await must(yard.client.call("listTrash"));
  const entry = items.find((one) => one.conversation === conversation);
  await must(yard.client.call("restoreTrash", { params: { trash: entry?.id ?? "" } }));
  await undo(yard, conversation);
  assert.match(filesOf(yard, conversation)["a.txt"] ?? "", /old$/);
});
