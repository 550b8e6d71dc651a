import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import fc from "fast-check";
import { withoutPermission } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { blocksOf, file, found, putText, searchPlace } from "../../test/world/search.ts";
import { openSearch, type Search } from "./search.ts";

async function isThere(search: Search, key: string): Promise<boolean> {
  const answer = await search.isIndexed(key);
  assert.ok(answer.ok);
  return answer.value;
}

test("one content under two names is one hit with two places; a replaced file is found as it is now [D2]", async () => {
  await using place = searchPlace();
  const { search } = place;
  await putText(search, file("ann", "a.txt"), "rhubarb pie", "pie");
  await putText(search, file("ann", "b.txt"), "rhubarb pie", "pie");
  const answer = await search.find("rhubarb", { owner: "ann" });
  assert.deepEqual(answer.ok && answer.value.hits.map(({ documents }) => documents.map((each) => each.place)), [
    ["a.txt", "b.txt"],
  ]);
  await putText(search, file("ann", "a.txt"), "gooseberry pie", "berry");
  assert.deepEqual(await found(search, "rhubarb", { owner: "ann" }), ["b.txt"]);
  assert.deepEqual(await found(search, "gooseberry", { owner: "ann" }), ["a.txt"]);
  await putText(search, file("ann", "b.txt"), "gooseberry pie", "berry");
  assert.equal(await isThere(search, "pie"), false);
});

test("the index is a cache: after a restart it is there, damaged or of another kind it is made anew [D2]", async () => {
  await using place = searchPlace();
  const note = { note: '{"pages": 1}' };
  assert.ok((await place.search.put(file("ann", "a.txt"), "a", { blocks: blocksOf("lasting words") }, note)).ok);
  const second = await place.again();
  assert.deepEqual(await second.noteOf("a"), { ok: true, value: note.note });
  assert.deepEqual(await second.noteOf("b"), { ok: true, value: undefined });
  assert.deepEqual(await found(second, "lasting", { owner: "ann" }), ["a.txt"]);
  assert.equal(statSync(place.file).mode & 0o777, 0o600);
  await second.close();
  writeFileSync(place.file, "this is no database, and never was one ".repeat(200));
  const third = await place.again();
  assert.equal(await isThere(third, "a"), false);
  await putText(third, file("ann", "a.txt"), "lasting words", "a");
  assert.deepEqual(await found(third, "lasting", { owner: "ann" }), ["a.txt"]);
});

test("damage that shows while it is used is told, and the next search has a new index [D2]", async () => {
  await using place = searchPlace();
  await putText(
    place.search,
    file("ann", "a.txt"),
    Array.from({ length: 400 }, (_, n) => `paragraph ${n} of lasting words`).join("\n\n"),
    "a",
  );
  const second = await place.again();
  assert.equal(await isThere(second, "a"), true);
  const bytes = statSync(place.file).size;
  const handle = openSync(place.file, "r+");
  for (let at = 8_192; at < bytes; at += 4_096) writeSync(handle, Buffer.alloc(4_096, 0xff), 0, 4_096, at);
  closeSync(handle);
  const broken = await second.find("lasting words", { owner: "ann" });
  assert.deepEqual(!broken.ok && broken.failure.code === "index_unavailable" && broken.failure.params.why, "damaged");
  assert.equal(await isThere(second, "a"), false);
  await putText(second, file("ann", "a.txt"), "lasting words", "a");
  assert.deepEqual(await found(second, "lasting", { owner: "ann" }), ["a.txt"]);
});

test("a document that is taken back while it is indexed leaves the old one, and its progress was told [D2]", async () => {
  await using place = searchPlace();
  const { search } = place;
  await putText(search, file("ann", "book.txt"), "the first edition", "first");
  const blocks = blocksOf(
    Array.from({ length: 3_000 }, (_, page) => `--- ${page + 1}\n\nthe second edition, page ${page}`).join("\n\n"),
  );
  const stop = new AbortController();
  const shares: number[] = [];
  const onProgress = (share: number) => {
    shares.push(share);
    if (shares.length === 2) stop.abort();
  };
  const stopped = await search.put(file("ann", "book.txt"), "second", { blocks }, { signal: stop.signal, onProgress });
  assert.deepEqual(!stopped.ok && stopped.failure.params, { why: "stopped" });
  assert.equal(shares.length, 2);
  assert.deepEqual(await found(search, "edition", { owner: "ann" }), ["book.txt"]);
  assert.deepEqual(await found(search, "second", { owner: "ann" }), []);
  // Searches are answered while a long document is on its way: by the old one, or by the new one if it was quicker.
  const putting = search.put(file("ann", "book.txt"), "second", { blocks });
  assert.deepEqual([...new Set(await found(search, "edition", { owner: "ann" }))], ["book.txt"]);
  assert.ok((await putting).ok);
  const answer = await search.find("second edition page 1234", { owner: "ann" });
  const [best] = answer.ok ? answer.value.hits : [];
  assert.ok((best?.from.page ?? 9_999) <= 1_235 && 1_235 <= (best?.to.page ?? 0), JSON.stringify(best));
});

