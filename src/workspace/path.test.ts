import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { folderWith } from "../../test/world/folder.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { makeFailure } from "../protocol/failure.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { WorkspaceRow } from "../storage/storage.ts";
import { failureOf, type Operation } from "./faults.ts";
import { asFileFailure } from "./folders.ts";
import { conversationFolder, keptFolder, layoutOf, taskFolder, trashFolder } from "./layout.ts";
import { layOut, removeLaidOut } from "./metadata.ts";
import { isTooDeep, parsePath, parseWritable, shownPath } from "./path.ts";

test("a path is taken up to 64 names, 255 bytes a name and 4096 bytes in all, and refused with the reason beyond [W5]", () => {
  const long = "ü".repeat(127);
  // 16 names of 255 bytes with the slashes between them, and one byte less or more in the last.
  const whole = (bytes: number) => [...Array.from({ length: 15 }, () => "d".repeat(255)), "d".repeat(bytes)].join("/");
  const cases: Record<string, readonly [path: string, why: string]> = {
    "64 names": [Array.from({ length: 64 }, () => "d").join("/"), "taken"],
    "65 names": [Array.from({ length: 65 }, () => "d").join("/"), "too_deep"],
    "64 names, dots between them": [Array.from({ length: 64 }, () => "d").join("//./"), "taken"],
    "255 bytes": [`${long}a`, "taken"],
    "256 bytes of 128 characters": [`${long}ü`, "too_long"],
    "4095 bytes": [whole(255), "taken"],
  };
  for (const [what, [path, why]] of Object.entries(cases)) assert.equal(refusalOf(path), why, what);
  assert.equal(refusalOf(`${whole(250)}/abcd`), "taken", "4095 bytes of 17 names");
  assert.equal(refusalOf(`${whole(250)}/abcde`), "taken", "4096 bytes");
  assert.equal(refusalOf(`${whole(250)}/abcdef`), "too_long", "4097 bytes");
  assert.deepEqual(
    [isTooDeep({ names: 63, bytes: 4095 }), isTooDeep({ names: 64, bytes: 1 }), isTooDeep({ names: 1, bytes: 4096 })],
    [false, true, true],
  );
});

test("whatever could lead outside, or begin a line of its own, is refused before anything is looked at [W5][S5]", () => {
  const outside = ["..", "a/../b", "a..b", "/a", " /a", "\t/a", "\\a", "~", "~/a", "C:", "c:/a", "Z:\\a"];
  for (const path of outside) assert.equal(refusalOf(path), "path_traversal_blocked", JSON.stringify(path));
  const controls = ["\u0000", "\u001f", "\n", "\u007f", "\u0080", "\u009f", "\u2028", "\u2029", "\ud800"];
  for (const path of controls) assert.equal(refusalOf(`a${path}b`), "control_character", JSON.stringify(path));
  assert.equal(refusalOf("a\\b"), "backslash");
  for (const path of ["a~", "~a", "ab:c", "a b", "C", ".a", "a.", "ä/中"]) assert.equal(refusalOf(path), "taken", path);
});

test("a conversation is written below three of its folders, a task everywhere, and each refusal says which place it is [W5][W7]", () => {
  const refusal = (kind: "conversation" | "task", path: string) => {
    const parsed = parseWritable(kind, path);
    return parsed.ok ? parsed.value.join("/") : [parsed.failure.code, { ...parsed.failure.params }];
  };
  for (const folder of ["uploads", "outputs", "temp"]) {
    assert.equal(refusal("conversation", `./${folder}//a/`), `${folder}/a`);
    assert.deepEqual(refusal("conversation", folder), ["not_a_file", { path: folder }]);
  }
  const notWritable = (path: string, folder: string) => ["permission_denied", { path, folder, why: "not_writable" }];
  assert.deepEqual(refusal("conversation", "skills/a/b"), notWritable("skills/a/b", "skills"));
  assert.deepEqual(refusal("conversation", ".metadata.json"), notWritable(".metadata.json", "."));
  for (const kind of ["conversation", "task"] as const)
    assert.deepEqual(refusal(kind, "./"), ["path_invalid", { path: "./", why: "no_name" }]);
  assert.deepEqual(refusal("conversation", "../a"), ["path_traversal_blocked", { path: "../a" }]);
  assert.equal(refusal("task", "skills/a"), "skills/a");
});

