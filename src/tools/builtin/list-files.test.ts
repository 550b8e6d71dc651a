import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileTools } from "../../../test/world/tools.ts";

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

test("a skill that we placed is listed as a skill [F2]", async (t) => {
  const tools = await fileTools(t);
  const entry = { name: "pdf", type: "skill", bytes: 0, modifiedAt: 0 } as const;
  const list = async () => ({ ok: true, value: { path: "skills", entries: [entry], isUnwritten: false } }) as const;
  const workspace = { ...tools.workspace, list };
  assert.equal((await tools.call("list_files", { path: "skills" }, { workspace })).text, "[SKILL] skills/pdf/");
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

test("an empty folder says so, and so does a task workspace in which nothing was written [F2][W2]", async (t) => {
  const tools = await fileTools(t);
  assert.equal((await tools.call("list_files", { path: "temp" })).text, "(no files in temp)");
  const task = await fileTools(t, { kind: "task" });
  const { text } = await task.call("list_files", {});
  assert.equal(text, "(no files: nothing was written to this workspace yet)");
});

test("a file is not listed but read, and there is no way out [F2][W5][W7]", async (t) => {
  const tools = await fileTools(t);
  writeFileSync(join(tools.folder, "uploads/a.txt"), "");
  const text = async (path: string) => (await tools.call("list_files", { path })).text;
  assert.match(await text("uploads/a.txt"), /^Error: not_a_folder: .* Call read_file with this path\.$/);
  assert.match(await text("uploads/.."), /^Error: path_traversal_blocked: /);
  assert.match(await text("uplaods"), /^Error: file_not_found: /);
});
