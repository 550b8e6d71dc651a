import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type FileTools, fileTools } from "../../../test/world/tools.ts";
import { boundOutput } from "../output.ts";

const poem = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n");

test("an edit changes one place and shows the changed lines with three around them [F2][W12]", async (t) => {
  const tools = await opened(t, "outputs/a.md", poem);
  const input = { path: "outputs/a.md", old_string: "line 6\n", new_string: "line six\nand a half\n" };
  const after = poem.replace("line 6\n", "line six\nand a half\n");
  assert.deepEqual(await tools.call("edit_file", input), {
    text: [
      "Success: 1 replacement in outputs/a.md. The changed lines now:",
      "=== outputs/a.md (lines 3–10 of 13) ===",
      ...["line 3", "line 4", "line 5", "line six", "and a half", "line 7", "line 8", "line 9"],
    ].join("\n"),
    events: [
      {
        type: "file.changed",
        path: "outputs/a.md",
        call: "call-1",
        by: "tool",
        before: { hash: hashOf(poem), bytes: poem.length, mode: 0o644 },
        after: { hash: hashOf(after), bytes: after.length, mode: 0o644 },
      },
    ],
    images: 0,
  });
  assert.equal(text(tools), after);
});

test("all places are changed where all are meant, and those far apart are shown apart [F2]", async (t) => {
  const lines = Array.from({ length: 200 }, (_, index) => (index % 20 === 9 ? "x = old" : `line ${index + 1}`));
  const tools = await opened(t, "outputs/a.md", lines.join("\n"));
  const result = await tools.call("edit_file", {
    ...{ path: "outputs/a.md", old_string: "old", new_string: "new", replace_all: "true" },
  });
  assert.match(result.text, /^Success: 10 replacements in outputs\/a\.md\. The changed lines now:\n/);
  assert.deepEqual(result.text.match(/^===.*$/gm), [
    "=== outputs/a.md (lines 7–13 of 200) ===",
    "=== outputs/a.md (lines 27–33 of 200) ===",
    "=== outputs/a.md (lines 47–53 of 200) ===",
    "=== outputs/a.md (lines 67–73 of 200) ===",
    "=== outputs/a.md (lines 87–93 of 200) ===",
  ]);
  assert.match(result.text, /\n\[5 more places: read_file outputs\/a\.md\]$/);
  assert.equal(text(tools), lines.join("\n").replaceAll("old", "new"));
});

test("a text that stands there several times is left alone, with the lines where it stands [F2]", async (t) => {
  const tools = await opened(t, "outputs/a.md", "x\ny\nx\n".repeat(8));
  const { text: told } = await tools.call("edit_file", { path: "outputs/a.md", old_string: "y\n", new_string: "z\n" });
  assert.equal(
    told,
    "Error: several_matches: old_string stands 8 times in outputs/a.md (lines 2, 5, 8, 11, 14, 17, 20, 23), so nothing was changed. Call edit_file again with more lines around the place you mean, or with replace_all true to change all.",
  );
  const { text: more } = await tools.call("edit_file", { path: "outputs/a.md", old_string: "x", new_string: "z" });
  assert.match(more, /stands 16 times in .* \(lines 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, \.\.\.\)/);
  assert.equal(text(tools), "x\ny\nx\n".repeat(8));
});

test("a near miss shows the real lines and what differs; copied from there it succeeds [F2]", async (t) => {
  const tools = await opened(t, "outputs/a.py", "def f(x):\n\treturn x\n\nprint(f(1))\n");
  const wrong = {
    path: "outputs/a.py",
    old_string: "def f(x):\n    return x",
    new_string: "def f(x):\n\treturn 2 * x",
  };
  const { text: told, events } = await tools.call("edit_file", wrong);
  assert.equal(
    told,
    [
      "Error: text_not_found: old_string does not stand in outputs/a.py, so nothing was changed. The nearest lines are:",
      "=== outputs/a.py (lines 1–4 of 4) ===",
      ...["def f(x):", "\treturn x", "", "print(f(1))"],
      "Line 2 differs in its indentation: tabs, or another number of blanks. Call edit_file again with old_string copied from these lines.",
    ].join("\n"),
  );
  assert.deepEqual(events, []);
  const [first, second] = told.split("\n").slice(2);
  const { text: done } = await tools.call("edit_file", { ...wrong, old_string: `${first}\n${second}` });
  assert.match(done, /^Success: 1 replacement/);
});

