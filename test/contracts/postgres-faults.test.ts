import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { ok, type Result } from "../../src/base/result.ts";
import type { Failure } from "../../src/protocol/failure.ts";
import { type HoldOptions, holdDatabase } from "../../src/storage/postgres/hold.ts";
import { openPostgres, type PostgresOptions } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { type Storage, StorageAway } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { cutAtCommit, sayingPostgres, stalling, takeOver } from "../world/postgres-doubles.ts";
import { cannotStore, type OwnPostgres, startPostgres, onPostgres as test } from "../world/postgres-server.ts";
import { must, startYard } from "../world/yard.ts";
import { codeOf, facts, makeConversation, readAll, stored, unwrap } from "./storage-place.ts";

// What the database server, the network and whoever runs them can do to us.
let server: OwnPostgres;
before(async () => {
  if (!cannotStore) server = await startPostgres();
});
after(() => server?.stop());

test("a database that cannot be used is named with the cause, and nothing is written to it [N1][Q2]", async () => {
  await server.run("CREATE ROLE weak LOGIN");
  await server.run("CREATE ROLE locked LOGIN PASSWORD 'right'");
  await server.run("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0");
  await server.run("CREATE SCHEMA kitchen; CREATE TABLE kitchen.recipe (name text)");
  const place = server.newPlace();
  const opened: Record<string, unknown> = {};
  for (const [name, url] of Object.entries({
    away: place.replace(server.folder, join(server.folder, "nowhere")),
    no_database: place.replace("/postgres?", "/missing?"),
    refused: place.replace("user=postgres", "user=locked&password=wrong"),
    no_rights: place.replace("user=postgres", "user=weak"),
    encoding: place.replace("/postgres?", "/ascii?"),
    foreign: place.replace(/schema=\w+/, "schema=kitchen"),
  })) {
    opened[name] = paramsOf(await open(url));
  }
  assert.deepEqual(opened, {
    away: { database_away: { why: "away", said: "ENOENT" } },
    no_database: { database_unusable: { why: "no_database", said: 'database "missing" does not exist (3D000)' } },
    refused: {
      database_unusable: { why: "refused", said: 'password authentication failed for user "locked" (28P01)' },
    },
    no_rights: { database_unusable: { why: "no_rights", said: "permission denied for database postgres (42501)" } },
    encoding: { database_unusable: { why: "encoding", said: "SQL_ASCII" } },
    foreign: { database_unusable: { why: "foreign", said: "kitchen" } },
  });
  const left = await server.run(
    "SELECT relname FROM pg_class WHERE relnamespace = 'kitchen'::regnamespace AND relkind = 'r'",
  );
  assert.deepEqual(left.rows, [{ relname: "recipe" }]);
});

test("a server that cannot encrypt as the address asks for it, or is only just starting, is named by that [N1][Q2][P4]", async (t) => {
  const [noTls, starting] = [await sayingPostgres(t, "no TLS"), await sayingPostgres(t, "starting up")];
  assert.deepEqual(
    [paramsOf(await open(noTls)), paramsOf(await open(starting, { awayMsMax: 0 }))],
    [
      { database_unusable: { why: "no_tls", said: "The server does not support SSL connections" } },
      { database_away: { why: "starting", said: "the database system is starting up (57P03)" } },
    ],
  );
});

test("a schema that is newer than we know is named [N1][Q2]", async (t) => {
  const url = server.newPlace();
  await (await opened(t, url)).close();
  const { rows } = await server.run(`SELECT version::integer AS known FROM ${schemaIn(url)}.agentyard`);
  await server.run(`UPDATE ${schemaIn(url)}.agentyard SET version = 99`);
  assert.deepEqual(paramsOf(await open(url)), { storage_newer: { found: 99, ...rows[0] } });
});

test("who starts at the same moment finds one schema, made once, and all of them can write [N1]", async (t) => {
  const url = server.newPlace();
  const storages = await Promise.all([1, 2, 3].map(() => opened(t, url)));
  const numbers = await Promise.all(storages.map((storage, index) => makeConversation(storage, `c${index}`)));
  assert.equal(new Set(numbers).size, 3);
});

