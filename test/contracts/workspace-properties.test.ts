import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import type { ConversationRow } from "../../src/storage/storage.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { unwrap } from "./storage-place.ts";
import { filesOf, type Ground, openGround } from "./workspaces-place.ts";

// The ten properties of the task workspaces' design, each on the real file system under its own name.
const runs = { numRuns: 100 };

test("property 1, lazy creation: after assignment and before the first write there is no folder [W2]", async (t) => {
  const { ground, task } = await openTasks(t);
  const looks = ["list", "info", "read", "stat", "walk", "hash"] as const;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...looks)), path(), async (asked, place) => {
      const { id, workspace } = await task();
      for (const look of asked) await (look === "info" ? workspace.info() : workspace[look](place));
      assert.equal(existsSync(ground.path("workspaces", id)), false);
    }),
    runs,
  );
});

test("property 2, a write triggers creation: the first write makes the folder, whatever its path [W2]", async (t) => {
  const { ground, task } = await openTasks(t);
  await fc.assert(
    fc.asyncProperty(path(), async (place) => {
      const { id, workspace } = await task();
      unwrap(await workspace.write(place, "x"));
      assert.equal(existsSync(ground.path("workspaces", id, place)), true);
    }),
    runs,
  );
});

test("property 3, round trip: what was written is what is read, byte by byte [W11][F1][F2]", async (t) => {
  const { task } = await openTasks(t);
  await fc.assert(
    fc.asyncProperty(path(), fc.oneof(fc.uint8Array({ maxLength: 5_000 }), text()), async (place, content) => {
      const { workspace } = await task();
      unwrap(await workspace.write(place, content));
      assert.deepEqual(unwrap(await workspace.read(place)).bytes, Buffer.from(content));
    }),
    runs,
  );
});

test("property 4, listing an empty workspace: nothing was written, the list is empty and no error [W2][F2]", async (t) => {
  const { task } = await openTasks(t);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(".", "./", "a", "a/b"), async (place) => {
      const { workspace } = await task();
      const { entries, isUnwritten } = unwrap(await workspace.list(place));
      assert.deepEqual([entries, isUnwritten], [[], true]);
    }),
    runs,
  );
});

