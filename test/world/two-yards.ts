import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import { listen } from "../../src/http/http.ts";
import { type ChatYard, chatting } from "./chat.ts";
import { postgresServer } from "./postgres-server.ts";
import { type Replica, replicaEnv } from "./replicas.ts";
import { openReplica, type TestYardOptions } from "./yard.ts";

/** One of two processes on one database, with a port of its own. */
export type OneOfTwo = Replica &
  Omit<ChatYard, "yard" | typeof Symbol.asyncDispose> & {
    /** In its own process. */
    readonly client: Client;
    /** As `agentyard serve` does it when it is told to end. */
    close(): Promise<void>;
  };

export type TwoYards = Awaited<ReturnType<typeof startTwo>>;

/** Two yards on one database and one folder of files, as two processes have them. */
export async function startTwo(options: TestYardOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-two-"));
  const url = (await postgresServer()).newPlace();
  const shared = { AGENTYARD_DATABASE_URL: url, ...replicaEnv(join(folder, "files"), 2) };
  const [one, other] = [
    await openOne(options, { own: join(folder, "one"), shared }),
    await openOne(options, { own: join(folder, "other"), shared }),
  ];
  return {
    ...{ one, other },
    async [Symbol.asyncDispose]() {
      await Promise.all([one.close(), other.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openOne(
  options: TestYardOptions,
  { own, shared }: { readonly own: string; readonly shared: Readonly<Record<string, string>> },
): Promise<OneOfTwo> {
  mkdirSync(own, { recursive: true });
  const replica = await openReplica(options, { own, shared, clock: systemClock });
  const { yard, peers, logger } = replica;
  peers.serve(yard);
  const listening = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert(listening.ok);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await listening.value.close();
    await peers.leave();
    await yard.close();
    await peers.close();
    await logger.close();
  };
  return {
    ...{ ...replica, ...chatting(listening.value.address) },
    client: createClient({ fetch: yard.fetch, clock: systemClock }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
