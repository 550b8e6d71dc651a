import assert from "node:assert/strict";
import type { MemoryRow, RuleRow } from "../../src/storage/storage.ts";
import { alice, bob, codeOf, facts, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";
import { remove } from "./storage-workspaces.ts";

/** What users allowed always, and what they want to be known. */
export const rulePromises: readonly Promised[] = [
  {
    says: "a rule counts in its conversation or in all of its user's, newest first, and nobody else has it [H2][S7]",
    async holds(place) {
      const first = await place.open();
      const [here, there] = [await makeConversation(first, "here"), await makeConversation(first, "there")];
      const everywhere = ruleOf("everywhere", { at: morning + 2 });
      const inHere = ruleOf("in-here", { number: here, at: morning + 2 });
      const inThere = ruleOf("in-there", { number: there });
      const his = ruleOf("everywhere", { owner: bob });
      for (const row of [everywhere, inThere, inHere, his]) unwrap(await first.putRule(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [inHere, everywhere, inThere]);
      assert.deepEqual(await storage.listRules(alice, { number: here, limit: 9 }), [inHere, everywhere]);
      assert.deepEqual(await storage.listRules(alice, { number: there, limit: 9 }), [everywhere, inThere]);
      assert.deepEqual(await storage.listRules(alice, { limit: 1 }), [inHere]);
      assert.deepEqual(await storage.listRules(bob, { limit: 9 }), [his]);
      for (const limit of [0, -1, 1.5]) await assert.rejects(storage.listRules(alice, { limit }));
    },
  },
  {
    says: "the same rule again replaces it; one that is revoked is gone, and only its owner can do that [H2][S7]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      unwrap(await storage.putRule(ruleOf("r", { number })));
      const changed = ruleOf("r", { body: '{"改":1}', at: morning + 1 });
      unwrap(await storage.putRule(changed));
      assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [changed]);
      assert.equal(unwrap(await storage.dropRule(bob, "r")), false);
      assert.equal(unwrap(await storage.dropRule(alice, "r")), true);
      assert.equal(unwrap(await storage.dropRule(alice, "r")), false);
      assert.deepEqual(await storage.listRules(alice, { limit: 9 }), []);
    },
  },
  {
    says: "a rule is stored with the events of its decision or not at all [H2][L2]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const rule = ruleOf("r", { number });
      const late = await storage.append({ number, expectedHead: 7, events: facts("a"), with: { rules: [rule] } });
      assert.equal(codeOf(late), "log_moved");
      assert.deepEqual(await storage.listRules(alice, { limit: 9 }), []);
      unwrap(await storage.append({ number, expectedHead: 0, events: facts("a"), with: { rules: [rule] } }));
      assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [rule]);
    },
  },
  {
    says: "a conversation that is deleted takes its rules along, but none that counts everywhere [H2]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const everywhere = ruleOf("everywhere");
      for (const row of [everywhere, ruleOf("here", { number })]) unwrap(await storage.putRule(row));
      await remove(storage, number);
      assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [everywhere]);
    },
  },
  {
    says: "memories of a user are kept, oldest first, changed in place and forgotten, and nobody else has them [Z4][S7]",
    async holds(place) {
      const first = await place.open();
      const tea = memoryOf("tea", { fact: "Prefers tea 茶." });
      const team = memoryOf("team", { conversation: "c", at: morning + 1 });
      const his = memoryOf("tea", { owner: bob });
      for (const row of [team, tea, his]) unwrap(await first.putMemory(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.listMemory(alice, 9), [tea, team]);
      assert.deepEqual(await storage.listMemory(alice, 1), [tea]);
      const coffee = { ...tea, fact: "Prefers coffee." };
      unwrap(await storage.putMemory(coffee));
      assert.deepEqual(await storage.listMemory(alice, 9), [coffee, team]);
      assert.equal(unwrap(await storage.dropMemory(alice, "tea")), true);
      assert.equal(unwrap(await storage.dropMemory(alice, "tea")), false);
      assert.deepEqual(await storage.listMemory(alice, 9), [team]);
      assert.deepEqual(await storage.listMemory(bob, 9), [his]);
      await assert.rejects(storage.listMemory(alice, 0));
    },
  },
];

function ruleOf(id: string, with_: Partial<RuleRow> = {}): RuleRow {
  return { owner: alice, id, number: undefined, body: `{"id":"${id}"}`, at: morning, ...with_ };
}

function memoryOf(id: string, with_: Partial<MemoryRow> = {}): MemoryRow {
  return { owner: alice, id, fact: id, conversation: undefined, at: morning, ...with_ };
}
