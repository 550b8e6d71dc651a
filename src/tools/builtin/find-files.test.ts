import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { testDocuments } from "../../../test/world/documents.ts";
import { paragraph, pdf, printed } from "../../../test/world/pdf-files.ts";
import { type FileTools, fileTools } from "../../../test/world/tools.ts";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import type { SearchQuery, SearchResult } from "../../documents/documents.ts";

const now = Date.UTC(2026, 10, 15, 12);
const clock = { ...systemClock, now: () => now };
const minuteMs = 60_000;

test("files are found by name in all folders, newest first, with size and age [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/old.csv", 3 * 24 * 60 * minuteMs, 12);
  put(tools, "outputs/2026/new.csv", 2 * minuteMs, 2_048);
  put(tools, "temp/now.csv", 0, 20 * 1024 * 1024);
  put(tools, "temp/a.csv", 60 * minuteMs, 1);
  put(tools, "temp/other.txt", 0, 1);
  put(tools, "temp/.hidden.csv", 0, 1);
  assert.deepEqual(await find(tools, { pattern: "*.csv" }), [
    "temp/now.csv (20 MB, just now)",
    "outputs/2026/new.csv (2.0 KB, 2 minutes ago)",
    "temp/a.csv (1 bytes, 1 hour ago)",
    "uploads/old.csv (12 bytes, 3 days ago)",
  ]);
  assert.deepEqual(await find(tools, { pattern: ".*" }), ["temp/.hidden.csv (1 bytes, just now)"]);
});

test("a folder can be named as the place, in the pattern or in both [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/a.md", 0, 1);
  put(tools, "uploads/x/b.md", minuteMs, 1);
  put(tools, "outputs/c.md", 0, 1);
  const found = ["uploads/a.md (1 bytes, just now)", "uploads/x/b.md (1 bytes, 1 minute ago)"];
  for (const input of [
    { pattern: "*.md", path: "uploads" },
    { glob: "uploads/**/*.md" },
    { pattern: "./uploads/**/*.md", directory: "./uploads/" },
    { pattern: "**/*.md", path: "uploads" },
  ])
    assert.deepEqual(await find(tools, input), found);
  assert.deepEqual(await find(tools, { pattern: "./*.md", path: "uploads" }), found.slice(0, 1));
});

test("of many files 100 are shown, fewer for a small window, and the rest is counted [F2]", async (t) => {
  const tools = await fileTools(t);
  for (let index = 0; index < 103; index += 1) put(tools, `temp/${"long-name-".repeat(8)}${index}.txt`, 0, 1);
  const lines = await find(tools, { pattern: "*" });
  assert.deepEqual([lines.length, lines.at(-1)], [101, "[3 more: narrower pattern]"]);
  const { text } = await tools.call("find_files", { pattern: "*" }, { clock, outputBytesMax: 8_000 });
  assert.ok(Buffer.byteLength(text) <= 8_000);
  assert.match(text, /\n\[\d+ more: narrower pattern\]$/);
});

test("a pattern that finds nothing gets the names that were probably meant, or the right case [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/Report.md", 0, 1);
  assert.deepEqual(await find(tools, { pattern: "report*" }), [
    'No file matches "report*" in the workspace. Case counts; with another case: uploads/Report.md. list_files shows what is in a folder.',
  ]);
  assert.deepEqual(await find(tools, { pattern: "Reprt.md", path: "uploads" }), [
    'No file matches "Reprt.md" in uploads. The nearest names: uploads/Report.md. list_files shows what is in a folder.',
  ]);
  assert.deepEqual(await find(tools, { pattern: "*.xlsx" }), [
    'No file matches "*.xlsx" in the workspace. list_files shows what is in a folder.',
  ]);
  const task = await fileTools(t, { kind: "task" });
  assert.match((await find(task, { pattern: "*" }))[0] ?? "", /^No file matches/);
});

test("patterns that lead out, and broken ones, are refused [F2][W5]", async (t) => {
  const tools = await fileTools(t);
  for (const pattern of ["../*", "uploads/../../x", "/etc/*", "~/x", "{..,a}/b"])
    assert.match((await find(tools, { pattern }))[0] ?? "", /^Error: path_traversal_blocked: /, pattern);
  assert.match((await find(tools, { pattern: "" }))[0] ?? "", /^Error: pattern_invalid: .*it names nothing/);
  assert.match((await find(tools, { pattern: "*", path: "../x" }))[0] ?? "", /^Error: path_traversal_blocked: /);
  assert.match((await find(tools, { pattern: "*", path: "nowhere" }))[0] ?? "", /^Error: file_not_found: /);
});

