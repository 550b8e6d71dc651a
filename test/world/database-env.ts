import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * With `AGENTYARD_TEST_DATABASE=postgres://…` every yard and every program of a test keeps its data there, each folder in a
 * schema of its own; otherwise in files. A data directory that has its file already, such as one that was restored, keeps it.
 */
export function databaseEnv(folder: string, data = folder): Record<string, string> {
  const { AGENTYARD_TEST_DATABASE: base } = process.env;
  if (base === undefined || existsSync(join(data, "sessions.db"))) return {};
  const schema = `test_${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
  return { AGENTYARD_DATABASE_URL: `${base}${base.includes("?") ? "&" : "?"}schema=${schema}` };
}
