import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openFiles } from "../../test/world/open-files.ts";
import { testLimits } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { NewTrash, Storage } from "../storage/storage.ts";
import { listTrash, restoreTrash } from "./from-trash.ts";
import { alice, trashParts } from "./trash-parts.testing.ts";

const id = "0123abcd";
const common = { id, owner: alice, number: 1, movedAt: 5, bytes: 1, files: 1 };
const ofTask: NewTrash = { ...common, workspace: "task", folder: "workspaces/task" };
const ofConversation: NewTrash = { ...common, workspace: "c", folder: "workspace/c" };

/** Folders with these files, and a database in which these were moved to the trash. */
async function openTrash(
  t: TestContext,
  rows: NewTrash | readonly NewTrash[],
  files: Record<string, string>,
  changed?: (real: Storage) => Partial<Storage>,
) {
  const { parts, base, clock, real, told, taskRow } = await trashParts(t, files, changed);
  clock.move(77);
  for (const row of [rows].flat()) assert.ok((await real.putTrash(row)).ok);
  return {
    ...{ base, told, parts, taskRow },
    inTrash: async () => (await real.listTrash(alice, 9)).map((row) => row.id),
    restore: (wanted: string = id) => restoreTrash(parts, alice, wanted),
    /** All files below a folder, as they are named there, with what is in them. */
    files: (folder: string) =>
      Object.fromEntries(
        readdirSync(join(base, folder), { recursive: true, withFileTypes: true, encoding: "buffer" })
          .filter((entry) => entry.isFile())
          .map((entry) => {
            const path = Buffer.concat([Buffer.from(entry.parentPath), Buffer.from("/"), entry.name]);
            return [path.toString("latin1").slice(join(base, folder).length + 1), readFileSync(path, "utf8")];
          }),
      ),
  };
}

test("what a task calls temp, skills or .metadata.json is its own, and comes back; of a conversation those are ours [W10][W2]", async (t) => {
  const named = { "temp/a": "old", "skills/b": "old", ".metadata.json": "old", "outputs/c": "old" };
  const inTrash = Object.fromEntries(Object.entries(named).map(([path, text]) => [`trash/${id}/${path}`, text]));
  const task = await openTrash(t, ofTask, { ...inTrash, "workspaces/task/new": "new" });
  assert.deepEqual(await task.restore(), ok({ conversation: "c", files: 1, beside: [] }));
  assert.deepEqual(task.files("workspaces/task"), { ...named, new: "new" });
  assert.deepEqual(readdirSync(join(task.base, "trash")), []);

  const conversation = await openTrash(t, ofConversation, { ...inTrash, "workspace/c/.metadata.json": "of now" });
  assert.deepEqual(await conversation.restore(), ok({ conversation: "c", files: 1, beside: [] }));
  assert.deepEqual(conversation.files("workspace/c"), { ".metadata.json": "of now", "outputs/c": "old" });
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(task.base) || path.startsWith(conversation.base)),
    [],
  );
});

test("files and folders whose names are no text come back too, beside what has taken their place [W10]", async (t) => {
  const { base, restore, files } = await openTrash(t, ofTask, { [`trash/${id}/`]: "", "workspaces/task/": "" });
  const odd = (...parts: string[]) => Buffer.from(join(base, ...parts), "latin1");
  for (const [place, text] of [
    [`trash/${id}`, "old"],
    ["workspaces/task", "new"],
  ] as const) {
    mkdirSync(odd(place, "folder\xff"));
    writeFileSync(odd(place, "folder\xff", "a"), text);
    writeFileSync(odd(place, "file\xff"), text);
  }
  writeFileSync(odd(`trash/${id}`, "free\xff"), "old");
  const aside = `restored-${id}`;
  assert.deepEqual(await restore(), ok({ conversation: "c", files: 1, beside: [aside] }));
  assert.deepEqual(files("workspaces/task"), {
    ...{ "folder\xff/a": "new", "file\xff": "new", "free\xff": "old" },
    ...{ [`${aside}/folder\xff/a`]: "old", [`${aside}/file\xff`]: "old" },
  });
});