async function find(tools: FileTools, input: object): Promise<string[]> {
  return (await tools.call("find_files", input, { clock })).text.split("\n");
}

function put({ folder }: FileTools, path: string, ageMs: number, bytes: number): void {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, Buffer.alloc(bytes));
  const at = (now - ageMs) / 1_000;
  utimesSync(place, at, at);
}

test("a folder is listed in the agreed lines: sorted, from the root, hidden files left out [F2]", async (t) => {
  const tools = await fileTools(t);
  mkdirSync(join(tools.folder, "uploads/2026"));
  for (const [name, bytes] of [
    ["b.csv", 12],
    ["a 1.txt", 0],
    [".hidden", 1],
    ["报告（终）.md", 3],
  ] as const)
    writeFileSync(join(tools.folder, "uploads", name), "x".repeat(bytes));
  assert.equal(
    (await tools.call("list_files", {})).text,
    "[DIR]  outputs/\n[DIR]  skills/\n[DIR]  temp/\n[DIR]  uploads/",
  );
  const expected =
    "[DIR]  uploads/2026/\n[FILE] uploads/a 1.txt (0 bytes)\n[FILE] uploads/b.csv (12 bytes)\n[FILE] uploads/报告（终）.md (3 bytes)";
  for (const [tool, input] of [
    ["list_files", { path: "uploads" }],
    ["list_files", { directory: "./uploads/" }],
    ["list_workspace_files", { dir: "uploads" }],
  ] as const)
    assert.equal((await tools.call(tool, input)).text, expected);
});

test("a name that could pass for something else is in quotes, with its odd characters written out [S5][F2]", async (t) => {
  const tools = await fileTools(t);
  const names = [
    "a\n[FILE] b (1 bytes)",
    'say "hi".txt',
    "\u202egnp.exe",
    "<b>",
    " x",
    "a\u00a0b",
    "it's fine, 100%.txt",
  ];
  for (const name of names) writeFileSync(join(tools.folder, "uploads", name), "");
  const lines = (await tools.call("list_files", { path: "uploads" })).text.split("\n");
  assert.deepEqual(
    lines.toSorted(),
    [
      '[FILE] "uploads/ x" (0 bytes)',
      '[FILE] "uploads/\\u003cb\\u003e" (0 bytes)',
      '[FILE] "uploads/a\\n[FILE] b (1 bytes)" (0 bytes)',
      '[FILE] "uploads/a\\u00a0b" (0 bytes)',
      '[FILE] "uploads/say \\"hi\\".txt" (0 bytes)',
      '[FILE] "uploads/\\u202egnp.exe" (0 bytes)',
      "[FILE] uploads/it's fine, 100%.txt (0 bytes)",
    ].toSorted(),
  );
});

test("what is neither file nor folder is named as such [F2][W5]", async (t) => {
  const tools = await fileTools(t);
  symlinkSync("/etc", join(tools.folder, "temp/way-out"));
  const { text } = await tools.call("list_files", { path: "temp" });
  assert.equal(text, "[OTHER] temp/way-out (a link or device, cannot be used)");
});

test("of many entries 500 are listed, fewer for a small window, and the rest is counted [F2]", async (t) => {
  const tools = await fileTools(t);
  for (let index = 0; index < 503; index += 1)
    writeFileSync(join(tools.folder, "temp", `part-${String(index).padStart(3, "0")}.txt`), "");
  const lines = (await tools.call("list_files", { path: "temp" })).text.split("\n");
  assert.equal(lines.length, 501);
  assert.equal(lines.at(-2), "[FILE] temp/part-499.txt (0 bytes)");
  assert.equal(lines.at(-1), '[3 more: find_files {"pattern": "*.csv", "path": "temp"} finds some of them by name]');
  const { text } = await tools.call("list_files", { path: "temp" }, { outputBytesMax: 8_000 });
  const shown = text.split("\n");
  assert.ok(Buffer.byteLength(text) <= 8_000);
  assert.match(shown.at(-1) ?? "", new RegExp(`^\\[${503 - (shown.length - 1)} more: `));
});

