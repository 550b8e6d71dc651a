import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { asToday, fixtureVersion, readContents } from "../contracts/fixture.ts";
import { morning } from "../contracts/storage-place.ts";
import { type Cut, cutPower, killedAt, linesOf, tellCuts, writeTree } from "../world/power-cut.ts";
import { recordLog } from "../world/power-cut-log.ts";
import { cannotRecord, type Recording } from "../world/power-cut-record.ts";
import { inStorage } from "../world/power-cut-storage.ts";

const data = join(import.meta.dirname, "..", "data");
/** Opens the database, and is cut off. */
const start = { conversations: 0, batches: [0], eventBytes: 0 };

const lefts: Record<string, (path: string) => void> = {
  "closed in order": (path) => copyFileSync(join(data, "sessions-v1.db"), path),
  "that was killed, with its write-ahead log": (path) => {
    copyFileSync(join(data, "sessions-v1.db"), `${path}.old`);
    const old = new DatabaseSync(`${path}.old`);
    old.exec("PRAGMA journal_mode = WAL; PRAGMA user_version = 0; PRAGMA user_version = 1");
    for (const end of ["", "-wal"]) copyFileSync(`${path}.old${end}`, `${path}${end}`);
    old.close();
  },
};

for (const [how, prepare] of Object.entries(lefts)) {
  test(`whenever the power fails during the migration of a database ${how}, all of it is there afterwards, and the copy of it when it was changed [L2][Q2][Q3]`, {
    skip: cannotRecord,
  }, async (t) => {
    const recording = await recordLog(t, { ...start, prepare });
    const figures = await cutPower(recording, { randomCuts: 15, check: checkMigrated(recording) });
    tellCuts(`a migration, ${how}`, figures);
  });
}

test("whenever the power fails at the first start after a restore, the database opens and all of it is there [L2][Q2][Q3]", {
  skip: cannotRecord,
}, async (t) => {
  const path = join(data, `sessions-v${fixtureVersion}.db`);
  const prepare = (to: string) => {
    copyFileSync(path, to);
    // As a backup has it: one file, without a log.
    const restored = new DatabaseSync(to);
    restored.exec("PRAGMA journal_mode = DELETE");
    restored.close();
  };
  const recording = await recordLog(t, { ...start, prepare });
  const figures = await cutPower(recording, { randomCuts: 15, check: (cut) => checkContents(cut, fixtureVersion) });
  tellCuts("the start after a restore", figures);
});

test("a first start that is killed before its folders are safe from a power cut leaves that to the next one [L2][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const first = await recordLog(t, start);
  const [safe] = aboveSynced(first);
  assert.ok(safe !== undefined, "the folder above the new one is synced");
  const left = killedAt(first, safe.began);
  const next = await recordLog(t, { ...start, prepare: (path) => writeTree(left, dirname(dirname(path))) });
  assert.equal(aboveSynced(next).length, 1, "the name of the folder of the database is never made safe");
});

/** Each time the names in the folder above that of the database were made safe. */
function aboveSynced({ steps }: Recording) {
  return steps.filter((step) => step.does === "sync" && step.path === "");
}

function checkMigrated(recording: Recording): (cut: Cut) => Promise<void> {
  const opened = linesOf(recording).find(({ line }) => line === "opened");
  assert.ok(opened !== undefined, "the program told that the database was open");
  return async (cut) => {
    const path = join(cut.folder, "data", "sessions.db");
    const version = versionOf(path);
    assert.ok(version === fixtureVersion || cut.last < opened.moment, `opened, and yet of version ${version}`);
    if (version > 1) {
      assert.ok(existsSync(`${path}.v1.bak`), "the database was changed, and its copy is gone");
      assert.equal(versionOf(`${path}.v1.bak`), 1);
    }
    await checkContents(cut, 1);
  };
}

async function checkContents({ folder }: Cut, version: number): Promise<void> {
  const kept = JSON.parse(readFileSync(join(data, `sessions-v${version}.json`), "utf8"));
  const check = async (storage: Storage) => assert.deepEqual(await readContents(storage), asToday(kept));
  // Its lease has run out by now.
  await inStorage(join(folder, "data", "sessions.db"), check, { ...systemClock, now: () => morning });
}

/** With a whole file around it. */
function versionOf(path: string): number {
  const database = new DatabaseSync(path);
  try {
    assert.equal(database.prepare("PRAGMA integrity_check").get()?.integrity_check, "ok");
    return Number(database.prepare("PRAGMA user_version").get()?.user_version);
  } finally {
    database.close();
  }
}
