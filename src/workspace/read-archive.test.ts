import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { pack } from "tar-stream";
import { failure } from "../protocol/failure.ts";
import { archiveFormat, endLineOf, lineOf, sha256 } from "./archive-format.ts";
import { readArchive } from "./read-archive.ts";

test("a backup is what its list says and nothing else: what is missing, changed, twice or behind the list makes it useless [Q3]", async (t) => {
  const read = reader(t);
  const [head, one, two] = [entryOf("agentyard-backup.json", headOf(archiveFormat)), fileOf("one"), fileOf("two")];
  const whole = listOf([head, one, two]);
  assert.deepEqual(await read([head, one, two, whole]), ["workspace/c/one", "workspace/c/two"]);
  const broken: Record<string, readonly [entries: readonly Entry[], why: string]> = {
    "nothing at all": [[], "no_backup"],
    "no head": [[one, two, whole], "no_backup"],
    "a head that is none": [[entryOf("agentyard-backup.json", "{}"), whole], "no_backup"],
    "no list": [[head, one, two], "cut"],
    "a file less than the list": [[head, one, whole], "changed"],
    "a file more than the list": [[head, one, two, fileOf("three"), whole], "changed"],
    "a file with other bytes": [[head, one, fileOf("two", "other"), whole], "changed"],
    "files in another order": [[head, two, one, whole], "changed"],
    "a file behind the list": [[head, one, two, whole, fileOf("three")], "changed"],
    "a second list": [[head, one, two, whole, whole], "changed"],
    "a list without its end": [
      [head, one, entryOf("manifest.jsonl", lineOf(head.listed) + lineOf(one.listed))],
      "changed",
    ],
    "more behind the end of the list": [
      [head, one, entryOf("manifest.jsonl", `${listOf([head, one]).text}{}\n`)],
      "changed",
    ],
    "a name of nobody's": [[head, entryOf("other/a", ""), whole], "unsafe"],
  };
  for (const [what, [entries, why]] of Object.entries(broken))
    assert.deepEqual(await read(entries), failure("backup_broken", { why: why as "cut" }), what);
});

test("of a backup it is said that it is of a newer version, and why the server gave it up [Q3][P4]", async (t) => {
  const read = reader(t);
  const newer = entryOf("agentyard-backup.json", headOf(archiveFormat + 1));
  assert.deepEqual(await read([newer]), failure("backup_newer", { found: archiveFormat + 1, known: archiveFormat }));
  const fault = { code: "storage_full", params: {} };
  const head = entryOf("agentyard-backup.json", headOf(archiveFormat));
  assert.deepEqual(await read([head, fileOf("one"), entryOf("failed.json", JSON.stringify(fault))]), {
    ok: false,
    failure: { fault },
  });
});

type Entry = ReturnType<typeof entryOf>;

function entryOf(path: string, text: string) {
  const hash = sha256().update(text).digest("hex");
  return { path, text, listed: { path, type: "file", mode: 0o600, mtime: 1, bytes: text.length, hash } as const };
}

function fileOf(name: string, text = name): Entry {
  return entryOf(`workspace/c/${name}`, text);
}

function headOf(format: number): string {
  return JSON.stringify({ format, agentyard: "0", protocol: "1", at: 1, withKey: false });
}

function listOf(entries: readonly Entry[]): Entry {
  const end = { conversations: 0, files: 0, bytes: 0, leftOut: [], leftOutCount: 0, changing: [] };
  return entryOf("manifest.jsonl", entries.map(({ listed }) => lineOf(listed)).join("") + endLineOf(end));
}

/** Answers the paths of the files that were taken, or the failure. */
function reader(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "read-archive-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return async (entries: readonly Entry[]) => {
    const tar = pack();
    for (const { path: name, text } of entries)
      tar.entry({ name, pax: { "AGENTYARD.mtime": "1" }, mode: 0o600, size: text.length }, text);
    tar.finalize();
    writeFileSync(join(folder, "b.tar"), await buffer(tar));
    const taken: string[] = [];
    const read = await readArchive(join(folder, "b.tar"), { take: async ({ path }) => void taken.push(path) });
    return read.ok ? taken : read;
  };
}
