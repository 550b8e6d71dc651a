import assert from "node:assert/strict";
import type { Storage } from "../../src/storage/storage.ts";
import { alice, bob, facts, idOf, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";
import { remove } from "./storage-workspaces.ts";

/** Finding conversations by what the chat routes ask for, and whose they are. */
export const searchPromises: readonly Promised[] = [
  {
    says: "conversations are found by a part of their title in any case of letters, newest first, page by page [C4]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "each application finds its own conversations, and nobody finds another's, deleted ones or those of programs [C4][S7]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "a conversation keeps the agent and the application that named it first, and how far it was read [S5][C4]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const change = async (row: object) =>
        unwrap(await storage.append({ number, events: facts("a"), with: { row: { updatedAt: morning + 1, ...row } } }));
      await change({ agentId: "first", appKey: "app", readIndex: 4 });
      await change({ agentId: "second", appKey: "other" });
      await change({ readIndex: 2 });
      const found = await storage.conversationByNumber(number);
      assert.deepEqual([found?.agentId, found?.appKey, found?.readIndex], ["first", "app", 2]);
      await remove(storage, number);
      const buried = await storage.conversationByNumber(number);
      assert.deepEqual([buried?.agentId, buried?.appKey, buried?.readIndex], [undefined, undefined, 0]);
    },
  },
  {
    says: "a conversation is pinned and looked at without being changed; when it was looked at only grows [B1][L9]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "conversations that programs left are found, the longest unused first, passing ones apart; those of people are not [S6]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "a program's conversation at work, woken since or before a person's decision is not left; one whose results never came is [S6]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "it is known how many conversations and open decisions there are, over all users [O1]",
    async holds(place) {
      const storage = await place.open();
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
  },
];

async function make(
  storage: Storage,
  id: string,
  with_: Partial<Parameters<Storage["createConversation"]>[0]> = {},
): Promise<number> {
  const wanted = { owner: alice, id: idOf(id), at: morning, events: [], ...with_ };
  return unwrap(await storage.createConversation(wanted)).number;
}
