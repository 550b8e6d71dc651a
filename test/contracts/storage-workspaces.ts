import assert from "node:assert/strict";
import type { Storage, TrashRow, WorkspaceRow } from "../../src/storage/storage.ts";
import {
  alice,
  bob,
  codeOf,
  fact,
  facts,
  makeConversation,
  morning,
  type Promises,
  readAll,
  stored,
  unwrap,
} from "./storage-place.ts";

/** Which folders conversations and tasks work in, and who shares them. */
export const workspacePromises: Promises = {
  "a conversation keeps the folder it was given first, and looking gives it none [W1][W2]": async (storage) => {
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
  "two who ask for a conversation's folder in one moment are told the same, also in two processes [W1]": async (
    _,
    place,
  ) => {
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
  "two owners with the same conversation id get two folders, also when both ask at once [W1][Q1]": async (storage) => {
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
  "agents are recorded with the events that made them, in order, each task with a folder of its own [W2][W3]": async (
    storage,
  ) => {
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
  "an agent whose events were not appended is not there either [W2][L2]": async (storage) => {
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
  "folders and the agent tree are as before when the process starts again [W4]": async (first, place) => {
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
  "every workspace has a number of its own that is never given again, also after it is gone [S5][X4]": async (
    _,
    place,
  ) => {
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
  "a workspace takes what changed and keeps the rest, and its last use never goes back [W10]": async (storage) => {
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
};

/** `<folder>-other` where the folder is taken. */
function ask(storage: Storage, number: number, folder: string, at = morning) {
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

async function change(storage: Storage, folder: string, set: Parameters<Storage["updateWorkspace"]>[1]): Promise<void> {
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
function conversationRow(number: number, id: string, ordinal = 1): WorkspaceRow {
  return { ...untouched, folder: `workspace/${id}`, kind: "conversation", id, number, ordinal };
}

function taskRow(number: number, id: string, ordinal = 1): WorkspaceRow {
  return { ...untouched, folder: `workspaces/${id}`, kind: "task", id, number, ordinal };
}

const untouched = { owner: alice, createdAt: morning, madeAt: undefined, usedAt: morning, cleanedAt: undefined };

/** Files that nobody uses: which may go, which have to go, and what can come back. */
export const cleanUpPromises: Promises = {
  "workspaces that nobody used for long are found, the longest unused first, those of tasks too [W10]": async (
    storage,
  ) => {
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
  "a workspace that was never written, is clean already or was deleted is not found as unused [W10]": async (
    storage,
  ) => {
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
  "a conversation that changed, is at work, waits for its turn or for a person keeps its files [W10]": async (
    storage,
  ) => {
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
  "the folders of a deleted conversation are found until they are removed, and its agents are gone [W10][L9]": async (
    first,
    place,
  ) => {
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
  "a folder's name is free again only when the folder of the deleted conversation was removed [W1][Q1]": async (
    storage,
  ) => {
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
  "what is in the trash is listed for its owner, newest first, and nobody else sees it [W10][Q1]": async (
    first,
    place,
  ) => {
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
  "trash whose time is over is found over all owners, oldest first, until it is dropped [W10]": async (storage) => {
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
  "the trash of a deleted conversation cannot be restored and is to be removed at once [W10][L9]": async (storage) => {
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
};

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
