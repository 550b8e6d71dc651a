import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { failure } from "../protocol/failure.ts";
import { attachedText, describeAttached } from "./files-in-message.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("small texts and images go into the message, everything else is named [F3]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const files = {
    "notes.txt": Buffer.from("hello"),
    "list.csv": Buffer.from([0xd0, 0xd5, 0xc3, 0xfb, 0x2c, 0xc4, 0xea, 0xc1, 0xe4, 0x0a]),
    "at the limit.txt": Buffer.alloc(10 * 1024, "a"),
    "above it.txt": Buffer.alloc(10 * 1024 + 1, "a"),
    "chart.png": png,
    "broken.png": png.subarray(0, 20),
    "large.png": Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]),
    "scan.bmp": Buffer.from("BM\0\0\0\0\0\0\0\0\0", "latin1"),
  };
  for (const [name, bytes] of Object.entries(files)) await workspace.write(`uploads/${name}`, bytes);
  const about = (name: keyof typeof files, type: string) => ({
    ...{ path: `uploads/${name}`, name, type, bytes: files[name].length },
  });
  const hashOf = (name: keyof typeof files) => createHash("sha256").update(files[name]).digest("hex");
  const paths = Object.keys(files).map((name) => `uploads/${name}`);
  assert.deepEqual(await describeAttached(workspace, [...paths, "./uploads/notes.txt", "uploads/notes.txt"]), {
    ok: true,
    value: [
      { ...about("notes.txt", "text"), text: "hello", hash: hashOf("notes.txt") },
      { ...about("list.csv", "csv"), text: "姓名,年龄\n", hash: hashOf("list.csv") },
      { ...about("at the limit.txt", "text"), text: "a".repeat(10 * 1024), hash: hashOf("at the limit.txt") },
      about("above it.txt", "text"),
      { ...about("chart.png", "image"), image: { mime: "image/png", base64: png.toString("base64") } },
      about("broken.png", "image"),
      about("large.png", "image"),
      about("scan.bmp", "image"),
    ],
  });
});

test("many small texts fill a message only so far; the others are named [F3]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const paths = Array.from({ length: 12 }, (_, index) => `uploads/${index}.txt`);
  for (const path of paths) await workspace.write(path, "a".repeat(10 * 1024));
  const described = await describeAttached(workspace, paths);
  assert.ok(described.ok);
  assert.equal(described.value.filter(({ text }) => text !== undefined).length, 10);
});

test("a file that is not there, a folder and a way out are refused before the message is stored [F3][W5]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const { workspace: unwritten } = await testWorkspace(t, { kind: "task" });
  const codes = [];
  for (const [where, path] of [
    [workspace, "uploads/none.txt"],
    [workspace, "uploads"],
    [workspace, "../a.txt"],
    [unwritten, "a.txt"],
  ] as const) {
    const described = await describeAttached(where, [path]);
    codes.push(described.ok ? "" : described.failure.code);
  }
  assert.deepEqual(codes, ["file_not_found", "not_a_file", "path_traversal_blocked", "file_not_found"]);
  assert.deepEqual(
    await describeAttached(unwritten, ["a.txt"]),
    failure("file_not_found", { path: "a.txt", near: "" }),
  );
});

/** The marks themselves are the engine's. */
const wrap = (source: string, text: string) => `<${source}>${text}</>`;

test("the files stand below the person's words in their language [F3]", () => {
  const attached = [
    { path: "uploads/a.txt", name: "a.txt", type: "text", bytes: 3, hash: "h", text: "one" },
    { path: "uploads/b.md", name: "b.md", type: "markdown", bytes: 4, hash: "h", text: "two\n" },
    { path: "uploads/数据.csv", name: "数据.csv", type: "csv", bytes: 99_999 },
  ];
  assert.equal(
    `Look.${attachedText(attached, "en", wrap)}`,
    `Look.

Text of uploads/a.txt:
<uploads/a.txt>one</>

Text of uploads/b.md:
<uploads/b.md>two
</>

Uploaded files:
- a.txt → uploads/a.txt (text)
- b.md → uploads/b.md (markdown)
- 数据.csv → uploads/数据.csv (csv)`,
  );
  assert.equal(attachedText(attached.slice(2), "zh", wrap), "\n\n上传的文件：\n- 数据.csv → uploads/数据.csv (csv)");
  assert.equal(attachedText([], "en", wrap), "");
});

test("a name that is not plain is quoted, and what hides in it is shown [S5]", () => {
  const listed = (name: string) =>
    attachedText([{ path: `uploads/${name}`, name, type: "text", bytes: 1 }], "en", wrap)
      .split("\n")
      .at(-1);
  assert.deepEqual(
    ["quarter 1 (final).txt", "a → b.txt", 'say "hi".txt', "exe\u202Etxt.md", " a.txt", "tag\u{E0041}.txt"].map(listed),
    [
      "- quarter 1 (final).txt → uploads/quarter 1 (final).txt (text)",
      '- "a → b.txt" → "uploads/a → b.txt" (text)',
      '- "say \\"hi\\".txt" → "uploads/say \\"hi\\".txt" (text)',
      '- "exe\\u202etxt.md" → "uploads/exe\\u202etxt.md" (text)',
      '- " a.txt" → "uploads/ a.txt" (text)',
      '- "tag\\udb40\\udc41.txt" → "uploads/tag\\udb40\\udc41.txt" (text)',
    ],
  );
});

test("images fill a message only so far; the others are named [F3]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const large = Buffer.concat([png, Buffer.alloc(4.5 * 1024 * 1024)]);
  const paths = Array.from({ length: 5 }, (_, index) => `uploads/${index}.png`);
  for (const path of paths) await workspace.write(path, large);
  const attached = await describeAttached(workspace, paths);
  const withImage = attached.ok ? attached.value.map(({ image }) => image !== undefined) : [];
  assert.deepEqual(withImage, [true, true, true, true, false], "20 MB hold four of them");
});