test("a file is not listed but read, and there is no way out [F2][W5][W7]", async (t) => {
  const tools = await fileTools(t);
  writeFileSync(join(tools.folder, "uploads/a.txt"), "");
  const text = async (path: string) => (await tools.call("list_files", { path })).text;
  assert.match(await text("uploads/a.txt"), /^Error: not_a_folder: .* Call read_file with this path\.$/);
  assert.match(await text("uploads/.."), /^Error: path_traversal_blocked: /);
  assert.match(await text("uplaods"), /^Error: file_not_found: /);
});

const documents = testDocuments();
after(() => documents.close());
const unasked = { ...documents, close: async () => {} };
const none = { unsearched: [], missing: [], repaired: [] };

test("words are found in all files, with their line, the lines around and how many there are [F2][D3]", async (t) => {
  const tools = await fileTools(t);
  writeFileSync(join(tools.folder, "uploads/a.txt"), "one\nThe Price is 4.1\nthree\n");
  writeFileSync(join(tools.folder, "outputs/价格.md"), "价格：十元\n");
  const search = async (input: object) => (await tools.call("search_file", input, { documents })).text;
  assert.equal(
    await search({ query: "price" }),
    "1 matching lines in 2 searched files; shown: 1\n\nuploads/a.txt:2\none\nThe **Price** is 4.1\nthree",
  );
  assert.match(await search({ query: "价格", path: "outputs" }), /\n\noutputs\/价格\.md:1\n\*\*价格\*\*：十元$/);
  assert.match(await search({ pattern: "p.ice", regex: "true", file_path: "uploads/a.txt" }), /The \*\*Price\*\* is/);
  assert.equal(
    await search({ query: "nowhere" }),
    'No line matches "nowhere" in 2 searched files. Try fewer or other words; list_files shows which files are there.',
  );
  assert.match(await search({ query: "(", use_regex: true }), /^Error: pattern_invalid: .*Call find_files with/);
  assert.match(await search({ query: "x", path: "../x" }), /^Error: path_traversal_blocked: /);
  assert.match(await search({ query: "x", path: "uploads/b.txt" }), /^Error: file_not_found: .*uploads\/a\.txt/);
});

test("documents are found with page, sheet and heading, and what was not searched is told with the reason [D3]", async (t) => {
  const tools = await fileTools(t);
  const page = (title: string, text: string) => ({
    content: printed([{ text: title, at: [72, 780], font: "F2", size: 20 }, ...paragraph(700, [text])]),
  });
  const pages = [
    page("1 Setting up", "Place it on a table."),
    page("2 Maintenance", "Replace the filter every 90 days."),
  ];
  writeFileSync(join(tools.folder, "uploads/manual.pdf"), pdf(pages));
  // Its name says nothing.
  writeFileSync(join(tools.folder, "outputs/copy"), pdf(pages.slice(1)));
  const search = async (input: object) => (await tools.call("search_file", input, { documents })).text;
  assert.equal(
    await search({ query: "filter", path: "uploads" }),
    "1 matching places in 1 searched files; shown: 1\n\nuploads/manual.pdf page 2 › 2 Maintenance\n2 Maintenance\nReplace the **filter** every 90 days.",
  );
  assert.match(
    await search({ query: "filter" }),
    /^2 matching places in 2 .*\noutputs\/copy page 1 › 2 Maintenance\n/s,
  );
  assert.match(
    await search({ query: "9\\d days", use_regex: true, path: "uploads/manual.pdf" }),
    /every \*\*90 days\*\*/,
  );
  assert.match(
    await search({ query: "filtre", path: "uploads" }),
    /\(no document has "filtre": "filter" was looked for\)$/,
  );
  assert.match(
    await search({ query: "(a+)+(b+)+x", use_regex: true }),
    /^No line matches "\(a\+\)\+\(b\+\)\+x" in 2 searched files\./,
  );
  writeFileSync(join(tools.folder, "uploads/torn.pdf"), pdf(pages).subarray(0, 60));
  assert.match(
    await search({ query: "filter", path: "uploads" }),
    /\n\n\(could not be searched: uploads\/torn\.pdf: Error: document_damaged: .*\)$/,
  );
});