test("a path is shown as it is, quoted where it is not plain, and cut after 200 characters [W5]", () => {
  assert.equal(shownPath("a".repeat(200)), "a".repeat(200));
  assert.equal(shownPath("a".repeat(201)), `${"a".repeat(200)}…`);
  assert.equal(shownPath("outputs/报告（终）.md"), "outputs/报告（终）.md");
  assert.equal(shownPath("a\nb"), '"a\\nb"');
  assert.equal(shownPath('"; rm'), '"\\"; rm"');
});

function refusalOf(path: string): string {
  const parsed = parsePath(path);
  if (parsed.ok) return "taken";
  return "why" in parsed.failure.params ? parsed.failure.params.why : parsed.failure.code;
}

const { hostPath } = layoutOf("/data");

test("no other name leads to a folder, however it is written [W5]", () => {
  const names = ["", ".", "..", "a..b", "../a", "a/b", "/a", ".a", "-a", "a b", "a\n", "a\0", "ａ", "x".repeat(65)];
  const trash = ["", "..", "0123abc", "0123abcde", "0123ABCD", "0123abcd/uploads", "xyzxyzxy"];
  const others = [
    "",
    ".",
    "workspace",
    "workspace/",
    "kept",
    "kept/trash/0123abcd",
    "sessions.db",
    "logs/a",
    "kept/kept/workspace/a",
  ];
  const folders = [
    ...names.flatMap((name) => [conversationFolder(name), taskFolder(name), keptFolder(conversationFolder(name))]),
    ...trash.map(trashFolder),
    ...others,
  ];
  assert.deepEqual(
    folders.filter((folder) => hostPath(folder) !== undefined),
    [],
  );
});

test("whatever stands in a row, its path is one of ours or none [W5]", () => {
  const pieces = fc.constantFrom(
    "workspace",
    "workspaces",
    "kept",
    "trash",
    "/",
    "..",
    ".",
    "a",
    "0123abcd",
    "\n",
    "\0",
    "\\",
  );
  const written = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 8 }).map((list) => list.join("")),
  );
  const bases = ["/data/workspace", "/data/workspaces", "/data/kept/workspace", "/data/kept/workspaces", "/data/trash"];
  fc.assert(
    fc.property(written, (folder) => {
      const path = hostPath(folder);
      assert.ok(path === undefined || (bases.includes(dirname(path)) && path === `/data/${folder}`));
    }),
  );
});