test("servers have a database together; who moves data into it has it alone, and only while nobody else is there [N1][P3]", async () => {
  const url = server.newPlace();
  const together = [unwrap(await holdAs({ url, isShared: true })), unwrap(await holdAs({ url, isShared: true }))];
  assert.match(JSON.stringify(paramsOf(await holdAs({ url }))), /"why":"in_use","said":"this machine, process \d+ of/);
  await Promise.all(together.map((hold) => hold.close()));
  const alone = unwrap(await holdAs({ url }));
  assert.equal(codeOf(await holdAs({ url, isShared: true })), "database_unusable");
  await alone.close();
});

test("one process has the database to itself; the next one gets it when that one has ended or was cut off [N1][P3]", async () => {
  const url = server.newPlace();
  const hold = () => holdAs({ url });
  const first = unwrap(await hold());
  const refused = await hold();
  assert.equal(codeOf(refused), "database_unusable");
  assert.match(JSON.stringify(paramsOf(refused)), /"why":"in_use","said":"this machine, process \d+ of the server"/);
  await first.close();
  const second = unwrap(await hold());
  // The server takes the lock back from whoever is cut off, who takes it again.
  const cut = await server.run(`SELECT pid, pg_terminate_backend(pid) ${locksOf(url)}`);
  await until("it has it again", async () => {
    const { rows } = await server.run(`SELECT pid ${locksOf(url)}`);
    return rows.length === 1 && rows[0].pid !== cut.rows[0]?.pid;
  });
  assert.equal(codeOf(await hold()), "database_unusable");
  await second.close();
});

test("who was cut off and finds another one in its place hears so once, by the name of that one [N1][P3]", async () => {
  const url = server.newPlace();
  const lost = Promise.withResolvers<Failure>();
  let times = 0;
  const onLost = (failure: Failure) => {
    times += 1;
    lost.resolve(failure);
  };
  const first = unwrap(await holdAs({ url, onLost }));
  // Somebody else's lock, in another schema, is not the one that is meant.
  const elsewhere = unwrap(await holdAs({ url: server.newPlace() }));
  await using other = await takeOver(server, url);
  const { rows } = await other.query("SELECT pg_backend_pid() AS pid");
  const { code, params } = await lost.promise;
  const said = `this machine, process ${rows[0].pid} of the server`;
  assert.deepEqual({ code, params, times }, { code: "database_unusable", params: { why: "in_use", said }, times: 1 });
  await first.close();
  await elsewhere.close();
});

test("a server that never answers does not keep us from ending: what was asked of it fails [N1][Q2]", async (t) => {
  const way = await stalling(t, server.folder);
  const clock = {
    ...systemClock,
    after: (ms: number, action: () => void) => systemClock.after(Math.min(ms, 200), action),
  };
  const storage = await opened(t, server.newPlace().replace(server.folder, way.folder), { clock });
  await storage.listUsers(1);
  way.stall(true);
  const asked = assert.rejects(storage.listUsers(1), StorageAway);
  // The pool gives out a connection a moment after it was asked for one.
  await new Promise(setImmediate);
  let isClosed = false;
  void storage.close().then(() => {
    isClosed = true;
  });
  await until("it is closed", () => isClosed).finally(() => way.stall(false));
  await asked;
});

test("what was begun while the server starts anew is done when it is there again, each thing once [N1][Q2]", async (t) => {
  const storage = await opened(t, server.newPlace(), { awayMsMax: 60_000 });
  const number = await makeConversation(storage);
  unwrap(await storage.append({ number, events: facts("before") }));
  await server.stop();
  const waiting = Promise.all([
    storage.append({ number, events: facts("during"), with: { received: "m" } }),
    storage.headOf(number),
  ]);
  await server.start();
  unwrap((await waiting)[0]);
  unwrap(await storage.append({ number, events: facts("after") }));
  assert.deepEqual(await readAll(storage, number), stored(1, "before", "during", "after"));
});

test("a server that stays away is told as that, and what was acknowledged is there when it comes back [N1][Q2]", async (t) => {
  const storage = await opened(t, server.newPlace(), { awayMsMax: 1 });
  const number = await makeConversation(storage);
  await server.stop();
  const refused = await storage.append({ number, events: facts("never") });
  assert.equal(codeOf(refused), "database_away");
  for (const write of [() => storage.check(), () => storage.tell("models", "alice"), () => storage.leave("a")])
    assert.equal(codeOf(await write()), "database_away");
  const copy = join(server.folder, "copy.db");
  assert.deepEqual([codeOf(await storage.copyTo(copy)), existsSync(copy)], ["database_away", false]);
  const beat = () => storage.beat({ id: "a", address: "" });
  for (const ask of [() => storage.headOf(number), beat, storage.addressSeen])
    await assert.rejects(ask(), (error) => error instanceof StorageAway && error.failure.code === "database_away");
  await server.start();
  unwrap(await storage.append({ number, events: facts("a") }));
  assert.deepEqual(await readAll(storage, number), stored(1, "a"));
});

test("a commit whose answer is lost is neither done again nor called done [N1][L2]", async (t) => {
  const cut = await cutAtCommit(t, server.folder);
  const url = server.newPlace();
  const direct = await opened(t, url);
  const number = await makeConversation(direct);
  const storage = await opened(t, url.replace(server.folder, cut.folder));
  const heard: number[] = [];
  storage.onAppend(number, (lastSeq) => heard.push(lastSeq));
  cut.begin();
  const lost = await storage.append({ number, events: facts("perhaps") });
  // Who follows it hears of it when somebody takes the conversation up again.
  unwrap(await storage.claimLease(number, "a", 15_000));
  assert.deepEqual(heard, [(await readAll(direct, number)).length]);
  assert.deepEqual(paramsOf(lost), {
    database_away: { why: "commit_unknown", said: "the connection was lost while a commit was on its way" },
  });
  // It had been done: the next look says so, and it is there once.
  assert.deepEqual(await readAll(direct, number), stored(1, "perhaps"));
});

test("rows that somebody else has locked are busy when the time is over, and can be written when they are free [N1][Q2]", async (t) => {
  const url = server.newPlace();
  const storage = await opened(t, url, { statementMsMax: 2_000 });
  const number = await makeConversation(storage);
  const schema = schemaIn(url);
  await using holder = await server.session();
  await holder.query(`BEGIN; SELECT 1 FROM ${schema}.log FOR UPDATE`);
  assert.equal(codeOf(await storage.append({ number, events: facts("never") })), "storage_busy");
  await holder.query("ROLLBACK");
  unwrap(await storage.append({ number, events: facts("a") }));
  assert.deepEqual(await readAll(storage, number), stored(1, "a"));
});

test("a database server that goes away in the middle of a turn: callers hear of it, and the turn goes on by itself when it is back [N1][Q2]", async () => {
  let runs = 0;
  const cut = defineTool({
    ...{ name: "cut", description: "Ends the server.", class: "pure", input: z.object({}) },
    async run() {
      runs += 1;
      if (runs === 1) await server.stop();
      return ok({ text: "cut" });
    },
  });
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(["cut", {}]) : says("it is back")));
  const url = server.newPlace();
  const env = { AGENTYARD_DATABASE_URL: url, AGENTYARD_DATABASE_AWAY_SECONDS_MAX: "0" };
  await using yard = await startYard({ model, env, tools: [cut] });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "cut it", mode: "queue" } }));
  await until("nothing more could be stored", async () =>
    (await yard.faults()).some((line) => /left open|not be stored/.test(line)),
  );
  await until("callers hear of it", async () => {
    const refused = await yard.client.call("listConversations", { query: {} });
    return !refused.ok && refused.failure.code === "database_away";
  });
  await server.start();
  // Its lease could not be given back: nobody waits until it has run out.
  await server.run(`UPDATE ${schemaIn(url)}.log SET until = 0`);
  const { answer, outcome, events } = await yard.whenAtRest(id);
  assert.deepEqual({ answer, outcome }, { answer: "it is back", outcome: "done" });
  assert.equal(events.filter(({ type }) => type === "call.finished").length, 1);
});

