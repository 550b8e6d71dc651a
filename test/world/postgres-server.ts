import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";

const programs = globSync("/usr/lib/postgresql/*/bin")
  .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
  .at(-1);

/** Why there is no server of databases here; false where there is one. */
export const cannotStore =
  programs === undefined || !existsSync(join(programs, "initdb")) ? "postgresql is needed" : false;

/** A real server in a folder of its own, reached through a socket there. */
export type PostgresServer = {
  /** Where a new, empty schema would be; and the same database by the name of another user. */
  newPlace(): string;
  /** One whose tables are there and empty: making them takes more than what most promises take. Nobody else has it. */
  emptyPlace(): Promise<string>;
  /** One statement, as somebody who may do anything. */
  run(sql: string): Promise<pg.QueryResult>;
  /** The same with a connection of its own. */
  session(): Promise<pg.Client & AsyncDisposable>;
  readonly folder: string;
  stop(): Promise<void>;
  start(): Promise<void>;
};

let shared: Promise<PostgresServer> | undefined;

/** One for all tests of this process: starting one takes a second. Each test has a schema of its own in it. */
export function postgresServer(): Promise<PostgresServer> {
  shared ??= startServer();
  return shared;
}

/** What a power cut would leave does not matter here, and neither does what happens without a test. */
const settings = {
  ...{ fsync: "off", full_page_writes: "off", synchronous_commit: "off", autovacuum: "off", jit: "off" },
  ...{ shared_buffers: "32MB", max_connections: 60, wal_level: "minimal", max_wal_senders: 0 },
  ...{ listen_addresses: "''", log_min_messages: "fatal" },
};

async function startServer(): Promise<PostgresServer> {
  if (programs === undefined) throw new Error("postgresql is needed");
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
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
  writeFileSync(join(data, "postgresql.auto.conf"), linesOf({ ...settings, unix_socket_directories: `'${folder}'` }));
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
  const stop = async () => {
    if (pid !== undefined) process.kill(pid, "SIGINT");
    await ended;
    pid = undefined;
  };
  process.once("exit", () => {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  const newPlace = () => `${placeIn(folder)}&schema=test_${systemIds.hex(12)}`;
  const used = newPlace();
  return {
    ...{ folder, start, stop },
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
