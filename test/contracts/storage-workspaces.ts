import assert from "node:assert/strict";
import type { Storage, WorkspaceRow } from "../../src/storage/storage.ts";
import {
  alice,
  bob,
  codeOf,
  fact,
  facts,
  makeConversation,
  morning,
  type Promised,
  readAll,
  stored,
  unwrap,
} from "./storage-place.ts";

/** Which folders conversations and tasks work in, and who shares them. */
export const workspacePromises: readonly Promised[] = [
  {
    says: "a conversation keeps the folder it was given first, and looking gives it none [W1][W2]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage, "mine");
      assert.equal(await storage.findWorkspace(number), undefined);
      const row = unwrap(await ask(storage, number, "workspace/mine"));
      assert.deepEqual(row, conversationRow(number, "mine"));
      assert.deepEqual(unwrap(await ask(storage, number, "workspace/elsewhere", morning + 9)), row);
      assert.deepEqual(await storage.findWorkspace(number), row);
      await spawn(storage, number, { id: "task", parent: "root", folder: "workspaces/task" });
      const given = async () =>
        Promise.all(["workspace/mine", "workspaces/task", "workspace/elsewhere"].map(storage.numberOfFolder));
      assert.deepEqual(await given(), [number, number, undefined]);
      await remove(storage, number);
      assert.deepEqual(await given(), [number, number, undefined], "also of one that is deleted");
    },
  },
  {
    says: "two who ask for a conversation's folder in one moment are told the same, also in two processes [W1]",
    async holds(place) {
      const [here, there] = [await place.open(), await place.open()];
      const number = await makeConversation(here, "mine");
      const rows = await Promise.all([
        ask(here, number, "workspace/mine"),
        ask(here, number, "workspace/second"),
        ask(there, number, "workspace/third"),
      ]);
      const [first] = rows.map((row) => unwrap(row));
      assert.deepEqual(
        rows.map((row) => unwrap(row)),
        [first, first, first],
      );
      for (const storage of [here, there]) assert.deepEqual(await storage.findWorkspace(number), first);
    },
  },
  {
    says: "two owners with the same conversation id get two folders, also when both ask at once [W1][Q1]",
    async holds(place) {
      const storage = await place.open();
      const [hers, his] = [await makeConversation(storage, "same"), await makeConversation(storage, "same", bob)];
      const wanted = { folder: "workspace/same", at: morning };
      const rows = await Promise.all([
        storage.workspaceOf(hers, { ...wanted, otherFolder: "workspace/made-1" }),
        storage.workspaceOf(his, { ...wanted, otherFolder: "workspace/made-2" }),
      ]);
      // Of two at once either may be the first; that one has the name.
      const given = rows.map((row) => unwrap(row));
      const [hersAt, hisAt] = given[0]?.folder === wanted.folder ? [1, 2] : [2, 1];
      const folder = (at: number, other: string) => (at === 1 ? wanted.folder : other);
      assert.deepEqual(given, [
        { ...conversationRow(hers, "same", hersAt), folder: folder(hersAt, "workspace/made-1") },
        { ...conversationRow(his, "same", hisAt), folder: folder(hisAt, "workspace/made-2"), owner: bob },
      ]);
    },
  },
  {
    says: "a conversation that does not exist, or no longer, gets no folder [W1]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage, "gone");
      await remove(storage, number);
      for (const missing of [77, number]) {
        assert.equal(codeOf(await ask(storage, missing, "workspace/gone")), "conversation_not_found");
        assert.equal(await storage.findWorkspace(missing), undefined);
        assert.deepEqual(await storage.agentsOf(missing), []);
      }
      assert.deepEqual(await storage.orphanedWorkspaces(9), []);
      for (const bad of [0, -1, 2 ** 29, 1.5]) {
        await assert.rejects(ask(storage, bad, "workspace/bad"));
        await assert.rejects(storage.findWorkspace(bad));
        await assert.rejects(storage.agentsOf(bad));
      }
    },
  },
  {
    says: "agents are recorded with the events that made them, in order, each task with a folder of its own [W2][W3]",
    async holds(place) {
      const storage = await place.open();
      const [number, other] = [await makeConversation(storage, "a"), await makeConversation(storage, "b", bob)];
      await spawn(storage, number, { id: "z-task", parent: "root", folder: "workspaces/z-task" });
      await spawn(storage, other, { id: "his", parent: "root", folder: "workspaces/his" });
      await spawn(storage, number, { id: "m", parent: "z-task" }, { id: "a", parent: "m" });
      await spawn(storage, number, { id: "b-task", parent: "root", folder: "workspaces/b-task" });
      assert.deepEqual(await storage.agentsOf(number), [
        { id: "z-task", parent: "root", workspace: taskRow(number, "z-task") },
        { id: "m", parent: "z-task", workspace: undefined },
        { id: "a", parent: "m", workspace: undefined },
        { id: "b-task", parent: "root", workspace: taskRow(number, "b-task", 3) },
      ]);
      assert.deepEqual(await storage.agentsOf(other), [
        { id: "his", parent: "root", workspace: { ...taskRow(other, "his", 2), owner: bob } },
      ]);
      assert.equal(await storage.findWorkspace(number), undefined);
      assert.deepEqual(await readAll(storage, number), stored(1, "spawned", "spawned", "spawned"));
    },
  },
  {
    says: "an agent that is recorded twice stays as it was, in whatever conversation it comes again [W3][W4]",
    async holds(place) {
      const storage = await place.open();
      const [number, other] = [await makeConversation(storage, "a"), await makeConversation(storage, "b", bob)];
      const [task, worker] = [
        { id: "task", parent: "root", folder: "workspaces/task" },
        { id: "w", parent: "task" },
      ];
      await spawn(storage, number, task, worker);
      const before = await storage.agentsOf(number);
      await spawn(storage, number, task, { ...worker, parent: "root", folder: "workspaces/w" });
      await spawn(storage, number, { ...task, folder: "workspaces/moved" }, task);
      await spawn(storage, other, task, worker);
      assert.deepEqual(await storage.agentsOf(number), before);
      assert.deepEqual(await storage.agentsOf(other), []);
    },
  },
  {
    says: "an agent whose events were not appended is not there either [W2][L2]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const agents = [{ id: "task", parent: "root", folder: "workspaces/task" }];
      const refused = [
        await storage.append({ number, epoch: 9, events: facts("fenced"), with: { agents } }),
        await storage.append({ number, expectedHead: 5, events: facts("moved"), with: { agents } }),
        await storage.append({ number: 77, events: facts("nowhere"), with: { agents } }),
      ];
      assert.deepEqual(refused.map(codeOf), ["fenced", "log_moved", "conversation_not_found"]);
      assert.deepEqual(await storage.agentsOf(number), []);
    },
  },
  {
    says: "two tasks never get the same folder, and the one that asks for it second is refused as a whole [W3]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      await spawn(storage, number, { id: "first", parent: "root", folder: "workspaces/one" });
      const before = await storage.agentsOf(number);
      await assert.rejects(spawn(storage, number, { id: "second", parent: "root", folder: "workspaces/one" }));
      assert.deepEqual(await storage.agentsOf(number), before);
      assert.deepEqual(await readAll(storage, number), stored(1, "spawned"));
    },
  },
  {
    says: "folders and the agent tree are as before when the process starts again [W4]",
    async holds(place) {
      const first = await place.open();
      const [number, taken] = [await makeConversation(first, "same"), await makeConversation(first, "same", bob)];
      unwrap(await ask(first, number, "workspace/same"));
      unwrap(await ask(first, taken, "workspace/same"));
      await spawn(first, number, { id: "task", parent: "root", folder: "workspaces/task" });
      await spawn(first, number, { id: "worker", parent: "task" });
      const times = { madeAt: morning + 1, usedAt: morning + 2, cleanedAt: morning + 3 };
      await change(first, "workspace/same", times);
      const late = first.updateWorkspace("workspaces/task", { madeAt: morning + 4 });
      await first.close();
      assert.equal(codeOf(await late), "ok");

      const second = await place.open();
      assert.deepEqual(await second.findWorkspace(number), { ...conversationRow(number, "same"), ...times });
      assert.deepEqual(unwrap(await ask(second, taken, "workspace/new")), {
        ...conversationRow(taken, "same", 2),
        owner: bob,
        folder: "workspace/same-other",
      });
      assert.deepEqual(await second.agentsOf(number), [
        { id: "task", parent: "root", workspace: { ...taskRow(number, "task", 3), madeAt: morning + 4 } },
        { id: "worker", parent: "task", workspace: undefined },
      ]);
    },
  },
  {
    says: "every workspace has a number of its own that is never given again, also after it is gone [S5][X4]",
    async holds(place) {
      const [here, there] = [await place.open(), await place.open()];
      const names = ["a", "b", "c"];
      const numbers = await Promise.all(names.map((id) => makeConversation(here, id)));
      const [first = 0, second = 0, third = 0] = numbers;
      assert.equal(unwrap(await ask(here, first, "workspace/a")).ordinal, 1);
      const task = { id: "task", parent: "root", folder: "workspaces/task" };
      await spawn(there, first, task);
      await spawn(there, first, task);
      assert.deepEqual(await ordinals(here, first), [2]);
      await assert.rejects(spawn(here, second, { ...task, id: "other" }));
      await remove(here, first);
      for (const { folder } of await here.orphanedWorkspaces(9)) unwrap(await here.forgetWorkspace(folder));
      assert.equal(unwrap(await ask(there, second, "workspace/a")).ordinal, 3);
      await Promise.all([here.close(), there.close()]);
      assert.equal(unwrap(await ask(await place.open(), third, "workspace/c")).ordinal, 4);
    },
  },
  {
    says: "a workspace takes what changed and keeps the rest, and its last use never goes back [W10]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage, "mine");
      let expected = unwrap(await ask(storage, number, "workspace/mine"));
      const changes: [Parameters<Storage["updateWorkspace"]>[1], Partial<WorkspaceRow>][] = [
        [{}, {}],
        [{ madeAt: morning + 1 }, { madeAt: morning + 1 }],
        [{ usedAt: morning + 50 }, { usedAt: morning + 50 }],
        [{ usedAt: morning + 49 }, {}],
        [{ cleanedAt: morning + 60 }, { cleanedAt: morning + 60 }],
        [{ usedAt: morning + 61 }, { usedAt: morning + 61 }],
        [
          { madeAt: morning + 70, cleanedAt: null },
          { madeAt: morning + 70, cleanedAt: undefined },
        ],
      ];
      for (const [set, effect] of changes) {
        await change(storage, "workspace/mine", set);
        expected = { ...expected, ...effect };
        assert.deepEqual(await storage.findWorkspace(number), expected);
      }
      await change(storage, "workspace/unknown", { madeAt: morning, usedAt: morning });
      assert.deepEqual(unwrap(await ask(storage, number, "workspace/mine")), expected);
    },
  },
];

