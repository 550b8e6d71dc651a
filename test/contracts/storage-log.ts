import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Storage, StoredEvent } from "../../src/storage/storage.ts";
import { anyText } from "../world/any-text.ts";
import {
  alice,
  codeOf,
  fact,
  facts,
  idOf,
  makeConversation,
  morning,
  type Promises,
  readAll,
  stored,
  unwrap,
} from "./storage-place.ts";
import { remove, spawn } from "./storage-workspaces.ts";

/** The log of a conversation: appending, reading, following, and what is written beside the events. */
export const logPromises: Promises = {
  "events are numbered from one on and read back forwards, backwards and up to a place [L2]": async (storage) => {
    const number = await makeConversation(storage);
    assert.equal(await storage.headOf(number), 0);
    assert.deepEqual(unwrap(await storage.append({ number, events: facts("a", "b", "c") })), { lastSeq: 3 });
    assert.deepEqual(unwrap(await storage.append({ number, events: facts("d", "e") })), { lastSeq: 5 });
    assert.equal(await storage.headOf(number), 5);
    assert.deepEqual(await readAll(storage, number), stored(1, "a", "b", "c", "d", "e"));
    assert.deepEqual(await storage.read(number, { after: 1, limit: 2 }), stored(2, "b", "c"));
    assert.deepEqual(await storage.read(number, { after: 1, limit: 9, upTo: 4 }), stored(2, "b", "c", "d"));
    assert.deepEqual(await storage.read(number, { after: 5, limit: 9 }), []);
    assert.deepEqual(await storage.readBack(number, { before: 6, limit: 2 }), stored(4, "d", "e").toReversed());
    assert.deepEqual(await storage.readBack(number, { before: 3, limit: 9 }), stored(1, "a", "b").toReversed());
  },
  "a batch that rests on an older state of the log is refused and writes nothing, also within one transaction [L2]":
    async (storage) => {
      const number = await makeConversation(storage);
      unwrap(await storage.append({ number, events: facts("a"), expectedHead: 0 }));
      const [one, two] = await Promise.all([
        storage.append({ number, events: facts("b"), expectedHead: 1 }),
        storage.append({ number, events: facts("c"), expectedHead: 1, with: { received: "id" } }),
      ]);
      assert.deepEqual(unwrap(one), { lastSeq: 2 });
      assert.equal(codeOf(two), "log_moved");
      assert.deepEqual(await readAll(storage, number), stored(1, "a", "b"));
      assert.equal(await storage.received(number, "id"), undefined);
    },
  "no range reaches into another conversation, and a limit has to be one [L2]": async (storage) => {
    for (const id of ["one", "two", "three"]) {
      await storage.append({ number: await makeConversation(storage, id), events: facts(id) });
    }
    const number = (await storage.findConversation(alice, idOf("two")))?.number ?? 0;
    for (const after of [-1e9, -1, 0])
      assert.deepEqual(await storage.read(number, { after, limit: 9 }), stored(1, "two"));
    for (const upTo of [1, 2 ** 24, 1e15]) {
      assert.deepEqual(await storage.read(number, { after: 0, upTo, limit: 9 }), stored(1, "two"));
    }
    assert.deepEqual(await storage.read(number, { after: 2 ** 24, limit: 9 }), []);
    for (const before of [2, 2 ** 24, 1e15]) {
      assert.deepEqual(await storage.readBack(number, { before, limit: 9 }), stored(1, "two"));
    }
    assert.deepEqual(await storage.readBack(number, { before: -5, limit: 9 }), []);
    for (const limit of [0, -1, 1.5]) await assert.rejects(storage.read(number, { after: 0, limit }));
    for (const bad of [0, -1, 2 ** 29, 1.5]) await assert.rejects(storage.read(bad, { after: 0, limit: 1 }));
  },
  "a follower hears of every commit in order until it ends, and others go on hearing [L2]": async (storage) => {
    const number = await makeConversation(storage, "followed");
    const other = await makeConversation(storage, "other");
    const heard: string[] = [];
    const end = storage.onAppend(number, (seq) => heard.push(`first ${seq}`));
    storage.onAppend(number, (seq) => heard.push(`second ${seq}`));
    await storage.append({ number, events: facts("a", "b") });
    await Promise.all([
      storage.append({ number, events: facts("c") }),
      storage.append({ number: other, events: facts("x") }),
    ]);
    await storage.append({ number, events: [] });
    assert.equal(codeOf(await storage.append({ number, epoch: 9, events: facts("never") })), "fenced");
    end();
    end();
    await storage.append({ number, events: facts("d") });
    assert.deepEqual(heard, ["first 2", "second 2", "first 3", "second 3", "second 4"]);
  },
  "more than a thousand appends of one moment are stored in few commits, the last one too [L2]": async (storage) => {
    const number = await makeConversation(storage);
    const commits: number[] = [];
    storage.onAppend(number, (seq) => commits.push(seq));
    const texts = Array.from({ length: 1100 }, (_, index) => `${index}`);
    const appends = await Promise.all(texts.map((text) => storage.append({ number, events: facts(text) })));
    assert.deepEqual(
      appends.map((result) => unwrap(result).lastSeq),
      texts.map((_, index) => index + 1),
    );
    assert.deepEqual(await readAll(storage, number), stored(1, ...texts));
    assert.ok(commits.length <= 4, `${commits.length} commits`);
  },
  "a message that is sent twice is stored once and keeps its place, also when both arrive together [L2]": async (
    storage,
  ) => {
    const number = await makeConversation(storage, "a");
    const other = await makeConversation(storage, "b");
    const send = (to: number, text: string, received: string) =>
      storage.append({ number: to, events: facts(text), with: { received } });
    const [first, again, next] = await Promise.all([
      send(number, "hi", "m1"),
      send(number, "hi", "m1"),
      send(number, "ho", "m2"),
    ]);
    assert.deepEqual(
      [first, again, next].map((result) => unwrap(result).lastSeq),
      [1, 1, 2],
    );
    assert.equal(unwrap(await send(number, "hi", "m1")).lastSeq, 1);
    assert.equal(unwrap(await send(other, "hi", "m1")).lastSeq, 1);
    // That the log has grown since says nothing against what is in it already.
    const late = { number, expectedHead: 0, events: facts("hi"), with: { received: "m1" } };
    assert.deepEqual(unwrap(await storage.append(late)), { lastSeq: 1 });
    assert.deepEqual(await readAll(storage, number), stored(1, "hi", "ho"));
    assert.equal(await storage.received(number, "m2"), 2);
    assert.equal(await storage.received(number, "m3"), undefined);
  },
  "every character and five megabytes come back unchanged [L2]": async (storage) => {
    const number = await makeConversation(storage);
    const odd = [
      "",
      "你好",
      "👩‍👩‍👧",
      "e\u0301 é",
      "\u0000\u0001\u001f",
      "\u2028\u2029",
      "\ud800 alone",
      "'\"\\`;--",
      "\ufeff",
      "ﷺ",
      "x".repeat(5_000_000),
      "汉".repeat(1_700_000),
    ];
    unwrap(await storage.append({ number, events: facts(...odd) }));
    assert.deepEqual(await readAll(storage, number), stored(1, ...odd));
  },
  "an event that cannot be stored is refused alone and the others of its moment are kept [L2]": async (storage) => {
    const number = await makeConversation(storage);
    const broken = { ...fact("broken"), at: 0.5 };
    const appends = await Promise.allSettled([
      storage.append({ number, events: facts("a") }),
      storage.append({ number, events: [fact("half"), broken] }),
      storage.append({ number, events: facts("b") }),
    ]);
    assert.deepEqual(
      appends.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual(await readAll(storage, number), stored(1, "a", "b"));
  },
  "what was acknowledged is there after closing and opening again [L2]": async (first, place) => {
    const number = await makeConversation(first);
    const { hash } = unwrap(await first.putBlob(number, new Uint8Array([0, 255, 7])));
    await first.append({ number, events: facts("a"), with: { received: "m", wake: { notBefore: morning } } });
    const late = first.append({ number, events: facts("b") });
    await first.close();
    assert.equal(codeOf(await late), "ok");
    await assert.rejects(first.append({ number, events: facts("c") }));
    const second = await place.open();
    assert.deepEqual(await readAll(second, number), stored(1, "a", "b"));
    assert.equal(await second.received(number, "m"), 1);
    assert.deepEqual(await second.getBlob(number, hash), new Uint8Array([0, 255, 7]));
    assert.deepEqual(await second.dueWakes(5), [{ number, notBefore: morning, head: 2 }]);
  },
  "a large result is kept by its hash for its own conversation and its branches [L2]": async (storage) => {
    const [number, other] = [await makeConversation(storage, "a"), await makeConversation(storage, "b")];
    const data = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    const [first, again] = await Promise.all([storage.putBlob(number, data), storage.putBlob(number, data)]);
    const { hash } = unwrap(first);
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.equal(unwrap(again).hash, hash);
    assert.deepEqual(await storage.getBlob(number, hash), data);
    assert.equal(await storage.getBlob(other, hash), undefined);
    assert.equal(await storage.getBlob(number, hash.replace(/^./, "z")), undefined);
    const branch = await storage.createConversation({
      owner: alice,
      id: idOf("branch"),
      at: morning,
      events: [],
      blobsOf: number,
    });
    assert.deepEqual(await storage.getBlob(unwrap(branch).number, hash), data);
    const empty = unwrap(await storage.putBlob(number, new Uint8Array()));
    assert.deepEqual(await storage.getBlob(number, empty.hash), new Uint8Array());
  },
  "whatever is appended in whatever order, what is read is what was acknowledged [L2]": async (storage) => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(batchArbitrary, { maxLength: 25 }), async (batches) => {
        round += 1;
        const numbers = await Promise.all([0, 1, 2].map((index) => makeConversation(storage, `r${round}-${index}`)));
        const expected = new Map(numbers.map((number): [number, StoredEvent[]] => [number, []]));
        const waiting: Promise<void>[] = [];
        for (const { to, texts, isAwaited, clientId } of batches) {
          const number = numbers[to] ?? 0;
          const append = storage.append({ number, events: facts(...texts), with: { received: clientId } });
          waiting.push(append.then((result) => keep(expected.get(number) ?? [], texts, unwrap(result).lastSeq)));
          if (isAwaited) await append;
        }
        await Promise.all(waiting);
        for (const [number, events] of expected) {
          assert.deepEqual(await readAll(storage, number), events);
          assert.equal(await storage.headOf(number), events.length);
        }
      }),
      { numRuns: 40 },
    );
  },
};