/** As Node throws what the system said. */
function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no`), { code, syscall: "open" });
}

function told(code: string, operation: Operation): string {
  const { code: failed, params } = failureOf(systemError(code), operation, "a.txt");
  return "why" in params ? `${failed} ${params.why}` : failed;
}

test("what the system says to a file becomes a failure with its cause, for reading and for writing [W7][P4]", () => {
  const causes = {
    ENOSPC: "full",
    EDQUOT: "full",
    EFBIG: "full",
    EROFS: "read_only",
    EMFILE: "too_many_open",
    ENFILE: "too_many_open",
    ESTALE: "changed",
    EIO: "io",
  };
  for (const [code, why] of Object.entries(causes)) {
    assert.equal(told(code, "read"), `read_failed ${why}`);
    assert.equal(told(code, "write"), `write_failed ${why}`);
  }
  const others = {
    ENOENT: "file_not_found",
    ENOTDIR: "not_a_folder",
    EISDIR: "not_a_file",
    ENOTEMPTY: "not_a_file",
    EEXIST: "not_a_file",
    ELOOP: "permission_denied link",
    ENXIO: "permission_denied special",
    ENODEV: "permission_denied special",
    EACCES: "permission_denied system",
    EPERM: "permission_denied system",
    EXDEV: "permission_denied elsewhere",
    ENAMETOOLONG: "path_invalid too_long",
  };
  for (const [code, failure] of Object.entries(others))
    assert.deepEqual([told(code, "read"), told(code, "write")], [failure, failure]);
});

test("whoever asks for a file that is not there is told of three at the most that were probably meant, the same name first [W7][F2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const near = async (path: string) => {
    const { failure } = (await workspace.read(path)) as { failure?: { code: string; params: { near?: string } } };
    return [failure?.code, failure?.params.near];
  };
  for (const path of ["outputs/reports/sales.csv", "uploads/sales.csv", "temp/.hidden/sales.csv", "outputs/sale.csv"])
    await workspace.write(path, "a");
  const [code, told = ""] = await near("temp/sales.csv");
  assert.deepEqual(
    [code, told.split(", ").slice(0, 2).sort(), told.includes(".hidden")],
    ["file_not_found", ["outputs/reports/sales.csv", "uploads/sales.csv"], false],
  );
  assert.deepEqual(await near("outputs/sales.csv"), await near("outputs/./sales.csv"));
  for (const folder of ["b", "c", "d"]) await workspace.write(`outputs/${folder}/sales.csv`, "a");
  assert.equal((await near("temp/sales.csv"))[1]?.split(", ").length, 3);
  assert.deepEqual(await near("temp/unlike-all-of-them"), ["file_not_found", ""]);
});

const row: WorkspaceRow = {
  kind: "conversation",
  ...{ folder: "workspace/c", id: "c", number: 1, owner: OwnerId.parse("alice"), createdAt: 5 },
  ...{ madeAt: undefined, usedAt: 5, cleanedAt: undefined, ordinal: 1 },
};

function laidOut(t: TestContext): string {
  const folder = join(folderWith(t, {}), "c");
  mkdirSync(folder);
  layOut(folder, row);
  return folder;
}

test("a folder goes only where nobody put anything into it: links to skills are ours, files and folders of others are not [W10][K1]", (t) => {
  for (const [name, put] of Object.entries({
    "a file": (folder: string) => writeFileSync(join(folder, "outputs", "a"), ""),
    "a file beside ours": (folder: string) => writeFileSync(join(folder, "a"), ""),
    "a folder beside ours": (folder: string) => mkdirSync(join(folder, "mine")),
    "a file among the links": (folder: string) => writeFileSync(join(folder, "skills", "a"), ""),
    "a link beside ours": (folder: string) => symlinkSync("/skills/x", join(folder, "uploads", "x")),
  })) {
    const folder = laidOut(t);
    symlinkSync("/skills/pdf", join(folder, "skills", "pdf"));
    put(folder);
    const before = readdirSync(folder, { recursive: true });
    assert.equal(removeLaidOut(folder, row), false, name);
    assert.deepEqual(readdirSync(folder, { recursive: true }), before, `${name} keeps all of it`);
  }
  const bare = laidOut(t);
  symlinkSync("/skills/pdf", join(bare, "skills", "pdf"));
  for (const name of ["temp", ".metadata.json"]) rmSync(join(bare, name), { recursive: true });
  assert.deepEqual([removeLaidOut(bare, row), existsSync(bare)], [true, false]);
  const task = folderWith(t, { "t/a": "", "u/": "" });
  assert.deepEqual(
    ["t", "u"].map((name) => removeLaidOut(join(task, name), { kind: "task" })),
    [false, true],
  );
  assert.deepEqual(readdirSync(task), ["t"]);
});

test("what the database could not do is told of files by its cause: full, read-only, or the disk [W7][P4]", () => {
  const disk = (why: "full" | "read_only" | "io") => makeFailure("write_failed", { path: ".", why });
  const cases = [
    [makeFailure("storage_full", {}), disk("full")],
    [makeFailure("storage_read_only", {}), disk("read_only")],
    [makeFailure("storage_busy", {}), disk("io")],
    [makeFailure("fenced", {}), disk("io")],
    [makeFailure("log_moved", {}), disk("io")],
    [makeFailure("storage_broken", { why: "damaged" }), disk("io")],
    [makeFailure("conversation_not_found", { id: "c" }), makeFailure("workspace_not_assigned", { agent: "root" })],
    [makeFailure("conversation_exists", { id: "c" }), makeFailure("workspace_not_assigned", { agent: "root" })],
    [makeFailure("conflict", { path: "a" }), makeFailure("conflict", { path: "a" })],
  ] as const;
  for (const [reason, told] of cases) assert.deepEqual(asFileFailure(reason, "root"), told, reason.code);
});
