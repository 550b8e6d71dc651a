import assert from "node:assert/strict";
import { lstatSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { gatherDeeper } from "./deeper.ts";
import type { DeepEntry } from "./tree.ts";

test("files where no path leads are told folder by folder as one each, with all their bytes and their latest times [W8][W12]", (t) => {
  const folder = folderWith(t, { one: "1", two: "22", three: "333", "below/": "" });
  for (const [name, at] of [
    ["one", 10],
    ["two", 30],
    ["three", 20],
  ] as const)
    utimesSync(join(folder, name), at, at);
  const entry = (name: string, prefix: string, isTooDeep: boolean): DeepEntry => ({
    ...{ entry: { name, shown: name, stat: lstatSync(join(folder, name)) }, prefix, folder: 0, isTooDeep },
  });
  const changedAt = (...names: string[]) => Math.max(...names.map((name) => lstatSync(join(folder, name)).ctimeMs));
  const near = entry("one", "a/", false);
  const walk = [
    ...[near, entry("below", "deep/", true), entry("two", "deep/", true), "unreadable" as const],
    ...[
      entry("one", "deep/", true),
      "step" as const,
      entry("three", "deeper/", true),
      near,
      entry("below", "x/", true),
    ],
    entry("one", "last/", true),
  ];
  const one = { path: "deep/…", files: 2, bytes: 3, modifiedAt: 30_000, changedAt: changedAt("one", "two") };
  const two = { path: "deeper/…", files: 1, bytes: 3, modifiedAt: 20_000, changedAt: changedAt("three") };
  const last = { path: "last/…", files: 1, bytes: 1, modifiedAt: 10_000, changedAt: changedAt("one") };
  assert.deepEqual(
    [...gatherDeeper(walk)].filter((found) => found !== "step"),
    [near, "unreadable", { deeper: one }, { deeper: two }, near, { deeper: last }],
  );
});
