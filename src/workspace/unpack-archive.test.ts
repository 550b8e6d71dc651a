import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openFiles } from "../../test/world/open-files.ts";
import { type Listed, lineOf, sha256 } from "./archive-format.ts";
import { openUnpacking } from "./unpack-archive.ts";

test("what was put back is read once more: the first that is not as it was in the backup is named, whatever it is [Q3]", async (t) => {
  const spoil: Record<string, (folder: string) => void> = {
    nothing: () => {},
    "workspace/c/a": (folder) => writeFileSync(join(folder, "workspace/c/a"), "other"),
    "workspace/c/b": (folder) => {
      unlinkSync(join(folder, "workspace/c/b"));
      mkdirSync(join(folder, "workspace/c/b"));
    },
    "workspace/c/empty": (folder) => {
      rmdirSync(join(folder, "workspace/c/empty"));
      writeFileSync(join(folder, "workspace/c/empty"), "");
    },
    "workspace/c/link": (folder) => {
      unlinkSync(join(folder, "workspace/c/link"));
      symlinkSync("elsewhere", join(folder, "workspace/c/link"));
    },
  };
  const base = mkdtempSync(join(tmpdir(), "unpacked-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  for (const [what, change] of Object.entries(spoil)) {
    const folder = mkdtempSync(join(base, "data-"));
    const unpacking = openUnpacking(folder);
    for (const [listed, text] of entries) {
      await unpacking.take(listed, pieces(text));
      await unpacking.list?.(Buffer.from(lineOf(listed)));
    }
    change(folder);
    assert.equal(await unpacking.finish(), what === "nothing" ? undefined : what);
    unpacking.close();
    const { mode, mtimeMs } = statSync(join(folder, "workspace/c"));
    assert.deepEqual([mode & 0o777, mtimeMs], [0o750, 1_000_500], "a folder has its mode and time when all is in it");
  }
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(base)),
    [],
  );
});

const common = { mode: 0o640, mtime: 2_000_500, bytes: 0 };
const fileOf = (path: string, text: string): readonly [Listed, string] => [
  { ...common, path, type: "file", bytes: text.length, hash: sha256().update(text).digest("hex") },
  text,
];
const entries: readonly (readonly [Listed, string])[] = [
  [{ ...common, path: "workspace/c", type: "folder", mode: 0o750, mtime: 1_000_500 }, ""],
  fileOf("workspace/c/a", "first"),
  fileOf("workspace/c/b", "second"),
  [{ ...common, path: "workspace/c/empty", type: "folder", mode: 0o755 }, ""],
  [{ ...common, path: "workspace/c/link", type: "link", target: "a" }, ""],
];

async function* pieces(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}
