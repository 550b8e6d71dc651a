import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { agreeWithOthers, buryPredecessor } from "../../src/agreement.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { codeOf, makeConversation, morning, unwrap } from "./storage-place.ts";

const skip = cannotStore;
const key = "k".repeat(32);

test("all processes on one database have one key and one folder of files; one that has others is refused with what to do [N1][P5]", {
  skip,
}, async (t) => {
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

test("processes that begin in one moment make one mark, and a key that lies in a data directory is that of one process [N1]", {
  skip,
}, async (t) => {
  const { storage, join: enter, folder } = await place(t);
  const wanted = { filesDir: folder("files"), secretKey: key };
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => enter(wanted))), ["ok", "ok", "ok", "ok"]);
  await storage.beat({ id: "a", address: "host:1" });
  assert.match(await enter({ ...wanted, secretKey: undefined }), /other_key/);
  assert.match(await enter({ filesDir: "/proc/nowhere", secretKey: key }), /data_unusable/);
});

test("of two that begin in one moment with keys of their own one is told so [N1][P4]", { skip }, async (t) => {
  const { storage, url, folder, join: joined } = await place(t, "&application_name=agreeing");
  const by = unwrap(await openPostgres({ url, clock: systemClock, fillCopy }));
  t.after(() => by.close());
  const filesDir = folder("files");
  const [first, second] = ["1".repeat(32), "2".repeat(32)];
  assert.equal(await joined({ filesDir, secretKey: first }), "ok");
  // The second one has seen that nobody lives, or will see; then the first one says that it does, and looks again.
  const server = await postgresServer();
  await using holder = await server.session();
  await holder.query("BEGIN");
  await holder.query(`SELECT 1 FROM "${new URL(url).searchParams.get("schema")}".agreement FOR UPDATE`);
  const waiting = async () => Number((await server.run(waitingSql)).rows[0].waiting);
  const other = joined({ filesDir, secretKey: second }, by);
  await until("it waits", async () => (await waiting()) === 1);
  await storage.beat({ id: "first", address: "host:1" });
  const still = joined({ filesDir, secretKey: first });
  await Promise.race([still, until("it waits as well", async () => (await waiting()) === 2)]);
  await holder.query("COMMIT");
  const answers = await Promise.all([still, other]);
  assert.deepEqual(
    answers.map((answer) => (answer === "ok" ? answer : JSON.parse(answer).params.why)),
    ["ok", "other_key"],
  );
});

const waitingSql = `SELECT count(*) AS waiting FROM pg_stat_activity
  WHERE application_name = 'agreeing' AND wait_event_type = 'Lock'`;

test("who owns a data directory need not wait for the process that had it before: that one is known to be dead [N1][P3]", {
  skip,
}, async (t) => {
  const { storage, folder } = await place(t);
  const note = await buryPredecessor(storage, folder("data"));
  await storage.beat({ id: "first", address: "host:1" });
  note("first");
  const number = await makeConversation(storage);
  unwrap(await storage.claimLease(number, "first", 60_000));
  const second = { id: "second", address: "host:2" };
  await storage.beat(second);
  assert.equal(codeOf(await storage.claimLease(number, "second", 60_000)), "fenced");
  (await buryPredecessor(storage, folder("data")))("second");
  assert.deepEqual((await storage.beat(second)).living, [second]);
  assert.deepEqual(unwrap(await storage.claimLease(number, "second", 60_000)), { epoch: 2, wasAbandoned: true });
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
