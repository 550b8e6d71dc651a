import assert from "node:assert/strict";
import { test } from "node:test";
import { configOf, schemaOf } from "./database-place.ts";
import { types } from "./query.ts";

const url = "postgres://kim:secret@db.example:5433/yard?sslmode=require";
const session = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";

test("a session waits for the disk, for others and for a server that is gone as long as was said, and no longer [N1][L2]", () => {
  const place = { url: `${url}&schema=own&options=-c%20work_mem%3D8MB`, statementMsMax: 30_000 };
  assert.deepEqual(configOf({ ...place, synchronous: "full" }), {
    connectionString: url,
    types,
    application_name: "agentyard",
    options: `-c work_mem=8MB -c search_path=own -c synchronous_commit=on ${session}`,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: 5_000 },
    ...{ statement_timeout: 30_000, lock_timeout: 5_000, idle_in_transaction_session_timeout: 30_000 },
    query_timeout: 35_000,
  });
  assert.equal(
    configOf({ url, statementMsMax: 1, synchronous: "normal" }).options,
    `-c search_path=agentyard -c synchronous_commit=off ${session}`,
  );
  assert.equal(schemaOf(url), "agentyard");
});
