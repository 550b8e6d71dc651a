import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type FileTools, fileTools } from "../../../test/world/tools.ts";
import { systemClock } from "../../base/clock.ts";

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

test("files that lie deeper than a path leads are counted, whether something else was found or not [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/a.csv", 0, 1);
  const deep = `outputs/${"d/".repeat(70)}`;
  for (const name of ["x.csv", "y.md"]) put(tools, `${deep}${name}`, 0, 1);
  const said = "(not looked at: 2 files lie in more folders than a path can name; only programs reach them)";
  assert.deepEqual(await find(tools, { pattern: "*.csv" }), ["uploads/a.csv (1 bytes, just now)", said]);
  assert.equal((await find(tools, { pattern: "*.md" })).at(-1), said);
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
