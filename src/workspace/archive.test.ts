import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { pack } from "tar-stream";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { systemIds } from "../base/ids.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId, localOwner } from "../protocol/ids.ts";
import { type ArchiveOptions, archive } from "./archive.ts";
import { archiveFormat, endLineOf, lineOf, sha256 } from "./archive-format.ts";
import { openBooks } from "./books.ts";
import { layoutOf } from "./layout.ts";
import { openPlots } from "./plots.ts";
import { readArchive } from "./read-archive.ts";
import { openUnpacking } from "./unpack-archive.ts";

const wanted = { agentyard: "0.0.0-test", protocol: "1", withKey: false };

/** A data directory with these files, and a database with three conversations. */
async function openYard(
  t: TestContext,
  files: Record<string, string>,
  given: (real: ArchiveOptions) => Partial<ArchiveOptions> = () => ({}),
) {
  const base = folderWith(t, Object.fromEntries(Object.entries(files).map(([path, text]) => [`data/${path}`, text])));
  mkdirSync(join(base, "data"), { recursive: true });
  const layout = layoutOf(join(base, "data"));
  const clock = manualClock();
  clock.move(9);
  const storage = openDatabase(t, clock);
  for (const id of ["c", "d", "e"])
    await storage.createConversation({ owner: localOwner, id: ConversationId.parse(id), at: 1, events: [] });
  const plots = openPlots({ layout, books: openBooks(), ids: systemIds, images: undefined });
  const parts: ArchiveOptions = { layout, clock, ids: systemIds, storage, plots };
  const options: ArchiveOptions = { ...parts, ...given(parts) };
  const take = (withKey = false) => archive(options, { ...wanted, withKey });
  return {
    ...{ base, take, path: (...names: string[]) => join(base, "data", ...names) },
    async read(withKey = false) {
      const pieces: Uint8Array[] = [];
      for await (const piece of take(withKey)) pieces.push(Buffer.from(piece));
      writeFileSync(join(base, "b.tar"), Buffer.concat(pieces));
      const entries: Record<string, string> = {};
      let databaseBytes = 0;
      const read = await readArchive(join(base, "b.tar"), {
        async take({ path, type, mode }, content) {
          const pieces: Uint8Array[] = [];
          for await (const piece of content) pieces.push(Buffer.from(piece));
          const bytes = Buffer.concat(pieces);
          if (path === "sessions.db") databaseBytes = bytes.length;
          const text = path === "sessions.db" ? bytes.subarray(0, 6) : bytes;
          entries[path] = type === "file" ? `${mode.toString(8)} ${text}` : type;
        },
      });
      return { read, entries, databaseBytes };
    },
    /** Nothing of it is left, on the disk or open. */
    isClean() {
      assert.deepEqual(existsSync(layout.stagingFolder) ? readdirSync(layout.stagingFolder) : [], []);
      assert.deepEqual(openFiles(base), []);
    },
  };
}

test("a backup has the database, workspaces, the trash and earlier contents in it, says how much that is, and leaves nothing behind [Q3]", async (t) => {
  const { read, isClean, path } = await openYard(t, {
    ...{ "workspace/c/outputs/a": "a1", "workspaces/task/b": "b2", "trash/0123abcd/c": "c3" },
    ...{ "kept/workspace/c/contents/d": "d4", "staging/e": "", "logs/f": "", key: "secret" },
    "workspace/not ours/g": "",
  });
  chmodSync(path("workspaces/task/b"), 0o640);
  const { read: found, entries, databaseBytes } = await read();
  assert.deepEqual(Object.entries(entries), [
    ["sessions.db", "600 SQLite"],
    ["workspace/c", "folder"],
    ["workspace/c/outputs", "folder"],
    ["workspace/c/outputs/a", "644 a1"],
    ["workspaces/task", "folder"],
    ["workspaces/task/b", "640 b2"],
    ["trash/0123abcd", "folder"],
    ["trash/0123abcd/c", "644 c3"],
    ["kept", "folder"],
    ["kept/workspace", "folder"],
    ["kept/workspace/c", "folder"],
    ["kept/workspace/c/contents", "folder"],
    ["kept/workspace/c/contents/d", "644 d4"],
  ]);
  assert.ok(found.ok);
  const { head, end } = found.value;
  assert.deepEqual(head, { format: 1, ...wanted, at: 9 });
  const headBytes = JSON.stringify(head).length + 1;
  const counts = { conversations: 3, files: 6, bytes: headBytes + databaseBytes + 4 * 2 };
  assert.deepEqual(end, { ...counts, leftOut: [], leftOutCount: 0, changing: [] });
  execFileSync("rm", [path("staging/e")]);
  isClean();
});

test("whoever takes no more of a backup leaves nothing of it behind, wherever they stop [Q3]", async (t) => {
  const { take, isClean } = await openYard(t, { "workspace/c/large": "x".repeat(6_000_000), "workspace/d/a": "" });
  let pieces = 0;
  for await (const _ of take()) pieces += 1;
  assert.ok(pieces > 20);
  for (const stop of [1, 3, 10, pieces - 2]) {
    let taken = 0;
    for await (const _ of take()) if (++taken === stop) break;
    isClean();
  }
});

test("a backup with names that are no text can be put back, also where two of them look alike: what has no path is named [Q3]", async (t) => {
  const { read, base, path } = await openYard(t, { "workspace/c/": "" });
  const odd = (...names: string[]) => Buffer.from(path("workspace/c", ...names), "latin1");
  for (const name of ["f\xfe", "f\xff", "\xfd"]) mkdirSync(odd(name));
  // Whichever of the two comes first, the other has a folder where that one has a file.
  for (const name of ["f\xff/sub/deep", "f\xfe/twin/deep"]) mkdirSync(odd(name), { recursive: true });
  const alike = ["f\xfe/a", "f\xff/a", "f\xfe/sub", "f\xff/sub/deep/c", "f\xff/twin", "f\xfe/twin/deep/c"];
  const names = [...alike, "f\xff/b", "f\xfe/\xff", "\xfd/x", "\xfe", "\xff"];
  for (const name of names) writeFileSync(odd(name), name);
  writeFileSync(path("workspace/c/\uFFFD"), "text");
  const { read: found } = await read();
  assert.ok(found.ok);
  const folder = join(base, "restored");
  mkdirSync(folder);
  const unpacking = openUnpacking(folder);
  const back = await readArchive(join(base, "b.tar"), unpacking);
  assert.deepEqual([back.ok || back.failure, await unpacking.finish()], [true, undefined]);
  unpacking.close();
  const files = readdirSync(join(folder, "workspace/c"), { recursive: true, encoding: "buffer", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(Buffer.concat([Buffer.from(entry.parentPath), Buffer.from("/"), entry.name]), "utf8"));
  const { leftOut } = found.value.end;
  const isNamed = (name: string) => leftOut.includes(`workspace/c/${name.replaceAll(/[\xfd-\xff]/g, "\uFFFD")}`);
  assert.deepEqual(
    names.filter((name) => !files.includes(name) && !isNamed(name)),
    [],
    "each is there or named",
  );
  assert.ok(files.length >= 5 && ["\xfe", "\xff", "text"].every((text) => files.includes(text)));
});

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
