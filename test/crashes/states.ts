import {
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Append, Storage } from "../../src/storage/storage.ts";
import type { DatabaseCopy } from "../world/database-copies.ts";
import { isRefused, isWrite } from "../world/killing-storage.ts";
import type { Heads } from "./killed.ts";
import { eventsIn, writtenBy } from "./scenario.ts";

/** What a process leaves that is killed when this write was its last. */
export type State = {
  readonly data: string;
  /** What the database has, where that is no file of the data directory. */
  readonly database?: Promise<DatabaseCopy> | undefined;
  /** Which one it was, from 1. */
  readonly place: number;
  readonly write: string;
  readonly events: readonly string[];
  readonly acknowledged: Heads;
  /** How far it came: nobody has heard of the write yet, or all was done that is done before another one is asked for. */
  readonly moment: "as it is stored" | "before the next";
};

type Options = {
  readonly data: string;
  /** Each state is a folder of its own in it; within that it has the name that it had. */
  readonly into: string;
  readonly isWanted: (write: string) => boolean;
  /** Nothing is written before this has come. */
  readonly begin: Promise<unknown>;
  /** For a database that is no file of the data directory: all that is in it, in one moment. */
  readonly copyDatabase?: (() => Promise<DatabaseCopy>) | undefined;
};

/**
 * Copies the data directory twice for each write, so that one run gives what a kill at any of its writes leaves: whoever is
 * killed leaves what is there in that moment. The first copy is made when the write is stored, before who asked for it hears
 * of it and does what comes next; the second one when another write is asked for, with all that was done in between. Where
 * nothing was done, the second would be the first, and is left out.
 *
 * SQLite commits within one call in this thread, and a copy is one call, too: it never sees half of a transaction. Writes
 * that share a transaction are in each other's copies, as after a kill.
 *
 * A database server is asked for what it has right after the folder was copied; until it has answered nothing more is given to
 * it. What was on its way to it already may be in the copy, as after a kill of its sender.
 */
export function keepStates(storage: Storage, { data, into, isWanted, begin, copyDatabase }: Options) {
  const states: State[] = [];
  const heads = new Map<number, number>();
  let due: State | undefined;
  let copying: State["database"];
  let [writes, asked, isOver] = [0, 0, false];
  const keep = (state: Omit<State, "data" | "database">, copied: () => State["database"]): State => {
    const folder = join(into, String(states.length + 1), yardName);
    mkdirSync(dirname(folder), { recursive: true });
    copyTree(data, folder);
    const kept = { ...state, data: folder, database: copied() };
    states.push(kept);
    return kept;
  };
  const copyNow = (): State["database"] => {
    const copy = copyDatabase?.().finally(() => {
      if (copying === copy) copying = undefined;
    });
    copying = copy;
    return copy;
  };
  const keepDue = () => {
    const before = due;
    due = undefined;
    if (before === undefined || isSameTree(data, before.data)) return;
    keep({ ...before, moment: "before the next" }, () => before.database);
  };
  const written = (name: string, given: readonly unknown[], answer: unknown): State["database"] => {
    keepDue(); // Of another one that was stored in the same moment.
    if (name === "append") noteHead(heads, given, answer);
    writes += 1;
    const write = writtenBy(name, given);
    if (isOver || !isWanted(write)) return undefined;
    const known = { place: writes, write, events: eventsIn(given), acknowledged: new Map(heads) };
    const stored = keep({ ...known, moment: "as it is stored" }, copyNow);
    // Where the next one is on its way already, nobody can say when it comes.
    if (asked === 0) due = stored;
    return stored.database;
  };
  const wrapped = new Proxy(storage, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || !isWrite(String(name))) return method;
      return async (...given: unknown[]) => {
        await begin;
        while (copying !== undefined) await copying;
        keepDue();
        asked += 1;
        const answer: unknown = await Reflect.apply(method, target, given).finally(() => {
          asked -= 1;
        });
        if (!isRefused(answer)) await written(String(name), given, answer);
        return answer;
      };
    },
  });
  const end = () => {
    keepDue();
    isOver = true;
  };
  return { states, storage: wrapped, end };
}

/** All yards have this one: what they say may name it. */
export const yardName = "yard";

/**
 * With owners and times, which `cpSync` does not keep; a process for each copy would take longer than the rest. What somebody
 * takes away meanwhile is not there.
 */
function copyTree(from: string, to: string): void {
  try {
    copyOne(from, to);
  } catch (error) {
    if (existsSync(from)) throw error;
  }
}

function copyOne(from: string, to: string): void {
  const found = lstatSync(from);
  if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
  if (found.isDirectory()) {
    mkdirSync(to, { mode: found.mode });
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name));
  } else if (found.isFile()) copyFileSync(from, to);
  else return;
  if (found.uid !== process.getuid?.()) lchownSync(to, found.uid, found.gid);
  utimesSync(to, found.atime, found.mtime);
}

/**
 * Whether nothing was done there since it was copied; where somebody takes something away meanwhile, there was. The database
 * has no other door than this storage: of its files the sizes are enough.
 */
function isSameTree(one: string, copy: string): boolean {
  try {
    return isSameOne(one, copy);
  } catch (error) {
    if (existsSync(one)) throw error;
    return false;
  }
}

function isSameOne(one: string, copy: string): boolean {
  const [found, copied] = [lstatSync(one), lstatSync(copy, { throwIfNoEntry: false })];
  if (copied === undefined || found.mode !== copied.mode) return false;
  if (found.isSymbolicLink()) return readlinkSync(one) === readlinkSync(copy);
  if (found.isDirectory()) {
    const names = readdirSync(one);
    if (names.length !== readdirSync(copy).length) return false;
    return names.every((name) => isSameTree(join(one, name), join(copy, name)));
  }
  if (found.size !== copied.size) return false;
  return basename(one).startsWith(databaseName) || readFileSync(one).equals(readFileSync(copy));
}

const databaseName = "sessions.db";

function noteHead(heads: Map<number, number>, [batch]: readonly unknown[], answer: unknown): void {
  const { number }: Pick<Append, "number"> = Object(batch);
  const { lastSeq }: { readonly lastSeq: number } = Object(answer).value;
  heads.set(number, Math.max(lastSeq, heads.get(number) ?? 0));
}
