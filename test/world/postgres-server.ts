import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";

const programs = globSync("/usr/lib/postgresql/*/bin")
  .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
  .at(-1);

/** Why there is no database server here; false where there is one. */
export const cannotStore =
  programs === undefined || !existsSync(join(programs, "initdb")) ? "postgresql is needed" : false;

/** A test that needs one. */
export function onPostgres(says: string, holds: (t: TestContext) => Promise<void>): void {
  test(says, { skip: cannotStore }, holds);
}

/** A real server, reached through a socket in its folder. */
export type PostgresServer = {
  /** The database, without a schema: whoever uses it names one. */
  readonly place: string;
  /** Where a new, empty schema would be; and the same database by the name of another user. */
  newPlace(): string;
  /** One whose tables are there and empty: making them takes more than what most promises take. Nobody else has it. */
  emptyPlace(): Promise<string>;
  /** One statement, as somebody who may do anything. */
  run(sql: string): Promise<pg.QueryResult>;
  /** The same with a connection of its own. */
  session(): Promise<pg.Client & AsyncDisposable>;
  readonly folder: string;
  readonly socketPath: string;
};

/** A server that its test stops, breaks or configures. */
export type OwnPostgres = PostgresServer & {
  /** Undefined while it is stopped. */
  pid(): number | undefined;
  /** `SIGQUIT`: at once, as when it breaks down. */
  stop(signal?: "SIGINT" | "SIGQUIT"): Promise<void>;
  start(): Promise<void>;
};

let shared: Promise<PostgresServer> | undefined;

/**
 * The server that tests share, each with a schema of its own: starting one takes a second. `AGENTYARD_TEST_POSTGRES` names the folder
 * of one that runs already, which `npm test` starts for all its processes; otherwise this process starts one.
 */
export function postgresServer(): Promise<PostgresServer> {
  const { AGENTYARD_TEST_POSTGRES: folder } = process.env;
  shared ??= folder === undefined ? startPostgres() : Promise.resolve(serverIn(folder));
  return shared;
}

/** What a power cut would leave does not matter here, and neither does what happens without a test. */
const settings = {
  ...{ fsync: "off", full_page_writes: "off", synchronous_commit: "off", autovacuum: "off", jit: "off" },
  ...{ shared_buffers: "32MB", max_connections: 500, wal_level: "minimal", max_wal_senders: 0 },
  // In its folder, which goes with it: whatever lies in the memory of the machine outlives a server that is killed.
  ...{ listen_addresses: "''", log_min_messages: "fatal", dynamic_shared_memory_type: "mmap" },
};

/** Starts a server of its own. */
export async function startPostgres(
  own: Readonly<Record<string, string | number>> = {},
  parent = tmpdir(),
): Promise<OwnPostgres> {
  if (programs === undefined) throw new Error("postgresql is needed");
  const folder = mkdtempSync(join(parent, "pg-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  const user = serverUser();
  if (user !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
  execFileSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"],
    { ...user, env, cwd: folder, stdio: "ignore" },
  );
  writeFileSync(
    join(data, "postgresql.auto.conf"),
    linesOf({ ...settings, ...own, unix_socket_directories: `'${folder}'` }),
  );
  // One user has to show a password.
  writeFileSync(join(data, "pg_hba.conf"), "local all locked scram-sha-256\nlocal all all trust\n");
  let ended: Promise<unknown> = Promise.resolve();
  let pid: number | undefined;
  const start = async () => {
    const server = spawn(join(programs, "postgres"), ["-D", data], { ...user, env, cwd: folder, stdio: "ignore" });
    server.unref();
    pid = server.pid;
    ended = new Promise((resolve) => server.once("exit", resolve));
    await untilReady(folder);
  };
  const stop = async (signal: "SIGINT" | "SIGQUIT" = "SIGINT") => {
    if (pid !== undefined) process.kill(pid, signal);
    // It does not keep a process alive, but for this moment.
    const alive = setInterval(() => {}, 1_000);
    await ended;
    clearInterval(alive);
    pid = undefined;
  };
  process.once("exit", () => {
    if (pid !== undefined) endNow(pid, join(data, "postmaster.pid"));
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return { ...serverIn(folder), start, stop, pid: () => pid };
}

function serverIn(folder: string): PostgresServer {
  const newPlace = () => `${placeIn(folder)}&schema=test_${systemIds.hex(12)}`;
  const used = newPlace();
  return {
    ...{ folder, place: placeIn(folder) },
    socketPath: join(folder, ".s.PGSQL.5432"),
    newPlace,
    emptyPlace: () => onServer(folder, (client) => emptied(client, used)),
    run: (sql) => onServer(folder, (client) => client.query(sql)),
    async session() {
      const client = new pg.Client({ connectionString: placeIn(folder) });
      await client.connect();
      return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
    },
  };
}

/**
 * Where nothing can be waited for any more. Killed, it would leave its shared memory to the machine; so it is told to end at
 * once, and has given everything back when its own file is gone.
 */
function endNow(pid: number, ownFile: string): void {
  process.kill(pid, "SIGQUIT");
  const moment = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; waitedMs < endMsMax && existsSync(ownFile); waitedMs += 5) Atomics.wait(moment, 0, 0, 5);
  if (existsSync(ownFile)) process.kill(pid, "SIGKILL");
}

/** It kills its own processes after 5 seconds. */
const endMsMax = 10_000;

/** All tables as after their making. */
async function emptied(client: pg.Client, url: string): Promise<string> {
  const schema = new URL(url).searchParams.get("schema");
  const { rows } = await client.query(
    `SELECT format('DELETE FROM %I.%I', schemaname, tablename) AS undo FROM pg_tables
      WHERE schemaname = $1 AND tablename NOT IN ('agentyard', 'counter')
    UNION ALL SELECT format('ALTER SEQUENCE %I.%I RESTART', schemaname, sequencename) FROM pg_sequences WHERE schemaname = $1
    UNION ALL SELECT format('UPDATE %I.counter SET last = 0', schemaname) FROM pg_tables
      WHERE schemaname = $1 AND tablename = 'counter'`,
    [schema],
  );
  await client.query(rows.map(({ undo }) => undo).join(";"));
  return url;
}

function placeIn(folder: string): string {
  return `postgres:///postgres?host=${folder}&user=postgres`;
}

async function onServer<T>(folder: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: placeIn(folder) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function untilReady(folder: string): Promise<void> {
  const startedAt = systemClock.monotonic();
  for (;;) {
    try {
      await onServer(folder, (client) => client.query("SELECT 1"));
      return;
    } catch (error) {
      if (systemClock.monotonic() - startedAt > readyMsMax) throw error;
      await systemClock.wait(20);
    }
  }
}

const readyMsMax = 60_000;

/** PostgreSQL does not run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  const [, uid = "65534", gid = "65534"] = line ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

function linesOf(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join("");
}
