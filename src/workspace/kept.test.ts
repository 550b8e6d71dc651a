import assert from "node:assert/strict";
import { hash as digest } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { type Keeping, openKept } from "./kept.ts";

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

test("a content that a walk has use for is given up after those that nobody asked for since [W12]", async (t) => {
  const place = openPlace(t);
  for (const text of [oldest, older, newer]) assert.equal(await place.keep(text), undefined);
  const { use } = await place.kept().now();
  assert.deepEqual([use(shaOf(oldest)), use(shaOf(next))], [true, false]);
  assert.equal(await place.keep(newest), undefined);
  assert.deepEqual(await place.there(oldest, older, newer, newest), [true, false, true, true]);
  rmSync(join(place.contents, shaOf(oldest)));
  assert.equal(use(shaOf(oldest)), false, "somebody has tidied it away");
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

test("the same call is found again by its key and its file, with what was lost, and no other is taken for it [W12][L2]", async (t) => {
  const place = openPlace(t);
  const before = { bytes: 3, mode: 0o600, hash: shaOf("old") };
  const after = { bytes: 4, mode: 0o644, hash: shaOf("new!") };
  const change = { path: "outputs/a", before, after, lost: "quota" } as const;
  await place.kept().note("call", change);
  await place.kept().note("other call", { path: "outputs/b", before: undefined, after: undefined, lost: undefined });
  place.restart();
  assert.deepEqual(await place.kept().noted("call", "outputs/a"), change);
  assert.equal(await place.kept().noted("call", "outputs/b"), undefined);
  assert.equal(await place.kept().noted("other call", "outputs/a"), undefined);
});

test("what several keep in the first moment of a process is counted together: there is never more than there is room for [W12]", async (t) => {
  const place = openPlace(t);
  const kept = await Promise.all([oldest, older, newer].map((text) => place.keep(text)));
  assert.deepEqual(kept, [undefined, undefined, undefined]);
  assert.equal(await place.keep(newest), undefined);
  assert.equal(readdirSync(place.contents).length, 3);
  assert.deepEqual(await place.there(newest), [true]);
});

test("a content that finds no place leaves nothing of itself behind, takes no room, and is told as lost [W12][Q2]", async (t) => {
  const place = openPlace(t);
  const now = await place.kept().now();
  const isNeeded = () => false;
  assert.equal(now.keep(Buffer.from(oldest), shaOf(oldest), { isNeeded }), undefined);
  mkdirSync(join(place.contents, shaOf(newer), "in the way"), { recursive: true });
  for (let times = 0; times < 4; times += 1)
    assert.equal(now.keep(Buffer.from(newer), shaOf(newer), { isNeeded }), "quota");
  assert.deepEqual(readdirSync(place.contents).sort(), [shaOf(oldest), shaOf(newer)].sort());
  assert.equal(now.use(shaOf(newer)), false);
  for (const text of [newest, next]) assert.equal(now.keep(Buffer.from(text), shaOf(text), { isNeeded }), undefined);
  assert.deepEqual(await place.there(oldest, newest, next), [true, true, true], "there is room for three");
  assert.deepEqual(place.logged, [
    'earlier contents of files are not kept for undo: the disk does not take them {"code":"EISDIR"}',
  ]);
});

test("a content that could not be copied to its place takes up no room under another name [W12][Q2]", async (t) => {
  const place = openPlace(t);
  assert.equal(await place.keep(oldest), undefined);
  mkdirSync(join(place.contents, shaOf(newer), "in the way"), { recursive: true });
  await assert.rejects(place.keep(newer), { code: "EISDIR" });
  assert.deepEqual(readdirSync(place.contents).sort(), [shaOf(oldest), shaOf(newer)].sort());
});

test("a note or a content of one file is no business of another workspace, and a note is whole or none [W12][L2]", async (t) => {
  const place = openPlace(t);
  assert.equal(await place.kept().noted("call", "outputs/a"), undefined);
  const change = { path: "outputs/a", before: undefined, after: undefined, lost: "too_large" } as const;
  await place.kept().note("call", change);
  assert.deepEqual(await place.kept().noted("call", "outputs/a"), change);
  const notes = join(place.contents, "..", "notes");
  assert.deepEqual([readdirSync(notes).length, statSync(notes).mode & 0o777], [1, 0o700]);
  await assert.rejects(place.kept().find("../notes/x"));
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
