import { createHash } from "node:crypto";

/**
 * With `AGENTYARD_TEST_DATABASE=postgres://…` every yard and every program of a test keeps its data there, each folder in a
 * schema of its own; otherwise in files.
 */
export function databaseEnv(folder: string): Record<string, string> {
  const { AGENTYARD_TEST_DATABASE: base } = process.env;
  if (base === undefined) return {};
  const schema = `test_${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
  return { AGENTYARD_DATABASE_URL: `${base}${base.includes("?") ? "&" : "?"}schema=${schema}` };
}
