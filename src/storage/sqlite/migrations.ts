import { renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { integer } from "../rows.ts";
import { log } from "./migrations/0001-log.ts";
import { workspaces } from "./migrations/0002-workspaces.ts";
import { sandbox } from "./migrations/0003-sandbox.ts";
import { decisions } from "./migrations/0004-decisions.ts";
import { people } from "./migrations/0005-people.ts";
import { secrets } from "./migrations/0006-secrets.ts";
import { toolboxes } from "./migrations/0007-toolboxes.ts";
import { pins } from "./migrations/0008-pins.ts";
import { syncFolder } from "./sync-folder.ts";

/** Forward only; the place in the list is the version. A released one is never changed. */
export const migrations: readonly string[] = [log, workspaces, sandbox, decisions, people, secrets, toolboxes, pins];

/** Which version the file has: 0 is an empty one. Reads, and touches nothing. */
export function readVersion(
  database: DatabaseSync,
  known: number = migrations.length,
): Result<number, Failure<"storage_newer" | "storage_broken">> {
  const found = pragma(database, "user_version");
  const tables = integer(database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() ?? {}, "tables");
  if (found === 0 && tables === 0) return ok(0);
  // Another program counts its versions too; ours would be written into its tables.
  if (pragma(database, "application_id") !== applicationId) return failure("storage_broken", { why: "foreign" });
  if (found > known) return failure("storage_newer", { found, known });
  return ok(found);
}

/**
 * Brings the database from version `from` to the newest, each step in its own transaction. A copy of a database that
 * holds something is kept first, so that going back to the older program is possible.
 */
export function migrate(
  database: DatabaseSync,
  options: { path: string; from: number; steps?: readonly string[] },
): void {
  const { path, from, steps = migrations } = options;
  if (from === steps.length) return;
  if (from > 0) keepCopy(database, `${path}.v${from}.bak`);
  for (const [index, sql] of steps.entries()) {
    if (index < from) continue;
    step(database, sql, index + 1);
  }
}

/** "AYRD" in the header of the file, set by the first migration. */
const applicationId = 0x41595244;

function step(database: DatabaseSync, sql: string, version: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    assert(pragma(database, "user_version") === version - 1, `migration ${version} finds version ${version - 1}`);
    database.exec(sql);
    database.exec(`PRAGMA user_version = ${version}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Made under another name first: a copy that was cut short must not look like one. */
function keepCopy(database: DatabaseSync, path: string): void {
  const unfinished = `${path}.part`;
  rmSync(unfinished, { force: true });
  try {
    database.prepare("VACUUM INTO ?").run(unfinished);
    renameSync(unfinished, path);
    // Before the first step changes the database: a power cut must not take the copy and leave the change.
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function pragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return integer(database.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}
