import assert from "node:assert/strict";
import { closeSync, existsSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { findToken, makeToken, markOf, openBelow } from "./files-folder.ts";

function countedIds() {
  let count = 0;
  const hex = (characters: number) => {
    count += 1;
    return String(count).padStart(characters, "0");
  };
  return { uuid: () => "u", hex };
}

const openIn = (folder: string) => openFiles().filter((path) => path.startsWith(folder));

test("a token is seen by who sees the same files, is readable for its maker alone, and goes without a trace [W5][X3][Q1]", (t) => {
  const root = folderWith(t, {});
  const ids = countedIds();
  const made = makeToken(root, ids);
  assert.ok(made.ok);
  const { path, text, mark, remove } = made.value;
  const folder = join(root, ...path);
  const { dev, ino } = statSync(folder);
  assert.deepEqual([mark, findToken(root, { path, text })], [`${dev}:${ino}`, { ok: true, value: { mark } }]);
  const modes = [join(root, ".sandbox-hosts"), folder, join(folder, "token")].map((at) => statSync(at).mode & 0o777);
  assert.deepEqual(modes, [0o711, 0o700, 0o600]);
  const second = makeToken(root, ids);
  assert.ok(second.ok && second.value.text !== text && second.value.path[1] !== path[1]);
  remove();
  remove();
  assert.deepEqual(
    [readdirSync(join(root, ".sandbox-hosts")), findToken(root, { path, text })],
    [[second.value.path[1]], { ok: false, failure: "ENOENT" }],
  );
  assert.deepEqual(openIn(root), []);
});

test("a host tells only of the token at its own place, and of none that has other words or lies behind a link [W5][Q1]", (t) => {
  const tokens = ["secret", ".sandbox-hosts/a", ".sandbox-hosts/a/b"].map((name) => [`${name}/token`, "text"] as const);
  const root = folderWith(t, Object.fromEntries(tokens));
  symlinkSync("../secret", join(root, ".sandbox-hosts/link"));
  const found = (path: readonly string[], text = "text") => {
    const answer = findToken(root, { path, text });
    return answer.ok ? "found" : answer.failure;
  };
  assert.equal(found([".sandbox-hosts", "a"]), "found");
  assert.deepEqual([found([".sandbox-hosts", "a"], "other"), found([".sandbox-hosts", "a"], "")], ["other", "other"]);
  for (const path of ["secret", "secret/x", ".sandbox-hosts", ".sandbox-hosts/a/b", ".sandbox-hosts/..", ""])
    assert.equal(found(path.split("/")), "path", path);
  assert.equal(found([".sandbox-hosts", "link"]), "ENOTDIR");
  assert.deepEqual(openIn(root), []);
});

test("where no token can be made it is told why, and nothing is left of it [X3]", (t) => {
  const root = folderWith(t, { file: "", "half/.sandbox-hosts": "no folder" });
  for (const [name, why] of [
    ["gone", "ENOENT"],
    ["file", "ENOTDIR"],
    ["half", "ENOTDIR"],
  ] as const)
    assert.deepEqual(makeToken(join(root, name), countedIds()), { ok: false, failure: why });
  assert.deepEqual([existsSync(join(root, "gone")), openIn(root)], [false, []]);
});

test("a folder is opened name by name, through no link, and nothing on the way stays open [W5][X3]", (t) => {
  const root = folderWith(t, { "a/b/c/": "", "a/file": "" });
  symlinkSync("b", join(root, "a/link"));
  const opened = openBelow(root, ["a", "b", "c"]);
  const { dev, ino } = statSync(join(root, "a/b/c"));
  assert.deepEqual([openIn(root), markOf(opened)], [[join(root, "a/b/c")], `${dev}:${ino}`]);
  closeSync(opened);
  for (const [names, code] of [
    [["a", "link", "c"], "ENOTDIR"],
    [["a", "file"], "ENOTDIR"],
    [["a", "b", "gone"], "ENOENT"],
  ] as const)
    assert.throws(() => openBelow(root, names), { code });
  assert.throws(() => openBelow(join(root, "a/link"), []), { code: "ENOTDIR" });
  assert.deepEqual(openIn(root), []);
});