const batchArbitrary = fc.record({
  to: fc.nat(2),
  texts: fc.array(anyText(), { maxLength: 4 }),
  isAwaited: fc.boolean(),
  clientId: fc.option(fc.constantFrom("m1", "m2"), { nil: undefined }),
});

/** A repeated message answers with the place of the first: nothing was added. */
function keep(events: StoredEvent[], texts: readonly string[], lastSeq: number): void {
  if (lastSeq - texts.length === events.length) events.push(...stored(events.length + 1, ...texts));
}

/** What those who follow a conversation hear of what was not stored, and of its end. */
export const followerPromises: Promises = {
  "a follower hears nothing of what could not be stored, not even with what is stored next, and hears of the end of its conversation [L2][L9]":
    async (storage) => {
      const [number, other] = [await makeConversation(storage, "followed"), await makeConversation(storage, "other")];
      const task = { id: "first", parent: "root", folder: "workspaces/one" };
      await spawn(storage, number, task);
      const heard: number[] = [];
      storage.onAppend(number, (seq) => heard.push(seq));
      // Its folder is taken: the batch is refused when its events are in the table already.
      await assert.rejects(spawn(storage, number, { ...task, id: "second" }));
      unwrap(await storage.append({ number: other, events: facts("x") }));
      assert.deepEqual(heard, []);
      unwrap(await storage.append({ number, events: facts("y") }));
      assert.deepEqual(heard, [2]);
      await remove(storage, number);
      assert.deepEqual(heard, [2, 3]);
    },
};