test("property 5, traversal is blocked: a path with `..` or a leading slash is refused by every operation [W5]", async (t) => {
  const { ground, task } = await openTasks(t);
  const bad = fc.oneof(
    fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before}..${after}`),
    fc.string().map((after) => `/${after}`),
  );
  const { id, workspace } = await task();
  await fc.assert(
    fc.asyncProperty(bad, async (place) => {
      const state = { hash: "0".repeat(64), bytes: 0, mode: 0o644 };
      const answers = [
        ...[await workspace.read(place), await workspace.list(place), await workspace.stat(place)],
        ...[await workspace.walk(place), await workspace.hash(place), await workspace.stream(place)],
        ...[await workspace.write(place, "x"), await workspace.remove(place), await workspace.empty(place)],
        await workspace.restore(place, state),
      ];
      for (const answer of answers) assert.equal(!answer.ok && answer.failure.code, "path_traversal_blocked");
      assert.equal(existsSync(ground.path("workspaces", id)), false);
    }),
    runs,
  );
});

test("property 6, inheritance: every agent works in the workspace of its first ancestor that has one [W3][W4]", async (t) => {
  const { ground, row } = await openTasks(t);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { minLength: 1, maxLength: 12 }), async (choices) => {
      count += 1;
      const agents = [{ id: "root", task: undefined as string | undefined }];
      for (const [index, choice] of choices.entries()) {
        const parent = agents[choice % agents.length];
        const id = `p6-${count}-${index}`;
        unwrap(await ground.workspaces.assignTask(row, { agent: id, parent: parent?.id ?? "root" }));
        agents.push({ id, task: parent?.task ?? id });
      }
      for (const { id, task } of agents) {
        const found = await ground.workspaces.taskOf(row, id);
        assert.equal(found.ok ? found.value.id : found.failure.code, task ?? "workspace_not_assigned");
        if (task === undefined) continue;
        unwrap(await unwrap(await ground.workspaces.ofAgent(row, id)).write(`by-${id}.txt`, id));
        assert.equal(existsSync(ground.path("workspaces", task, `by-${id}.txt`)), true);
      }
    }),
    runs,
  );
  const again = await ground.restart();
  assert.equal(unwrap(await again.workspaces.taskOf(row, `p6-1-0`)).id, "p6-1-0");
});

test("property 7, isolation: two agents made by root have different folders and never see each other's files [W3]", async (t) => {
  const { task } = await openTasks(t);
  await fc.assert(
    fc.asyncProperty(path(), async (place) => {
      const [one, other] = [await task(), await task()];
      unwrap(await one.workspace.write(place, "of one"));
      unwrap(await other.workspace.write("own.txt", "of the other"));
      assert.notEqual(one.folder, other.folder);
      assert.deepEqual(filesOf(one.folder), { [place]: "of one" });
      assert.deepEqual(filesOf(other.folder), { "own.txt": "of the other" });
      const read = await other.workspace.read(place === "own.txt" ? "own-2.txt" : place);
      assert.equal(!read.ok && read.failure.code, "file_not_found");
    }),
    runs,
  );
});

test("property 8, a new workspace bears the id of the agent that root made [W2][W3]", async (t) => {
  const { ground, row } = await openTasks(t);
  const ids = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,30}$/);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(ids, { minLength: 1, maxLength: 3 }), async (agents) => {
      for (const agent of agents) {
        unwrap(await ground.workspaces.assignTask(row, { agent, parent: "root" }));
        assert.equal(unwrap(await ground.workspaces.taskOf(row, agent)).id, agent);
      }
    }),
    runs,
  );
});

test("property 9, parents are made: a nested path is written with all its folders [W11]", async (t) => {
  const { task } = await openTasks(t);
  await fc.assert(
    fc.asyncProperty(fc.array(name(), { minLength: 2, maxLength: 10 }), async (names) => {
      const { folder, workspace } = await task();
      unwrap(await workspace.write(names.join("/"), "deep"));
      assert.deepEqual(filesOf(folder), { [names.join("/")]: "deep" });
    }),
    runs,
  );
});

test("property 10, information is exact: counts and sizes are those on the disk, also after changes from outside [W8]", async (t) => {
  const { task } = await openTasks(t);
  const files = fc.uniqueArray(fc.tuple(name(), name(), text()), {
    maxLength: 8,
    selector: ([folder, file]) => `${folder}/${file}`,
  });
  await fc.assert(
    fc.asyncProperty(files, files, async (written, foreign) => {
      const { folder, workspace } = await task();
      assert.deepEqual(unwrap(await workspace.info()), { fileCount: 0, dirCount: 0, totalSize: 0, lastModified: null });
      for (const [inside, file, content] of written) unwrap(await workspace.write(`${inside}/d/${file}`, content));
      for (const [inside, file, content] of foreign) {
        mkdirSync(dirname(join(folder, inside, "d", file)), { recursive: true });
        writeFileSync(join(folder, inside, "d", file), content);
      }
      const all = new Map([...written, ...foreign].map(([inside, file, content]) => [`${inside}/${file}`, content]));
      const { fileCount, dirCount, totalSize } = unwrap(await workspace.info());
      const tops = new Set([...written, ...foreign].map(([inside]) => inside));
      const bytes = [...all.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0);
      assert.deepEqual([fileCount, dirCount, totalSize], [all.size, 2 * tops.size, bytes]);
    }),
    runs,
  );
});

type Task = { readonly id: string; readonly workspace: Workspace; readonly folder: string };

/** A conversation, and as many tasks of it as are asked for. */
async function openTasks(t: TestContext): Promise<{ ground: Ground; row: ConversationRow; task(): Promise<Task> }> {
  const ground = await openGround(t);
  const row = await ground.start("conversation");
  let count = 0;
  const task = async () => {
    count += 1;
    const id = `agent-${String(count).padStart(4, "0")}`;
    unwrap(await ground.workspaces.assignTask(row, { agent: id, parent: "root" }));
    return { id, workspace: unwrap(await ground.workspaces.taskOf(row, id)), folder: ground.path("workspaces", id) };
  };
  return { ground, row, task };
}

function name(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9_-]{1,20}(\.[a-z]{1,4})?$/),
    fc.constantFrom(
      "报告.md",
      "données.csv",
      "with blank.txt",
      "a'b\"c",
      "🙂.txt",
      "-rf",
      "#hash",
      "%2e%2e",
      "ａ",
      "__proto__",
    ),
  );
}

function path(): fc.Arbitrary<string> {
  return fc.array(name(), { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
}

function text(): fc.Arbitrary<string> {
  return fc.string({ unit: "grapheme", maxLength: 2_000 });
}
