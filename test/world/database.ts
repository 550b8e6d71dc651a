import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { folderWith } from "./folder.ts";

/** A database of its own, for as long as a test runs. */
export function openDatabase(t: TestContext, clock: Clock = systemClock): Storage {
  const opened = openSqlite({ path: join(folderWith(t, {}), "sessions.db"), clock });
  assert.ok(opened.ok);
  t.after(() => opened.value.close());
  return opened.value;
}
