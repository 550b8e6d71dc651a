import assert from "node:assert/strict";
import { chmod, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { quietLogger, testWorkspace } from "../../test/world/workspace.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { type FailureParams, failure } from "../protocol/failure.ts";
import type { SearchQuery } from "./documents.ts";
import { openTextSearch, type TextResult, type TextSearch } from "./search.ts";

test("a search shows the line with its neighbours, the match marked, in the order of paths and lines [D3]", async (t) => {
  const { find } = await searchable(t, {
    "outputs/b.txt": "alpha\nbeta\ngamma\nBETA again\n",
    "outputs/a/deep.md": "the Beta of all\r\nlast\r\n",
    "uploads/z.csv": "no match here\n",
  });
  assert.deepEqual(await find("beta"), {
    hits: [
      { path: "outputs/a/deep.md", line: 1, text: "the **Beta** of all\nlast" },
      { path: "outputs/b.txt", line: 2, text: "alpha\n**beta**\ngamma" },
      { path: "outputs/b.txt", line: 4, text: "gamma\n**BETA** again" },
    ],
    ...{ total: 3, filesSearched: 3, filesSkipped: 0, stopped: undefined },
  });
});

test("a search looks at one file, at one folder, or at all [D3]", async (t) => {
  const { find } = await searchable(t, {
    "outputs/a.txt": "word\n",
    "outputs/sub/b.txt": "word\n",
    "uploads/c.txt": "word\n",
  });
  const paths = async (path: string) => (await find("word", { path })).hits.map((hit) => hit.path);
  assert.deepEqual(
    [await paths("outputs/a.txt"), await paths("outputs"), await paths("./outputs/sub/"), await paths(".")],
    [
      ["outputs/a.txt"],
      ["outputs/a.txt", "outputs/sub/b.txt"],
      ["outputs/sub/b.txt"],
      ["outputs/a.txt", "outputs/sub/b.txt", "uploads/c.txt"],
    ],
  );
});

test("words are looked for as a phrase first, and only then one by one [D3]", async (t) => {
  const { find } = await searchable(t, {
    "outputs/a.txt": "the red house\nhouse of red bricks\nred only\n",
    "outputs/b.txt": 'a "blue sky" day\nday with a blue sky\n',
  });
  const texts = async (query: string) => (await find(query, { contextCharacters: 40 })).hits.map(({ text }) => text);
  assert.deepEqual(await texts("red house"), ["the **red house**\nhouse of red bricks"]);
  assert.deepEqual(await texts("house bricks"), ["the red house\n**house** of red **bricks**\nred only"]);
  assert.deepEqual(await texts('"blue sky"'), ['a **"blue sky"** day\nday with a blue sky']);
  assert.deepEqual(await texts('"blue sky" with'), ['a "blue sky" day\nday **with** a **blue sky**']);
  assert.deepEqual(await texts("green house"), []);
});

test("texts in other encodings are searched, also beside each other [D3][F1]", async (t) => {
  const gbk = Buffer.from([0xb0, 0xb2, 0xd7, 0xb0, 0xc8, 0xed, 0xbc, 0xfe, 0x20, 0x41, 0x0a]);
  const { find } = await searchable(t, {
    "outputs/gbk.txt": Buffer.concat(Array(20).fill(gbk)),
    "outputs/utf16.txt": Buffer.from("\uFEFF安装 A\n", "utf16le"),
    "outputs/utf16-plain.txt": Buffer.from("安装 A\n", "utf16le"),
    "outputs/utf8.txt": "安装 A\n",
    "outputs/mixed.txt": Buffer.concat([Buffer.from("第一行没有问题\n".repeat(20)), gbk, Buffer.from("安装 A\n")]),
  });
  const count = async (query: string, isRegex = false) => {
    const { total, filesSearched, filesSkipped } = await find(query, { isRegex });
    return { total, filesSearched, filesSkipped };
  };
  const all = { filesSearched: 5, filesSkipped: 0 };
  assert.deepEqual(await count("安装"), { total: 24, ...all });
  assert.deepEqual(await count(" a"), { total: 25, ...all });
  assert.deepEqual(await count("安.* A$", true), { total: 24, ...all });
  assert.deepEqual(await count("nowhere"), { total: 0, ...all });
});

test("files that are no text are left out and counted [D3]", async (t) => {
  const { find, folder } = await searchable(t, {
    "outputs/text.txt": "needle\n",
    "outputs/image.png": Buffer.from("\x89PNG\r\n\x1a\nneedle", "latin1"),
    "outputs/nul.bin": Buffer.concat([Buffer.from("needle\n"), Buffer.alloc(100)]),
    "outputs/late-nul.log": `${"needle\n".repeat(2_000)}\0\n`,
    "outputs/.hidden": "needle\n",
  });
  await symlink(join(folder, "outputs/text.txt"), join(folder, "outputs/link.txt"));
  await writeFile(join(folder, "outputs/huge.txt"), "needle\n");
  await truncate(join(folder, "outputs/huge.txt"), 100 * 1024 * 1024 + 1);
  const { hits, ...counts } = await find("needle", { hitsMax: 1 });
  assert.equal(hits.length, 1);
  assert.deepEqual(counts, { total: 2_001, filesSearched: 2, filesSkipped: 3, stopped: "size" });
});

test("hits are bounded, the lines that match are counted on, and endless counting ends [D3]", async (t) => {
  const { find } = await searchable(t, {
    "outputs/a.txt": "x\n".repeat(30),
    "outputs/b.txt": "x\n".repeat(20_000),
  });
  const some = await find("x", { hitsMax: 3, path: "outputs/a.txt" });
  assert.deepEqual(
    some.hits.map(({ line }) => line),
    [1, 2, 3],
  );
  assert.deepEqual([some.total, some.stopped], [30, undefined]);
  const many = await find("x", { hitsMax: 3 });
  assert.deepEqual([many.hits.length, many.total, many.stopped], [3, 10_000, "hits"]);
});

test("a pattern matches within one line, from its beginning to its end [D3]", async (t) => {
  const { find } = await searchable(t, { "outputs/a.txt": "foo\nbar\nfoobar\nFOO 12\nfoo\r\n" });
  const lines = async (query: string) => (await find(query, { isRegex: true })).hits.map(({ line }) => line);
  assert.deepEqual(
    {
      edges: await lines("^foo$"),
      over: await lines("foo\\s+bar"),
      digits: await lines("foo \\d{2}"),
      not: await lines("foo(?!bar)"),
      notBefore: await lines("(?<!\\s)foo(?!\\s)"),
      anything: await lines("^[^b]+$"),
      either: await lines("bar|12"),
      empty: await lines("z*"),
      loose: await lines("\\-|foo{,2}|12"),
    },
    {
      ...{ edges: [1, 5], over: [], digits: [4], not: [1, 4, 5], notBefore: [1, 3, 5], anything: [1, 4, 5] },
      ...{ either: [2, 3, 4], empty: [1, 2, 3, 4, 5], loose: [4] },
    },
  );
});

test("a pattern that cannot be used is refused before anything runs, with the reason [D3]", async (t) => {
  const { search } = await searchable(t, { "outputs/a.txt": "x\n" });
  const invalid = (pattern: string, cause: Omit<FailureParams<"pattern_invalid">, "pattern">) =>
    failure("pattern_invalid", { pattern, ...cause });
  const regex = (query: string) => search(query, { isRegex: true });
  assert.deepEqual(await regex("(a"), invalid("(a", { why: "syntax", said: "Unterminated group" }));
  assert.deepEqual(await regex("a**"), invalid("a**", { why: "syntax", said: "Nothing to repeat" }));
  assert.deepEqual(await search(" "), invalid(" ", { why: "empty" }));
  const long = "a".repeat(1_001);
  assert.deepEqual(await search(long), invalid("a".repeat(1_000), { why: "too_long", max: 1_000 }));
  assert.equal((await search("a".repeat(1_000))).ok, true);
});

/** More of them in `npm run torture`. */
const lostPatterns = process.env.AGENTYARD_LOST_PATTERNS === "all" ? ["(a+)+$", "(a|aa)+$", "(.*a){12}$"] : ["(a+)+$"];

test("a pattern that gets lost is stopped, and the next search works [D3]", async (t) => {
  for (const pattern of lostPatterns) {
    const { find } = await searchable(t, {
      "outputs/1.txt": `found: ${"a".repeat(5)}\n`,
      "outputs/2.txt": `${"a".repeat(60)}!\n`,
      "outputs/3.txt": "aaa\n",
    });
    const { hits, stopped } = await find(pattern, { isRegex: true });
    assert.deepEqual(
      hits.map(({ path }) => path),
      pattern === "(.*a){12}$" ? [] : ["outputs/1.txt"],
    );
    assert.equal(stopped, "time");
    assert.deepEqual(await find("found"), {
      hits: [{ path: "outputs/1.txt", line: 1, text: "**found**: aaaaa" }],
      ...{ total: 1, filesSearched: 3, filesSkipped: 0, stopped: undefined },
    });
  }
});

test("a very long line is searched, and only the place of the match is shown [D3]", async (t) => {
  const { find } = await searchable(t, {
    "outputs/line.json": Buffer.concat([
      Buffer.alloc(20 * 1024 * 1024, "a"),
      Buffer.from("needle"),
      Buffer.alloc(100, "b"),
    ]),
  });
  const text = "...aaa**needle**bbb...";
  const found = { total: 1, filesSearched: 1, filesSkipped: 0, stopped: undefined };
  const hits = [{ path: "outputs/line.json", line: 1, column: 20 * 1024 * 1024 + 1, text }];
  assert.deepEqual(await find("needle", { contextCharacters: 3 }), { hits, ...found });
});

test("lines keep their numbers and neighbours in a file that is taken in pieces [D3]", async (t) => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1} 行 of this file`);
  const { find } = await searchable(t, { "outputs/large.log": lines.join("\r\n") });
  const { hits, total } = await find("of this", { hitsMax: 10_000, contextCharacters: 100 });
  assert.equal(total, 10_000);
  for (const { line, text } of hits) {
    const around = [lines[line - 2], lines[line - 1]?.replace("of this", "**of this**"), lines[line]];
    assert.equal(text, around.filter((shown) => shown !== undefined).join("\n"));
  }
  for (const number of [1, 46_000, 99_999, 100_000]) {
    const found = await find(`line ${number} 行`, { contextCharacters: 1_000 });
    const [hit] = found.hits;
    assert.equal(hit?.line, number);
    assert.deepEqual(
      hit?.text.split("\n"),
      [lines[number - 2], `**line ${number} 行** of this file`, lines[number]].filter((shown) => shown !== undefined),
    );
  }
});

test("a place outside, one that is not there and one that was never written are told apart [D3][W2][W5]", async (t) => {
  const { search } = await searchable(t, { "outputs/a.txt": "x\n" });
  assert.deepEqual(await search("x", { path: "../x" }), failure("path_traversal_blocked", { path: "../x" }));
  const missing = await search("x", { path: "outputs/none.txt" });
  assert.equal(missing.ok ? "" : missing.failure.code, "file_not_found");
  const documents = open(t, systemClock);
  const { workspace } = await testWorkspace(t, { kind: "task" });
  const query = { path: ".", query: "x", isRegex: false, hitsMax: 5, contextCharacters: 10 };
  assert.deepEqual(await documents.search(workspace, { ...query, signal: AbortSignal.abort() }), {
    ok: true,
    value: { hits: [], total: 0, filesSearched: 0, filesSkipped: 0, stopped: undefined },
  });
});

async function searchable(t: TestContext, files: Record<string, string | Buffer>, clock: Clock = systemClock) {
  const { workspace, folder } = await testWorkspace(t);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
    await chmod(join(folder, path), 0o644);
  }
  const documents = open(t, clock);
  const search = (query: string, options: Partial<SearchQuery> = {}) =>
    documents.search(workspace, {
      ...{ path: ".", query, isRegex: false, hitsMax: 100, contextCharacters: 50 },
      signal: new AbortController().signal,
      ...options,
    });
  const find = async (query: string, options: Partial<SearchQuery> = {}): Promise<TextResult> => {
    const found = await search(query, options);
    assert.ok(found.ok, JSON.stringify(found));
    return found.value;
  };
  return { search, find, folder };
}

function open(t: TestContext, clock: Clock): TextSearch {
  const documents = openTextSearch({ clock, logger: quietLogger([]) });
  t.after(() => documents.close());
  return documents;
}
