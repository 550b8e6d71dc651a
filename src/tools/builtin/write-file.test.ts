import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type FileTools, fileTools } from "../../../test/world/tools.ts";

test("a new file is written with its folders, and the ledger says who did it [F2][W11][W12]", async (t) => {
  const tools = await fileTools(t);
  const call = { call: "call-9", agent: "agent-2" };
  assert.deepEqual(await tools.call("write_file", { path: "./outputs/a/b.md", content: "第一\ntwo\n" }, call), {
    text: "Success: File written to outputs/a/b.md (11 bytes, 2 lines), new",
    events: [
      {
        type: "file.changed",
        agent: "agent-2",
        path: "outputs/a/b.md",
        call: "call-9",
        by: "tool",
        after: { hash: hashOf("第一\ntwo\n"), bytes: 11, mode: 0o644 },
      },
    ],
    images: 0,
  });
  assert.equal(content(tools, "outputs/a/b.md"), "第一\ntwo\n");
});

test("what an agent wrote it knows, and may write again [F2]", async (t) => {
  const tools = await fileTools(t);
  await tools.call("write_file", { path: "outputs/a.md", content: "one" });
  const { text, events } = await tools.call("write_file", { file_path: "outputs/a.md", contents: "two" });
  assert.equal(text, "Success: File written to outputs/a.md (3 bytes, 1 lines), replaced");
  assert.deepEqual(events, [
    {
      type: "file.changed",
      path: "outputs/a.md",
      call: "call-1",
      by: "tool",
      before: { hash: hashOf("one"), bytes: 3, mode: 0o644 },
      after: { hash: hashOf("two"), bytes: 3, mode: 0o644 },
    },
  ]);
});

test("a file that the agent has not seen is shown instead of replaced, and the next call succeeds [F2][W7]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "uploads/a.md", "the user's\nown words\n");
  const refused = await tools.call("write_file", { path: "uploads/a.md", content: "mine" });
  assert.deepEqual(refused, {
    text: "Error: conflict: uploads/a.md has content that you have not seen, or it has changed since, so nothing was written. This is what it has now. Call write_file again if all of it is to be replaced, or edit_file to change a part.\n=== uploads/a.md (lines 1–2 of 2, 21 bytes, utf-8) ===\nthe user's\nown words",
    events: [{ type: "file.known", path: "uploads/a.md", hash: hashOf("the user's\nown words\n") }],
    images: 0,
  });
  assert.equal(content(tools, "uploads/a.md"), "the user's\nown words\n");
  const { text } = await tools.call("write_file", { path: "uploads/a.md", content: "mine" });
  assert.equal(text, "Success: File written to uploads/a.md (4 bytes, 1 lines), replaced");
});

test("a file that somebody changed since is not replaced either, and one that is no text is only named [F2]", async (t) => {
  const tools = await fileTools(t);
  await tools.call("write_file", { path: "outputs/a.md", content: "mine" });
  put(tools, "outputs/a.md", Buffer.from("\x7fELF\x02\x01\x01\0\0\0\0", "latin1"));
  const { text } = await tools.call("write_file", { path: "outputs/a.md", content: "mine again" });
  assert.match(text, /^Error: conflict: .*\n=== outputs\/a\.md \(elf: its content cannot be shown, 11 bytes\) ===$/);
  assert.match((await tools.call("write_file", { path: "outputs/a.md", content: "x" })).text, /^Success: /);
});

test("a file that was seen only in part is not replaced, however often it is tried [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/a.txt", "line\n".repeat(1_000));
  const write = async (bytes: number) =>
    tools.call("write_file", { path: "outputs/a.txt", content: "x" }, { outputBytesMax: bytes });
  await tools.call("read_file", { path: "outputs/a.txt", offset: 2 });
  for (const _ of [1, 2]) {
    const { text, events } = await write(3_000);
    assert.match(
      text,
      /^Error: conflict: .* nothing was written\. It is too long to be shown whole, and write_file replaces only what you have seen whole: call edit_file to change a part, or write_file with another path\. It begins like this:\n=== outputs\/a\.txt \(lines 1–/,
    );
    assert.deepEqual(events, [
      { type: "file.known", path: "outputs/a.txt", hash: hashOf("line\n".repeat(1_000)), part: true },
    ]);
  }
  assert.equal(content(tools, "outputs/a.txt").length, 5_000);
  const edit = { path: "outputs/a.txt", old_string: "line", new_string: "LINE", replace_all: true };
  assert.match((await tools.call("edit_file", edit)).text, /^Success: 1000 replacements/);
  assert.match(
    (await write(8_000)).text,
    /^Error: conflict: .*This is what it has now/,
    "an edit does not show the rest",
  );
  assert.match((await write(8_000)).text, /^Success: /);
});

