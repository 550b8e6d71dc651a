import assert from "node:assert/strict";
import type { BoxToolRow, ToolboxRow } from "../../src/storage/storage.ts";
import { alice, bob, morning, type Promised, unwrap } from "./storage-place.ts";

/** Tool boxes with their tools. */
export const toolboxPromises: readonly Promised[] = [
  {
    says: "a tool box is kept with its tools, all at once, in the order they came, and changed in place [T4]",
    async holds(place) {
      const first = await place.open();
      const [box, other] = [boxOf("box"), boxOf("other", { owner: bob, createdAt: morning + 1 })];
      const tools = ["z", "a"].map((id) => toolOf("box", id));
      unwrap(await first.putToolbox(box, tools));
      unwrap(await first.putToolbox(other, [toolOf("other", "a", { owner: bob })]));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.listToolboxes(9), [box, other]);
      assert.deepEqual(await storage.listToolboxes(1), [box]);
      assert.deepEqual(await storage.listBoxTools(2), tools);
      const changed = { ...box, body: '{"b":2}', updatedAt: morning + 5 };
      const tool = { ...toolOf("box", "a"), body: '{"t":2}', updatedAt: morning + 5 };
      unwrap(await storage.putToolbox({ ...changed, createdAt: 0 }, [{ ...tool, createdAt: 0 }]));
      assert.deepEqual(await storage.listToolboxes(1), [changed]);
      assert.deepEqual(await storage.listBoxTools(2), [tools[0], tool]);
      for (const limit of [0, -1]) await assert.rejects(storage.listToolboxes(limit));
    },
  },
  {
    says: "a tool box goes with its tools, and nobody else can change it or take it away [T4][S7]",
    async holds(place) {
      const storage = await place.open();
      const box = boxOf("box");
      const tools = ["a", "b", "c"].map((id) => toolOf("box", id));
      unwrap(await storage.putToolbox(box, tools));
      unwrap(
        await storage.putToolbox({ ...box, owner: bob, body: "{}" }, [toolOf("box", "a", { owner: bob, body: "{}" })]),
      );
      assert.deepEqual([await storage.listToolboxes(9), await storage.listBoxTools(9)], [[box], tools]);
      unwrap(await storage.dropBoxTools(bob, "box", ["a"]));
      unwrap(await storage.dropBoxTools(alice, "box", ["b", "none"]));
      assert.deepEqual(await storage.listBoxTools(9), [tools[0], tools[2]]);
      assert.equal(unwrap(await storage.dropToolbox(bob, "box")), false);
      assert.deepEqual(await storage.listBoxTools(9), [tools[0], tools[2]]);
      assert.equal(await storage.ownsAnything(alice), true);
      assert.equal(unwrap(await storage.dropToolbox(alice, "box")), true);
      assert.deepEqual([await storage.listToolboxes(9), await storage.listBoxTools(9)], [[], []]);
      assert.equal(await storage.ownsAnything(alice), false);
    },
  },
];

function boxOf(id: string, with_: Partial<ToolboxRow> = {}): ToolboxRow {
  return { id, owner: alice, body: '{"b":1}', createdAt: morning, updatedAt: morning, ...with_ };
}

function toolOf(box: string, id: string, with_: Partial<BoxToolRow> = {}): BoxToolRow {
  return { box, id, owner: alice, body: '{"t":1}', createdAt: morning, updatedAt: morning, ...with_ };
}