test("whatever an edit has to tell fits into a small window [F2]", async (t) => {
  const line = `${"很长的一行，".repeat(500)}\n`;
  const tools = await opened(t, "outputs/a.md", `${line.repeat(12)}end\n`);
  const wishes = [
    { old_string: `${"很长的一行，".repeat(500)}。\n`.repeat(12), new_string: "x" },
    { old_string: "end", new_string: `${"new ".repeat(1_000)}end` },
    { old_string: "很长", new_string: "长长", replace_all: true },
  ];
  for (const wish of wishes) {
    const { text: told } = await tools.call("edit_file", { path: "outputs/a.md", ...wish }, { outputBytesMax: 2_000 });
    assert.match(told, /^(Error: text_not_found|Success: )/);
    assert.equal(boundOutput(told, 2_000).isCut, false, told.slice(0, 80));
  }
});

test("an edit that would change nothing is refused [F2]", async (t) => {
  const tools = await opened(t, "outputs/a.md", "say “x”\n");
  const call = (old_string: string, new_string: string) =>
    tools.call("edit_file", { path: "outputs/a.md", old_string, new_string });
  for (const [old, wanted] of [["say", "say"] as const, ['“x"', "“x”"] as const])
    assert.match((await call(old, wanted)).text, /^Error: nothing_to_change: /);
  assert.match((await call("", "x")).text, /^Error: tool_arguments_unfit: .*old_string: it is empty/);
});

test("a file that the agent has not seen as it is now is shown, and the next edit succeeds [F2][W7]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/a.md", "one\ntwo\n");
  const input = { path: "outputs/a.md", old_string: "two", new_string: "2" };
  const refused = await tools.call("edit_file", input);
  assert.deepEqual(refused, {
    text: "Error: conflict: outputs/a.md has content that you have not seen, or it has changed since, so nothing was changed. This is what it has now. Call edit_file again with old_string copied from it.\n=== outputs/a.md (lines 1–2 of 2, 8 bytes, utf-8) ===\none\ntwo",
    events: [{ type: "file.known", path: "outputs/a.md", hash: hashOf("one\ntwo\n") }],
    images: 0,
  });
  assert.equal(text(tools), "one\ntwo\n");
  assert.match((await tools.call("edit_file", input)).text, /^Success: /);
  put(tools, "outputs/a.md", "somebody else\n");
  assert.match((await tools.call("edit_file", { ...input, old_string: "one" })).text, /^Error: conflict: /);
});

test("a file keeps its mark, its encoding and its line ends; an encoding of old becomes UTF-8, and that is said [F2]", async (t) => {
  const tools = await opened(t, "outputs/a.md", Buffer.from("\ufeffeins\r\nzwei\r\n", "utf16le"));
  const edit = (old_string: string, new_string: string) =>
    tools.call("edit_file", { path: "outputs/a.md", old_string, new_string });
  const { text: told } = await edit("eins\nzwei", "eins\ndrei\nvier");
  assert.match(told, /\n\(old_string was met but for line endings or blanks at line ends; the file keeps its own\)$/);
  assert.deepEqual(bytes(tools), Buffer.from("\ufeffeins\r\ndrei\r\nvier\r\n", "utf16le"));

  put(tools, "outputs/a.md", oldEncoding);
  await tools.call("read_file", { path: "outputs/a.md" });
  assert.match((await edit("第二行", "最后一行")).text, /\n\(the file was gb18030; it is UTF-8 now\)$/);
  assert.match(text(tools), /^这个文件是用旧的编码写的，.*\n最后一行。\n$/);
});