test("a file that was read whole and then in part may be replaced [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/a.txt", "one\ntwo\n");
  await tools.call("read_file", { path: "outputs/a.txt" });
  await tools.call("read_file", { path: "outputs/a.txt", limit: 1 });
  const { text } = await tools.call("write_file", { path: "outputs/a.txt", content: "x" });
  assert.match(text, /^Success: /);
});

test("the shown content of a large file leaves room for the sentence before it [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/a.txt", "汉字\n".repeat(10_000));
  const { text } = await tools.call("write_file", { path: "outputs/a.txt", content: "x" }, { outputBytesMax: 8_000 });
  assert.ok(Buffer.byteLength(text) <= 8_000);
  assert.match(text, /\n\[more: read_file outputs\/a\.txt offset=\d+\]$/);
});

test("writing what is there already changes nothing and says so, also when it was not seen [F2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/a.md", "same\n");
  const expected = {
    text: "Success: File written to outputs/a.md (5 bytes, 1 lines), unchanged: it had this content already",
    events: [{ type: "file.known", path: "outputs/a.md", hash: hashOf("same\n") }],
    images: 0,
  };
  assert.deepEqual(await tools.call("write_file", { path: "outputs/a.md", content: "same\n" }), expected);
  assert.deepEqual(await tools.call("write_file", { path: "outputs/a.md", content: "same\n" }), expected);
});

test("a file that was removed meanwhile is written anew [F2]", async (t) => {
  const tools = await fileTools(t);
  await tools.call("write_file", { path: "outputs/a.md", content: "one" });
  rmSync(join(tools.folder, "outputs/a.md"));
  const { text } = await tools.call("write_file", { path: "outputs/a.md", content: "two" });
  assert.equal(text, "Success: File written to outputs/a.md (3 bytes, 1 lines), new");
});

test("the same call after a crash finds what it did and reports the same [F2][L2]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/a.md", "before");
  await tools.call("read_file", { path: "outputs/a.md" });
  const input = { path: "outputs/a.md", content: "after" };
  const attempt = { key: "same", knownHash: () => hashOf("before") };
  const first = await tools.call("write_file", input, attempt);
  assert.match(first.text, /, replaced$/);
  assert.deepEqual(await tools.call("write_file", input, attempt), first);
});

test("what cannot be taken back is said [F2][W12]", async (t) => {
  const tools = await fileTools(t, { limits: { keptFileBytesMax: 100 } });
  put(tools, "outputs/a.txt", "x".repeat(101));
  await tools.call("read_file", { path: "outputs/a.txt" });
  const { text, events } = await tools.call("write_file", { path: "outputs/a.txt", content: "short" });
  assert.match(text, /, replaced\n\(undo cannot bring back what was there before: it was too large to be kept\)$/);
  assert.deepEqual(
    events.map((event) => event.type === "file.changed" && event.lost),
    ["too_large"],
  );
});

const refused: readonly [path: string, error: RegExp][] = [
  [
    "notes.md",
    /^Error: permission_denied: Cannot write to \.\/\. Only outputs, temp, uploads are writable\. Call write_file/,
  ],
  ["skills/pdf/SKILL.md", /^Error: permission_denied: Cannot write to skills\/\. /],
  ["../a.md", /^Error: path_traversal_blocked: /],
  ["outputs/a\nb", /^Error: path_invalid: /],
  ["outputs", /^Error: not_a_file: /],
];

test("elsewhere nothing is written, and the refusal names a place for it [W5][W6]", async (t) => {
  const tools = await fileTools(t);
  for (const [path, error] of refused)
    assert.match((await tools.call("write_file", { path, content: "x" })).text, error, path);
  const task = await fileTools(t, { kind: "task" });
  const { text, events } = await task.call("write_file", { path: "notes.md", content: "x" });
  assert.equal(text, "Success: File written to notes.md (1 bytes, 1 lines), new");
  assert.deepEqual(
    events.map((event) => event.type === "file.changed" && event.workspace),
    ["w1"],
  );
});

test("a call whose content is missing says so; an empty file can be written [F2]", async (t) => {
  const tools = await fileTools(t);
  assert.match(
    (await tools.call("write_file", { path: "outputs/a" })).text,
    /^Error: tool_arguments_unfit: .*content is missing/,
  );
  const { text } = await tools.call("write_file", { path: "outputs/a", content: "" });
  assert.equal(text, "Success: File written to outputs/a (0 bytes, 0 lines), new");
});

function put({ folder }: FileTools, path: string, bytes: string | Buffer): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), bytes);
}

function content({ folder }: FileTools, path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
