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
import { type Keeping, openKept } from "./kept.ts";
import { noWorkspace } from "./none.ts";

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
