import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { drops, filesOf, place, puts, roughTools, undo } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

test("undo does not say of a file too large to be kept that it is as before because it is as long as before [W12]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  place(yard, row.id, "large.bin", "new");
  const state = { bytes: 3, mode: 0o644 };
  const after = { ...state, hash: createHash("sha256").update("new").digest("hex") };
  await must(
    yard.log.append(row.number, [
      { type: "message.user", id: "m1", text: "go", mode: "queue" },
      { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
      { type: "file.changed", path: "outputs/large.bin", by: "tool", before: state, after, lost: "too_large" },
      { type: "turn.finished", turn: 1, outcome: "done" },
    ]),
  );
  const { restored, left } = await must(yard.engine.undo(row));
  assert.deepEqual([restored, left], [[], [{ path: "outputs/large.bin", why: "not_kept" }]]);
});

test("a file that may not be read any more is given back where its length and mode are those that the turn left [W12]", async () => {
  await using model = await modelServer([calls(puts("outputs/a.txt", "new")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, isOneProcess: true });
  const { id } = await yard.start("c");
  place(yard, id, "a.txt", "the old one");
  await yard.ask("change it", { conversation: id });
  const { ofConversation } = yard.workspaces;
  const hash: Workspace["hash"] = async (path) =>
    failure("permission_denied", { path, folder: "outputs", why: "not_writable" });
  yard.workspaces.ofConversation = (row) => ({ ...ofConversation(row), hash });
  const { restored, left } = await undo(yard, id);
  assert.deepEqual([restored, left], [[{ path: "outputs/a.txt", now: "as_before" }], []]);
  assert.deepEqual(filesOf(yard, id), { "a.txt": "644 the old one" });
});

test("a file that may not be replaced any more stays as it is and is named, and the others are given back [W12]", async () => {
  const changes = ["a", "b"].map((name) => puts(`outputs/${name}.txt`, "new"));
  await using model = await modelServer([calls(...changes), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, isOneProcess: true });
  const { id } = await yard.start("c");
  for (const name of ["a.txt", "b.txt"]) place(yard, id, name, "the old one");
  await yard.ask("change them", { conversation: id });
  const { ofConversation } = yard.workspaces;
  yard.workspaces.ofConversation = (row) => {
    const files = ofConversation(row);
    const restore: Workspace["restore"] = async (path, ...how) =>
      path === "outputs/a.txt"
        ? failure("permission_denied", { path, folder: "outputs", why: "not_writable" })
        : files.restore(path, ...how);
    return { ...files, restore };
  };
  const { restored, left } = await undo(yard, id);
  assert.deepEqual(
    [restored, left],
    [[{ path: "outputs/b.txt", now: "as_before" }], [{ path: "outputs/a.txt", why: "changed_since" }]],
  );
  assert.deepEqual(filesOf(yard, id), { "a.txt": "644 new", "b.txt": "644 the old one" });
});

test("a file that somebody makes in the moment in which a deleted one is given back stays, and so does an empty folder in the place of one that was made [W12]", async () => {
  await using model = await modelServer([calls(drops("outputs/a.txt"), puts("outputs/b.txt", "new")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, isOneProcess: true });
  const { id } = await yard.start("c");
  place(yard, id, "a.txt", "the old one");
  await yard.ask("change them", { conversation: id });
  const folder = join(yard.data, "workspace", id, "outputs", "b.txt");
  rmSync(folder);
  mkdirSync(folder);
  const { ofConversation } = yard.workspaces;
  yard.workspaces.ofConversation = (row) => {
    const files = ofConversation(row);
    const restore: Workspace["restore"] = (...given) => {
      place(yard, id, "a.txt", "theirs");
      return files.restore(...given);
    };
    return { ...files, restore };
  };
  const { restored, left } = await undo(yard, id);
  const stays = ["a", "b"].map((name) => ({ path: `outputs/${name}.txt`, why: "changed_since" }));
  assert.deepEqual([restored, left], [[], stays]);
  assert.deepEqual([filesOf(yard, id), statSync(folder).isDirectory()], [{ "a.txt": "644 theirs" }, true]);
});
