import assert from "node:assert/strict";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { makeFailure } from "../protocol/failure.ts";
import { openInUse } from "./in-use.ts";
import { noWorkspace } from "./none.ts";

const [task, own] = [
  { number: 7, kind: "task", id: "writer" },
  { number: 7, kind: "conversation", id: "c" },
] as const;

test("whatever is done to the files of a workspace keeps it, and no other, from being tidied away [W10][W11]", async () => {
  const inUse = openInUse();
  const others = [own, { ...task, id: "other" }, { ...task, number: 8 }];
  // It refuses everything, in the next moment: until then it is at it.
  const files = inUse.watch(task, noWorkspace("writer", makeFailure("workspace_not_assigned", { agent: "writer" })));
  const changes = {
    write: () => files.write("a", "text"),
    remove: () => files.remove("a"),
    empty: () => files.empty("temp"),
    restore: () => files.restore("a", undefined),
    guestFolder: () => files.guestFolder(),
  };
  for (const [what, begin] of Object.entries(changes)) {
    const work = begin();
    assert.deepEqual([inUse.has(task), others.some(inUse.has)], [true, false], what);
    await work;
    assert.equal(inUse.has(task), false, what);
  }
  const looking = files.read("a");
  assert.equal(inUse.has(task), false, "who only looks moves with the folder");
  await looking;
});

test("a workspace is in use until the last writer has ended, whoever else came and went meanwhile [W10][W11]", async (t) => {
  const inUse = openInUse();
  const files = inUse.watch(own, (await testWorkspace(t)).workspace);
  const room = Promise.withResolvers<void>();
  const slowly = (async function* () {
    await room.promise;
    yield Buffer.from("slow");
  })();
  const slow = files.write("uploads/slow", slowly);
  assert.ok((await files.write("uploads/quick", "quick")).ok);
  assert.equal(inUse.has(own), true);
  room.resolve();
  assert.ok((await slow).ok);
  assert.equal(inUse.has(own), false);
});
