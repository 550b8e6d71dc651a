import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openFiles } from "../../../test/world/open-files.ts";
import { testWorkspace } from "../../../test/world/workspace.ts";
import { handOver } from "./hand-over.ts";

test("what is handed over to a task is at the same paths there, each file once and with its mode; skills are not [W2][W13]", async (t) => {
  const [from, to] = [await testWorkspace(t), await testWorkspace(t, { kind: "task" })];
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(from.folder, path, ".."), { recursive: true });
    writeFileSync(join(from.folder, path), text);
    chmodSync(join(from.folder, path), mode);
  };
  put("outputs/run.sh", "true", 0o755);
  put("outputs/deep/b.txt", "b");
  put("uploads/a.txt", "a");
  put("skills/tea/SKILL.md", "boil");
  const handed = await handOver(from.workspace, to.workspace, ["uploads/a.txt", ".", "outputs/run.sh"]);
  assert.deepEqual(handed, { ok: true, value: ["uploads/a.txt", "outputs/deep/b.txt", "outputs/run.sh"] });
  const there = readdirSync(to.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(to.folder.length + 1));
  assert.deepEqual(there.toSorted(), ["outputs/deep/b.txt", "outputs/run.sh", "uploads/a.txt"]);
  assert.equal(readFileSync(join(to.folder, "outputs/deep/b.txt"), "utf8"), "b");
  assert.equal(statSync(join(to.folder, "outputs/run.sh")).mode & 0o777, 0o755);
});

test("a task that has no room for a file is not given it, and the file does not stay open [W2][W11]", async (t) => {
  const from = await testWorkspace(t);
  const to = await testWorkspace(t, { kind: "task", limits: { bytesMax: 1_000 } });
  writeFileSync(join(from.folder, "uploads/large.bin"), Buffer.alloc(4 * 2 ** 20));
  const handed = await handOver(from.workspace, to.workspace, ["uploads/large.bin"]);
  assert.equal(handed.ok ? "given" : handed.failure.code, "quota_exceeded");
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(from.base)),
    [],
  );
});

test("a file that is named twice, by itself and with its folder, counts once among the 500 that are handed over [W2]", async (t) => {
  const handing = async (count: number) => {
    const [from, to] = [await testWorkspace(t), await testWorkspace(t, { kind: "task" })];
    for (let n = 0; n < count; n += 1) writeFileSync(join(from.folder, "uploads", `${1_000 + n}.txt`), "");
    const handed = await handOver(from.workspace, to.workspace, ["uploads/1000.txt", "uploads"]);
    const there = existsSync(to.folder) ? readdirSync(join(to.folder, "uploads")).length : 0;
    return [handed.ok ? handed.value.length : [handed.failure.code, handed.failure.params], there];
  };
  assert.deepEqual(await handing(500), [500, 500]);
  assert.deepEqual(await handing(501), [["hand_over_too_many", { count: 501, max: 500 }], 0]);
});
