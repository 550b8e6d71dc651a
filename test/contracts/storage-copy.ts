import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../src/storage/storage.ts";
import {
  alice,
  codeOf,
  fact,
  facts,
  makeConversation,
  type Place,
  type Promised,
  readAll,
  stored,
  unwrap,
} from "./storage-place.ts";

/** `openCopy` opens what `copyTo` made, as a storage of its own. */
export function copyPromises(openCopy: (path: string) => Promise<Storage>): readonly Promised[] {
  return [
    {
      says: "a copy holds what was acknowledged before it began, alone in its file, for its user alone [Q3]",
      holds: (place) =>
        inFolder(async (folder) => {
          const storage = await place.open();
          const number = await makeConversation(storage);
          unwrap(await storage.append({ number, events: facts("a", "b") }));
          const { hash } = unwrap(await storage.putBlob(number, Buffer.from("large")));
          const path = join(folder, "copy.db");
          assert.deepEqual(unwrap(await storage.copyTo(path)), { conversations: 1, events: 2 });
          unwrap(await storage.append({ number, events: facts("later") }));
          assert.deepEqual(readdirSync(folder), ["copy.db"]);
          assert.equal(statSync(path).mode & 0o777, 0o600);

          const copy = await openCopy(path);
          assert.deepEqual(await readAll(copy, number), stored(1, "a", "b"));
          assert.equal(Buffer.from((await copy.getBlob(number, hash)) ?? []).toString(), "large");
          assert.equal((await copy.listConversations(alice, { limit: 9 })).length, 1);
          await copy.close();
        }),
    },
    {
      says: "a copy is one moment: while others write on, no half of what belongs together is in it [Q3]",
      holds: (place) => inFolder((folder) => copyWhileWriting(place, folder, openCopy)),
    },
    {
      says: "a copy never replaces a file, and one that cannot be made leaves nothing behind [Q3]",
      holds: (place) =>
        inFolder(async (folder) => {
          const storage = await place.open();
          await makeConversation(storage);
          const taken = join(folder, "taken");
          writeFileSync(taken, "mine");
          assert.equal(codeOf(await storage.copyTo(taken)), "storage_broken");
          assert.equal(statSync(taken).size, 4);
          assert.equal(codeOf(await storage.copyTo(join(taken, "copy.db"))), "storage_broken");
          assert.deepEqual(readdirSync(folder), ["taken"]);
        }),
    },
  ];
}

/** Each append has two events and a title with their number. In a copy that is one moment they fit together. */
async function copyWhileWriting(place: Place, folder: string, openCopy: (path: string) => Promise<Storage>) {
  const storage = await place.open();
  const number = await makeConversation(storage);
  let written = 0;
  let isOver = false;
  const write = async () => {
    while (!isOver) {
      const round = written + 1;
      const events = [fact(`${round} ${"x".repeat(2000)}`), fact(`${round}`)];
      const row = { title: `${round}`, updatedAt: round };
      unwrap(await storage.append({ number, events, with: { row } }));
      written = round;
    }
  };
  const writing = write();
  while (written < 20) await new Promise(setImmediate);
  for (let copies = 0; copies < 5; copies += 1) {
    const before = written;
    const path = join(folder, `copy-${copies}.db`);
    const { events } = unwrap(await storage.copyTo(path));
    const copy = await openCopy(path);
    const row = await copy.conversationByNumber(number);
    const round = Number(row?.title);
    const kept = await readAll(copy, number);
    await copy.close();
    assert.deepEqual([events, kept.length], [2 * round, 2 * round]);
    assert.equal(JSON.parse(kept.at(-1)?.body ?? "{}").text, `${round}`);
    assert.ok(round >= before, "what was acknowledged before is in it");
  }
  const during = written;
  isOver = true;
  await writing;
  assert.ok(during > 20, "others wrote on");
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "storage-copy-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
