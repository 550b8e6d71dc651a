import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { docx } from "../world/packed-files.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { type Home, makeHome } from "../world/program.ts";

// `agentyard search` as scripts use it.

function withFiles(home: Home): void {
  const pages = [
    ["1 Setting up", "Place it on a table."],
    ["2 Maintenance", "Replace the filter every 90 days."],
  ].map(([title = "", text = ""]) => ({
    content: printed([{ text: title, at: [72, 780], font: "F2", size: 20 }, ...paragraph(700, [text])]),
  }));
  const files = {
    "manual.pdf": pdf(pages),
    "说明.docx": docx("<w:p><w:r><w:t>滤芯每九十天更换一次。</w:t></w:r></w:p>"),
    "torn.pdf": pdf(pages).subarray(0, 60),
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(home.folder, name), bytes);
  mkdirSync(join(home.folder, "folder"));
  spawnSync("mkfifo", [join(home.folder, "pipe")]);
}

test("a pattern between slashes is searched as one [P2][D3]", async (t) => {
  const home = makeHome(t);
  withFiles(home);
  const { code, output } = await home.start(
    "search",
    "--json",
    "/every \\d+ d[a-z]ys|每九十天/",
    "manual.pdf",
    "说明.docx",
  ).ended;
  const { results } = JSON.parse(output);
  assert.deepEqual(
    [code, results.map(({ path, page_from }: { path: string; page_from: number }) => `${path} ${page_from}`).sort()],
    [0, ["manual.pdf 2", "说明.docx null"]],
  );
});

test("one object has the passages with their pages, and what became of every path [P2][D3]", async (t) => {
  const home = makeHome(t);
  withFiles(home);
  const paths = ["manual.pdf", "说明.docx", "torn.pdf", "folder", "pipe", "nowhere.pdf", "manual.pdf"];
  const { code, output, errors } = await home.start("search", "--json", "--limit", "2", "filter", ...paths).ended;
  assert.deepEqual([code, errors], [0, ""]);
  const { results, files } = JSON.parse(output);
  assert.deepEqual(
    results.map(({ score, ...rest }: { score: number }) => ({ ...rest, isScored: score > 0 })),
    [
      {
        ...{ path: "manual.pdf", page_from: 2, page_to: 2, heading: "2 Maintenance", isScored: true },
        text: "2 Maintenance\nReplace the filter every 90 days.",
      },
    ],
  );
  const became = files.map(({ path, status, error }: { path: string; status: string; error?: { code: string } }) =>
    [path, status, error?.code].filter((part) => part !== undefined),
  );
  assert.deepEqual(became, [
    ["manual.pdf", "ok"],
    ["说明.docx", "ok"],
    ["torn.pdf", "failed", "document_damaged"],
    ["folder", "failed", "not_a_file"],
    ["pipe", "failed", "not_a_file"],
    ["nowhere.pdf", "failed", "file_not_found"],
  ]);
  assert.deepEqual(files[0].receipt.parts, { kind: "page", count: 2 });
  assert.ok(!existsSync(join(home.folder, "data")), "it needs no data directory");
  const left = readdirSync(home.folder).filter((name) => name.startsWith("agentyard-"));
  assert.deepEqual(left, [], "and leaves nothing behind");
});

test("a file of queries is answered line by line; people read pages and headings in their language [P2][P4]", async (t) => {
  const home = makeHome(t);
  withFiles(home);
  writeFileSync(
    join(home.folder, "q.jsonl"),
    '{"id":1,"query":"filter"}\n\n{"id":"二","query":"多久更换滤芯"}\n{"id":3,"query":"?"}\n',
  );
  writeFileSync(join(home.folder, "bad.jsonl"), '{"id":1,"query":"filter"}\n{"id":2}\n');
  const [many, bad, person] = await Promise.all(
    [
      ["--queries", "q.jsonl", "manual.pdf", "说明.docx", "torn.pdf"],
      ["--queries", "bad.jsonl", "manual.pdf"],
      ["filter", "manual.pdf", "--lang", "zh"],
    ].map((words) => home.start("search", ...words).ended),
  );
  const lines = (many?.output ?? "")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ id, results }) => [id, results[0]?.path]),
    [
      [1, "manual.pdf"],
      ["二", "说明.docx"],
      [3, undefined],
    ],
  );
  assert.match(many?.errors ?? "", /^✗ torn\.pdf: /);
  assert.equal(bad?.code, 2);
  assert.match(bad?.errors ?? "", /bad\.jsonl: line 2 is no object such as/);
  assert.equal(
    person?.output,
    "manual.pdf · 第 2 页 · 2 Maintenance\n  2 Maintenance\n  Replace the filter every 90 days.\n",
  );
});
