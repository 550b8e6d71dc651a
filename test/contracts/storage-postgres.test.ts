import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { storageContract } from "./storage-contract.ts";
import { unwrap } from "./storage-place.ts";

if (cannotStore) test("PostgreSQL keeps the promises of storage", { skip: cannotStore });
else
  storageContract(
    "PostgreSQL",
    async () => {
      const url = await (await postgresServer()).emptyPlace();
      return async (clock) => unwrap(await openPostgres({ url, clock, now: clock.now, fillCopy }));
    },
    async (path) => unwrap(openSqlite({ path, clock: systemClock })),
  );
