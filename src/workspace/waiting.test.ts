import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { openBooks } from "./books.ts";
import type { FileFailure } from "./one-workspace.ts";
import { endWaiting, makeTaskFolder, openWaiting } from "./waiting.ts";

function openTask(t: TestContext) {
  const base = folderWith(t, {});
  const [folder, stagingFolder] = [join(base, "workspaces", "task"), join(base, "staging")];
  const books = openBooks();
  let may: Result<unknown, FileFailure> = ok(undefined);
  const waiting = openWaiting({ folder, stagingFolder, books, mayBegin: async () => may });
  return {
    ...{ folder, stagingFolder, waiting, books, place: join(stagingFolder, "wait-task") },
    end(reason: FileFailure) {
      may = { ok: false, failure: reason };
    },
  };
}

test("a folder in which several programs of a task wait is there until the last one has ended, and stays where one wrote [W2][X1]", async (t) => {
  const { waiting, place, books } = openTask(t);
  assert.deepEqual([await waiting.hold(), await waiting.hold()], [ok(place), ok(place)]);
  waiting.release(join(place, "..", "wait-another"));
  waiting.release(place);
  assert.deepEqual([existsSync(place), books.held.get(place)], [true, 1]);
  waiting.release(place);
  assert.deepEqual([existsSync(place), books.held.has(place)], [false, false]);
  await waiting.hold();
  writeFileSync(join(place, "a"), "written");
  waiting.release(place);
  assert.deepEqual([existsSync(join(place, "a")), books.held.has(place)], [true, false]);
});

test("a folder is put in its place when something is in it, once, and whoever comes then has that one [W2][X1]", async (t) => {
  const { waiting, place, folder, stagingFolder } = openTask(t);
  let made = 0;
  const refused = failure("workspace_not_assigned", { agent: "task" });
  const arrive = (answer: Result<void, FileFailure> = ok(undefined)) =>
    waiting.arrive(async () => {
      made += 1;
      return answer;
    });
  await waiting.hold();
  assert.deepEqual([await arrive(), made], [ok(undefined), 0], "nothing was written");
  writeFileSync(join(place, "a"), "written");
  assert.deepEqual([await arrive(refused), made], [refused, 1]);
  mkdirSync(join(folder, ".."));
  makeTaskFolder(stagingFolder, folder);
  assert.deepEqual([existsSync(join(folder, "a")), existsSync(place)], [true, false]);
  assert.deepEqual([await arrive(), made, await waiting.hold()], [ok(undefined), 1, ok(folder)]);
  waiting.release(folder);
  assert.equal(existsSync(join(folder, "a")), true, "its own folder is nobody's to take away");
});

test("nobody waits for a conversation that is gone, and a task's own folder is not taken away by one that waits [W2][S6]", async (t) => {
  const { waiting, place, folder, stagingFolder, end } = openTask(t);
  await waiting.hold();
  writeFileSync(join(place, "late"), "");
  mkdirSync(folder, { recursive: true });
  makeTaskFolder(stagingFolder, folder);
  endWaiting(stagingFolder, folder);
  assert.deepEqual(await waiting.arrive(async () => assert.fail("it has its folder")), ok(undefined));
  assert.deepEqual([existsSync(join(folder, "late")), existsSync(join(place, "late"))], [false, true]);
  const reason = failure("workspace_not_assigned", { agent: "task" });
  end(reason.failure);
  assert.deepEqual(await waiting.hold(), reason);
});
