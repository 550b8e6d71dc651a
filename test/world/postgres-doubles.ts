import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { until } from "./events.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** What a client of PostgreSQL looks for in a folder. */
const socketName = ".s.PGSQL.5432";

/** A way to the server in `folder` that is cut once, after `begin`, when a commit has passed and before its answer has. */
export async function cutAtCommit(t: TestContext, folder: string): Promise<{ folder: string; begin(): void }> {
  let isCutting = false;
  const place = await listenIn(t, (client) => {
    const server = dial(join(folder, socketName));
    for (const socket of [client, server]) socket.on("error", () => {});
    let isOver = false;
    client.on("data", (bytes) => {
      server.write(bytes);
      if (!isCutting || !bytes.includes("COMMIT")) return;
      isOver = true;
      isCutting = false;
    });
    server.on("data", (bytes) => void (isOver ? client.destroy() : client.write(bytes)));
    client.on("close", () => server.end());
    server.on("close", () => client.destroy());
  });
  return {
    folder: place,
    begin() {
      isCutting = true;
    },
  };
}

/** A way to the server in `folder` that, while it is stalled, takes everything in and passes nothing on. */
export async function stalling(t: TestContext, folder: string): Promise<{ folder: string; stall(on: boolean): void }> {
  let isStalled = false;
  const clients = new Set<Socket>();
  const place = await listenIn(t, (client) => {
    const server = dial(join(folder, socketName));
    for (const socket of [client, server]) socket.on("error", () => {});
    clients.add(client);
    client.on("data", (bytes) => void (isStalled || server.write(bytes)));
    server.on("data", (bytes) => void (isStalled || client.write(bytes)));
    client.on("close", () => server.end());
    server.on("close", () => client.destroy());
  });
  return {
    folder: place,
    stall(on) {
      isStalled = on;
      // What was swallowed cannot be said again.
      if (!on) for (const client of clients) client.destroy();
    },
  };
}

/** Another process gets the schema at `url` in the moment in which the connection of whoever holds it is cut. */
export async function takeOver(server: PostgresServer, url: string): ReturnType<PostgresServer["session"]> {
  const schema = new URL(url).searchParams.get("schema") ?? "";
  const locks = `FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = (hashtext('${schema}')::bigint & 4294967295)`;
  const { rows } = await server.run(`SELECT classid::bigint::int AS class, pid ${locks}`);
  const other = await server.session();
  const taken = other.query("SELECT pg_advisory_lock($1::int, hashtext($2))", [rows[0]?.class, schema]);
  await until("it waits for it", async () => (await server.run(`SELECT 1 ${locks} AND NOT granted`)).rowCount === 1);
  await server.run(`SELECT pg_terminate_backend(${rows[0]?.pid})`);
  await taken;
  return other;
}

/** A database server that says the same to whoever comes, and no more. Answers its address. */
export async function sayingPostgres(t: TestContext, said: "no TLS" | "starting up"): Promise<string> {
  const server = createServer((client) => {
    client.on("error", () => {});
    client.once("data", () => client.end(said === "no TLS" ? "N" : startingUp));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const mode = said === "no TLS" ? "verify-full" : "disable";
  return `postgres://postgres@127.0.0.1:${port}/yard?sslmode=${mode}`;
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
const startingUp = message("E", Buffer.from("SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"));
function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int(body.length + 4), body]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A server on the socket of a folder of its own. */
async function listenIn(t: TestContext, onClient: (client: Socket) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const clients = new Set<Socket>();
  const server: Server = createServer((client) => {
    clients.add(client);
    onClient(client);
  });
  await new Promise<void>((resolve) => server.listen(join(folder, socketName), resolve));
  t.after(() => {
    for (const client of clients) client.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
