import type { TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import type { Storage, Told } from "../../src/storage/storage.ts";
import type { PostgresServer } from "../world/postgres-server.ts";
import { morning, unwrap } from "./storage-place.ts";

export type Row = { readonly id: string; readonly address: string };
/** Three servers. */
export const [a, b, c] = ["a", "b", "c"].map((id) => ({ id, address: `host-${id}:1` })) as [Row, Row, Row];

type Wanted = {
  readonly count: number;
  /** More of the address. */
  readonly more?: string;
  /** The clock of the database; without it the test sets the time. */
  readonly time?: (() => number) | undefined;
};

/** Several processes on one database, as far as they are storages. */
export async function severalStorages(t: TestContext, server: PostgresServer, { count, more = "", time }: Wanted) {
  const url = `${await server.emptyPlace()}${more}`;
  let now = morning;
  const options = { url, clock: systemClock, now: time ?? (() => now), fillCopy };
  const storages = await Promise.all(Array.from({ length: count }, async () => unwrap(await openPostgres(options))));
  t.after(() => Promise.all(storages.map((storage) => storage.close())));
  return {
    storages: storages as [Storage, Storage, Storage],
    url,
    schema: new URL(url).searchParams.get("schema") ?? "",
    clock: {
      set(to: number) {
        now = to;
      },
    },
  };
}

export function listening(storage: Storage): Told[] {
  const heard: Told[] = [];
  storage.onTold((each) => heard.push(each));
  return heard;
}
