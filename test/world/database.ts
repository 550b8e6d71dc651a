import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { folderWith } from "./folder.ts";

/** One in which nothing was stored: to make its tables takes far longer than to copy them. */
let empty: Buffer | undefined;

function copyOf(path: string): Buffer {
  const database = new DatabaseSync(path);
  database.exec(`VACUUM INTO '${path}.copy'`);
  database.close();
  const copy = readFileSync(`${path}.copy`);
  rmSync(`${path}.copy`);
  return copy;
}

/** A database of its own, for as long as a test runs. */
export function openDatabase(t: TestContext, clock: Clock = systemClock): Storage {
  const path = join(folderWith(t, {}), "sessions.db");
  if (empty !== undefined) writeFileSync(path, empty, { mode: 0o600 });
  const opened = openSqlite({ path, clock });
  assert.ok(opened.ok);
  empty ??= copyOf(path);
  t.after(() => opened.value.close());
  return opened.value;
}
