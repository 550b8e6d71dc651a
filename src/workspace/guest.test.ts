import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles as openNow } from "../../test/world/open-files.ts";
import { noted } from "../../test/world/partly.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { openBooks } from "./books.ts";
import { type FilesOptions, type HostPlace, openFiles } from "./files.ts";
import type { Workspace } from "./one-workspace.ts";
import type { Waiting } from "./waiting.ts";

type Given = Partial<HostPlace> & Pick<FilesOptions, "skills">;

function openPlace(t: TestContext, kind: Workspace["kind"], { skills, ...given }: Given = {}) {
  const base = folderWith(t, { "workspace/": "" });
  const folder = join(base, "workspace", "w");
  const make = async () => {
    mkdirSync(folder, { recursive: true });
    return ok(undefined);
  };
  const place = { folder, keptFolder: join(base, "kept"), uid: undefined, make, used() {}, ...given };
  const common = { id: "w", owner: "local", name: "1", clock: systemClock, ids: systemIds, limits: testLimits };
  const workspace = openFiles({
    ...{ ...common, kind, skills, logger: quietLogger([]), books: openBooks() },
    stagingFolder: join(base, "staging"),
    place: async () => ok(place),
  });
  return { base, folder, workspace, open: () => openNow().filter((path) => path.startsWith(base)) };
}

/** Folders that wait for a task's programs, as far as they are asked for one. */
function waitingIn(hold: Waiting["hold"]) {
  const released: string[] = [];
  const waiting: Waiting = {
    hold,
    release: (held) => void released.push(held),
    arrive: async () => ok(undefined),
  };
  return { waiting, released };
}

test("the folder of a conversation that a sandbox is given leaves nothing open, also where it is refused [X1][W5]", async (t) => {
  const { workspace, folder, open } = openPlace(t, "conversation");
  const given = await workspace.guestFolder();
  assert.deepEqual(given.ok && [given.value.folder, given.value.skillCopies], [folder, undefined]);
  assert.deepEqual(open(), []);
  rmdirSync(join(folder, "outputs"));
  symlinkSync("/etc", join(folder, "outputs"));
  const refused = await workspace.guestFolder();
  assert.deepEqual(refused, failure("permission_denied", { path: "outputs", folder: "", why: "link" }));
  assert.deepEqual(open(), []);
});

test("where the skills lie is there before a program runs, for those of a conversation alone [W9][X1]", async (t) => {
  const dir = join(folderWith(t, {}), "deep", "copies");
  const skills = { dir, open: async () => undefined };
  const task = await openPlace(t, "task", { skills }).workspace.guestFolder();
  assert.deepEqual([task.ok && "skillCopies" in task.value, existsSync(dir)], [false, false]);
  const own = await openPlace(t, "conversation", { skills }).workspace.guestFolder();
  assert.deepEqual([own.ok && own.value.skillCopies, statSync(dir).isDirectory()], [dir, true]);
});

test("programs of a task get the folder that waits, once more each time, and it is let go of when they are done [W2][X1]", async (t) => {
  const held = folderWith(t, {});
  const { waiting, released } = waitingIn(async () => ok(held));
  const { workspace, open, folder } = openPlace(t, "task", { waiting });
  const given = await workspace.guestFolder();
  assert.ok(given.ok);
  assert.deepEqual([given.value.folder, given.value.skills, given.value.writable], [held, undefined, "all"]);
  assert.deepEqual([released, openNow().includes(held), open()], [[], false, []]);
  given.value.release();
  assert.deepEqual(released, [held]);
  mkdirSync(folder);
  const own = await workspace.guestFolder();
  assert.ok(own.ok);
  own.value.release();
  assert.deepEqual([own.value.folder, released], [folder, [held]], "its own folder is nobody's to let go of");
});

test("a folder that waits and cannot be used is let go of, and the reason is said [W2][W7]", async (t) => {
  const gone = join(folderWith(t, {}), "gone");
  const lost = waitingIn(async () => ok(gone));
  const changed = await openPlace(t, "task", { waiting: lost.waiting }).workspace.guestFolder();
  assert.deepEqual([changed, lost.released], [failure("write_failed", { path: ".", why: "changed" }), [gone]]);
  const deleted = failure("workspace_not_assigned", { agent: "w" });
  const refused = waitingIn(async () => deleted);
  const answer = await openPlace(t, "task", { waiting: refused.waiting }).workspace.guestFolder();
  assert.deepEqual([answer, refused.released], [deleted, []]);
  // No system takes a user of this number: a mistake of ours, and the folder must not stay held for it.
  const held = folderWith(t, {});
  const mistaken = waitingIn(async () => ok(held));
  const { workspace } = openPlace(t, "task", { waiting: mistaken.waiting, uid: -5 });
  await assert.rejects(workspace.guestFolder(), RangeError);
  assert.deepEqual([mistaken.released, openNow().includes(held)], [[held], false]);
});

test("a task on a disk of its own has its folder made for programs: nothing waits there [W2][X4]", async (t) => {
  const told: string[] = [];
  const { waiting } = waitingIn(async () => noted(told, "held", ok("/nowhere")));
  const files = join(folderWith(t, {}), "mounted", "files");
  const make = async () => {
    mkdirSync(files, { recursive: true });
    return noted(told, "made", ok(undefined));
  };
  const image = { files, staging: join(files, "../staging"), disk: files, isMade: false };
  const { workspace } = openPlace(t, "task", { waiting, make, findImage: async () => ok(image) });
  const given = await workspace.guestFolder();
  assert.deepEqual([given.ok && given.value.folder, told], [files, ["made"]]);
});
