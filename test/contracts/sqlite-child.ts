// What a test does in a process of its own, to kill it, to limit it or to take rights from it. Prints a line per fact.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { codeOf, facts, makeConversation, readAll, unwrap } from "./storage-place.ts";

const deeds: Readonly<Record<string, (directory: string) => Promise<void>>> = {
  append: appendForEver,
  lock: holdWriteLock,
  open: openAndAppend,
  tmpfs: fillSmallDisk,
  own: ownOnCommand,
};

const [, , deed = "", directory = ""] = process.argv;
if (import.meta.main) await deeds[deed]?.(directory);

/** Prints every acknowledged seq; three appends are always under way, so that a kill hits groups. */
async function appendForEver(directory: string): Promise<void> {
  const storage = unwrap(openSqlite({ path: join(directory, "sessions.db"), clock: systemClock }));
  const number = (await storage.conversationByNumber(1))?.number ?? (await makeConversation(storage));
  const appendOne = async (): Promise<never> => {
    for (;;) say(unwrap(await storage.append({ number, events: facts("x".repeat(400), "y") })).lastSeq);
  };
  await Promise.all([appendOne(), appendOne(), appendOne()]);
}

/** Until standard input has a line. */
async function holdWriteLock(directory: string): Promise<void> {
  const database = new DatabaseSync(join(directory, "sessions.db"));
  database.exec("BEGIN IMMEDIATE");
  say("locked");
  for await (const _ of lines()) break;
  database.exec("ROLLBACK");
  database.close();
  say("free");
}

async function openAndAppend(directory: string): Promise<void> {
  const opened = openSqlite({ path: join(directory, "sessions.db"), clock: systemClock, busyTimeoutMs: 100 });
  say(codeOf(opened));
  if (!opened.ok) return;
  say(codeOf(await opened.value.append({ number: 1, events: facts("from the child") })));
  await opened.value.close();
}

/** On a disk of 12 MB of its own, that grows later and is filled by somebody else then. */
async function fillSmallDisk(directory: string): Promise<void> {
  run("mount", "-t", "tmpfs", "-o", "size=12m", "none", directory);
  const path = join(directory, "sessions.db");
  const hasReserve = () => existsSync(`${path}.reserve`);
  let monotonic = 0;
  const clock = { ...systemClock, monotonic: () => monotonic };
  const storage = unwrap(openSqlite({ path, clock }));
  const number = await makeConversation(storage);
  const { epoch } = unwrap(await storage.claimLease(number, "me", 1000));
  const hadReserve = hasReserve();
  const kept = await appendUntilFull(storage, number, 50_000);
  const onFull = {
    hasReserve: hasReserve(),
    cancel: codeOf(await storage.append({ number, events: facts("cancelled: the disk is full") })),
    isRenewed: unwrap(await storage.renewLease(number, { holder: "me", epoch, ttlMs: 1000 })),
    isKept: (await readAll(storage, number)).length === kept.appends + 1,
  };
  run("mount", "-o", "remount,size=64m", "none", directory);
  monotonic += 30_000;
  const after = codeOf(await storage.append({ number, events: facts("there is room again") }));
  const hasReserveAgain = hasReserve();
  await storage.close();

  fillWithForeignBytes(join(directory, "foreign"));
  const reopened = openSqlite({ path, clock });
  const afterReopening = reopened.ok ? codeOf(await reopened.value.append({ number, events: facts("b") })) : "";
  if (reopened.ok) await reopened.value.close();
  const integrity = integrityOf(path);
  const report = { hadReserve, code: kept.code, ...onFull, after, hasReserveAgain, reopened: codeOf(reopened) };
  say(JSON.stringify({ ...report, afterReopening, integrity }));
}

function fillWithForeignBytes(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(4096, 1));
  } catch {
    closeSync(file);
  }
}

/** At each line on standard input tries to become the owner; the owner then stays until it is killed or told again. */
async function ownOnCommand(directory: string): Promise<void> {
  say("ready");
  for await (const _ of lines()) {
    const lock = takeOwnership(directory, { pid: process.pid, startedAt: 1, socket: "s", protocol: "1" });
    if (lock.ok) say("owner");
    else say(lock.failure.kind === "owned" ? `owned by ${lock.failure.owner?.pid}` : lock.failure.failure.code);
    if (!lock.ok) continue;
    for await (const _ of lines()) break;
    lock.value.release();
    return say("released");
  }
}

async function appendUntilFull(
  storage: Storage,
  number: number,
  size: number,
): Promise<{ appends: number; code: string }> {
  for (let appends = 0; appends < 10_000; appends += 1) {
    const result = await storage.append({ number, events: facts("z".repeat(size)) });
    if (!result.ok) return { appends, code: result.failure.code };
  }
  return { appends: 10_000, code: "never full" };
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const row = database.prepare("PRAGMA integrity_check").get();
  database.close();
  return row?.integrity_check;
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args);
}

function lines(): AsyncIterable<string> {
  return createInterface({ input: process.stdin });
}

/** At once, also just before a kill. */
function say(line: string | number): void {
  writeSync(1, `${line}\n`);
}

export type Child = {
  readonly pid: number;
  /** The next line it prints; undefined when it has ended. */
  line(): Promise<string | undefined>;
  /** All further lines, after it has ended by itself. */
  rest(): Promise<string[]>;
  tell(): void;
  kill(): Promise<void>;
};

/** Starts `sqlite-child.ts` with a deed and a directory, under another program where one is named. */
export function startChild(t: TestContext, deed: string, directory: string, under: readonly string[] = []): Child {
  const [program = "", ...args] = [...under, process.execPath, childPath, deed, directory];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const iterator = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(kill);
  const line = async () => {
    const next = await iterator.next();
    return next.done === true ? undefined : next.value;
  };
  return { pid: pidOf(child), line, rest: () => collect(line), tell: () => child.stdin.write("go\n"), kill };
}

const childPath = import.meta.filename;

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("the child did not start");
  return child.pid;
}

async function collect(line: () => Promise<string | undefined>): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const next = await line();
    if (next === undefined) return lines;
    lines.push(next);
  }
}
