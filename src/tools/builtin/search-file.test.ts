import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { testDocuments } from "../../../test/world/documents.ts";
import { paragraph, pdf, printed } from "../../../test/world/pdf-files.ts";
import { fileTools } from "../../../test/world/tools.ts";
import { ok } from "../../base/result.ts";
import type { SearchQuery, SearchResult } from "../../documents/documents.ts";
import { boundOutput } from "../output.ts";

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
  result = {
    ...{ hits: [], total: 0, filesSearched: 0, filesSkipped: 0, stopped: undefined, ...none },
    unsearched: Array.from({ length: 11 }, (_, at) => ({
      ...({ path: `uploads/${at}.pdf`, state: at === 0 ? "reading" : "waiting", failure: undefined } as const),
      ...(at === 0 ? { done: 3, of: 9 } : { done: 0, of: 0 }),
    })),
  };
  assert.match(
    await search({ query: "x" }),
    /\n\(not searched yet, still being indexed: uploads\/0\.pdf \(3 of 9\), uploads\/1\.pdf, .*, and 1 more; search again in a moment\)$/,
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
    { hitsMax: 5, contextCharacters: 100, path: ".", isRegex: false },
    { hitsMax: 20, contextCharacters: 875, path: ".", isRegex: false },
  ]);
});

test("the first place that is found is always shown, however little room there is [F2][D3]", async (t) => {
  const tools = await fileTools(t);
  writeFileSync(join(tools.folder, "uploads/a.txt"), `${"汉".repeat(3_000)}${"价".repeat(3_000)}\n价\n`);
  for (const outputBytesMax of [2_000, 8_000]) {
    const input = { query: "价", context_chars: 1_000 };
    const { text } = await tools.call("search_file", input, { documents, outputBytesMax });
    assert.match(text, /^\d+ matching lines in 1 searched files; shown: 1\n\nuploads\/a\.txt:1.*\n.*\*\*价\*\*/);
    assert.match(text, /\n\n\(\d found but not shown here, for want of room: use a smaller context_chars\)$/);
    assert.equal(boundOutput(text, outputBytesMax).isCut, false);
  }
});

test("in a very long line the column is told from which read_file can go on [F2][D3]", async (t) => {
  const tools = await fileTools(t);
  const hit = { path: "uploads/a.json", line: 1, column: 50_001, text: "...**x**..." };
  const result: SearchResult = {
    hits: [hit],
    total: 1,
    filesSearched: 1,
    filesSkipped: 0,
    stopped: undefined,
    ...none,
  };
  const played = { ...unasked, search: async () => ok(result) };
  const { text } = await tools.call("search_file", { query: "x" }, { documents: played });
  assert.equal(text, "1 matching lines in 1 searched files; shown: 1\n\nuploads/a.json:1 column 50001\n...**x**...");
});
