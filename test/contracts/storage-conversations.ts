import assert from "node:assert/strict";
import type { Storage } from "../../src/storage/storage.ts";
import {
  alice,
  bob,
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
import { remove } from "./storage-workspaces.ts";

/** Conversations: making, finding, listing, changing, deleting. */
export const conversationPromises: Promises = {
  "a conversation that was made is found by id, by number, by prefix and in the list [L9]": async (storage) => {
    const made = unwrap(
      await storage.createConversation({
        owner: alice,
        id: idOf("first"),
        title: "Hallo 你好 👋",
        at: morning,
        events: facts("a", "b"),
      }),
    );
    assert.deepEqual(made, {
      number: made.number,
      owner: alice,
      id: "first",
      title: "Hallo 你好 👋",
      lastMessage: "",
      turns: 0,
      origin: "person",
      isPassing: false,
      agentId: undefined,
      appKey: undefined,
      readIndex: 0,
      isPinned: false,
      seenAt: undefined,
      createdAt: morning,
      updatedAt: morning,
      deletedAt: undefined,
      cursor: made.cursor,
    });
    assert.deepEqual(await storage.findConversation(alice, made.id), made);
    assert.deepEqual(await storage.conversationByNumber(made.number), made);
    assert.deepEqual(await storage.findByPrefix(alice, "fi", 5), [made]);
    assert.deepEqual(await storage.listConversations(alice, { limit: 5 }), [made]);
    assert.deepEqual(await readAll(storage, made.number), stored(1, "a", "b"));
  },
  "what people write comes back with every character, also those that databases do not like [L9]": async (storage) => {
    const odd = "\u0000 \u0001 \u0001\u0002 \u0003 \u001f \u2028 \ufeff ' \" \\\\ % {a,b} NULL 你 👋";
    const number = await makeConversation(storage);
    const side = { received: odd, row: { title: odd, lastMessage: odd, updatedAt: morning } };
    unwrap(await storage.append({ number, events: [{ ...fact("x"), body: odd }], with: side }));
    unwrap(await storage.putMemory({ owner: alice, id: odd, fact: odd, conversation: odd, at: 1 }));
    const row = await storage.conversationByNumber(number);
    assert.deepEqual([row?.title, row?.lastMessage, await storage.received(number, odd)], [odd, odd, 1]);
    assert.equal((await readAll(storage, number))[0]?.body, odd);
    assert.deepEqual(await storage.listMemory(alice, 9), [
      { owner: alice, id: odd, fact: odd, conversation: odd, at: 1 },
    ]);
    const found = await storage.searchConversations(alice, { title: "\u0000 \u0001", limit: 9, offset: 0 });
    assert.equal(found.total, 1);
  },
  "one owner never finds what belongs to another, and both may use the same id [L9]": async (storage) => {
    const number = await makeConversation(storage, "ours", alice);
    await storage.append({ number, events: [], with: { asked: [{ decision: "d", body: "{}" }] } });
    assert.equal(await storage.findConversation(bob, idOf("ours")), undefined);
    assert.deepEqual(await storage.findByPrefix(bob, "ours", 5), []);
    assert.deepEqual(await storage.findByPrefix(bob, "", 5), []);
    assert.deepEqual(await storage.listConversations(bob, { limit: 5 }), []);
    assert.deepEqual(await storage.openDecisions(bob, 5), []);
    const other = await makeConversation(storage, "ours", bob);
    assert.notEqual(other, number);
    assert.equal((await storage.findConversation(bob, idOf("ours")))?.number, other);
    assert.equal((await storage.findConversation(alice, idOf("ours")))?.number, number);
  },
  "an id can be given once, also when two ask for it at the same moment [L9]": async (storage) => {
    const make = () => storage.createConversation({ owner: alice, id: idOf("same"), at: morning, events: facts("a") });
    const codes = (await Promise.all([make(), make(), make()])).map(codeOf);
    assert.deepEqual(codes, ["ok", "conversation_exists", "conversation_exists"]);
    assert.equal(codeOf(await make()), "conversation_exists");
    const [only, ...others] = await storage.listConversations(alice, { limit: 5 });
    assert.deepEqual(others, []);
    assert.deepEqual(await readAll(storage, only?.number ?? 0), stored(1, "a"));
  },
  "the list goes from the newest to the oldest in pages without gap or repetition [L9]": async (storage) => {
    // Three of each moment, so that the pages also cut between equals.
    for (let index = 0; index < 23; index += 1) {
      await makeConversation(storage, `c${index}`, alice, morning + Math.floor(index / 3));
      await makeConversation(storage, `other${index}`, bob, morning + index);
    }
    const ids = await listInPages(storage, 5);
    assert.deepEqual(
      ids,
      Array.from({ length: 23 }, (_, index) => `c${22 - index}`),
    );
    assert.deepEqual(await storage.listConversations(alice, { limit: 5, before: "no cursor of ours" }), []);
  },
  "what changed last stands first, with its new title, last message and number of turns [L9]": async (storage) => {
    const old = await makeConversation(storage, "old", alice, morning);
    await makeConversation(storage, "new", alice, morning + 1);
    await storage.append({
      number: old,
      events: [fact("x")],
      with: { row: { title: "Renamed", updatedAt: morning + 2 } },
    });
    await storage.append({
      number: old,
      events: [],
      with: { row: { lastMessage: "hi 🙂", turns: 3, updatedAt: morning + 3 } },
    });
    const [first, second] = await storage.listConversations(alice, { limit: 2 });
    assert.deepEqual(
      {
        id: first?.id,
        title: first?.title,
        lastMessage: first?.lastMessage,
        turns: first?.turns,
        updatedAt: first?.updatedAt,
      },
      { id: "old", title: "Renamed", lastMessage: "hi 🙂", turns: 3, updatedAt: morning + 3 },
    );
    assert.equal(first?.createdAt, morning);
    assert.equal(second?.id, "new");
  },
  "a prefix that fits several conversations answers with the newest of them, and takes every character literally [L9]":
    async (storage) => {
      for (const [index, id] of ["ab-1", "ab-2", "ab-3", "abc", "b", "AB-4"].entries()) {
        await makeConversation(storage, id, alice, morning + index);
      }
      const ids = async (prefix: string, limit = 10) =>
        (await storage.findByPrefix(alice, prefix, limit)).map(({ id }) => id);
      assert.deepEqual(await ids("ab-"), ["ab-3", "ab-2", "ab-1"]);
      assert.deepEqual(await ids("ab-", 2), ["ab-3", "ab-2"]);
      assert.deepEqual(await ids("abc"), ["abc"]);
      for (const wild of ["%", "_", "a%", "*", "?", "a_", "ab-1x", "'"]) assert.deepEqual(await ids(wild), []);
    },
  "a deleted conversation is gone for every read, its id stays taken, and its neighbours are untouched [L9]": async (
    storage,
  ) => {
    const [before, number, after] = [
      await makeConversation(storage, "before"),
      await makeConversation(storage, "gone"),
      await makeConversation(storage, "after"),
    ];
    for (const each of [before, number, after]) await fill(storage, each);
    const { epoch } = unwrap(await storage.claimLease(number, "me", 1000));
    const { hash } = unwrap(await storage.putBlob(number, new Uint8Array([1, 2])));
    await storage.append({
      number,
      epoch,
      events: [fact("", "conversation.deleted")],
      with: { deleted: { at: morning + 9 } },
    });

    assert.equal(await storage.findConversation(alice, idOf("gone")), undefined);
    assert.deepEqual(await storage.findByPrefix(alice, "gone", 5), []);
    assert.deepEqual(await readAll(storage, number), []);
    assert.deepEqual(await storage.readBack(number, { before: 100, limit: 100 }), []);
    assert.equal(await storage.headOf(number), 0);
    assert.equal(await storage.received(number, "client"), undefined);
    assert.equal(await storage.getBlob(number, hash), undefined);
    const row = await storage.conversationByNumber(number);
    const nothing = { title: "", lastMessage: "", turns: 0, updatedAt: morning + 9, deletedAt: morning + 9 };
    assert.deepEqual(row, {
      ...(await storage.conversationByNumber(before)),
      ...emptied(number, "gone"),
      ...nothing,
    });

    const remake = await storage.createConversation({ owner: alice, id: idOf("gone"), at: morning, events: [] });
    assert.equal(codeOf(remake), "conversation_not_found");
    const late = await storage.append({ number, events: facts("late") });
    assert.deepEqual(late.ok || [late.failure.code, late.failure.params], ["conversation_not_found", { id: "gone" }]);
    assert.equal(codeOf(await storage.append({ number, epoch, events: facts("late") })), "conversation_not_found");
    assert.equal(codeOf(await storage.claimLease(number, "me", 1000)), "conversation_not_found");
    assert.equal(codeOf(await storage.putBlob(number, new Uint8Array([1]))), "conversation_not_found");
    assert.equal(unwrap(await storage.renewLease(number, { holder: "me", epoch, ttlMs: 1000 })), false);

    const left = [before, after];
    assert.deepEqual(
      (await storage.dueWakes(10)).map((wake) => wake.number),
      left,
    );
    assert.deepEqual(
      (await storage.openDecisions(alice, 10)).map((open) => open.conversation.number),
      left,
    );
    assert.deepEqual(
      (await storage.listConversations(alice, { limit: 5 })).map((each) => each.number),
      left.toReversed(),
    );
    for (const each of left) assert.deepEqual(await readAll(storage, each), stored(1, "a", "b"));
    assert.equal(await storage.received(before, "client"), 2);
  },
};

/** Rows of every kind. */
async function fill(storage: Storage, number: number): Promise<void> {
  const asked = [{ decision: "d", body: "{}" }];
  const row = { title: "Secret plans", lastMessage: "secret", turns: 2, readIndex: 3, updatedAt: morning };
  const side = { received: "client", wake: { notBefore: morning }, asked, row };
  unwrap(await storage.append({ number, events: facts("a", "b"), with: side }));
}

/** What is of this conversation alone, or gone with it. */
function emptied(number: number, id: string) {
  return { number, id: idOf(id), readIndex: 0, cursor: `${morning + 9}.${number}` };
}

async function listInPages(storage: Storage, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await storage.listConversations(alice, { limit, before });
    const last = page.at(-1);
    if (last === undefined) return ids;
    ids.push(...page.map(({ id }) => id));
    before = last.cursor;
  }
}

