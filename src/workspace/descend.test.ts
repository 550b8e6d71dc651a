import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import {
  checkRegular,
  giveTo,
  makeFolders,
  openFolder,
  openForSync,
  openRegular,
  openRoot,
  syncAndClose,
  withFolder,
} from "./descend.ts";
import { Refused } from "./faults.ts";

const isRoot = process.geteuid?.() === 0;

function openBase(t: TestContext, files: Record<string, string>) {
  const base = folderWith(t, files);
  const root = openRoot(base) ?? assert.fail();
  t.after(() => closeSync(root));
  // What else this process has open comes and goes.
  const own = () => openFiles().filter((path) => path.startsWith(base) || path.startsWith("/proc/"));
  const before = own();
  return { base, root, isClean: () => assert.deepEqual(own(), before) };
}

/** The code and the cause with which a step is refused. */
function refusal(work: () => unknown): string {
  try {
    work();
    return "taken";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, params } = error.reason;
    return [code, "path" in params ? params.path : "", "why" in params ? params.why : ""].join(" ").trim();
  }
}

test("a workspace begins with a folder: none is no failure, a link or a file in its place is one [W5]", (t) => {
  const { base } = openBase(t, { "folder/": "", file: "" });
  symlinkSync("folder", join(base, "link"));
  assert.equal(openRoot(join(base, "none")), undefined);
  for (const name of ["link", "file"]) assert.throws(() => openRoot(join(base, name)), { code: "ENOTDIR" });
});

test("each step of a path is one name that leads to a folder, is refused under the path so far, and leaves nothing open [W5][W7]", (t) => {
  const { base, root, isClean } = openBase(t, { "a/b/file": "", "a/b/c/": "" });
  symlinkSync("b", join(base, "a", "link"));
  const inodeAt = (...names: string[]) => withFolder(root, names, (folder) => fstatSync(folder).ino);
  assert.deepEqual([inodeAt("a", "b"), inodeAt()], [statSync(join(base, "a/b")).ino, statSync(base).ino]);
  const mistake = new RangeError("of ours");
  const mistaken = () => {
    throw mistake;
  };
  assert.throws(() => withFolder(root, ["a"], mistaken), mistake);
  const cases = {
    "a/b/none/c": "file_not_found a/b/none",
    "a/b/file/c": "not_a_folder a/b/file",
    "a/link/c": "permission_denied a/link link",
  };
  for (const [path, told] of Object.entries(cases)) {
    const names = path.split("/");
    const opened = refusal(() => openFolder(root, names));
    const made = told.includes("none") ? told : refusal(() => makeFolders(root, names, { uid: undefined }));
    assert.deepEqual([opened, made], [told, told]);
  }
  isClean();
});

test("folders are made where they are missing, each is told to whoever makes its name safe, and belongs to whom it must [W11][X3]", (t) => {
  const { base, root, isClean } = openBase(t, { "a/": "" });
  const uid = isRoot ? 0x7000_0001 : undefined;
  const grown: number[] = [];
  const made = (folder: number) => void grown.push(fstatSync(folder).ino);
  const folder = makeFolders(root, ["a", "b", "c"], { made, uid });
  assert.equal(fstatSync(folder).ino, statSync(join(base, "a/b/c")).ino);
  closeSync(folder);
  const inodes = ["a", "a/b"].map((name) => statSync(join(base, name)).ino);
  assert.deepEqual(grown, inodes);
  const facts = ["a", "a/b", "a/b/c"].map((name) => statSync(join(base, name)));
  const [own = 0] = facts.map((stat) => stat.uid);
  assert.deepEqual(
    facts.map((stat) => [stat.uid, stat.mode & 0o777]),
    [own, uid ?? own, uid ?? own].map((whose) => [whose, 0o755]),
  );
  closeSync(makeFolders(root, ["a", "b"], { made, uid }));
  assert.equal(grown.length, 2, "what is there gets no new name");
  isClean();
});

test("a file is read only where it is one, has one name, and lies on the disk of its workspace; each refusal has its reason [W5]", (t) => {
  const { base, root, isClean } = openBase(t, { file: "text", two: "", "folder/": "" });
  linkSync(join(base, "two"), join(base, "second"));
  symlinkSync("file", join(base, "link"));
  execFileSync("mkfifo", [join(base, "pipe")]);
  const { dev } = statSync(base);
  const told = (name: string, device = dev) => {
    const checked = refusal(() => checkRegular(lstatSync(join(base, name)), device, name));
    const opened = refusal(() => closeSync(openRegular(root, name, { device, path: name }).fd));
    assert.equal(opened, checked);
    return checked;
  };
  assert.equal(told("file"), "taken");
  assert.equal(told("file", dev + 1), "permission_denied file elsewhere");
  assert.equal(told("two"), "permission_denied two hard_link");
  assert.equal(told("link"), "permission_denied link link");
  assert.equal(told("pipe"), "permission_denied pipe special");
  assert.equal(told("folder"), "not_a_file folder");
  assert.throws(() => openRegular(root, "none", { device: dev, path: "none" }), { code: "ENOENT" });
  const { fd, stat } = openRegular(root, "file", { device: dev, path: "file" });
  unlinkSync(join(base, "file"));
  assert.deepEqual([readFileSync(fd, "utf8"), stat.size], ["text", 4]);
  closeSync(fd);
  isClean();
});

test("files that cannot be given to anybody stay whose they are; any other fault of the disk is told [X3][Q2]", (t) => {
  const { base } = openBase(t, { file: "" });
  const fd = openSync(join(base, "file"), "r");
  const { uid } = fstatSync(fd);
  if (isRoot) process.seteuid?.(65_534);
  try {
    giveTo(fd, 0x7000_0001);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  assert.equal(fstatSync(fd).uid, uid);
  closeSync(fd);
  const place = openSync(join(base, "file"), 0x200000 | constants.O_NOFOLLOW);
  assert.throws(() => giveTo(place, uid), { code: "EBADF" });
  closeSync(place);
});

test("a folder is let go of when its names are safe, also where the disk does not say so [W11][Q2]", async (t) => {
  const { base, root, isClean } = openBase(t, {});
  const readable = openForSync(root);
  assert.equal(fstatSync(readable).ino, statSync(base).ino);
  await syncAndClose(readable);
  // Nothing there is ever on a disk.
  await assert.rejects(syncAndClose(openSync("/proc/self", "r")), { code: "EINVAL" });
  isClean();
});