function holdAs(over: Pick<HoldOptions, "url"> & Partial<HoldOptions>) {
  const onLost = () => {};
  return holdDatabase({ synchronous: "full", statementMsMax: 1000, clock: impatient, log: console, onLost, ...over });
}

function locksOf(url: string): string {
  return `FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = (hashtext('${schemaIn(url)}')::bigint & 4294967295)`;
}

/** Who is refused gives up at once. */
const impatient = { ...systemClock, wait: async () => "elapsed" as const, monotonic: ticking() };

function ticking(): () => number {
  let now = 0;
  return () => (now += 10_000);
}

function open(url: string, options: Partial<PostgresOptions> = {}) {
  return openPostgres({ url, clock: systemClock, fillCopy, ...options });
}

/** Closed when the test is over. */
async function opened(t: TestContext, url: string, options: Partial<PostgresOptions> = {}): Promise<Storage> {
  const storage = unwrap(await open(url, options));
  t.after(() => storage.close());
  return storage;
}

function schemaIn(url: string): string {
  return new URL(url).searchParams.get("schema") ?? assert.fail("a place has a schema");
}

/** A failure as its code with its parameters. */
function paramsOf(result: Result<unknown, Failure>): Record<string, object> {
  return result.ok ? {} : { [result.failure.code]: result.failure.params };
}
