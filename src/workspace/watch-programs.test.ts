import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { openBooks } from "./books.ts";
import { newSeen, type Seen } from "./seen.ts";
import { visitOf } from "./visit.testing.ts";
import { lookAhead } from "./watch-programs.ts";

async function place(...given: Parameters<typeof testWorkspace>) {
  const { workspace, folder } = await testWorkspace(...given);
  await workspace.write("outputs/old", "old");
  return {
    workspace,
    program: (name: string) => writeFileSync(join(folder, "outputs", name), "by a program"),
    async observe(options: Parameters<typeof workspace.observe>[0] = {}) {
      const observed = await workspace.observe(options);
      assert.ok(observed.ok);
      const { hasEarlier, changes, leave } = observed.value;
      const told = async () => {
        const answer = await changes();
        return answer.ok && answer.value.map(({ path }) => path);
      };
      return { hasEarlier, told, leave };
    },
  };
}

test("whoever has asked for changes and leaves after that takes none from others who still wait for theirs [W12]", async (t) => {
  const { observe, program } = await place(t);
  const [first, second] = [await observe(), await observe()];
  assert.deepEqual(await first.told(), []);
  first.leave();
  program("new");
  (await observe()).leave();
  assert.deepEqual(await second.told(), ["outputs/new"]);
});

test("a first look that could not be taken is taken anew: what was there is not told as new [W12][Q2]", async (t) => {
  const { observe, program, workspace } = await place(t);
  const sharedFiles = () => Promise.reject(new Error("the sandbox is gone"));
  await assert.rejects(workspace.observe({ sharedFiles }), /the sandbox is gone/);
  const next = await observe({ isContinued: true });
  assert.equal(next.hasEarlier, false);
  program("new");
  assert.deepEqual(await next.told(), ["outputs/new"]);
});

test("what files take up is not said of a look that failed [W12][X4]", async (t) => {
  const { workspace } = await place(t);
  let looks = 0;
  const sharedFiles = async () => {
    looks += 1;
    if (looks === 2) throw new Error("the sandbox is gone");
    return new Set<number>();
  };
  const observed = await workspace.observe({ sharedFiles });
  assert.ok(observed.ok);
  const { changes, measured } = observed.value;
  assert.equal(measured()?.files, 1);
  await assert.rejects(changes(), /the sandbox is gone/);
  assert.equal(measured(), undefined);
  assert.deepEqual([(await changes()).ok, measured()?.files], [true, 1]);
});

test("what a file was before a change that nobody was told of yet is not given up for others [W12]", async (t) => {
  const { workspace, folder } = await testWorkspace(t, { limits: { keptBytesMax: 30 } });
  const program = (name: string, text: string) => writeFileSync(join(folder, "outputs", name), text.repeat(10));
  program("a", "1");
  const first = await workspace.observe();
  program("a", "2");
  const second = await workspace.observe();
  assert.ok(first.ok && second.ok);
  for (const name of ["b", "c"]) program(name, name);
  const told = await first.value.changes();
  assert.ok(told.ok);
  const [change] = told.value;
  assert.deepEqual([told.value.length, change?.path, change?.lost], [3, "outputs/a", undefined]);
  assert.equal((await workspace.restore("outputs/a", change?.before)).ok, true);
  assert.equal(readFileSync(join(folder, "outputs", "a"), "utf8"), "1".repeat(10));
});

test("of the files of all workspaces half a million are remembered, or 64 MiB of paths: then the longest unobserved go [W12][Q1]", async (t) => {
  const base = folderWith(t, {});
  const state = { bytes: 3, mode: 0o644, hash: "h" };
  const stamp = { ino: 1, size: 3, mode: 0o644, mtimeMs: 1, ctimeMs: 1 };
  const known = { state, stamp, lost: undefined, isSure: false, look: 1 };
  const bySize = new Map<number, Seen["files"]>();
  const many = (size: number) => {
    const files: Seen["files"] = bySize.get(size) ?? new Map();
    for (let index = files.size; index < size; index += 1) files.set(`${index}`, known);
    bySize.set(size, files);
    return files;
  };
  /** Which of three workspaces are still known when a look was taken at one more, in which there is nothing. */
  const left = async (files: readonly number[], characters: readonly number[] = [], waiting = 0) => {
    const books = openBooks();
    for (const [index, size] of files.entries()) {
      books.seen.set(`${index}`, { ...newSeen(), files: many(size), characters: characters[index] ?? 0, waiting });
    }
    await lookAhead(visitOf(base, { kind: "task", books }), { signal: new AbortController().signal });
    return [...books.seen.keys()].filter((name) => !name.startsWith("/")).join();
  };
  const mebibyte = 1024 ** 2;
  assert.equal(await left([200_000, 200_000, 100_000]), "0,1,2");
  assert.equal(await left([200_000, 200_000, 100_001]), "1,2");
  assert.equal(await left([1, 400_000, 100_000]), "1,2");
  assert.equal(await left([1, 400_000, 100_001]), "2");
  assert.equal(await left([1, 1, 1], [32 * mebibyte, 32 * mebibyte]), "0,1,2");
  assert.equal(await left([1, 1, 1], [32 * mebibyte, 32 * mebibyte, 1]), "1,2");
  assert.equal(await left([400_000, 400_000, 1], [], 1), "0,1,2", "somebody waits for what is told of each");
});