/** Finding conversations by what the chat routes ask for, and whose they are. */
export const searchPromises: Promises = {
  "conversations are found by a part of their title in any case of letters, newest first, page by page [C4]": async (
    storage,
  ) => {
    const titles = ["Äpfel und Birnen", "GROSSE ÄPFEL", "苹果 Report", "100% sure_thing", "apfel", "İstanbul"];
    for (const [index, title] of titles.entries()) await make(storage, `c${index}`, { title, at: morning + index });
    const search = async (title: string | undefined, limit = 9, offset = 0) => {
      const { items, total } = await storage.searchConversations(alice, { title, limit, offset });
      return [total, ...items.map((row) => row.title)];
    };
    assert.deepEqual(await search("äpfel"), [2, "GROSSE ÄPFEL", "Äpfel und Birnen"]);
    assert.deepEqual(await search("ÄPFEL"), [2, "GROSSE ÄPFEL", "Äpfel und Birnen"]);
    assert.deepEqual(await search("苹果"), [1, "苹果 Report"]);
    assert.deepEqual(await search("0% s"), [1, "100% sure_thing"]);
    assert.deepEqual(await search("e_t"), [1, "100% sure_thing"]);
    assert.deepEqual(await search("%"), [1, "100% sure_thing"]);
    assert.deepEqual(await search("İS"), [1, "İstanbul"]);
    assert.deepEqual(await search("none of them"), [0]);
    const all = [...titles].reverse();
    assert.deepEqual(await search(undefined), [6, ...all]);
    assert.deepEqual(await search("", 2, 0), [6, ...all.slice(0, 2)]);
    assert.deepEqual(await search("", 2, 4), [6, ...all.slice(4)]);
    assert.deepEqual(await search("", 2, 6), [6]);
    for (const limit of [0, -1, 1.5]) await assert.rejects(storage.searchConversations(alice, { limit, offset: 0 }));
  },
  "each application finds its own conversations, and nobody finds another's, deleted ones or those of programs [C4][S7]":
    async (storage) => {
      await make(storage, "plain");
      await make(storage, "mine", { appKey: "app", at: morning + 1 });
      await make(storage, "program", { appKey: "app", origin: "program" });
      const gone = await make(storage, "gone", { appKey: "app" });
      unwrap(await storage.createConversation({ owner: bob, id: idOf("his"), appKey: "app", at: morning, events: [] }));
      await remove(storage, gone);
      const ids = async (appKey: string | undefined) => {
        const { items, total } = await storage.searchConversations(alice, { appKey, limit: 9, offset: 0 });
        return [total, ...items.map(({ id }) => id)];
      };
      assert.deepEqual(await ids("app"), [1, "mine"]);
      assert.deepEqual(await ids(""), [0]);
      assert.deepEqual(await ids(undefined), [2, "mine", "plain"]);
      assert.deepEqual(
        (await storage.listConversations(alice, { limit: 9 })).map(({ id }) => id),
        ["mine", "plain"],
      );
      assert.equal((await storage.findConversation(alice, idOf("program")))?.origin, "program");
    },
  "a conversation is pinned and looked at without being changed; when it was looked at only grows [B1][L9]": async (
    storage,
  ) => {
    const [number, other] = [await makeConversation(storage), await makeConversation(storage, "other")];
    const mark = async (row: object) => unwrap(await storage.append({ number, events: [], with: { row } }));
    const before = await storage.conversationByNumber(number);
    assert.deepEqual([before?.isPinned, before?.seenAt], [false, undefined]);
    await mark({ isPinned: true });
    assert.equal((await storage.conversationByNumber(number))?.seenAt, undefined);
    await mark({ seenAt: morning + 7 });
    await mark({ seenAt: morning + 3 });
    const marked = await storage.conversationByNumber(number);
    assert.deepEqual(marked, { ...before, isPinned: true, seenAt: morning + 7 });
    const pinned = await storage.listConversations(alice, { limit: 9, isPinned: true });
    assert.deepEqual(pinned, [marked]);
    assert.equal((await storage.listConversations(alice, { limit: 9 })).length, 2);
    await mark({ isPinned: false });
    assert.deepEqual(await storage.listConversations(alice, { limit: 9, isPinned: true }), []);
    await mark({ isPinned: true });
    await remove(storage, number);
    const buried = await storage.conversationByNumber(number);
    assert.deepEqual([buried?.isPinned, buried?.seenAt], [false, undefined]);
    assert.notEqual(number, other);
  },
  "conversations that programs left are found, the longest unused first, passing ones apart; those of people are not [S6]":
    async (storage) => {
      await make(storage, "person");
      await make(storage, "newer", { origin: "program", at: morning + 2 });
      const older = await make(storage, "older", { origin: "program", at: morning + 1 });
      await make(storage, "passing", { origin: "program", isPassing: true });
      const gone = await make(storage, "gone", { origin: "program" });
      await remove(storage, gone);
      const left = async (before: number, isPassing = false, limit = 9, only?: number) =>
        (await storage.unusedByCallers({ before, isPassing, limit, only })).map(({ id }) => id);
      assert.deepEqual(await left(morning + 3), ["older", "newer"]);
      assert.deepEqual(await left(morning + 3, false, 1), ["older"]);
      assert.deepEqual(await left(morning + 3, false, 9, older), ["older"]);
      assert.deepEqual(await left(morning + 2), ["older"]);
      assert.deepEqual(await left(morning + 1), []);
      assert.deepEqual(await left(morning + 3, true), ["passing"]);
      assert.equal((await storage.findConversation(alice, idOf("passing")))?.isPassing, true);
      for (const limit of [0, -1, 1.5]) await assert.rejects(left(morning, false, limit));
    },
  "a program's conversation at work, woken since or before a person's decision is not left; one whose results never came is [S6]":
    async (storage, place) => {
      const names = ["resting", "working", "asking", "waiting"];
      const numbers: number[] = [];
      for (const name of names) numbers.push(await make(storage, name, { origin: "program" }));
      const [, working = 0, asking = 0, waiting = 0] = numbers;
      const { epoch } = unwrap(await storage.claimLease(working, "me", 1000));
      const beside = async (number: number, with_: object) =>
        unwrap(await storage.append({ number, events: [], with: with_ }));
      await beside(asking, { asked: [{ decision: "d", body: "{}" }] });
      place.clock.set(morning + 50);
      await beside(waiting, { wake: { notBefore: 0 } });
      const left = async (before: number) =>
        (await storage.unusedByCallers({ before, isPassing: false, limit: 9 })).map(({ id }) => id);
      assert.deepEqual(await left(morning + 50), ["resting"]);
      assert.deepEqual(await left(morning + 51), ["resting", "waiting"]);
      await storage.releaseLease(working, { holder: "me", epoch });
      await beside(asking, { decided: ["d"] });
      assert.deepEqual(await left(morning + 51), names);
    },
  "it is known how many conversations and open decisions there are, over all users [O1]": async (storage) => {
    assert.deepEqual(await storage.count(), { conversations: 0, decisionsOpen: 0 });
    const number = await makeConversation(storage, "a");
    const gone = await makeConversation(storage, "b", bob);
    await make(storage, "program", { origin: "program" });
    const asked = { asked: [{ decision: "d", body: "{}" }] };
    for (const each of [number, gone]) unwrap(await storage.append({ number: each, events: [], with: asked }));
    assert.deepEqual(await storage.count(), { conversations: 2, decisionsOpen: 2 });
    await remove(storage, gone);
    assert.deepEqual(await storage.count(), { conversations: 1, decisionsOpen: 1 });
  },
};

async function make(
  storage: Storage,
  id: string,
  with_: Partial<Parameters<Storage["createConversation"]>[0]> = {},
): Promise<number> {
  const wanted = { owner: alice, id: idOf(id), at: morning, events: [], ...with_ };
  return unwrap(await storage.createConversation(wanted)).number;
}