test("a folder that cannot be written is told in words, and so is a search that was closed [D2]", async () => {
  await using place = searchPlace();
  await place.search.close();
  assert.ok(!existsSync(place.file));
  const closed = await place.search.find("x", { owner: "ann" });
  assert.deepEqual(closed.ok || [closed.failure.code, closed.failure.params], ["index_unavailable", { why: "closed" }]);
  const folder = place.file.slice(0, place.file.lastIndexOf("/data"));
  const next = await place.again();
  await withoutPermission([folder], async () => {
    const answer = await next.isIndexed("a");
    assert.deepEqual(
      !answer.ok && answer.failure.code === "index_unavailable" && answer.failure.params.why,
      "read_only",
    );
  });
  chmodSync(folder, 0o700);
  assert.equal(await isThere(next, "a"), false);
});

test("words of Chinese instead of pairs need a package, and without it that is said [D2]", async (t) => {
  const isInstalled = (() => {
    try {
      return createRequire(import.meta.url).resolve("@node-rs/jieba") !== "";
    } catch {
      return false;
    }
  })();
  if (!isInstalled) {
    const opened = openSearch({ file: "unused", clock: manualClock(), segmentation: "jieba" });
    assert.deepEqual(!opened.ok && opened.failure.code, "segmenter_missing");
    return t.diagnostic("@node-rs/jieba is not installed: only its absence was tried");
  }
  await using place = searchPlace({ segmentation: "jieba" });
  await putText(place.search, file("ann", "a.txt"), "南京市长江大桥的施工图纸", "a");
  assert.deepEqual(await found(place.search, "长江大桥在哪里", { owner: "ann" }), ["a.txt"]);
  const pairs = await place.again({ segmentation: "bigram" });
  assert.equal(await isThere(pairs, "a"), false);
});

test("every two characters of a Chinese text are found, and nothing that was deleted or is another's [D2]", async () => {
  await using place = searchPlace();
  const { search } = place;
  const character = fc.constantFrom(..."软軟件体包管理系统統安装配置文档的了一二三𠮷ab \n。，");
  const texts = fc.array(fc.string({ unit: character, minLength: 2, maxLength: 900 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(), async (parts, chance) => {
      await putText(search, file("ann", "a.txt"), parts.join("\n\n"), parts.join("\u0001"));
      const pairs = parts.flatMap((part) => [...part.matchAll(/(?=([\p{sc=Han}]{2}))/gu)].map(([, pair = ""]) => pair));
      for (const pair of [pairs.at(0), pairs.at(-1), pairs.at(chance % Math.max(1, pairs.length))]) {
        if (pair === undefined) continue;
        assert.deepEqual(new Set(await found(search, `"${pair}"`, { owner: "ann" })), new Set(["a.txt"]), pair);
        assert.deepEqual(await found(search, `"${pair}"`, { owner: "bob" }), []);
      }
      await search.drop(file("ann", "a.txt"));
      for (const pair of pairs.slice(0, 1)) assert.deepEqual(await found(search, pair, { owner: "ann" }), []);
    }),
    { numRuns: 15 },
  );
});

test("who indexes gives way to the thread that serves everybody [D4]", {
  skip: process.platform !== "linux",
}, async () => {
  await using place = searchPlace();
  await putText(place.search, file("ann", "a.txt"), "walrus", "a");
  const threads = readdirSync("/proc/self/task").map((id) => {
    const [, name = "", rest = ""] = /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/self/task/${id}/stat`, "utf8")) ?? [];
    return { name, nice: Number(rest.split(" ")[16]) };
  });
  const isBehind = ({ name, nice }: { name: string; nice: number }) => name === "search" && nice >= 3;
  assert.ok(threads.some(isBehind), JSON.stringify(threads));
});
