import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileTools } from "../../../test/world/tools.ts";
import { quietLogger } from "../../../test/world/workspace.ts";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import { openDocuments, type SearchQuery, type SearchResult } from "../../documents/documents.ts";
import { boundOutput } from "../output.ts";

const documents = openDocuments({ clock: systemClock, logger: quietLogger([]) });
after(() => documents.close());

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

test("results are asked for within limits, and unusual endings of a search are told [F2][D3]", async (t) => {
  const tools = await fileTools(t);
  const asked: Partial<SearchQuery>[] = [];
  let result: SearchResult = { hits: [], total: 0, filesSearched: 3, filesSkipped: 2, stopped: "time" };
  const played = {
    async search(_: unknown, { hitsMax, contextCharacters, path, isRegex }: SearchQuery) {
      asked.push({ hitsMax, contextCharacters, path, isRegex });
      return ok(result);
    },
    extract: documents.extract,
    close: async () => {},
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
  const result: SearchResult = { hits: [hit], total: 1, filesSearched: 1, filesSkipped: 0, stopped: undefined };
  const played = { search: async () => ok(result), extract: documents.extract, close: async () => {} };
  const { text } = await tools.call("search_file", { query: "x" }, { documents: played });
  assert.equal(text, "1 matching lines in 1 searched files; shown: 1\n\nuploads/a.json:1 column 50001\n...**x**...");
});