test("a search shows as many lines as it may; only where documents have the words, too, do they share the room [F2][D3]", async (t) => {
  const tools = await fileTools(t);
  const shownFor = async () => {
    const { text } = await tools.call("search_file", { query: "filter" }, { documents });
    return [text.split("\n")[0], [...text.matchAll(/^uploads\/(\S+?)[: ]/gm)].map(([, name]) => name)];
  };
  const lines = Array.from({ length: 5 }, (_, line) => `filter ${line}`);
  writeFileSync(join(tools.folder, "uploads/a.txt"), lines.join("\n"));
  const a = "a.txt";
  assert.deepEqual(await shownFor(), ["5 matching lines in 1 searched files; shown: 5", [a, a, a, a, a]]);
  const pages = (count: number) =>
    pdf(
      Array.from({ length: count }, (_, page) => ({
        content: printed([
          { text: `${page + 1} Chapter`, at: [72, 780], font: "F2", size: 20 },
          ...paragraph(700, [`The filter of page ${page + 1}.`]),
        ]),
      })),
    );
  const b = "b.pdf";
  writeFileSync(join(tools.folder, "uploads/b.pdf"), pages(1));
  assert.deepEqual(await shownFor(), ["6 matching places in 2 searched files; shown: 5", [a, a, a, a, b]]);
  writeFileSync(join(tools.folder, "uploads/b.pdf"), pages(5));
  assert.deepEqual(await shownFor(), ["10 matching places in 2 searched files; shown: 5", [a, a, b, b, b]]);
});

test("results are asked for within limits, and unusual endings of a search are told [F2][D3]", async (t) => {
  const tools = await fileTools(t);
  const asked: Partial<SearchQuery>[] = [];
  let result: SearchResult = { hits: [], total: 0, filesSearched: 3, filesSkipped: 2, stopped: "time", ...none };
  const played = {
    ...unasked,
    async search(_: unknown, { hitsMax, contextCharacters, path, isRegex }: SearchQuery) {
      asked.push({ hitsMax, contextCharacters, path, isRegex });
      return ok(result);
    },
  };
  const search = async (input: object, outputBytesMax = 100_000) =>
    (await tools.call("search_file", input, { documents: played, outputBytesMax })).text;
  assert.equal(
    await search({ query: "x".repeat(300) }),
    `No line matches "${"x".repeat(200)}..." in 3 searched files. Try fewer or other words; list_files shows which files are there.\n(2 files were skipped: not text, or not readable)\n(the search was stopped because it took too long: name a file or a folder in path)`,
  );
  const hit = { path: "uploads/a.txt", line: 7, text: `**x** ${"汉字".repeat(200)}` };
  result = {
    hits: Array.from({ length: 20 }, () => hit),
    total: 25,
    filesSearched: 1,
    filesSkipped: 0,
    stopped: "hits",
    ...none,
  };
  const text = await search({ query: "x", max_results: 99, context_chars: 5_000 }, 8_000);
  assert.match(text, /^25 or more matching lines in 1 searched files; shown: 4\n\nuploads\/a\.txt:7\n\*\*x\*\* /);
  assert.match(
    text,
    /\n\n\(16 found but not shown here, for want of room: use a smaller context_chars\)\n\n\(the search was stopped because there are very many matches: use a longer query\)$/,
  );
  assert.deepEqual(asked, [
    { hitsMax: 5, contextCharacters: 100, path: ".", isRegex: false },
    { hitsMax: 20, contextCharacters: 875, path: ".", isRegex: false },
  ]);
});

test("the workspace is counted as it is, also after changes from outside [W8]", async (t) => {
  const tools = await fileTools(t, { kind: "task" });
  const { text: before } = await tools.call("get_workspace_info", {});
  assert.equal(before, '{"fileCount":0,"dirCount":0,"totalSize":0,"lastModified":null}');
  await tools.call("write_file", { path: "notes/a.md", content: "12345" });
  writeFileSync(join(tools.folder, "b.md"), "123");
  const at = Date.UTC(2030, 0, 1) / 1_000;
  utimesSync(join(tools.folder, "b.md"), at, at);
  const { text: after } = await tools.call("get_workspace_info", {});
  assert.equal(after, '{"fileCount":2,"dirCount":1,"totalSize":8,"lastModified":"2030-01-01T00:00:00.000Z"}');
});