/** What is there already and changes: all of it is as new as what was stored last. */
export const changedPromises: Promises = {
  "a conversation that got another title is found by that one and no more by its old one, deleted by neither [C4][L9]":
    async (storage) => {
      const number = await makeConversation(storage);
      const found = async (title: string) =>
        (await storage.searchConversations(alice, { title, limit: 9, offset: 0 })).total;
      const row = (title: string) => ({ number, events: [], with: { row: { title } } });
      unwrap(await storage.append(row("Plum Jam")));
      unwrap(await storage.append(row("Ärger mit ÖL")));
      unwrap(await storage.append({ number, events: [], with: { row: { lastMessage: "plum" } } }));
      assert.deepEqual([await found("plum"), await found("ärger MIT öl"), await found("")], [0, 1, 1]);
      await remove(storage, number);
      assert.deepEqual([await found("öl"), await found("")], [0, 0]);
    },
  "a message and what it wakes, asks and changes are stored together, and of a message that comes again nothing is [L2]":
    async (storage) => {
      const number = await makeConversation(storage);
      const asked = [{ decision: "d", body: "{}" }];
      const side = { received: "m", wake: { notBefore: morning }, row: { title: "One" }, asked };
      unwrap(await storage.append({ number, events: facts("a", "b"), with: side }));
      unwrap(await storage.append({ number, events: facts("c"), with: { decided: ["d"], wake: { doneAtHead: 2 } } }));
      const again = { ...side, row: { title: "Two" } };
      assert.deepEqual(unwrap(await storage.append({ number, events: facts("a", "b"), with: again })), { lastSeq: 2 });
      assert.deepEqual(
        [await storage.dueWakes(9), await storage.openDecisions(alice, 9), await storage.headOf(number)],
        [[], [], 3],
      );
      assert.equal((await storage.conversationByNumber(number))?.title, "One");
    },
};

/** `openCopy` opens what `copyTo` made, as a storage of its own. */
export const copyPromises = (openCopy: (path: string) => Promise<Storage>): Promises => ({
  "a copy holds what was acknowledged before it began, alone in its file, for its user alone [Q3]": (storage) =>
    inFolder(async (folder) => {
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
  "a copy is one moment: while others write on, no half of what belongs together is in it [Q3]": (storage) =>
    inFolder((folder) => copyWhileWriting(storage, folder, openCopy)),
  "a copy never replaces a file, and one that cannot be made leaves nothing behind [Q3]": (storage) =>
    inFolder(async (folder) => {
      await makeConversation(storage);
      const taken = join(folder, "taken");
      writeFileSync(taken, "mine");
      assert.equal(codeOf(await storage.copyTo(taken)), "storage_broken");
      assert.equal(statSync(taken).size, 4);
      assert.equal(codeOf(await storage.copyTo(join(taken, "copy.db"))), "storage_broken");
      assert.deepEqual(readdirSync(folder), ["taken"]);
    }),
});

/** Each append has two events and a title with their number. In a copy that is one moment they fit together. */
async function copyWhileWriting(storage: Storage, folder: string, openCopy: (path: string) => Promise<Storage>) {
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
  for (let copies = 0; copies < 2; copies += 1) {
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
