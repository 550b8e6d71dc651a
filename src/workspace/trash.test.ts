import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId, OwnerId } from "../protocol/ids.ts";
import type { NewTrash, Storage } from "../storage/storage.ts";
import { agentRow } from "./assignments.ts";
import { openBooks } from "./books.ts";
import { openPlaces } from "./folders.ts";
import { restoreTrash } from "./from-trash.ts";
import { openInUse } from "./in-use.ts";
import { layoutOf } from "./layout.ts";
import { openPlots } from "./plots.ts";
import { cleanUnused, type TrashParts } from "./trash.ts";
import { openViews } from "./views.ts";

const alice = OwnerId.parse("alice");

/**
 * All that cleaning up works with, each part the real one, over a database and folders of the test's: those of a
 * conversation `c` of alice's and of a task `task` in it. `told` is what storage was asked to store, and did.
 */
async function trashParts(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
  changed: (real: Storage) => Partial<Storage> = () => ({}),
) {
  const clock = manualClock();
  const [base, real] = [folderWith(t, files), openDatabase(t, clock)];
  const [told, logged]: [unknown[], string[]] = [[], []];
  const storage: Storage = { ...real, ...noting(real, told), ...changed(real) };
  const [layout, books, inUse] = [layoutOf(base), openBooks(), openInUse()];
  const common = { clock, ids: systemIds, logger: quietLogger(logged), limits: testLimits, layout, books };
  const places = openPlaces({ ...common, storage: real });
  const views = openViews({ ...common, stagingFolder: layout.stagingFolder, places, inUse });
  const parts: TrashParts = {
    ...{ ...common, storage, inUse, plots: openPlots({ ...common, images: undefined }), filesOf: views.unnoticed },
    ...{ isHere: async () => true, isClosing: () => false },
  };
  const made = await real.createConversation({ owner: alice, id: ConversationId.parse("c"), at: 0, events: [] });
  assert.ok(made.ok);
  const { number } = made.value;
  await real.append({ number, events: [], with: { agents: [agentRow({ agent: "task", parent: "root" })] } });
  await real.workspaceOf(number, { folder: "workspace/c", otherFolder: "workspace/d", at: 0 });
  const taskRow = async () => (await real.agentsOf(number))[0]?.workspace ?? assert.fail();
  return { parts, base, clock, real, told, logged, number, taskRow, task: views.ofTask(await taskRow()) };
}

function noting(real: Storage, told: unknown[]): Partial<Storage> {
  return {
    updateWorkspace(folder, set) {
      told.push([folder, set]);
      return real.updateWorkspace(folder, set);
    },
    putTrash(row) {
      told.push(["put", row.id]);
      return real.putTrash(row);
    },
    dropTrash(id) {
      told.push(["dropped", id]);
      return real.dropTrash(id);
    },
  };
}

type Given = {
  readonly changed?: (real: Storage) => Partial<Storage>;
  /** Of the other parts, what answers otherwise. */
  readonly more?: (real: TrashParts) => Partial<TrashParts>;
};

/** A task with two files that nobody used since, and what is told of it. */
async function unused(t: TestContext, { changed, more }: Given = {}) {
  const { parts: all, base, clock, real, told, logged, task, taskRow } = await trashParts(t, {}, changed);
  for (const [path, text] of [
    ["a", "four"],
    ["d/b", "two"],
  ] as const)
    assert.ok((await task.write(path, text)).ok);
  clock.move(9);
  const ids = { ...systemIds, hex: () => "0123abcd" };
  const parts: TrashParts = { ...all, ids, ...more?.(all) };
  return {
    ...{ told, logged, clean: () => cleanUnused(parts, { unusedMs: 1 }) },
    /** Where its files are now, what the trash has, and since when it says so. */
    async now() {
      const there = ["workspaces/task/a", "trash/0123abcd/a"].filter((path) => existsSync(join(base, path)));
      const trash = (await real.listTrash(alice, 9)).map(({ id, movedAt, files, bytes }) => [
        id,
        movedAt,
        files,
        bytes,
      ]);
      return [there, trash, (await taskRow()).cleanedAt];
    },
  };
}

const skipped = { workspaces: 0, bytes: 0, skipped: 1 };
const stays = [["workspaces/task/a"], [], undefined];
const leftBecause = (why: string) =>
  `{folder} was left as it is: {why} ${JSON.stringify({ folder: "workspaces/task", why })}`;

test("a workspace in which not everything can be looked at is left as it is: what it holds could not be told [W10]", async (t) => {
  const { clean, now, logged } = await unused(t, {
    more: ({ filesOf }) => ({
      filesOf(row) {
        const files = filesOf(row);
        const info: typeof files.info = async () => {
          const whole = await files.info();
          return whole.ok ? ok({ ...whole.value, isPartial: true }) : whole;
        };
        return { ...files, info };
      },
    }),
  });
  assert.deepEqual([await clean(), await now()], [skipped, stays]);
  assert.deepEqual(logged, [leftBecause("some of its folders may not be read")]);
});

test("what cannot be looked at, counted, stored or moved stays where it is, and the log says why [W10][Q2]", async (t) => {
  const full = failure("storage_full", {});
  const broken = failure("read_failed", { path: ".", why: "io" });
  const cases: readonly (readonly [given: Given, why: string])[] = [
    [
      { more: ({ layout }) => ({ layout: { ...layout, hostPath: () => undefined } }) },
      "we would not have given it this name",
    ],
    [{ more: ({ plots }) => ({ plots: { ...plots, open: async () => failed("read_only") } }) }, "read_only"],
    [{ more: ({ filesOf }) => ({ filesOf: (row) => ({ ...filesOf(row), info: async () => broken }) }) }, "read_failed"],
    [{ changed: () => ({ putTrash: async () => full }) }, "storage_full"],
    [{ more: ({ plots }) => ({ plots: { ...plots, move: async () => failed("io") } }) }, "io"],
  ];
  for (const [given, why] of cases) {
    const { clean, now, logged } = await unused(t, given);
    assert.deepEqual([await clean(), await now(), logged], [skipped, stays, [leftBecause(why)]]);
  }
});

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