/** In GBK: enough of it to be sure. */
const oldEncoding = Buffer.from(
  "1eK49s7EvP7Kx9PDvsm1xLHgwuvQtLXEo6zA78Pm09DX47m7tuC1xLq619ajrMv50tTL/LXEseDC68rHv8nS1Mi3tqi1xKGjCrXatv7Q0KGjCg==",
  "base64",
);

test("a file that has too few characters to tell its encoding is not converted, and write_file is proposed [F2]", async (t) => {
  const few = Buffer.from([0xd6, 0xd0, 0xce, 0xc4, 0xa3, 0xac, 0xca, 0xc7, 0xd6, 0xd0, 0xb9, 0xfa, 0xbb, 0xb0]);
  const tools = await opened(t, "outputs/a.md", few);
  const input = { path: "outputs/a.md", old_string: "中国话", new_string: "汉语" };
  assert.equal(
    (await tools.call("edit_file", input)).text,
    "Error: unsupported_type: outputs/a.md looks like gb18030, but has too few characters to be sure, so nothing was changed. If its text reads right, call write_file with this path and all of the text: then it is UTF-8.",
  );
  assert.deepEqual(bytes(tools), few);
  await tools.call("write_file", { path: "outputs/a.md", content: "中文，是汉语" });
  assert.equal(text(tools), "中文，是汉语");
});

test("the same call after a crash finds what it did, and does not do it twice [F2][L2]", async (t) => {
  const tools = await opened(t, "outputs/a.md", "a\n");
  const input = { path: "outputs/a.md", old_string: "a", new_string: "aa" };
  const attempt = { key: "same", knownHash: () => hashOf("a\n") };
  const first = await tools.call("edit_file", input, attempt);
  const again = await tools.call("edit_file", input, attempt);
  assert.match(first.text, /^Success: 1 replacement/);
  assert.equal(again.text, "Success: outputs/a.md already has this change: an earlier attempt made it.");
  assert.deepEqual([again.events, text(tools)], [first.events, "aa\n"]);
});

test("a file that is too large, missing or not to be written is refused with what to do instead [F2][W6]", async (t) => {
  const tools = await fileTools(t);
  put(tools, "outputs/large.txt", "text text text\n".repeat(1_200_000));
  put(tools, "skills/pdf/SKILL.md", "text");
  await tools.call("read_file", { path: "skills/pdf/SKILL.md" });
  const call = async (path: string) =>
    (await tools.call("edit_file", { path, old_string: "text", new_string: "b" })).text;
  assert.match(await call("outputs/large.txt"), /^Error: too_large: outputs\/large\.txt has .* the limit is 16 MB\. /);
  assert.match(await call("outputs/missing.md"), /^Error: file_not_found: /);
  assert.match(await call("skills/pdf/SKILL.md"), /^Error: permission_denied: Cannot write to skills\/\. /);
  const task = await fileTools(t, { kind: "task" });
  const { text: unwritten } = await task.call("edit_file", { path: "a.md", old_string: "a", new_string: "b" });
  assert.match(unwritten, /^Error: file_not_found: /);
});

async function opened(t: Parameters<typeof fileTools>[0], path: string, content: string | Buffer): Promise<FileTools> {
  const tools = await fileTools(t);
  put(tools, path, content);
  await tools.call("read_file", { path });
  return tools;
}

function put({ folder }: FileTools, path: string, content: string | Buffer): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function bytes({ folder }: FileTools): Buffer {
  return readFileSync(join(folder, "outputs/a.md"));
}

function text(tools: FileTools): string {
  return bytes(tools).toString();
}

function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

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
  assert.deepEqual([events.map((event) => event.type === "file.changed" && event.lost)], [["too_large"]]);
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
  assert.deepEqual([events.map((event) => event.type === "file.changed" && event.workspace)], [["w1"]]);
});

function content({ folder }: FileTools, path: string): string {
  return readFileSync(join(folder, path), "utf8");
}
