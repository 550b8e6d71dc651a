import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { conversationPromises, searchPromises } from "./storage-conversations.ts";
import { leasePromises, rulePromises, sharingPromises } from "./storage-leases.ts";
import { changedPromises, copyPromises, followerPromises, logPromises } from "./storage-log.ts";
import { executionPromises, peoplePromises, secretPromises, toolboxPromises } from "./storage-people.ts";
import { alice, bob, facts, makeConversation, morning, type Opener, openPlace, unwrap } from "./storage-place.ts";
import { cleanUpPromises, workspacePromises } from "./storage-workspaces.ts";

/** What every `Storage` promises. `makeOpener` answers how to open the same, at first empty, place again and again. */
function storageContract(
  name: string,
  makeOpener: (t: TestContext) => Promise<Opener>,
  openCopy: (path: string) => Promise<Storage>,
): void {
  const promises = {
    ...conversationPromises,
    ...logPromises,
    ...followerPromises,
    ...leasePromises,
    ...workspacePromises,
    ...cleanUpPromises,
    ...executionPromises,
    ...rulePromises,
    ...searchPromises,
    ...peoplePromises,
    ...secretPromises,
    ...toolboxPromises,
    ...sharingPromises,
    ...copyPromises(openCopy),
    ...changedPromises,
  };
  for (const [says, holds] of Object.entries(promises)) {
    test(`${name}: ${says}`, async (t) => {
      await using place = openPlace(await makeOpener(t));
      await holds(await place.open(), place);
    });
  }
}

storageContract(
  "SQLite",
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "storage-"));
    t.after(() => rmSync(directory, { recursive: true }));
    return async (clock) => unwrap(openSqlite({ path: join(directory, "sessions.db"), clock }));
  },
  async (path) => unwrap(openSqlite({ path, clock: systemClock })),
);

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

test("an empty place of a shared database server has no rows and counts from one, whatever was in it before", {
  skip: cannotStore,
}, async () => {
  const server = await postgresServer();
  const seen: unknown[] = [];
  for (const owner of [alice, bob]) {
    const storage = unwrap(await openPostgres({ url: await server.emptyPlace(), clock: systemClock, fillCopy }));
    const before = [await storage.listConversations(alice, { limit: 9 }), await storage.listUsers(9)];
    const number = await makeConversation(storage, "c", owner);
    unwrap(await storage.append({ number, events: facts("a"), with: { asked: [{ decision: "d", body: "{}" }] } }));
    unwrap(await storage.workspaceOf(number, { folder: "workspace/c", otherFolder: "x", at: morning }));
    seen.push([before, number, await storage.findWorkspace(number).then((row) => row?.ordinal), await storage.count()]);
    await storage.close();
  }
  assert.deepEqual(seen, Array(2).fill([[[], []], 1, 1, { conversations: 1, decisionsOpen: 1 }]));
});
