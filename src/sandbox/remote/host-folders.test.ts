import assert from "node:assert/strict";
import { statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { foldersOf } from "./host-folders.ts";
import type { GuestOrder } from "./wire.ts";

const limits = { memoryBytes: 1, processesMax: 1, cpus: 1, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 };
const order: GuestOrder = {
  ...{ type: "open", version: 1, id: "g", limits, env: {}, hasNetwork: false, likeness: "inode" },
};

test("a guest without a workspace has its user and its packages on a host all the same, and one without anything has nothing [X2][X3]", (t) => {
  const root = folderWith(t, { "packages/u/": "" });
  assert.deepEqual(foldersOf({ ...order, uid: 5000, packages: ["packages", "u"] }, root), {
    ok: true,
    value: { workspace: undefined, uid: 5000, packages: join(root, "packages/u") },
  });
  assert.deepEqual(foldersOf(order, root), { ok: true, value: { workspace: undefined, uid: undefined } });
});

test("a host says by its own numbers which folders a guest is to see, however deep its place inside, and finds its root behind a link [W5][X3]", (t) => {
  const root = folderWith(t, { "c1/outputs/": "", "copies/": "", "packages/": "" });
  symlinkSync(root, join(root, "link"));
  const [path, inode] = [(name: string) => join(root, name), (name: string) => statSync(join(root, name)).ino];
  const mark = (name: string) => `${statSync(root).dev}:${inode(name)}`;
  const workspace = { folder: ["c1"], inside: "/workspace/task/one", writable: "all" as const, marks: {} };
  const found = foldersOf(
    // As a server has them whose disks have other numbers.
    {
      ...order,
      uid: 5000,
      workspace: { ...workspace, marks: { outputs: `7:${inode("c1/outputs")}` }, skillCopies: ["copies"] },
      packages: ["packages"],
    },
    join(root, "link"),
  );
  assert.deepEqual(found, {
    ok: true,
    value: {
      workspace: {
        ...{ ...workspace, folder: path("c1"), skillCopies: path("copies") },
        marks: {
          ...{ ".": mark("c1"), outputs: mark("c1/outputs"), "../../../skills": mark("copies") },
          "../../../run/agentyard/packages": mark("packages"),
        },
      },
      ...{ uid: 5000, packages: path("packages") },
    },
  });
  const other = { ...workspace, marks: { ".": mark("c1"), outputs: mark("copies") } };
  assert.deepEqual(foldersOf({ ...order, workspace: other }, root), {
    ...{ ok: false, failure: { why: "wrong_workspace", said: "another folder: outputs" } },
  });
});
