import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { noted, partly, type Some } from "../../test/world/partly.ts";
import { failed, ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import { cleanUnused, eachRow, type TrashParts } from "./trash.ts";

const row = { folder: "workspaces/t", id: "t", kind: "task", number: 1, owner: localOwner } as const;
const counts = { fileCount: 2, dirCount: 1, totalSize: 7, lastModified: null };

/** A task with two files that nobody used, and what is told of it. Whatever is given answers otherwise. */
function openPlace(t: TestContext, { storage = {}, plots = {}, ...given }: Some<TrashParts> = {}) {
  const folder = folderWith(t, {});
  const told: unknown[] = [];
  const parts = partly<TrashParts>({
    clock: { now: () => 9 },
    ids: { hex: () => "0123abcd" },
    storage: {
      unusedWorkspaces: async () => [row],
      updateWorkspace: async (_, set) => noted(told, set, ok(undefined)),
      putTrash: async ({ id, movedAt, files, bytes }) => noted(told, [id, movedAt, files, bytes], ok(undefined)),
      dropTrash: async (id) => noted(told, `dropped ${id}`, ok(undefined)),
      ...storage,
    },
    layout: { hostPath: () => folder },
    plots: {
      open: async () => ok({ folder, isImage: false }),
      has: () => false,
      forget: (name) => void told.push(`forgot ${name}`),
      async move(from, to, moved) {
        told.push(`${from} to ${to}`);
        await moved?.();
        return ok(true);
      },
      ...plots,
    },
    inUse: { has: () => false },
    filesOf: () => ({ info: async () => ok(counts) }),
    logger: { warn: (_, { why } = {}) => void told.push(why ?? "warned") },
    isHere: async () => true,
    isClosing: () => false,
    ...given,
  });
  return { told, clean: () => cleanUnused(parts, { unusedMs: 1 }) };
}

const skipped = { workspaces: 0, bytes: 0, skipped: 1 };
const stored = ["0123abcd", 9, 2, 7];

test("a workspace in which not everything can be looked at is left as it is: what it holds could not be told [W10]", async (t) => {
  const info = async () => ok({ ...counts, isPartial: true });
  const { clean, told } = openPlace(t, { filesOf: () => ({ info }) });
  assert.deepEqual([await clean(), told], [skipped, ["some of its folders may not be read"]]);
});

test("files are in the trash when that is stored, are moved then, and their workspace says since when [W10]", async (t) => {
  const { clean, told } = openPlace(t);
  assert.deepEqual(await clean(), { workspaces: 1, bytes: 7, skipped: 0 });
  assert.deepEqual(told, [stored, "workspaces/t to trash/0123abcd", "forgot workspaces/t", { cleanedAt: 9 }]);
});

test("what cannot be looked at, counted, stored or moved stays where it is, and the log says why [W10][Q2]", async (t) => {
  const full = failure("storage_full", {});
  const broken = failure("read_failed", { path: ".", why: "io" });
  const cases: readonly (readonly [given: Some<TrashParts>, told: readonly unknown[]])[] = [
    [{ layout: { hostPath: () => undefined } }, ["we would not have given it this name"]],
    [{ plots: { open: async () => failed("read_only") } }, ["read_only"]],
    [{ filesOf: () => ({ info: async () => broken }) }, ["read_failed"]],
    [{ storage: { putTrash: async () => full } }, ["storage_full"]],
    [{ plots: { move: async () => failed("io") } }, [stored, "dropped 0123abcd", "io"]],
  ];
  for (const [given, expected] of cases) {
    const { clean, told } = openPlace(t, given);
    assert.deepEqual([await clean(), told], [skipped, expected]);
  }
});

test("what somebody works with at the last moment is neither moved nor told as left [W10][W11]", async (t) => {
  const { clean, told } = openPlace(t, { plots: { move: async () => ok(false) } });
  assert.deepEqual([await clean(), told], [{ ...skipped, skipped: 0 }, [stored, "dropped 0123abcd"]]);
});

test("files that were moved and could not be said to be count as moved, and the log has it [W10][Q2]", async (t) => {
  const { clean, told } = openPlace(t, { storage: { updateWorkspace: async () => failure("storage_full", {}) } });
  assert.deepEqual(await clean(), { workspaces: 1, bytes: 7, skipped: 0 });
  assert.deepEqual(told.slice(-1), ["warned"]);
});

test("each of many rows is met once, whether or not it stays in the list [W10]", async () => {
  const rows = Array.from({ length: 250 }, (_, number) => `${number}`);
  const asked: number[] = [];
  const list = async (limit: number) => {
    asked.push(limit);
    return rows.slice(0, limit);
  };
  const met: string[] = [];
  for await (const each of eachRow(list, (key) => key)) {
    met.push(each);
    // Every second one is dealt with and leaves the list.
    if (Number(each) % 2 === 0) rows.splice(rows.indexOf(each), 1);
  }
  assert.deepEqual(
    met,
    Array.from({ length: 250 }, (_, number) => `${number}`),
  );
  assert.deepEqual(asked.slice(0, 2), [100, 200]);
});
