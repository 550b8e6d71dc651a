import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type Log, openLog } from "../../src/log/log.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { LogWork } from "../world/power-cut-log.ts";
import { openStorage } from "../world/power-cut-storage.ts";

await work(JSON.parse(process.argv[2] ?? "{}"));

/** Writes logs as the product does, and tells each moment in the words of `LogWork`. */
async function work({ path, synchronous = "full", conversations, batches, eventBytes }: LogWork): Promise<void> {
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
