/**
 * What it costs to have a message taken up: by a row that is written with its event and a call inside the process, as we
 * do it, and by a job of pg-boss that is sent in the same transaction. Started by bench/scale/wakes.ts with one of the ways and
 * the address of a database; answers with JSON.
 */
import pg from "pg";
import { PgBoss } from "pg-boss";

const [way = "", connectionString = "", messages = "1"] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 4 });
await pool.query(`CREATE SCHEMA IF NOT EXISTS wakes;
  CREATE TABLE IF NOT EXISTS wakes.wake (number bigint PRIMARY KEY, not_before bigint);
  CREATE TABLE IF NOT EXISTS wakes.event (id bigserial PRIMARY KEY, body text)`);
const boss = new PgBoss({ connectionString, schema: "boss", max: 4, useListenNotify: true });
await boss.start();
// At most one job of a conversation waits; a listener hears of it at once.
await boss.createQueue("turn", { policy: "short", notify: true });
const taken = new Map<number, (at: number) => void>();
await boss.work<{ number: number }>("turn", { batchSize: 1 }, async ([job]) => {
  if (job !== undefined) taken.get(job.data.number)?.(performance.now());
});

async function append(beside: (client: pg.PoolClient) => Promise<unknown>): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("INSERT INTO wakes.event (body) VALUES ($1)", ["x".repeat(400)]);
    await beside(client);
    await client.query("COMMIT");
    return performance.now();
  } finally {
    client.release();
  }
}

async function byRow(number: number): Promise<number> {
  const sql = "INSERT INTO wakes.wake VALUES ($1, 0) ON CONFLICT (number) DO UPDATE SET not_before = 0";
  const storedAt = await append((client) => client.query(sql, [number]));
  const at = await new Promise<number>((resolve) => setImmediate(() => resolve(performance.now())));
  await append((client) => client.query("DELETE FROM wakes.wake WHERE number = $1", [number]));
  return at - storedAt;
}

async function byJob(number: number): Promise<number> {
  const heard = new Promise<number>((resolve) => taken.set(number, resolve));
  const storedAt = await append((client) =>
    boss.send(
      "turn",
      { number },
      { singletonKey: `${number}`, db: { executeSql: (sql, values) => client.query(sql, values) } },
    ),
  );
  const at = await heard;
  taken.delete(number);
  await append(async () => {});
  return at - storedAt;
}

/** How long after its commit each message was taken up, and what all of them cost this process in processor time. */
const late: number[] = [];
const before = process.cpuUsage();
for (let number = 1; number <= Number(messages); number += 1)
  late.push(await (way === "job" ? byJob(number) : byRow(number)));
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ late, cpuMs: (user + system) / 1000 }));
process.exit();
