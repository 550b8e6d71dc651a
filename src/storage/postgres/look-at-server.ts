import { failed, ok, type Result } from "../../base/result.ts";
import type { FillCopy } from "../copied-tables.ts";
import { text } from "../rows.ts";
import { type ConnectionOptions, openConnections } from "./connections.ts";
import { copyDatabase } from "./copy.ts";
import { schemaOf } from "./database-place.ts";
import { openFailureOf } from "./failures.ts";
import { newestVersion, readVersion } from "./migrations.ts";
import type { OpenFailure } from "./postgres.ts";
import { livingSql } from "./sharing.ts";

type Place = Omit<ConnectionOptions, "connectionsMax" | "awayMsMax">;

/** Whether the database could be opened, its format, undefined where there is none yet, which server it is, and who works with it. */
export async function lookAtServer(
  place: Place,
): Promise<
  Result<{ readonly format: number | undefined; readonly server: string; readonly living: string[] }, OpenFailure>
> {
  const connections = openConnections({ ...place, ...onlyLooking });
  try {
    const version = await readVersion(connections.reader, schemaOf(place.url));
    if (!version.ok) return version;
    const row = await connections.reader.one("SELECT current_setting('server_version') AS version");
    const format = version.value === 0 ? undefined : version.value;
    // Older formats know of none.
    const rows = format === newestVersion ? await connections.reader.all(livingSql, null) : [];
    return ok({ format, server: text(row ?? {}, "version"), living: rows.map((each) => text(each, "address")) });
  } catch (error) {
    const reason = openFailureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  } finally {
    await connections.close();
  }
}

/**
 * A copy of what a check of the record of decisions looks at; undefined where the tables are not those of the newest
 * format, or are not there yet. Others go on meanwhile.
 */
export async function copyRecord(place: Place, path: string, fillCopy: FillCopy) {
  const looked = await lookAtServer(place);
  if (!looked.ok) return looked;
  if (looked.value.format !== newestVersion) return ok(undefined);
  const connections = openConnections({ ...place, ...onlyLooking });
  try {
    return await copyDatabase(connections, path, fillCopy, recordTables);
  } finally {
    await connections.close();
  }
}

/** Those that look-at-record.ts of SQLite reads. */
const recordTables = ["conversation", "event", "decision", "old_decision", "rule"];
const onlyLooking = { connectionsMax: 1, awayMsMax: 0 };
