import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import fs, { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { PassThrough } from "node:stream";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/config.ts";
import { wordsFor } from "../../src/words/words.ts";

/** Moves, restores or opens one after the other; each comes to a stand before this question to the database, or goes on to its end. */
export type MoveOrder = readonly {
  readonly data: string;
  readonly database: string;
  /** This backup is restored, and files go there; else what is in the data directory is moved. */
  readonly restored?: { readonly archive: string; readonly files: string } | undefined;
  /** The database is opened, which brings its tables to the newest version, and closed again. */
  readonly isOpened?: true;
  readonly standBefore?: number | undefined;
  /** The same when this question was answered and nobody has heard of it. */
  readonly standAfter?: number | undefined;
  /** All are killed when the database has everything, and the file still its name. */
  readonly isKilledBeforeRename?: boolean;
}[];

/** `asked`: each question, by its first words. */
export type MoveTold = { readonly asked: readonly string[]; readonly code: number };

type Move = { readonly asked: string[]; readonly wanted: MoveOrder[number]; readonly stand: () => void };
const moving = new AsyncLocalStorage<Move>();
const order: MoveOrder = JSON.parse(process.argv[2] ?? "[]");

const ask: (this: unknown, ...given: never[]) => unknown = pg.Client.prototype.query;
Object.assign(pg.Client.prototype, {
  query(this: unknown, ...given: never[]) {
    const move = moving.getStore();
    if (move === undefined) return ask.apply(this, given);
    move.asked.push(wordsOf(given[0]));
    const { standBefore, standAfter } = move.wanted;
    const count = move.asked.length;
    if (count !== standBefore && count !== standAfter) return ask.apply(this, given);
    void Promise.resolve(count === standAfter ? ask.apply(this, given) : undefined).then(move.stand);
    return new Promise(() => {});
  },
});
const { renameSync } = fs;
Object.assign(fs, {
  renameSync(from: string, to: string) {
    if (from.endsWith("sessions.db") && moving.getStore()?.wanted.isKilledBeforeRename === true)
      process.kill(process.pid, "SIGKILL");
    renameSync(from, to);
  },
});
syncBuiltinESMExports();

const [{ moveData }, { restore }, { openPostgres }] = await Promise.all([
  import("../../src/move-data.ts"),
  import("../../src/backup-commands.ts"),
  import("../../src/storage/postgres/postgres.ts"),
]);
for (const wanted of order) {
  const stands = Promise.withResolvers<number>();
  const move: Move = { asked: [], wanted, stand: () => stands.resolve(-1) };
  const done = moving.run(move, () => (wanted.isOpened === true ? open(wanted) : bring(wanted)));
  const code = await Promise.race([done, stands.promise]);
  writeSync(1, `${JSON.stringify({ asked: move.asked, code } satisfies MoveTold)}\n`);
}
process.kill(process.pid, "SIGKILL");

async function open({ database: url }: MoveOrder[number]): Promise<number> {
  const opened = await openPostgres({ url, clock: systemClock, fillCopy: async () => assert.fail() });
  assert.ok(opened.ok);
  await opened.value.close();
  return 0;
}

async function bring({ data, database, restored }: MoveOrder[number]): Promise<number> {
  const files = restored && { AGENTYARD_FILES_DIR: restored.files };
  const env = { AGENTYARD_DATA: data, AGENTYARD_DATABASE_URL: database, ...files };
  const config = await loadConfig({ env, cwd: data, homeDir: data, programDir: data, flags: {} });
  assert.ok(config.ok);
  const streams = { input: process.stdin, output: new PassThrough(), errors: process.stderr };
  const parts = { config: config.value, words: wordsFor("en"), ...streams };
  return restored === undefined
    ? moveData({ json: true }, parts)
    : restore({ name: "restore", file: restored.archive, replaces: true, json: true }, parts);
}

function wordsOf(question: unknown): string {
  const text: unknown = typeof question === "string" ? question : Object(question).text;
  return String(text)
    .trim()
    .split(/[\s(]+/)
    .slice(0, 3)
    .join(" ");
}
