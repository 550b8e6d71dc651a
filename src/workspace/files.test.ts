import assert from "node:assert/strict";
import { closeSync, openSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles as openNow } from "../../test/world/open-files.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { openBooks } from "./books.ts";
import { openFiles } from "./files.ts";
import type { FileFailure, Workspace } from "./one-workspace.ts";

/** Counts how often its place is looked up, and its uses. */
function openPlace(t: TestContext, kind: Workspace["kind"] = "conversation") {
  const base = folderWith(t, { "w/outputs/a": "text", "w/uploads/": "", "w/temp/": "" });
  const folder = join(base, "w");
  const counts = { lookups: 0, uses: 0 };
  const state: { refused?: FileFailure } = {};
  const used = () => {
    counts.uses += 1;
  };
  const place = { folder, keptFolder: join(base, "kept"), uid: undefined, make: async () => ok(undefined), used };
  const common = { id: "w", owner: "local", name: "1", clock: systemClock, ids: systemIds, limits: testLimits };
  const workspace = openFiles({
    ...{ ...common, kind, logger: quietLogger([]), books: openBooks(), stagingFolder: join(base, "staging") },
    place: async () => {
      counts.lookups += 1;
      return state.refused === undefined ? ok(place) : failed(state.refused);
    },
  });
  return { base, folder, workspace, counts, state };
}

test("where files lie is looked up once, by the first who asks for them; one that could not be is looked up again [W2][W7]", async (t) => {
  const { workspace, counts, state } = openPlace(t);
  assert.deepEqual(counts, { lookups: 0, uses: 0 }, "a view touches nothing");
  state.refused = makeFailure("workspace_not_assigned", { agent: "root" });
  const refused = failure("workspace_not_assigned", { agent: "root" });
  assert.deepEqual([await workspace.stat("outputs/a"), await workspace.write("outputs/b", "")], [refused, refused]);
  delete state.refused;
  for (const path of ["outputs/a", "outputs"]) assert.equal((await workspace.stat(path)).ok, true);
  assert.deepEqual(counts, { lookups: 3, uses: 2 });
  assert.deepEqual(await workspace.read("../a"), failure("path_traversal_blocked", { path: "../a" }));
  assert.deepEqual(counts, { lookups: 3, uses: 2 }, "a path that leads outside touches nothing either");
});

test("what succeeds is a use of the files, what is refused or not there is none [W10]", async (t) => {
  const { workspace, counts } = openPlace(t);
  const uses = async (work: () => Promise<{ readonly ok: boolean }>) => {
    const before = counts.uses;
    const { ok: isDone } = await work();
    return [isDone, counts.uses - before];
  };
  for (const work of [
    () => workspace.read("outputs/a"),
    () => workspace.list(),
    () => workspace.write("outputs/b", "b"),
    () => workspace.remove("outputs/b"),
    () => workspace.empty("temp"),
    () => workspace.info(),
  ])
    assert.deepEqual(await uses(work), [true, 1]);
  for (const work of [
    () => workspace.read("outputs/none"),
    () => workspace.list("outputs/a"),
    () => workspace.write("skills/b", "b"),
    () => workspace.remove("outputs/none"),
  ])
    assert.deepEqual(await uses(work), [false, 0]);
});

test("one read gives 16 MiB unless it is told otherwise, from where it is told [F2][Q2]", async (t) => {
  const { workspace, folder, base } = openPlace(t);
  const large = 16 * 1024 ** 2;
  truncateSync(join(folder, "outputs", "a"), large + 3);
  const read = async (range?: { offset?: number; bytesMax?: number }) => {
    const found = await workspace.read("outputs/a", range);
    return found.ok && [found.value.bytes.length, found.value.stat.bytes, found.value.isUnwritten];
  };
  assert.deepEqual(await read(), [large, large + 3, false]);
  assert.deepEqual(await read({ offset: 4 }), [large - 1, large + 3, false]);
  assert.deepEqual(await read({ bytesMax: large + 9 }), [large + 3, large + 3, false]);
  assert.deepEqual(
    openNow().filter((path) => path.startsWith(base)),
    [],
  );
});

test("in a conversation without folders nothing is found; of a task that wrote nothing every file reads as empty [W2][F2]", async (t) => {
  const { workspace, folder } = openPlace(t);
  rmSync(folder, { recursive: true });
  const missing = failure("file_not_found", { path: "outputs/a", near: "" });
  for (const look of [workspace.read("outputs/a"), workspace.stat("outputs/a"), workspace.hash("outputs/a")])
    assert.deepEqual(await look, missing);
  assert.deepEqual([await workspace.stream("outputs/a"), await workspace.openDescriptor()], [missing, ok(undefined)]);
  const task = openPlace(t, "task");
  rmSync(task.folder, { recursive: true });
  const stat = { path: "deep/a", type: "file", bytes: 0, mode: 0o644, modifiedAt: 0 } as const;
  assert.deepEqual(await task.workspace.read("./deep//a"), ok({ stat, bytes: Buffer.alloc(0), isUnwritten: true }));
});

test("hidden entries are listed and walked only when they are asked for, and a folder may be emptied that cannot be written to otherwise [F2][W10]", async (t) => {
  const { workspace, folder } = openPlace(t);
  for (const name of ["outputs/.hidden", ".top"]) closeSync(openSync(join(folder, name), "w"));
  const names = async (path: string | undefined, options?: { hidden?: boolean }) => {
    const listed = await workspace.list(path, options);
    return listed.ok && listed.value.entries.map(({ name }) => name);
  };
  assert.deepEqual([await names("outputs"), await names("outputs", { hidden: true })], [["a"], [".hidden", "a"]]);
  assert.deepEqual(await names(undefined, { hidden: true }), [".top", "outputs", "temp", "uploads"]);
  const walked = async (hidden: boolean) => {
    const walk = await workspace.walk(undefined, { hidden });
    const paths: string[] = [];
    for await (const { path } of walk.ok ? walk.value : []) paths.push(path);
    return paths.sort();
  };
  assert.deepEqual(await walked(false), ["outputs", "outputs/a", "temp", "uploads"]);
  assert.deepEqual(await walked(true), [".top", "outputs", "outputs/.hidden", "outputs/a", "temp", "uploads"]);
  assert.deepEqual([await workspace.empty("outputs"), await names("outputs", { hidden: true })], [ok(undefined), []]);
});

test("a walk ends when it is stopped, and leaves nothing open [W8]", async (t) => {
  const { workspace, base } = openPlace(t);
  const stop = new AbortController();
  const walk = await workspace.walk(".", { signal: stop.signal });
  const seen: string[] = [];
  for await (const { path } of walk.ok ? walk.value : []) {
    seen.push(path);
    stop.abort();
  }
  assert.equal(seen.length, 1);
  assert.deepEqual(
    openNow().filter((path) => path.startsWith(base)),
    [],
  );
});
