import assert from "node:assert/strict";
import { hash as digest } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { quietLogger, testLimits, testWorkspace } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { copyFiles } from "./copy.ts";
import { Refused } from "./faults.ts";
import { type Keeping, openKept } from "./kept.ts";
import { openLocks } from "./locks.ts";
import { noWorkspace } from "./none.ts";
import { type Usage, withRoom } from "./usage.ts";

// Ten bytes each: there is room for three.
const [oldest, older, newer, newest, next] = ["oldest----", "older-----", "newer-----", "newest----", "next------"];
const shaOf = (text: string) => digest("sha256", text);

test("a new process gives up those earlier contents first that were used the longest ago, and counts what is there [W12]", async (t) => {
  const place = openPlace(t);
  for (const text of [newer, older, oldest]) assert.equal(await place.keep(text), undefined);
  // As they were kept, in seconds; the names of files say nothing about it.
  for (const [text, at] of [
    [oldest, 1],
    [older, 5],
    [newer, 20],
  ] as const)
    utimesSync(join(place.contents, shaOf(text)), at, at);
  place.clock.move(10_000);
  place.restart();
  assert.equal(await place.keep(oldest), undefined, "used again, after ten seconds");
  writeFileSync(join(place.contents, ".0123456789abcdef"), "of a process that died");
  place.restart();
  assert.equal(await place.keep(newest), undefined);
  assert.deepEqual(await place.there(oldest, older, newer, newest), [true, false, true, true]);
  assert.equal(await place.keep(next), undefined);
  assert.deepEqual(await place.there(oldest, newer, newest, next), [false, true, true, true]);
  assert.equal(readdirSync(place.contents).length, 3, "and what was begun and never ended is gone");
});

test("contents that are needed are not given up for others: what finds no room then is told as lost, and nothing goes for it [W12]", async (t) => {
  for (const isWalk of [false, true]) {
    const place = openPlace(t);
    const keep = isWalk ? place.keepNow : place.keep;
    for (const text of [oldest, older, newer]) assert.equal(await keep(text), undefined);
    assert.equal(await keep(newest, { isNeeded: (hash) => hash === shaOf(oldest) }), undefined);
    assert.deepEqual(await place.there(oldest, older, newer, newest), [true, false, true, true]);
    assert.equal(await keep(next, { isNeeded: () => true }), "quota");
    assert.deepEqual(await place.there(oldest, newer, newest, next), [true, true, true, false]);
    assert.equal(await keep(oldest, { isNeeded: () => true }), undefined, "what is kept already needs no room");
    assert.equal(await keep(next), undefined);
    assert.deepEqual(await place.there(oldest, newer, newest, next), [true, false, true, true]);
  }
});

test("a content at the limit of one file is kept, one byte more is too large, and what does not fit at all has no room [W12]", async (t) => {
  const place = openPlace(t, { keptFileBytesMax: 30 });
  for (const keep of [place.keep, place.keepNow]) {
    assert.equal(await keep("x".repeat(31)), "too_large");
    assert.equal(await keep("x".repeat(30)), undefined);
  }
  const narrow = openPlace(t, { keptFileBytesMax: 40 });
  for (const keep of [narrow.keep, narrow.keepNow]) {
    assert.equal(await keep(oldest), undefined);
    assert.equal(await keep("x".repeat(31)), "quota");
    assert.deepEqual(await narrow.there(oldest), [true], "nothing goes for what finds no room in any case");
    assert.equal(await keep("x".repeat(30)), undefined);
  }
});

test("what was written to while it was kept, and what was spoilt since, is never given back as an earlier content [W12]", async (t) => {
  const place = openPlace(t);
  assert.equal(await place.keep(newer, {}, shaOf("what it was before")), "unreadable");
  assert.deepEqual(readdirSync(place.contents), []);
  assert.equal(await place.keep(newer), undefined);
  writeFileSync(join(place.contents, shaOf(newer)), "spoilt----");
  assert.deepEqual(await place.there(newer), [false]);
});

