import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import { cleanUnused, eachRow, type TrashParts } from "./trash.ts";
import { alice, trashParts } from "./trash-parts.testing.ts";

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
const moved = { workspaces: 1, bytes: 7, skipped: 0 };
const stored = ["0123abcd", 9, 2, 7];
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

test("files are in the trash when that is stored, are moved then, and their workspace says since when [W10]", async (t) => {
  const order: string[] = [];
  const { clean, now, told } = await unused(t, {
    more: ({ plots }) => ({
      plots: {
        ...plots,
        move(from, to, noted) {
          order.push(...told.map((each) => `${each}`), `${from} to ${to}`);
          return plots.move(from, to, noted);
        },
        forget(name) {
          order.push(`forgot ${name}`);
          plots.forget(name);
        },
      },
    }),
  });
  assert.deepEqual(await clean(), moved);
  assert.deepEqual(await now(), [["trash/0123abcd/a"], [stored], 9]);
  assert.deepEqual(order, ["put,0123abcd", "workspaces/task to trash/0123abcd", "forgot workspaces/task"]);
  assert.deepEqual(told.at(-1), ["workspaces/task", { cleanedAt: 9 }]);
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

test("what somebody works with at the last moment is neither moved nor told as left [W10][W11]", async (t) => {
  const { clean, now, logged, told } = await unused(t, {
    more: ({ plots }) => ({ plots: { ...plots, move: async () => ok(false) } }),
  });
  assert.deepEqual([await clean(), await now(), logged], [{ ...skipped, skipped: 0 }, stays, []]);
  assert.deepEqual(told.slice(-2), [
    ["put", "0123abcd"],
    ["dropped", "0123abcd"],
  ]);
});

test("files that were moved and could not be said to be count as moved, and the log has it [W10][Q2]", async (t) => {
  const full = async () => failure("storage_full", {});
  const { clean, now, logged } = await unused(t, { changed: () => ({ updateWorkspace: full }) });
  assert.deepEqual([await clean(), await now()], [moved, [["trash/0123abcd/a"], [stored], undefined]]);
  assert.deepEqual(logged, ['{folder} is in the trash, but not yet said to be {"folder":"workspaces/task"}']);
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
