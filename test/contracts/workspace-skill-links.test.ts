import assert from "node:assert/strict";
import { lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import { openSkills } from "../../src/skills/skills.ts";
import { openBooks, openFiles, type Workspace } from "../../src/workspace/workspace.ts";
import { folderWith } from "../world/folder.ts";
import { openFiles as openNow } from "../world/open-files.ts";
import { skillText } from "../world/skill-folder.ts";
import { quietLogger, testLimits } from "../world/workspace.ts";

const howTo = skillText("pdf");
const skillFiles = { "installed/pdf/SKILL.md": howTo, "installed/pdf/scripts/run.py": "print()" };

/** The files of a conversation, or of a task, beside one skill of the installation: `pdf`. */
async function openPlace(t: TestContext, kind: Workspace["kind"] = "conversation") {
  const base = folderWith(t, { ...skillFiles, "c/skills/": "", "c/outputs/": "" });
  const [folder, logger] = [join(base, "c"), quietLogger([])];
  const installed = { path: join(base, "installed"), shown: "installed", kind: "user", isTrusted: true } as const;
  const { look, shelf } = openSkills({
    ...{ settings: { places: [installed], byId: {} }, shelfDir: join(base, "copies"), logger },
  });
  await look();
  const asked: string[] = [];
  const skills: typeof shelf = {
    ...shelf,
    open(id) {
      asked.push(id);
      return shelf.open(id);
    },
  };
  const common = { id: "c", owner: "local", name: "1", clock: systemClock, ids: systemIds, limits: testLimits };
  const place = { folder, keptFolder: join(base, "kept"), uid: undefined, make: async () => ok(undefined), used() {} };
  const workspace = openFiles({
    ...{ ...common, kind, logger, books: openBooks(), skills },
    stagingFolder: join(base, "staging"),
    place: async () => ok(place),
  });
  /** It is taken out of the installation. */
  const uninstall = async () => {
    rmSync(join(installed.path, "pdf"), { recursive: true });
    await look();
  };
  return { base, folder, asked, workspace, uninstall, link: join(folder, "skills", "pdf") };
}

async function textOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const read = await workspace.read(path);
  return read.ok ? read.value.bytes.toString() : read.failure.code;
}

test("the first look at a skill links it, every look shows the skill's own files under the path of the link, and none stays open [W9][K1]", async (t) => {
  const { workspace, link, base } = await openPlace(t);
  const looks = await Promise.all([textOf(workspace, "skills/pdf/SKILL.md"), textOf(workspace, "skills/pdf/SKILL.md")]);
  assert.deepEqual([looks, readlinkSync(link)], [[howTo, howTo], "/skills/pdf"]);
  const [stat, own] = [await workspace.stat("skills/pdf/scripts/run.py"), await workspace.stat("skills/pdf")];
  assert.deepEqual(stat.ok && [stat.value.path, stat.value.bytes], ["skills/pdf/scripts/run.py", 7]);
  assert.deepEqual(own.ok && [own.value.path, own.value.type], ["skills/pdf", "folder"]);
  const [listed, all] = [await workspace.list("skills/pdf"), await workspace.list("skills")];
  const shown = listed.ok && [listed.value.path, ...listed.value.entries.map(({ name, type }) => `${type} ${name}`)];
  assert.deepEqual(shown, ["skills/pdf", "file SKILL.md", "folder scripts"]);
  const linked = all.ok && all.value.entries.map(({ name, type, bytes }) => `${type} ${name} ${bytes}`);
  assert.deepEqual(linked, ["skill pdf 0"]);
  const walked: string[] = [];
  const walk = await workspace.walk("skills/pdf");
  for await (const { path } of walk.ok ? walk.value : []) walked.push(path);
  assert.deepEqual(walked.sort(), ["skills/pdf/SKILL.md", "skills/pdf/scripts", "skills/pdf/scripts/run.py"]);
  for (const [path, rest] of [
    ["skills/pdf/scripts", "scripts"],
    ["skills/pdf", "."],
  ] as const) {
    const descriptor = await workspace.openDescriptor(path);
    assert.deepEqual(descriptor.ok && [descriptor.value?.prefix, descriptor.value?.path], ["skills/pdf/", rest]);
    if (descriptor.ok) descriptor.value?.close();
  }
  const missing = await workspace.read("skills/pdf/none");
  assert.equal(missing.ok || missing.failure.code, "file_not_found");
  assert.deepEqual(
    openNow().filter((path) => path.startsWith(base)),
    [],
  );
});

