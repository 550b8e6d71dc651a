import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const inFile = (command: string, text: string) =>
  kindsOf(commandFindings(command, { ...judgedFacts, scripts: new Map([["a.sql", text]]) }, nothingListed));

test("a statement that drops or empties is seen however it is spaced, quoted or commented [H1]", () => {
  const statements = linesOf(
    "database",
    `drop  materialized  view t
     truncate  t
     truncate  table  t
     truncate "t"
     truncate \`t\`
     truncate a.t
     truncate my-t
     delete  from  t
     delete from "t"
     delete from \`t\`
     delete  from  t  where  true
     select 1 /* a */; drop table t -- */
     /**/drop table t
     drop/**/table t`,
  );
  compare(
    commandFindings,
    statements.map(([statement, kinds]) => [`psql -c '${statement}'`, kinds]),
  );
  compare(commandFindings, [
    ["psql -c '-- a\ndrop table t'", "database"],
    ["psql -c 'select 1 /* drop table t'", ""],
    ["psql -c 'select 1 -- drop table t'", ""],
  ]);
});

test("a client of a database is told apart from programs whose names begin or end like its own [H1]", () => {
  compare(commandFindings, [
    ...rowsOf("", "% -c 'drop table t'", "sqlitebrowser mysqltuner my-psql"),
    ...linesOf(
      "",
      `dropdbs a
       undropdb a
       redis-cli-x flushall
       my-redis-cli flushall
       redis-cli get flushall_at
       redis-cli get last_flushall
       mongoimport 'a.drop()'
       my-mongo 'a.drop()'
       echo drop
       npm-admin drop a`,
    ),
    ["redis-cli -n 1 flushall", "database"],
    ["mysqladmin -f drop a", "database"],
  ]);
});

test("a file of statements is read where a client runs it, up to 262,144 characters, and nowhere else [H1]", () => {
  assert.deepEqual(
    ["psql -f a.sql", "sqlite3 b.db '.read  a.sql'", "psql -c 'select 1' a.sql", "psql -f missing.sql"].map((command) =>
      inFile(command, "drop table t"),
    ),
    ["database", "database", "", ""],
  );
  assert.deepEqual(scriptsOf({ tool: "run_bash_command", arguments: { command: "psql -f changes" } }), ["changes"]);
  const before = "-f;\na.sql;\n;\n".length;
  const endingAt = (length: number) => "drop table".padStart(length - before);
  assert.deepEqual(
    [inFile("psql -f a.sql", endingAt(262_144)), inFile("psql -f a.sql", endingAt(262_145))],
    ["database", ""],
  );
});