/** Room for 30 bytes, on the real disk. */
function openPlace(t: TestContext, limits: { readonly keptFileBytesMax?: number } = {}) {
  const base = mkdtempSync(join(tmpdir(), "kept-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const clock = manualClock();
  const logged: string[] = [];
  const options = {
    ...{ folder: join(base, "kept"), clock, ids: systemIds, logger: quietLogger(logged) },
    limits: { ...testLimits, keptBytesMax: 30, ...limits },
  };
  let books = new Map();
  const kept = () => openKept({ ...options, books });
  return {
    ...{ clock, kept, logged, contents: join(base, "kept", "contents") },
    restart() {
      books = new Map();
    },
    async keep(text: string, keeping: Keeping = {}, hash = shaOf(text)) {
      writeFileSync(join(base, text), text);
      const file = await open(join(base, text));
      try {
        return await kept().keep(file.fd, { hash, bytes: text.length, mode: 0o644 }, keeping);
      } finally {
        await file.close();
      }
    },
    async keepNow(text: string, { isNeeded = () => false }: Keeping = {}) {
      return (await kept().now()).keep(Buffer.from(text), shaOf(text), { isNeeded });
    },
    there: (...texts: string[]) =>
      Promise.all(texts.map(async (text) => (await kept().find(shaOf(text))) !== undefined)),
  };
}

/** A workspace of 100 bytes and 10 files at the most, in which others write as well. */
function room(there: { bytes: number; files: number }) {
  const clock = manualClock();
  const known = new Map<string, Usage>();
  let counts = 0;
  const count = async () => {
    counts += 1;
    return { ...there };
  };
  const limits = { ...testLimits, bytesMax: 100, filesMax: 10 };
  const budget = { path: "outputs/a", limits, clock, count, known, locks: openLocks(), folder: "w" };
  return {
    ...{ clock, there, counts: () => counts },
    /** What is used by now, as it is known. */
    used: () => [known.get("w")?.bytes, known.get("w")?.files],
    change: (bytes: number, files = 0, work: () => Promise<void> = async () => {}) =>
      withRoom(budget, { bytes, files }, work),
  };
}

function refusedFor(what: "bytes" | "files", limit: number) {
  const params = { path: "outputs/a", what, limit, setting: `workspace.${what}_max` };
  return (error: unknown) => {
    assert.ok(error instanceof Refused);
    assert.deepEqual([error.reason.code, error.reason.params], ["quota_exceeded", params]);
    return true;
  };
}

test("what a workspace holds is counted once a minute, our own changes in between are known, and near a limit it is counted anew [W11]", async () => {
  const { clock, change, counts, used, there } = room({ bytes: 10, files: 1 });
  await change(20, 1);
  clock.move(59_999);
  await change(45, 1);
  assert.deepEqual([counts(), used()], [1, [75, 3]], "three quarters are not near yet");
  there.bytes = 30;
  await change(1);
  assert.deepEqual([counts(), used()], [2, [31, 1]], "one byte more is: others have made room");
  clock.move(59_999);
  await change(1);
  clock.move(1);
  await change(-1);
  assert.deepEqual([counts(), used()], [3, [29, 1]]);
});

test("a limit holds to the byte and to the file, is named where it is over, and never keeps anybody from making room [W11][W7]", async () => {
  const { change, there, used } = room({ bytes: 90, files: 8 });
  await change(10);
  await assert.rejects(change(11), refusedFor("bytes", 100));
  await change(0, 2);
  await assert.rejects(change(0, 3), refusedFor("files", 10));
  Object.assign(there, { bytes: 500, files: 50 });
  await assert.rejects(change(1), refusedFor("bytes", 100));
  await change(-5);
  await change(0, -1);
  await assert.rejects(change(-5, 1), refusedFor("files", 10));
  assert.deepEqual(used(), [500, 50], "a refusal sets nothing aside");
});

test("where there is no room for all drafts some stay behind; results are never left out in silence [L9][W11]", async (t) => {
  const { workspace: from, folder } = await testWorkspace(t);
  for (const name of ["outputs/a", "outputs/b", "temp/c", "temp/d"]) await from.write(name, "12345");
  const narrow = await testWorkspace(t, { limits: { bytesMax: 15 } });
  assert.deepEqual(await copyFiles(from, narrow.workspace), ok({ files: 3, leftOut: [] }));
  assert.deepEqual(readdirSync(join(narrow.folder, "outputs")).sort(), ["a", "b"]);
  const tiny = await testWorkspace(t, { limits: { bytesMax: 4 } });
  const refused = await copyFiles(from, tiny.workspace);
  assert.deepEqual(refused.ok ? undefined : refused.failure.code, "quota_exceeded");
  const nowhere = noWorkspace("gone", makeFailure("workspace_not_assigned", { agent: "gone" }));
  assert.equal((await copyFiles(from, nowhere)).ok, false);
  assert.deepEqual(openFiles(folder), [], "what was not copied is not left open");
});