test("what somebody else put into skills/ stays theirs: files are read as they are, no link but ours is followed [W9][W5]", async (t) => {
  const { workspace, folder, asked, base } = await openPlace(t);
  const skills = join(folder, "skills");
  mkdirSync(join(skills, "pdf"));
  writeFileSync(join(skills, "pdf", "SKILL.md"), "of the operator");
  writeFileSync(join(base, "secret"), "secret");
  symlinkSync(base, join(skills, "out"));
  symlinkSync("/skills/pdf", join(skills, "other"));
  assert.equal(await textOf(workspace, "skills/pdf/SKILL.md"), "of the operator");
  for (const path of ["skills/out/secret", "skills/other/SKILL.md", "skills/out"])
    assert.equal(await textOf(workspace, path), "permission_denied", path);
  const listed = await workspace.list("skills");
  const types = listed.ok && listed.value.entries.map(({ name, type }) => `${type} ${name}`);
  assert.deepEqual(types, ["special other", "special out", "folder pdf"]);
  assert.deepEqual(asked, [], "none of them is a skill of the installation");
});

test("a skill that is gone is not found by its link, one that never was gets none, and neither leaves anything open [W9][K1]", async (t) => {
  const { workspace, folder, uninstall, link, base } = await openPlace(t);
  assert.equal(await textOf(workspace, "skills/none/SKILL.md"), "file_not_found");
  assert.deepEqual(readdirSync(join(folder, "skills")), []);
  symlinkSync("/skills/gone", join(folder, "skills", "gone"));
  const missing = failure("file_not_found", { path: "skills/gone/a", near: "" });
  assert.deepEqual(await workspace.read("skills/gone/a"), missing);
  assert.equal(await textOf(workspace, "skills/pdf/SKILL.md"), howTo);
  await uninstall();
  assert.equal(await textOf(workspace, "skills/pdf/SKILL.md"), "file_not_found");
  rmSync(link);
  assert.equal(await textOf(workspace, "skills/pdf/SKILL.md"), "file_not_found");
  assert.deepEqual(readdirSync(join(folder, "skills")), ["gone"]);
  assert.deepEqual(
    openNow().filter((path) => path.startsWith(base)),
    [],
  );
});

test("only looks below skills/ of a conversation ask for skills: not a task's own folder, nor what is written, nor elsewhere [W9][W2]", async (t) => {
  const task = await openPlace(t, "task");
  assert.equal(await textOf(task.workspace, "skills/pdf/SKILL.md"), "file_not_found");
  assert.equal((await task.workspace.write("skills/pdf/SKILL.md", "of the task")).ok, true);
  assert.equal(await textOf(task.workspace, "skills/pdf/SKILL.md"), "of the task");
  const { workspace, folder, asked } = await openPlace(t);
  for (const path of ["outputs/pdf/SKILL.md", "outputs/skills/pdf"])
    assert.equal(await textOf(workspace, path), "file_not_found");
  const refused = await workspace.write("skills/pdf/SKILL.md", "mine");
  assert.equal(refused.ok || refused.failure.code, "permission_denied");
  assert.equal((await workspace.list("skills")).ok, true);
  assert.deepEqual([asked, task.asked, readdirSync(join(folder, "skills"))], [[], [], []]);
  rmSync(folder, { recursive: true });
  assert.equal(await textOf(workspace, "skills/pdf/SKILL.md"), "file_not_found");
  assert.equal(lstatSync(folder, { throwIfNoEntry: false }), undefined, "a look makes no folder");
});
