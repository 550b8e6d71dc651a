import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { systemClock } from "../../base/clock.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { baseOf, seqMax } from "../checks.ts";
import type { EncodedEvent } from "../storage.ts";
import { closeConnections, openConnections } from "./connections.ts";
import { openEvents } from "./events.ts";
import { failureOf } from "./failures.ts";
import { openSqlite } from "./sqlite.ts";
import { syncFolder, syncNamesOf } from "./sync-folder.ts";

test("what is written is on the disk as was said, its log stays small, and a lock holds up the process for no more than a moment [L2][Q2]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  for (const [synchronous, level] of [
    ["full", 2],
    ["normal", 1],
  ] as const) {
    const opened = openConnections({ path, synchronous, busyTimeoutMs: 777 });
    assert.ok(opened.ok);
    const { writer, reader } = opened.value;
    const asked = (database: DatabaseSync, name: string) =>
      Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {});
    const names = ["journal_mode", "synchronous", "journal_size_limit", "busy_timeout"];
    assert.deepEqual(
      names.flatMap((name) => asked(writer, name)),
      ["wal", level, 64 * 1024 * 1024, 10],
    );
    assert.deepEqual(asked(reader, "busy_timeout"), [777]);
    assert.throws(() => reader.exec("DELETE FROM wake"), /readonly/);
    closeConnections(opened.value);
  }
});

const fact = (text: string): EncodedEvent => ({ type: "message.user", version: 1, at: 1, body: text });

function openLog(t: TestContext) {
  const path = join(folderWith(t, {}), "d.db");
  const opened = openConnections({ path, synchronous: "normal", busyTimeoutMs: 0 });
  assert.ok(opened.ok);
  t.after(() => closeConnections(opened.value));
  const { writer, reader } = opened.value;
  return { writer, events: openEvents(writer, reader) };
}

test("a conversation that is full takes nothing more, and none of its events becomes its neighbour's [L2]", (t) => {
  const { writer, events } = openLog(t);
  const last = { seq: seqMax, ...fact("last") };
  writer
    .prepare("INSERT INTO event (id, type, v, at, body) VALUES (?, 'message.user', 1, 1, 'before')")
    .run(baseOf(1) + seqMax - 1);
  assert.throws(() => events.append(1, [fact("a"), fact("b")]), /fewer than 2\^24/);
  assert.equal(events.append(1, [last]), seqMax);
  assert.throws(() => events.append(1, [fact("more")]), /fewer than 2\^24/);
  assert.equal(events.append(2, [fact("first")]), 1);
  assert.deepEqual(events.read(1, { after: seqMax - 1, limit: 9 }), [last]);
  assert.deepEqual(events.readBack(1, { before: 2 ** 24, limit: 1 }), [last]);
  assert.deepEqual([events.head(1), events.head(2), events.head(3)], [seqMax, 1, 0]);
  assert.deepEqual(events.readBack(2, { before: 9, limit: 9 }), [{ seq: 1, ...fact("first") }]);
  events.remove(1);
  assert.deepEqual([events.head(1), events.head(2)], [0, 1]);
});

/** As Node throws what SQLite, or the system, said. */
function toldAs(about: { readonly errcode: number } | { readonly code: string; readonly syscall: string }): unknown {
  const failure = failureOf(Object.assign(new Error("no"), about));
  if (failure === undefined) return undefined;
  return "why" in failure.params ? `${failure.code} ${failure.params.why}` : failure.code;
}

test("what SQLite says becomes a failure with its cause, and what only a mistake of ours can be none [Q2][P4]", () => {
  const said = {
    storage_busy: [5, 6, 15, 261],
    storage_full: [13, 778, 4874],
    storage_read_only: [8, 14],
    "storage_broken removed": [1032],
    // A disk that fails when it is read, and when it is synced.
    "storage_broken io": [10, 266, 1034],
    "storage_broken damaged": [11, 26, 267],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const errcode of codes) assert.equal(toldAs({ errcode }), failure, String(errcode));
  assert.equal(toldAs({ errcode: 1 }), undefined, "a statement that is wrong");
});

test("what the system says to the file of the database becomes one, too [Q2][P4]", () => {
  const said = {
    storage_full: ["ENOSPC", "EDQUOT", "EFBIG"],
    storage_read_only: ["EACCES", "EPERM", "EROFS"],
    "storage_broken place": ["ENOTDIR", "EEXIST", "ELOOP", "ENAMETOOLONG"],
    "storage_broken io": ["EIO"],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const code of codes) assert.equal(toldAs({ code, syscall: "open" }), failure, code);
});

const memory = { owner: OwnerId.parse("alice"), id: "m", fact: "tea", conversation: undefined, at: 1 };

test("who ends while another program has the database locked ends all the same, holds nothing, and has lost nothing [Q2][L2][P3]", async (t) => {
  const path = join(folderWith(t, {}), "d.db");
  const held = () => openFiles().filter((file) => file.startsWith(path)).length;
  const open = () => {
    const opened = openSqlite({ path, clock: systemClock });
    assert.ok(opened.ok);
    return opened.value;
  };
  const storage = open();
  for (let index = 0; index < 300; index += 1) await storage.putMemory({ ...memory, id: `${index}` });
  const other = new DatabaseSync(path);
  other.exec("BEGIN EXCLUSIVE");
  await storage.close();
  await storage.close();
  other.close();
  assert.equal(held(), 0);
  const again = open();
  assert.equal((await again.listMemory(memory.owner, 999)).length, 300);
  await again.close();
  assert.equal(held(), 0);
});

test("a folder whose names cannot be made safe is told, but for those where nothing of ours is new [Q2]", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-sync-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  syncNamesOf(folder);
  // This file system syncs no folders.
  syncFolder("/proc");
  assert.throws(() => syncFolder(join(folder, "gone")), { code: "ENOENT" });
});
