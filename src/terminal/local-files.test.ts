import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith, withoutPermission } from "../../test/world/folder.ts";
import { findFileMentions } from "./file-mentions.ts";
import { findLocalFiles } from "./local-files.ts";

const find = (text: string, folder: string, homeDir = folder) =>
  findLocalFiles(
    findFileMentions(text).map((mention) => ({ ...mention, label: `#${mention.path}` })),
    { folder, homeDir },
  );
const shownIn = async (text: string, folder: string) => (await find(text, folder)).files.map(({ shown }) => shown);
const nothing = { files: [], unreadables: [], problems: [], hints: [] };

test("a file is looked for in the folder, then in uploads/ there [F3]", async (t) => {
  const folder = folderWith(t, { "a.csv": "1", "uploads/a.csv": "2", "uploads/b.csv": "3" });
  assert.deepEqual(await find("#a.csv #b.csv", folder), {
    ...nothing,
    files: [
      { path: join(folder, "a.csv"), shown: "a.csv", name: "a.csv" },
      { path: join(folder, "uploads/b.csv"), shown: "b.csv", name: "b.csv" },
    ],
  });
});

test("a file can lie anywhere on the user's own machine, and counts once [F3]", async (t) => {
  const folder = folderWith(t, { "work/": "", "a b.csv": "1" });
  const path = join(folder, "a b.csv");
  const text = `#"${path}" #~/a\\ b.csv #"../a b.csv"`;
  const { files } = await find(text, join(folder, "work"), folder);
  assert.deepEqual(files, [{ path, shown: path, name: "a b.csv" }]);
});

test("a folder stands for the files below it, without hidden ones, links and node_modules [F3]", async (t) => {
  const folder = folderWith(t, {
    ...{ "src/b.ts": "", "src/a/c.ts": "", "src/.env": "", "src/.git/config": "" },
    ...{ "src/node_modules/x/y.js": "", "src/a/node_modules/z.js": "", "other.txt": "" },
  });
  symlinkSync("../other.txt", join(folder, "src/link.txt"));
  symlinkSync("..", join(folder, "src/loop"));
  assert.deepEqual(await shownIn("#src/", folder), ["src/a/c.ts", "src/b.ts"]);
  assert.deepEqual(await shownIn('#"src"', folder), ["src/a/c.ts", "src/b.ts"]);
});

test("a pattern stands for all files that fit it, in the folder or else in uploads/ [F3]", async (t) => {
  const folder = folderWith(t, {
    ...{ "a.csv": "", "b.csv": "", "c.md": "", "data/d.csv": "", "data/deep/e.csv": "", "uploads/f.pdf": "" },
    ...{ "node_modules/g.csv": "", ".h.csv": "", "表1.csv": "", "x[1].csv": "" },
  });
  assert.deepEqual(await shownIn("#./?.csv", folder), ["./a.csv", "./b.csv"]);
  assert.deepEqual(await shownIn("#data/*.csv", folder), ["data/d.csv"]);
  assert.deepEqual(await shownIn("#data/**/*.csv", folder), ["data/d.csv", "data/deep/e.csv"]);
  assert.deepEqual(await shownIn("#表*.csv", folder), ["表1.csv"]);
  assert.deepEqual(await shownIn("#./{a,c}.{csv,md}", folder), ["./a.csv", "./c.md"]);
  assert.deepEqual(await shownIn("#*.pdf", folder), ["f.pdf"]);
  assert.deepEqual(await shownIn("#x[1].csv", folder), ["x[1].csv"], "a name with brackets comes first");
});

test("what can only be a file and is not there keeps the message back; a tag does not [F3]", async (t) => {
  const folder = folderWith(t, { "data.csv": "" });
  const near = undefined;
  assert.deepEqual(await find('#"dta.csv" #src/ #*.pdf #a/b.txt #urgent #3/4', folder), {
    ...nothing,
    problems: [
      { kind: "missing", label: "#dta.csv", near: "data.csv" },
      { kind: "missing", label: "#src/", near },
      { kind: "missing", label: "#*.pdf", near },
      { kind: "missing", label: "#a/b.txt", near },
    ],
  });
});

test("a word that is nearly a file, or a folder without its slash, stays text and is pointed out [F3]", async (t) => {
  const folder = folderWith(t, { "data.csv": "", "src/a.ts": "" });
  assert.deepEqual(await find("#dta.csv #src #nothing.csv", folder), {
    ...nothing,
    hints: [
      { kind: "near", label: "#dta.csv", near: "data.csv" },
      { kind: "folder", label: "#src" },
    ],
  });
});

test("Chinese text right behind a name is no part of it, unless the file is called so [F3]", async (t) => {
  const folder = folderWith(t, { "数据.csv": "", "表.v2最终.docx": "" });
  assert.deepEqual(await shownIn("看#数据.csv吧，再看#表.v2最终.docx。", folder), ["数据.csv", "表.v2最终.docx"]);
});

