import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId, localOwner } from "../protocol/ids.ts";
import { type ArchiveOptions, archive } from "./archive.ts";
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
      assert.deepEqual(
        openFiles().filter((path) => path.startsWith(base)),
        [],
      );
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

test("a database that cannot be copied ends a backup with that reason, before any file is taken [Q3][Q2]", async (t) => {
  const copyTo = async () => failure("storage_full", {});
  const { read, isClean } = await openYard(t, { "workspace/c/a": "" }, () => ({ storage: { copyTo } }));
  const { read: found, entries } = await read();
  assert.deepEqual([found, entries], [failed({ fault: { code: "storage_full", params: {} } }), {}]);
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

test("whoever leaves a backup has waited until nobody is at it any more [Q3][P3]", async (t) => {
  const told: string[] = [];
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { take, isClean } = await openYard(t, {}, ({ storage }) => ({
    storage: {
      async copyTo(path) {
        begun.resolve();
        await gate.promise;
        const copied = await storage.copyTo(path);
        told.push("copied");
        return copied;
      },
    },
  }));
  const backup = take();
  let isBegun = false;
  void begun.promise.then(() => {
    isBegun = true;
  });
  while (!isBegun) {
    await backup.next();
    for (let turns = 0; turns < 10; turns += 1) await nextLoop();
  }
  const left = backup.return(undefined).then(() => told.push("left"));
  for (let turns = 0; turns < 10; turns += 1) await nextLoop();
  gate.resolve();
  await left;
  assert.deepEqual(told, ["copied", "left"]);
  isClean();
});

test("a mistake of ours while a backup is made is heard by whoever takes it, and leaves nothing behind [Q3][Q2]", async (t) => {
  const mistake = new RangeError("of ours");
  const open = () => Promise.reject(mistake);
  const { take, isClean } = await openYard(t, { "workspace/c/a": "" }, () => ({ plots: { open } }));
  const all = async () => {
    for await (const _ of take());
  };
  await assert.rejects(all(), mistake);
  isClean();
});

test("a workspace that cannot be opened is left out by name, one that has gone is not missed, and the others are taken [Q3][X4]", async (t) => {
  const names = ["workspace/broken/a", "workspace/gone/a", "workspace/here/a", "images/trash/0123abcd"];
  const files = Object.fromEntries(names.map((name) => [name, ""]));
  const { read } = await openYard(t, files, ({ plots, layout: { dataDir, stagingFolder } }) => ({
    plots: {
      async open(name) {
        if (name === "workspace/broken") return failed("io");
        if (name === "workspace/gone") return ok(undefined);
        const image = { folder: join(dataDir, "workspace/here"), stagingFolder, isImage: true };
        return name === "trash/0123abcd" ? ok(image) : plots.open(name);
      },
    },
  }));
  const { read: found, entries } = await read();
  assert.deepEqual(Object.keys(entries), [
    ...["sessions.db", "workspace/here", "workspace/here/a", "trash/0123abcd", "trash/0123abcd/a"],
  ]);
  assert.deepEqual(found.ok && [found.value.end.leftOut, found.value.end.leftOutCount], [["workspace/broken"], 1]);
});

test("the key is in a backup where it is asked for, from where it lies; what stands there instead is left out, and said [Q3]", async (t) => {
  const elsewhere = folderWith(t, { "own/key": "of its own", "folder/key/": "", "none/": "", "loop/": "" });
  symlinkSync("key", join(elsewhere, "loop", "key"));
  const keyIn = async (keyDir: string | undefined, withKey = true) => {
    const { read } = await openYard(t, { key: "beside the data" }, () => ({ keyDir }));
    const { read: found, entries } = await read(withKey);
    return [entries.key, found.ok && found.value.end.leftOut];
  };
  assert.deepEqual(await keyIn(undefined), ["600 beside the data", []]);
  assert.deepEqual(await keyIn(undefined, false), [undefined, []]);
  assert.deepEqual(await keyIn(join(elsewhere, "own")), ["600 of its own", []]);
  assert.deepEqual(await keyIn(join(elsewhere, "none")), [undefined, []]);
  assert.deepEqual(await keyIn(join(elsewhere, "folder")), [undefined, []]);
  assert.deepEqual(await keyIn(join(elsewhere, "loop")), [undefined, ["key"]]);
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
