import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { agreeWithOthers } from "../../src/agreement.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { makeConversation, morning, unwrap } from "./storage-place.ts";

const key = "k".repeat(32);

test("all processes on one database have one key and one folder of files; one that has others is refused with what to do [N1][P5]", async (t) => {
  const { storage, join: enter, folder } = await place(t);
  assert.deepEqual(await enter({ filesDir: folder("files"), secretKey: key }), "ok");
  assert.deepEqual(await enter({ filesDir: folder("files"), secretKey: key }), "ok");
  // Nobody lives and nothing rests on them: who comes next may have others.
  assert.deepEqual(await enter({ filesDir: folder("other"), secretKey: `other${key}` }), "ok");
  await storage.beat({ id: "a", address: "host:1" });
  assert.match(await enter({ filesDir: folder("other"), secretKey: key }), /database_unusable.*other_key/);
  assert.match(await enter({ filesDir: folder("files"), secretKey: `other${key}` }), /database_unusable.*other_files/);
  unwrap(await storage.leave("a"));
  const number = await makeConversation(storage);
  const row = unwrap(await storage.workspaceOf(number, { folder: "workspace/c", otherFolder: "x", at: morning }));
  unwrap(await storage.updateWorkspace(row.folder, { madeAt: morning }));
  const refused = await enter({ filesDir: folder("third"), secretKey: `other${key}` });
  assert.match(refused, /other_files/);
  assert.deepEqual(readdirSync(folder("third")), [], "nothing is left where nothing is wanted");
  // The words say what to write where, for a folder that was lost for good.
  const [, path = "", id = ""] = /"said":"(.+): ([0-9a-f]{32})"/.exec(refused) ?? [];
  writeFileSync(path, `${id}\n`);
  assert.deepEqual(await enter({ filesDir: folder("third"), secretKey: `other${key}` }), "ok");
  const secret = { owner: localOwner, name: "n", sealed: new Uint8Array(1), createdAt: 1, updatedAt: 1 };
  unwrap(await storage.putSecret(secret));
  assert.match(await enter({ filesDir: folder("third"), secretKey: key }), /other_key/);
});

test("processes that begin in one moment make one mark, and a key that lies in a data directory is that of one process [N1]", async (t) => {
  const { storage, join: enter, folder } = await place(t);
  const wanted = { filesDir: folder("files"), secretKey: key };
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => enter(wanted))), ["ok", "ok", "ok", "ok"]);
  await storage.beat({ id: "a", address: "host:1" });
  assert.match(await enter({ ...wanted, secretKey: undefined }), /other_key/);
  assert.match(await enter({ filesDir: "/proc/nowhere", secretKey: key }), /data_unusable/);
});

async function place(t: TestContext, more = "") {
  const url = `${await (await postgresServer()).emptyPlace()}${more}`;
  const storage = unwrap(await openPostgres({ url, clock: systemClock, fillCopy }));
  const dir = mkdtempSync(join(tmpdir(), "agreement-"));
  t.after(async () => {
    await storage.close();
    rmSync(dir, { recursive: true });
  });
  const database = { url, connectionsMax: 1, statementMsMax: 1, awayMsMax: 1, peerAddress: undefined };
  return {
    storage,
    url,
    folder(name: string): string {
      mkdirSync(join(dir, name), { recursive: true });
      return join(dir, name);
    },
    async join(
      { filesDir, secretKey }: { filesDir: string; secretKey: string | undefined },
      by: Storage = storage,
    ): Promise<string> {
      const paths = { dataDir: dir, filesDir, sessionDbPath: "", logsDir: "" };
      const config = { paths, secretKey, storage: { synchronous: "full" as const, database } };
      const found = await agreeWithOthers({ config, storage: by, ids: systemIds });
      return found.ok ? "ok" : JSON.stringify(found.failure);
    },
  };
}
