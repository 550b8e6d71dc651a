import assert from "node:assert/strict";
import type { Storage, TrashRow } from "../../src/storage/storage.ts";
import { alice, bob, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";
import { ask, change, conversationRow, remove, spawn, taskRow } from "./storage-workspaces.ts";

/** Files that nobody uses: which may go, which have to go, and what can come back. */
export const cleanUpPromises: readonly Promised[] = [
  {
    says: "workspaces that nobody used for long are found, the longest unused first, those of tasks too [W10]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage, "a");
      await makeUsed(storage, number, { usedAt: morning + 30 });
      await spawn(storage, number, { id: "task", parent: "root", folder: "workspaces/task" });
      await change(storage, "workspaces/task", { madeAt: morning, usedAt: morning + 10 });
      const his = await makeConversation(storage, "b", bob);
      await makeUsed(storage, his, { usedAt: morning + 20 });
      const unused = async (before: number, limit = 9) =>
        (await storage.unusedWorkspaces(before, limit)).map(({ folder }) => folder);
      assert.deepEqual(await unused(morning + 31), ["workspaces/task", `workspace/${his}`, `workspace/${number}`]);
      assert.deepEqual(await unused(morning + 31, 2), ["workspaces/task", `workspace/${his}`]);
      assert.deepEqual(await unused(morning + 30), ["workspaces/task", `workspace/${his}`]);
      assert.deepEqual(await unused(morning + 10), []);
      assert.deepEqual(await storage.unusedWorkspaces(morning + 11, 9), [
        { ...taskRow(number, "task", 2), madeAt: morning, usedAt: morning + 10 },
      ]);
      const only = async (chosen: object) =>
        (await storage.unusedWorkspaces(morning + 31, 9, chosen)).map(({ folder }) => folder);
      assert.deepEqual(await only({ owner: bob }), [`workspace/${his}`]);
      assert.deepEqual(await only({ folder: "workspaces/task" }), ["workspaces/task"]);
      assert.deepEqual(await only({ owner: bob, folder: "workspaces/task" }), []);
      for (const limit of [0, -1, 1.5]) await assert.rejects(storage.unusedWorkspaces(morning, limit));
    },
  },
  {
    says: "a workspace that was never written, is clean already or was deleted is not found as unused [W10]",
    async holds(place) {
      const storage = await place.open();
      const names = ["unwritten", "cleaned", "deleted", "restored"];
      const numbers = await Promise.all(names.map((id) => makeConversation(storage, id)));
      const [unwritten = 0, cleaned = 0, deleted = 0, restored = 0] = numbers;
      unwrap(await ask(storage, unwritten, "workspace/unwritten"));
      for (const number of [cleaned, deleted, restored]) await makeUsed(storage, number);
      for (const number of [cleaned, restored]) await change(storage, `workspace/${number}`, { cleanedAt: morning });
      await change(storage, `workspace/${restored}`, { cleanedAt: null });
      await remove(storage, deleted);
      assert.deepEqual(await unusedNumbers(storage), [restored]);
    },
  },
  {
    says: "a conversation that changed, is at work, waits for its turn or for a person keeps its files [W10]",
    async holds(place) {
      const storage = await place.open();
      const names = ["resting", "changed", "working", "waiting", "asking"];
      const numbers = await Promise.all(names.map((id) => makeConversation(storage, id)));
      const [resting = 0, changed = 0, working = 0, waiting = 0, asking = 0] = numbers;
      for (const number of numbers) {
        await makeUsed(storage, number);
        await spawn(storage, number, { id: `task-${number}`, parent: "root", folder: `workspaces/${number}` });
        await change(storage, `workspaces/${number}`, { madeAt: morning });
      }
      await beside(storage, changed, { row: { updatedAt: later } });
      const { epoch } = unwrap(await storage.claimLease(working, "me", 1000));
      await beside(storage, waiting, { wake: { notBefore: morning + 86_400_000 } });
      await beside(storage, asking, { asked: [{ decision: "d", body: "{}" }] });
      assert.deepEqual(await unusedNumbers(storage), [resting, resting]);

      await storage.releaseLease(working, { holder: "me", epoch });
      await beside(storage, waiting, { wake: { doneAtHead: 1 } });
      await beside(storage, asking, { decided: ["d"] });
      const free = [resting, working, waiting, asking];
      assert.deepEqual(
        await unusedNumbers(storage),
        free.flatMap((number) => [number, number]),
      );
      assert.equal((await storage.unusedWorkspaces(later + 1, 99)).length, 10);
    },
  },
  {
    says: "a process that died in the middle of its work does not keep the files for ever [W10]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      await makeUsed(storage, number);
      unwrap(await storage.claimLease(number, "dead", 1000));
      assert.deepEqual(await unusedNumbers(storage), []);
      place.clock.set(morning + 1000);
      assert.deepEqual(await unusedNumbers(storage), [number]);
    },
  },
  {
    says: "the folders of a deleted conversation are found until they are removed, and its agents are gone [W10][L9]",
    async holds(place) {
      const first = await place.open();
      const [number, kept] = [await makeConversation(first, "gone"), await makeConversation(first, "kept")];
      for (const each of [number, kept]) {
        unwrap(await ask(first, each, `workspace/${each}`));
        await spawn(first, each, { id: `task-${each}`, parent: "root", folder: `workspaces/task-${each}` });
        await spawn(first, each, { id: `worker-${each}`, parent: `task-${each}` });
      }
      const agents = await first.agentsOf(kept);
      assert.deepEqual(await first.orphanedWorkspaces(9), []);
      await remove(first, number, { id: "last", parent: "root", folder: "workspaces/last" });
      await first.close();

      const storage = await place.open();
      assert.equal(await storage.findWorkspace(number), undefined);
      assert.deepEqual(await storage.agentsOf(number), []);
      const orphans = await storage.orphanedWorkspaces(9);
      assert.deepEqual(
        orphans.toSorted((a, b) => (a.folder < b.folder ? -1 : 1)),
        [
          { ...conversationRow(number, "gone"), folder: `workspace/${number}` },
          taskRow(number, "last", 5),
          taskRow(number, `task-${number}`, 2),
        ],
      );
      assert.equal((await storage.orphanedWorkspaces(2)).length, 2);
      for (const limit of [0, -1, 1.5]) await assert.rejects(storage.orphanedWorkspaces(limit));
      for (const { folder } of orphans) unwrap(await storage.forgetWorkspace(folder));
      unwrap(await storage.forgetWorkspace("workspace/unknown"));
      assert.deepEqual(await storage.orphanedWorkspaces(9), []);
      assert.deepEqual(await storage.agentsOf(kept), agents);
    },
  },
  {
    says: "a folder's name is free again only when the folder of the deleted conversation was removed [W1][Q1]",
    async holds(place) {
      const storage = await place.open();
      const numbers = [
        await makeConversation(storage, "x"),
        await makeConversation(storage, "x", bob),
        await makeConversation(storage, "y"),
      ];
      const [hers = 0, his = 0, next = 0] = numbers;
      unwrap(await ask(storage, hers, "workspace/x"));
      await remove(storage, hers);
      assert.equal(unwrap(await ask(storage, his, "workspace/x")).folder, "workspace/x-other");
      unwrap(await storage.forgetWorkspace("workspace/x"));
      const taken = unwrap(await ask(storage, next, "workspace/x"));
      assert.equal(taken.folder, "workspace/x");
      // Somebody who is late with removing the old folder must not take it from its new owner.
      unwrap(await storage.forgetWorkspace("workspace/x"));
      assert.deepEqual(await storage.findWorkspace(next), taken);
    },
  },
  {
    says: "what is in the trash is listed for its owner, newest first, and nobody else sees it [W10][Q1]",
    async holds(place) {
      const first = await place.open();
      const [hers, his] = [await makeConversation(first, "c"), await makeConversation(first, "c", bob)];
      const rows = [rowOf("old", hers, 1), rowOf("newest", hers, 3), rowOf("new", hers, 2)];
      const foreign = { ...rowOf("his", his, 9), owner: bob };
      for (const row of [...rows, foreign]) unwrap(await first.putTrash(row));
      await first.close();

      const storage = await place.open();
      const [old, newest, next] = rows;
      assert.deepEqual(await storage.listTrash(alice, 9), [newest, next, old]);
      assert.deepEqual(await storage.listTrash(alice, 2), [newest, next]);
      assert.deepEqual(await storage.listTrash(bob, 9), [foreign]);
      assert.deepEqual(await storage.findTrash(alice, "new"), next);
      assert.deepEqual(await storage.findTrash(bob, "his"), foreign);
      for (const [owner, id] of [
        [bob, "new"],
        [alice, "his"],
        [alice, "ne"],
        [alice, "%"],
        [alice, ""],
      ] as const) {
        assert.equal(await storage.findTrash(owner, id), undefined);
      }
      for (const limit of [0, -1, 1.5]) {
        await assert.rejects(storage.listTrash(alice, limit));
        await assert.rejects(storage.expiredTrash(morning, limit));
      }
    },
  },
  {
    says: "trash whose time is over is found over all owners, oldest first, until it is dropped [W10]",
    async holds(place) {
      const storage = await place.open();
      const [hers, his] = [await makeConversation(storage, "c"), await makeConversation(storage, "c", bob)];
      const rows = [rowOf("third", hers, 3), { ...rowOf("second", his, 2), owner: bob }, rowOf("first", hers, 1)];
      for (const row of rows) unwrap(await storage.putTrash(row));
      const expired = async (before: number, limit = 9) =>
        (await storage.expiredTrash(before, limit)).map(({ id }) => id);
      assert.deepEqual(await expired(morning + 1), []);
      assert.deepEqual(await expired(morning + 3), ["first", "second"]);
      assert.deepEqual(await expired(morning + 4, 2), ["first", "second"]);
      assert.deepEqual(await storage.expiredTrash(morning + 2, 9), [rows[2]]);
      for (const id of ["first", "first", "unknown"]) unwrap(await storage.dropTrash(id));
      assert.deepEqual(await expired(morning + 4), ["second", "third"]);
      assert.equal(await storage.findTrash(alice, "first"), undefined);
    },
  },
  {
    says: "the trash of a deleted conversation cannot be restored and is to be removed at once [W10][L9]",
    async holds(place) {
      const storage = await place.open();
      const [gone, kept] = [await makeConversation(storage, "gone"), await makeConversation(storage, "kept")];
      const [lost, stays] = [rowOf("lost", gone, 2, "gone"), rowOf("stays", kept, 1, "kept")];
      for (const row of [lost, stays]) unwrap(await storage.putTrash(row));
      await remove(storage, gone);
      // Its files were on the way to the trash while it was deleted: they have to be found there.
      const late = rowOf("late", gone, 3, "gone");
      unwrap(await storage.putTrash(late));
      assert.deepEqual(await storage.expiredTrash(morning, 9), [lost, late]);
      assert.deepEqual(await storage.expiredTrash(morning + 2, 9), [stays, lost, late]);
      assert.deepEqual(await storage.listTrash(alice, 9), [stays]);
      assert.equal(await storage.findTrash(alice, "lost"), undefined);
    },
  },
  {
    says: "what is put into the trash again under its id is there once, and only for the conversation's owner [W10][Q1]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const row = rowOf("one", number, 1);
      await Promise.all([storage.putTrash(row), storage.putTrash(row)]);
      unwrap(await storage.putTrash({ ...row, bytes: 2 ** 40, files: 3 }));
      await assert.rejects(storage.putTrash({ ...row, owner: bob }));
      await assert.rejects(storage.putTrash({ ...row, number: 77 }));
      assert.deepEqual(await storage.listTrash(alice, 9), [{ ...row, bytes: 2 ** 40, files: 3 }]);
      assert.deepEqual(await storage.listTrash(bob, 9), []);
    },
  },
];

const later = morning + 1000;

/** With a folder named after the number that was made, and maybe used. */
async function makeUsed(storage: Storage, number: number, set: { usedAt?: number } = {}): Promise<void> {
  unwrap(await ask(storage, number, `workspace/${number}`));
  await change(storage, `workspace/${number}`, { madeAt: morning, ...set });
}

async function beside(
  storage: Storage,
  number: number,
  side: NonNullable<Parameters<Storage["append"]>[0]["with"]>,
): Promise<void> {
  unwrap(await storage.append({ number, events: [], with: side }));
}

/** Whose files have not been used up to `later`, one number per workspace. */
async function unusedNumbers(storage: Storage): Promise<number[]> {
  return (await storage.unusedWorkspaces(later, 99)).map(({ number }) => number).sort((a, b) => a - b);
}

/** Alice's, moved so many milliseconds after the morning. */
function rowOf(id: string, number: number, afterMs: number, conversation = "c"): TrashRow {
  const folder = `workspace/of-${number}`;
  return {
    id,
    owner: alice,
    number,
    conversation,
    workspace: "c 你好",
    folder,
    movedAt: morning + afterMs,
    bytes: 12,
    files: 1,
  };
}
