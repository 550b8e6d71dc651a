import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";

// Storage as the product wires it. A power cut is about this one adapter, what it leaves and how it opens again.

/** For a program that is recorded. */
export function openStorage(path: string, synchronous: "full" | "normal"): Storage {
  const opened = openSqlite({ path, clock: systemClock, synchronous });
  assert.ok(opened.ok, JSON.stringify(opened));
  return opened.value;
}

/** Opened as the product opens it at its next start. */
export async function inStorage(
  path: string,
  work: (storage: Storage) => Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  // The reserve only takes up room; it is not worth writing a megabyte for each look.
  if (existsSync(dirname(path))) writeFileSync(`${path}.reserve`, "");
  const opened = openSqlite({ path, clock, synchronous: "normal" });
  assert.ok(opened.ok, `the database does not open: ${JSON.stringify(opened)}`);
  try {
    await work(opened.value);
    const database = new DatabaseSync(path, { readOnly: true });
    const said = database.prepare("PRAGMA integrity_check").all();
    database.close();
    assert.deepEqual(
      said.map((row) => row.integrity_check),
      ["ok"],
    );
  } finally {
    await opened.value.close();
  }
}

/** Whatever the process before has left, the next one owns the data. */
export function checkOwnership(data: string): void {
  const lock = takeOwnership(data, { pid: 1, startedAt: 1, socket: "", protocol: "" });
  assert.ok(lock.ok, "the next process owns the data");
  lock.value.release();
}
