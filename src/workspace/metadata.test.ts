import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { WorkspaceRow } from "../storage/storage.ts";
import { isLaidOutFor, layOut, removeLaidOut } from "./metadata.ts";

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

test("a conversation's folder says whose it is, since when, and has four folders that programs may look into [W1]", (t) => {
  const folder = laidOut(t);
  assert.deepEqual(readdirSync(folder).sort(), [".metadata.json", "outputs", "skills", "temp", "uploads"]);
  const text = readFileSync(join(folder, ".metadata.json"), "utf8");
  assert.deepEqual(JSON.parse(text), { session_id: "c", created_at: "1970-01-01T00:00:00.005Z", kind: "conversation" });
  assert.equal(statSync(join(folder, "uploads")).mode & 0o777, 0o755);
  assert.deepEqual([isLaidOutFor(folder, row), isLaidOutFor(folder, { id: "other" })], [true, false]);
});

test("a folder is ours only by a small plain file that says so; whatever else stands in its place holds nobody up [W10][Q1]", (t) => {
  const folder = laidOut(t);
  const place = join(folder, ".metadata.json");
  const open = openFiles();
  const filled = (bytes: number) => JSON.stringify({ session_id: "c" }).padEnd(bytes, " ");
  const stands = (put: () => void) => {
    rmSync(place, { recursive: true, force: true });
    put();
    return isLaidOutFor(folder, row);
  };
  assert.equal(
    stands(() => writeFileSync(place, filled(64 * 1024))),
    true,
  );
  assert.equal(
    stands(() => writeFileSync(place, filled(64 * 1024 + 1))),
    false,
  );
  assert.equal(
    stands(() => writeFileSync(place, "no json")),
    false,
  );
  assert.equal(
    stands(() => mkdirSync(place)),
    false,
  );
  assert.equal(
    stands(() => execFileSync("mkfifo", [place])),
    false,
  );
  writeFileSync(join(folder, "uploads", "mine"), filled(64));
  assert.equal(
    stands(() => symlinkSync(join(folder, "uploads", "mine"), place)),
    false,
  );
  assert.equal(
    stands(() => {}),
    false,
  );
  assert.deepEqual(openFiles(), open);
});

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
