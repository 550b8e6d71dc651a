import { createHash } from "node:crypto";
import pg from "pg";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { parsedJson } from "../../base/json.ts";
import type { Told } from "../sharing.ts";
import { configOf, type DatabasePlace, schemaOf } from "./database-place.ts";
import { isPassing } from "./failures.ts";
import { openNames, type Query, queryOn } from "./query.ts";

/** A connection of its own beside the pool: what may not wait behind others, and what others tell. Made at its first use. */
export type OwnLine = {
  /** A connection that is cut is made again; a server that stays away is waited for as long as anywhere else. */
  ask<T>(work: (query: Query) => Promise<T>, patience?: { readonly awayMsMax: number }): Promise<T>;
  tell(told: Told): Promise<void>;
  /** The same inside a transaction: told with its commit, or not at all. */
  announce(query: Query, told: Told): Promise<void>;
  onTold(listener: (told: Told) => void): () => void;
  close(): Promise<void>;
};

export type OwnLineOptions = DatabasePlace & { readonly clock: Clock; readonly awayMsMax: number };

/** A heartbeat that takes longer is none. */
const answerMsMax = 2_000;
const retryMs = 100;

type Line = { readonly client: pg.Client; readonly query: Query; readonly backend: number };

export function openOwnLine(options: OwnLineOptions): OwnLine {
  const { clock, awayMsMax } = options;
  const channel = channelOf(options.url);
  const listeners = new Set<(told: Told) => void>();
  let line: Promise<Line> | undefined;
  let [isClosed, wasCut] = [false, false];
  // Whoever listens knows what it told itself. A name from before a cut is taken for another's, which costs one look.
  let own = 0;

  const hear = ([by, topic, key]: Payload) => void (by !== own && tellAll({ topic, key }));
  const tellAll = (told: Told) => {
    for (const listener of [...listeners]) listener(told);
  };
  function lineOf(): Promise<Line> {
    if (line !== undefined) return line;
    if (isClosed) return Promise.reject(new Error("the storage is closed"));
    const made = connect(options, { channel, onTold: hear, onEnd: () => lost(made) });
    line = made;
    void attempt(made).then((opened) => {
      if (!opened.ok) return lost(made);
      own = opened.value.backend;
      if (wasCut) tellAll({ topic: "gap", key: "" });
      wasCut = false;
    });
    return made;
  }
  function lost(which: Promise<Line>): void {
    if (line !== which) return;
    line = undefined;
    wasCut = true;
    clock.after(retryMs, listenAgain);
  }
  const listenAgain = () => void (!isClosed && listeners.size > 0 && attempt(lineOf()));

  async function announce(query: Query, { topic, key }: Told): Promise<void> {
    const payload: Payload = [own, topic, key];
    await query.one("SELECT pg_notify($1, $2)", channel, JSON.stringify(payload));
  }

  async function ask<T>(work: (query: Query) => Promise<T>, patience = { awayMsMax }): Promise<T> {
    const startedAt = clock.monotonic();
    for (;;) {
      const current = await attempt(lineOf());
      const answer = current.ok ? await attempt(work(current.value.query)) : current;
      if (answer.ok) return answer.value;
      // What does not answer any more is no line: the next attempt has a new one.
      if (current.ok && isPassing(answer.error)) current.value.client.connection.stream.destroy();
      const isOver = isClosed || clock.monotonic() - startedAt >= patience.awayMsMax;
      if (isOver || !isPassing(answer.error)) throw answer.error;
      await clock.wait(retryMs);
    }
  }

  return {
    ask,
    tell: (told) => ask((query) => announce(query, told)),
    announce,
    onTold(listener) {
      const call = (told: Told) => listener(told);
      listeners.add(call);
      listenAgain();
      return () => void listeners.delete(call);
    },
    async close() {
      isClosed = true;
      const last = line && (await attempt(line));
      if (last?.ok) await end(last.value.client, clock);
    },
  };
}

type Ends = {
  readonly channel: string;
  readonly onTold: (told: Payload) => void;
  readonly onEnd: () => void;
};

async function connect(place: DatabasePlace, { channel, onTold, onEnd }: Ends): Promise<Line> {
  const client = new pg.Client({
    ...configOf({ ...place, statementMsMax: answerMsMax }),
    ...{ query_timeout: answerMsMax, connectionTimeoutMillis: answerMsMax },
  });
  // It ends then, and whoever asks hears of that.
  client.on("error", () => {});
  client.once("end", onEnd);
  const query = queryOn(client, openNames());
  try {
    await client.connect();
    const backend = Number((await query.one("SELECT pg_backend_pid()::bigint AS pid"))?.pid);
    client.on("notification", ({ payload = "" }) => {
      const told = Payload.safeParse(parsedJson(payload));
      if (told.success) onTold(told.data);
    });
    await client.query(`LISTEN ${channel}`);
    return { client, query, backend };
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

async function attempt<T>(work: Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Notifications go through a whole database: those of another schema are not ours. */
function channelOf(url: string): string {
  return `agentyard_${createHash("sha256").update(schemaOf(url)).digest("hex").slice(0, 16)}`;
}

/** By whom, what about, and which one. Everybody who has the database can say something there: all else is not for us. */
const Payload = z.tuple([z.number(), z.string(), z.string()]);
type Payload = z.infer<typeof Payload>;

const endMsMax = 3_000;

/** A server that does not answer is not waited for: its connection would keep the process. */
async function end(client: pg.Client, clock: Clock): Promise<void> {
  const cancel = clock.after(endMsMax, () => client.connection.stream.destroy());
  await client.end();
  cancel();
}
