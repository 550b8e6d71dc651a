import assert from "node:assert/strict";
import { writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type Log, openLog } from "../../src/log/log.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openWorkspaces } from "../../src/workspace/workspace.ts";
import { unwrap } from "../contracts/storage-place.ts";
import type { LogWork } from "../world/power-cut-record.ts";
import { quietLogger, testLimits, testWorkspace } from "../world/workspace.ts";

const [, , deed = "", given = ""] = process.argv;
await (deed === "logs" ? writeLogs(JSON.parse(given)) : changeFiles(given));

/** Writes logs as the product does, and tells each moment in the words of `LogWork`. */
async function writeLogs({ path, synchronous = "full", conversations, batches, eventBytes }: LogWork): Promise<void> {
  const names = Array.from({ length: conversations }, (_, index) => `c${index}`);
  let done = 0;
  for (const [round, count] of batches.entries()) {
    const storage = openStorage(path, synchronous);
    say("opened");
    const log = openLog({
      ...{ storage, clock: systemClock, ids: systemIds, checksReads: true },
      onBrokenRecord: ({ why }) => say(`broken ${why}`),
    });
    const from = done;
    done += count;
    await Promise.all(names.map((name) => talk({ log, storage }, { name, from, to: done, eventBytes })));
    // The last time it is not closed: a program that ends in the middle leaves its write-ahead log.
    if (round < batches.length - 1) await storage.close();
  }
}

type Talk = { readonly name: string; readonly from: number; readonly to: number; readonly eventBytes: number };

/** Each waits for its own acknowledgement only, so that appends of several share a transaction. */
async function talk({ log, storage }: { log: Log; storage: Storage }, { name, from, to, eventBytes }: Talk) {
  if (from === 0) {
    say(`asks ${name} made 0`);
    const made = await log.createConversation(localOwner, { id: name });
    if (!made.ok) throw new Error(made.failure.code);
    say(`acknowledged ${name} made 0`);
  }
  const found = await log.find(localOwner, name);
  if (!found.ok) throw new Error(found.failure.code);
  for (let batch = from; batch < to; batch += 1) {
    const count = 1 + (batch % 3);
    const events = Array.from({ length: count }, (_, index) => ({
      type: "conversation.renamed" as const,
      title: `${name} ${batch}.${index} ${"~".repeat(eventBytes)}`,
    }));
    // What need not wait for the disk lies between those that do, and must not take their sync away.
    const quick = storage.putExecution(
      { id: `${name}-${batch}`, owner: localOwner, createdAt: batch, endedAt: undefined, body: "{}", full: undefined },
      { isOnDisk: false },
    );
    if (batch % 2 === 0) await quick;
    say(`asks ${name} ${batch} ${count}`);
    const appended = await log.append(found.value.number, events);
    if (!appended.ok) throw new Error(appended.failure.code);
    say(`acknowledged ${name} ${batch} ${count}`);
    await quick;
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Changes files as tools and uploads do, and says what is done when it was answered. */
async function changeFiles(base: string): Promise<void> {
  const { workspace } = await testWorkspace({ after() {} }, { base });
  unwrap(await workspace.write("outputs/of/today/a.txt", "deep in new folders"));
  say("written");
  // What a program left is kept in passing; then it is replaced, and that is the only copy.
  unwrap(await workspace.observe()).leave();
  unwrap(await workspace.write("outputs/b.txt", "of a tool", { key: "call" }));
  say("replaced");
  // What a tool wrote nobody has looked at since: it is kept in the moment in which it is replaced.
  unwrap(await workspace.write("outputs/b.txt", "once more", { key: "next call" }));
  say("replaced again");
  unwrap(await workspace.remove("outputs/c.txt"));
  say("removed");
  // Uploads have no need of the database: it lies elsewhere, and is not recorded.
  const storage = openStorage(join(tmpdir(), "sessions.db"), "full");
  const options = { dataDir: base, storage, clock: systemClock, ids: systemIds, logger: quietLogger([]) };
  const workspaces = openWorkspaces({ ...options, limits: testLimits });
  const { incoming } = workspaces;
  const wanted = { owner: localOwner, name: "d.txt", conversationId: "c", folder: "uploads", bytes: 6 };
  const { id } = unwrap(await incoming.create({ ...wanted, id: "0".repeat(32) }));
  say("created");
  for (const [offset, text] of [
    [0, "123"],
    [3, "456"],
  ] as const) {
    unwrap(await incoming.append(id, offset, pieces(text)));
    say(`received ${text}`);
  }
  unwrap(await incoming.finish(id, { path: "uploads/d.txt", type: "text" }));
  say("finished");
  const id7 = ConversationId.parse("c7");
  const conversation = unwrap(await storage.createConversation({ owner: localOwner, id: id7, at: 0, events: [] }));
  unwrap(await workspaces.create(conversation));
  say("at home");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  unwrap(await unwrap(await workspaces.taskOf(conversation, "task")).write("a.txt", "of a task"));
  say("task begun");
  await storage.close();
}

async function* pieces(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}

function openStorage(path: string, synchronous: "full" | "normal"): Storage {
  const opened = openSqlite({ path, clock: systemClock, synchronous });
  assert.ok(opened.ok, JSON.stringify(opened));
  return opened.value;
}