/** `<folder>-other` where the folder is taken. */
export function ask(storage: Storage, number: number, folder: string, at = morning) {
  return storage.workspaceOf(number, { folder, otherFolder: `${folder}-other`, at });
}

/** Appends one event, with agents beside it. */
export async function spawn(
  storage: Storage,
  number: number,
  ...agents: { id: string; parent: string; folder?: string }[]
): Promise<void> {
  unwrap(await storage.append({ number, events: facts("spawned"), with: { agents } }));
}

/** Of its tasks. */
async function ordinals(storage: Storage, number: number): Promise<(number | undefined)[]> {
  return (await storage.agentsOf(number)).map(({ workspace }) => workspace?.ordinal);
}

export async function change(
  storage: Storage,
  folder: string,
  set: Parameters<Storage["updateWorkspace"]>[1],
): Promise<void> {
  unwrap(await storage.updateWorkspace(folder, set));
}

/** Deletes the conversation; the agents are made by the same batch. */
export async function remove(
  storage: Storage,
  number: number,
  ...agents: { id: string; parent: string; folder: string }[]
): Promise<void> {
  const events = [fact("", "conversation.deleted")];
  unwrap(await storage.append({ number, events, with: { agents, deleted: { at: morning } } }));
}

/** As it is when it was just given, as the first one or the `ordinal`-th. */
export function conversationRow(number: number, id: string, ordinal = 1): WorkspaceRow {
  return { ...untouched, folder: `workspace/${id}`, kind: "conversation", id, number, ordinal };
}

export function taskRow(number: number, id: string, ordinal = 1): WorkspaceRow {
  return { ...untouched, folder: `workspaces/${id}`, kind: "task", id, number, ordinal };
}

const untouched = { owner: alice, createdAt: morning, madeAt: undefined, usedAt: morning, cleanedAt: undefined };
