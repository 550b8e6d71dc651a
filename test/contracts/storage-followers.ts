import assert from "node:assert/strict";
import { alice, codeOf, facts, idOf, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";
import { remove, spawn } from "./storage-workspaces.ts";

/** What those who follow a conversation hear of what was not stored, and of its end. */
export const followerPromises: readonly Promised[] = [
  {
    says: "a follower hears nothing of what could not be stored, not even with what is stored next, and hears of the end of its conversation [L2][L9]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "a conversation that is made with an agent, an application and a title has them, and one that is made again changes none of them [S5][C4]",
    async holds(place) {
      const storage = await place.open();
      const wanted = { owner: alice, id: idOf("c"), at: morning, title: "One", agentId: "agent", appKey: "app" };
      const made = unwrap(await storage.createConversation({ ...wanted, events: facts("a") }));
      assert.deepEqual([made.title, made.agentId, made.appKey], ["One", "agent", "app"]);
      const again = { ...wanted, title: "Two", agentId: "another", appKey: "another", events: facts("b") };
      assert.equal(codeOf(await storage.createConversation(again)), "conversation_exists");
      assert.deepEqual(await storage.conversationByNumber(made.number), made);
      assert.equal(await storage.headOf(made.number), 1);
    },
  },
];