test("links come back as the links they were, and nothing is written through one that is in the way [W10][W5]", async (t) => {
  const { base, restore, files } = await openTrash(t, ofTask, { [`trash/${id}/a`]: "old", "workspaces/task/b": "new" });
  symlinkSync("/nowhere", join(base, "trash", id, "b"));
  symlinkSync(join(base, "made-by-a-link"), join(base, "workspaces/task/a"));
  const restored = await restore();
  assert.deepEqual(restored.ok && restored.value.beside, [`restored-${id}`]);
  assert.deepEqual(files("workspaces/task"), { b: "new", [`restored-${id}/a`]: "old" });
  assert.deepEqual(readdirSync(join(base, "workspaces/task", `restored-${id}`)).sort(), ["a", "b"]);
  assert.equal(readdirSync(base).includes("made-by-a-link"), false);
});

test("what came back counts as used now, and is in the trash until that is stored; where storing fails it is said [W10][Q2]", async (t) => {
  const files = { [`trash/${id}/a`]: "old" };
  const made = ["workspaces/task", { madeAt: 77, usedAt: 77, cleanedAt: null }];
  const dropped = ["dropped", id];
  const full = failure("storage_full", {});
  const fine = await openTrash(t, ofTask, files);
  assert.ok((await fine.restore()).ok);
  assert.deepEqual([fine.told, await fine.inTrash()], [[made, dropped], []]);
  const { madeAt, usedAt, cleanedAt } = await fine.taskRow();
  assert.deepEqual([madeAt, usedAt, cleanedAt], [77, 77, undefined]);
  const unrecorded = await openTrash(t, ofTask, files, () => ({ updateWorkspace: async () => full }));
  assert.deepEqual([await unrecorded.restore(), unrecorded.told, await unrecorded.inTrash()], [full, [], [id]]);
  const undropped = await openTrash(t, ofTask, files, () => ({ dropTrash: async () => full }));
  assert.deepEqual([await undropped.restore(), undropped.told], [full, [made]]);
  const gone = await openTrash(t, ofTask, {});
  assert.deepEqual([await gone.restore(), gone.told], [failure("trash_not_found", { id }), [dropped]]);
  const undroppable = await openTrash(t, ofTask, {}, () => ({ dropTrash: async () => full }));
  assert.deepEqual(await undroppable.restore(), full);
});

test("no row leads anything out of the data directory or into another folder of ours [W10][W5]", async (t) => {
  for (const row of [
    { ...ofTask, folder: "../outside" },
    { ...ofTask, folder: "trash/../outside" },
    { ...ofTask, id: "../trash" },
  ]) {
    const files = { [`trash/${id}/a`]: "old", "outside/": "", "staging/a": "" };
    const { base, restore, told } = await openTrash(t, row, files);
    assert.deepEqual(await restore(row.id), failure("trash_not_found", { id: row.id }));
    assert.deepEqual([told, readdirSync(base).sort()], [[], ["outside", "staging", "trash"]]);
  }
});

test("the beginning of an id is looked for among a thousand, and is good where it is that of one alone [W10]", async (t) => {
  const rows = ["0123abcd", "0123abce", "89abcdef"].map((each) => ({ ...ofTask, id: each }));
  const asked: unknown[] = [];
  const { restore } = await openTrash(t, rows, { "trash/0123abcd/a": "old", "trash/89abcdef/a": "old" }, (real) => ({
    listTrash(...given) {
      asked.push(given);
      return real.listTrash(...given);
    },
  }));
  for (const wanted of ["", "0123", "0123abc", "7"])
    assert.deepEqual(await restore(wanted), failure("trash_not_found", { id: wanted }));
  assert.equal((await restore("8")).ok, true);
  assert.deepEqual(
    asked,
    Array.from({ length: 4 }, () => [alice, 1000]),
  );
});

test("the trash is shown newest first, with what it was of and until when it is there; a folder without files is not [W10]", async (t) => {
  const { parts } = await openTrash(
    t,
    [
      { ...ofTask, id: "0123abce", files: 0, movedAt: 7 },
      ofTask,
      { ...ofConversation, id: "89abcdef", files: 2, bytes: 9, movedAt: 6 },
    ],
    {},
  );
  const until = testLimits.trashMs;
  assert.deepEqual(await listTrash(parts, alice), [
    { id: "89abcdef", conversation: "c", movedAt: 6, until: 6 + until, bytes: 9, files: 2 },
    { id, conversation: "c", task: "task", movedAt: 5, until: 5 + until, bytes: 1, files: 1 },
  ]);
});