test("a name with a comma or with Chinese marks is found as it is written, whatever follows it [F3]", async (t) => {
  const folder = folderWith(t, { "a,b.csv": "", a: "", "《报告》：终稿.docx": "", "data.csv": "" });
  assert.deepEqual(await shownIn("(see #a,b.csv) #a, and 看#《报告》：终稿.docx，谢谢", folder), [
    ...["a,b.csv", "a", "《报告》：终稿.docx"],
  ]);
  assert.deepEqual(await shownIn("看＃data.csv和#“data.csv”", folder), ["data.csv"]);
});

test("the name that was probably meant is told with its folder [F3]", async (t) => {
  const folder = folderWith(t, { "data/sales.csv": "", "reports/a.md": "" });
  const near = async (text: string) => (await find(text, folder)).problems;
  assert.deepEqual(await near("#data/sale.csv #./data/sales.cvs #report/"), [
    { kind: "missing", label: "#data/sale.csv", near: "data/sales.csv" },
    { kind: "missing", label: "#./data/sales.cvs", near: "./data/sales.csv" },
    { kind: "missing", label: "#report/", near: "reports" },
  ]);
});

test("in a folder that nobody may look into, a tag is still a tag [F3]", async (t) => {
  const folder = folderWith(t, { "shut/2024/a.txt": "" });
  const shut = join(folder, "shut");
  assert.deepEqual(await shownIn("#2024/", shut), ["2024/a.txt"]);
  chmodSync(folder, 0o755);
  assert.deepEqual(await withoutPermission([shut], () => find("#urgent #3/4", shut)), nothing);
});

test("a folder without anything to send is said to be so [F3]", async (t) => {
  const folder = folderWith(t, { "empty/": "", "hidden/.env": "" });
  const problem = (label: string) => ({ kind: "empty", label });
  assert.deepEqual((await find("#empty/ #hidden/", folder)).problems, [problem("#empty/"), problem("#hidden/")]);
});

test("pipes, and what nobody may read, are named as that and not opened [F3][W5]", async (t) => {
  const folder = folderWith(t, { "open/a.txt": "", "open/closed/b.txt": "", "shut/c.txt": "" });
  chmodSync(folder, 0o755);
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const closed = [join(folder, "open/closed"), join(folder, "shut")];
  const found = await withoutPermission(closed, () => find("#pipe #open/ #shut/ #shut/*.txt #shut/c.txt", folder));
  const fault = (shown: string, why: string) => ({
    shown,
    failure: { code: "permission_denied", params: { path: shown, folder: "", why }, retryable: false },
  });
  assert.deepEqual(found, {
    ...nothing,
    files: [{ path: join(folder, "open/a.txt"), shown: "open/a.txt", name: "a.txt" }],
    unreadables: [
      ...[fault("pipe", "special"), fault("open/closed/", "system")],
      ...[fault("shut/", "system"), fault("shut/*.txt", "system"), fault("shut/c.txt", "system")],
    ],
  });
});

test("files of the same name are told apart by where they come from [F3]", async (t) => {
  const folder = folderWith(t, { "a/x.csv": "", "b/x.csv": "", "b/X.CSV": "", "y.csv": "" });
  const { files } = await find("#*/*.csv #*/*.CSV #y.csv", folder);
  assert.deepEqual(
    files.map(({ name }) => name),
    ["a-x.csv", "b-x.csv", "b-X.CSV", "y.csv"],
  );
});

test("a message takes a hundred files and not one more [F3]", async (t) => {
  const names = Array.from({ length: 101 }, (_, index) => `${String(index).padStart(3, "0")}.txt`);
  const folder = folderWith(t, Object.fromEntries(names.map((name) => [`all/${name}`, ""])));
  const { files, problems } = await find("#all/0[0-9][0-9].txt", folder);
  assert.deepEqual([files.length, problems], [100, []]);
  const tooMany = { kind: "too_many", label: "#all/100.txt" };
  assert.deepEqual((await find("#all/0*.txt #all/100.txt", folder)).problems, [tooMany]);
  assert.deepEqual((await find("#all/", folder)).problems, [{ kind: "too_many", label: "#all/" }]);
});

test("a folder without an end is not looked through to its end [F3]", async (t) => {
  const files = Object.fromEntries(["1.txt", "2.txt", "a/3.txt", "a/4.txt"].map((name) => [`wide/${name}`, ""]));
  const place = { folder: folderWith(t, files), homeDir: "" };
  const wanted = { path: "wide/**/*.csv", label: "#wide/**/*.csv", isMeant: true };
  const problemsWith = async (limit: number) =>
    (await findLocalFiles([wanted], { ...place, entriesMax: limit })).problems.map(({ kind }) => kind);
  assert.deepEqual(await problemsWith(4), ["too_wide"]);
  assert.deepEqual(await problemsWith(5), ["missing"], "four files and a folder");
  const folder = { path: "wide/", label: "#wide/", isMeant: true };
  const { problems } = await findLocalFiles([folder], { ...place, entriesMax: 4 });
  assert.deepEqual(problems, [{ kind: "too_wide", label: "#wide/", limit: 4 }]);
});
