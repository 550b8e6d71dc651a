import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles as openNow } from "../../test/world/open-files.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { openBooks } from "./books.ts";
import { type FilesOptions, type HostPlace, openFiles } from "./files.ts";
import type { Workspace } from "./one-workspace.ts";
import { openWaiting, type WaitingOptions } from "./waiting.ts";

type Given = Partial<HostPlace> & Pick<FilesOptions, "skills"> & { readonly mayBegin?: WaitingOptions["mayBegin"] };

/** A task's has a folder that waits for programs; `held` is where, and whether it is there. */
function openPlace(t: TestContext, kind: Workspace["kind"], { skills, mayBegin = begins, ...given }: Given = {}) {
  const base = folderWith(t, { "workspace/": "" });
  const [folder, stagingFolder, books] = [join(base, "workspace", "w"), join(base, "staging"), openBooks()];
  const make = async () => {
    mkdirSync(folder, { recursive: true });
    return ok(undefined);
  };
  const waiting = kind === "task" ? openWaiting({ folder, stagingFolder, books, mayBegin }) : undefined;
  const place = { folder, keptFolder: join(base, "kept"), uid: undefined, make, waiting, used() {}, ...given };
  const common = { id: "w", owner: "local", name: "1", clock: systemClock, ids: systemIds, limits: testLimits };
  const workspace = openFiles({
    ...{ ...common, kind, skills, logger: quietLogger([]), books, stagingFolder },
    place: async () => ok(place),
  });
  const staged = () => (existsSync(stagingFolder) ? readdirSync(stagingFolder) : "nothing was ever staged");
  const open = () => openNow().filter((path) => path.startsWith(base));
  return { folder, held: join(stagingFolder, "wait-w"), workspace, staged, open };
}

const begins = async () => ok(undefined);

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
  const { workspace, open, folder, held, staged } = openPlace(t, "task");
  const [given, again] = [await workspace.guestFolder(), await workspace.guestFolder()];
  assert.ok(given.ok && again.ok);
  assert.deepEqual([given.value.folder, given.value.skills, given.value.writable], [held, undefined, "all"]);
  assert.deepEqual([again.value.folder, open()], [held, []]);
  given.value.release();
  assert.deepEqual(staged(), ["wait-w"], "others have it still");
  again.value.release();
  assert.deepEqual(staged(), []);
  mkdirSync(folder);
  const own = await workspace.guestFolder();
  assert.ok(own.ok);
  own.value.release();
  assert.deepEqual([own.value.folder, existsSync(folder)], [folder, true], "its own folder is nobody's to let go of");
});

test("a folder that waits and cannot be used is let go of, and the reason is said [W2][W7]", async (t) => {
  /** Somebody removes it before it can be opened: at the first moment at which it is there. */
  const removeSoon = async (path: string) => {
    while (!existsSync(path)) await undefined;
    rmdirSync(path);
  };
  let isFirst = true;
  const lost = openPlace(t, "task", {
    async mayBegin() {
      if (isFirst) void removeSoon(lost.held);
      isFirst = false;
      return ok(undefined);
    },
  });
  assert.deepEqual(await lost.workspace.guestFolder(), failure("write_failed", { path: ".", why: "changed" }));
  const next = await lost.workspace.guestFolder();
  assert.ok(next.ok);
  next.value.release();
  assert.deepEqual(lost.staged(), [], "nobody holds it but the next one, who got it");
  const deleted = failure("workspace_not_assigned", { agent: "w" });
  const refused = openPlace(t, "task", { mayBegin: async () => deleted });
  assert.deepEqual(
    [await refused.workspace.guestFolder(), refused.staged()],
    [deleted, "nothing was ever staged"],
    "nothing is made for who is gone",
  );
  // No system takes a user of this number: a mistake of ours, and the folder must not stay held for it.
  const mistaken = openPlace(t, "task", { uid: -5 });
  await assert.rejects(mistaken.workspace.guestFolder(), RangeError);
  assert.deepEqual([mistaken.staged(), mistaken.open()], [[], []]);
});
