import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { storageContract } from "./storage-contract.ts";
import { unwrap } from "./storage-place.ts";

storageContract(
  "SQLite",
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "storage-"));
    t.after(() => rmSync(directory, { recursive: true }));
    return async (clock) => unwrap(openSqlite({ path: join(directory, "sessions.db"), clock }));
  },
  async (path) => unwrap(openSqlite({ path, clock: systemClock })),
);
