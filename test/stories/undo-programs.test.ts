import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { filesOf, newConversation, place, roughTools, runs, undo, writes } from "../world/undo.ts";
import { startYard } from "../world/yard.ts";

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

test("what a person changed after a program is left as it is [W12]", async () => {
  await using model = await modelServer([calls(runs(`fs.writeFileSync("outputs/a.txt", "program")`)), says("done")]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "first");
  await yard.ask("run it", { conversation });
  place(yard, conversation, "a.txt", "person");
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual([restored, left], [[], [{ path: "outputs/a.txt", why: "changed_since" }]]);
  assert.equal(existsSync(join(yard.data, "workspace", conversation, "outputs/a.txt")), true);
});
