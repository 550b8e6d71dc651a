import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { folderWith, withoutPermission } from "../../test/world/folder.ts";
import { attachedWords, languages } from "../words/words.ts";
import { findFileMentions, unfinishedMention, writtenMentions } from "./file-mentions.ts";
import { findLocalFiles } from "./local-files.ts";
import { ownWords } from "./own-words.ts";

const pathsIn = (text: string) => findFileMentions(text).map(({ path }) => path);

const named: readonly (readonly [text: string, ...paths: string[]])[] = [
  ["#data.csv", "data.csv"],
  ["analyse #data.csv please", "data.csv"],
  ["#./a/b.txt and #../c.txt", "./a/b.txt", "../c.txt"],
  ["#~/notes.md #/etc/hosts", "~/notes.md", "/etc/hosts"],
  ["#\"name with blanks.csv\" #'another one.txt'", "name with blanks.csv", "another one.txt"],
  ["#/tmp/my\\ file\\ \\(1\\).csv!", "/tmp/my file (1).csv"],
  ["分析#数据.csv，谢谢", "数据.csv"],
  ["分析#数据.csv谢谢", "数据.csv"],
  ["比较#数据.csv和#表格.xlsx。", "数据.csv", "表格.xlsx"],
  ["见#报告（终稿）.docx", "报告（终稿）.docx"],
  ["看#数据.csv（A/B测试）", "数据.csv"],
  ["見て#資料/売上.csvを", "資料/売上.csv"],
  ["“#data.csv”、（#b.csv）", "data.csv", "b.csv"],
  [
    "(see #data.csv) [#b.csv], #c.csv; #d.csv: #e.csv? #f.csv...",
    "data.csv",
    "b.csv",
    "c.csv",
    "d.csv",
    "e.csv",
    "f.csv",
  ],
  ["#a.csv,#b.csv", "a.csv", "b.csv"],
  ["#report(1).csv", "report(1).csv"],
  ["#archive.tar.gz请解压", "archive.tar.gz"],
  ["#data/*.csv #**/*.md #logs/{a,b}.txt #x[0-9].csv", "data/*.csv", "**/*.md", "logs/{a,b}.txt", "x[0-9].csv"],
  ["#src/ #./", "src/", "./"],
  ["#.env #_a #C:\\data\\x.csv", ".env", "_a", "C:\\data\\x.csv"],
  ["say\n#second.txt", "second.txt"],
  ["a ` and #data.csv", "data.csv"],
  ["看＃数据.csv，和 ＃b.csv", "数据.csv", "b.csv"],
  ["#“两个 词.csv”和#‘b c.md’，再看#「d e.txt」。", "两个 词.csv", "b c.md", "d e.txt"],
  ["#\\《报告\\》.docx #\\-x", "《报告》.docx"],
  ["看#《报告》.docx，谢谢", "《报告》.docx"],
];
for (const [text, ...paths] of named) {
  test(`${JSON.stringify(text)} names ${paths.join(", ")} [F3]`, () => {
    assert.deepEqual(pathsIn(text), paths);
  });
}

const leftAlone: readonly string[] = [
  ...["# heading", "## heading", "###", "#", "#.", "#...", "text # text", "##data.csv", "#\tdata.csv"],
  ...[
    "C# F#",
    "me#work@example.com",
    "a#b.csv",
    "https://example.com/page#part.one",
    "docs/page.md#part",
    "x.html#/a/b",
  ],
  ...["#fff", "#a1b2c3", "color:#FFF;", "#11223344", "#12", "(#12)", "fixes #12, #13", "&#39;"],
  ...["#include <stdio.h>", "#define X 1", "#!/bin/sh", "#[derive(Debug)]", "#{name}", "'#' or \"#\""],
  ...["`#data.csv`", "``a ` #data.csv``", "```\n#data.csv\n```", "~~~sh\n#data/x.csv\n```\n#y.csv", "  ```\n#data.csv"],
  ...['#""', "#' '", '#"a\nb.csv"', '#"not closed', "#“not closed", "“#”", "用 # 或＃。", "C＃ ＃＃ ＃ 标题 ＃12"],
];
for (const text of leftAlone) {
  test(`${JSON.stringify(text)} names no file [F3]`, () => {
    assert.deepEqual(pathsIn(text), []);
  });
}

test("a name may hold what usually ends one: it is read up to the next blank as well [F3]", () => {
  const readings = (text: string) => findFileMentions(text).map((mention) => mention.readings ?? [mention.path]);
  assert.deepEqual(readings("(see #a,b.csv)."), [["a,b.csv).", "a,b.csv)", "a,b.csv", "a"]]);
  assert.deepEqual(readings("看#报告：终稿.docx。"), [["报告：终稿.docx。", "报告：终稿.docx", "报告"]]);
  assert.deepEqual(readings("#《报告》，谢谢"), [["《报告》，谢谢", "《报告》", "《报告"]]);
  assert.deepEqual(readings("#a.csv,#b.csv"), [["a.csv,", "a.csv"], ["b.csv"]]);
});

const marks = [..."##a数/\\ \n\"'`(){},（），*?[]~@＃“”《：\u{1f600}\u{20000}\u202e\t"];
const piece = fc.constantFrom(...marks, "数据", ".csv", "```", "**", "12", "fff", "\ud800");
const anyWords = fc.oneof(
  anyText(),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
);

test("mentions stand in their order, apart from each other, each at a # of the text [F3]", () => {
  fc.assert(
    fc.property(anyWords, (text) => {
      let free = 0;
      for (const { start, end, path } of findFileMentions(text)) {
        assert.ok(start >= free && end > start + 1 && end <= text.length);
        assert.match(text.charAt(start), /[#＃]/);
        assert.ok(path !== "" && !path.includes("\n"));
        free = end;
      }
    }),
    { numRuns: 500 },
  );
});
const around = fc.constantFrom("", " ", "看", "，", "（", "\n", "请看：");
const behind = fc.constantFrom("", " ", "，谢谢", "。", "\n", ", and", "!", "）");

const anyName = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((name) => name.trim() !== "" && !/["\n`]/.test(name));

test("any name is found in quotes, with what stands around it left alone [F3]", () => {
  fc.assert(
    fc.property(around, anyName, behind, (left, name, right) => {
      const [mention] = findFileMentions(`${left}#"${name}"${right}`);
      assert.deepEqual(mention, { start: left.length, end: left.length + name.length + 3, path: name, isMeant: true });
    }),
  );
});

const onDisk = fc
  .stringMatching(
    /^[A-Za-z0-9数_《》【】“”、，：—·「＃(#@+-][A-Za-z数 _()'"$&,;=!~.《》【】“”‘、，：—·」＃#-]{0,12}(\.[a-z]{3})?$/,
  )
  .filter((name) => name.trim() !== "" && !/^\.+$/.test(name));

test("a completed name is read back as it is on the disk [F3]", () => {
  fc.assert(
    fc.property(onDisk, fc.constantFrom("", '"', "“", "「"), (name, quote) => {
      for (const written of writtenMentions([name], quote)) {
        const [mention] = findFileMentions(`see ${written} now`);
        assert.equal(mention?.readings?.[0] ?? mention?.path, name);
      }
      const isWritable = !/["`]/.test(name);
      assert.ok(
        quote !== "" || !isWritable || writtenMentions([name], quote).length === 1,
        "every name can be written",
      );
    }),
    { numRuns: 500 },
  );
});

test("a name is completed with escapes, in quotes where it must be or where these were begun [F3]", () => {
  assert.deepEqual(writtenMentions(["two words.csv", "《a》.md"], ""), ["#two\\ words.csv", "#\\《a\\》.md"]);
  assert.deepEqual(writtenMentions(["fff", "f.csv", "f/"], ""), ['#"fff"', '#"f.csv"', '#"f/']);
  assert.deepEqual(writtenMentions(["a b.csv", "a「b」.csv"], "「"), ["#「a b.csv」"]);
});

test("what is being typed is a mention up to the end of the line, also with a quote that is still open [F3]", () => {
  const unfinished = (line: string) => {
    const { path, quote } = unfinishedMention(line) ?? {};
    return [path, quote];
  };
  assert.deepEqual(unfinished("see #two\\ wo"), ["two wo", ""]);
  assert.deepEqual(unfinished('see #"two wo'), ["two wo", '"']);
  assert.deepEqual(unfinished("看＃“两个 词"), ["两个 词", "“"]);
  assert.deepEqual(unfinished("看#《报"), ["《报", ""]);
  assert.deepEqual(unfinished("#"), ["", ""]);
  for (const line of ["C#", "#a b", '#"a"', "`#a` b", "none"]) assert.equal(unfinishedMention(line), undefined);
});

test("a text of a megabyte is read in one go [F3]", () => {
  for (const part of ["#a`", '#"', "#(", ".a中", "`` ` ", "a,"]) {
    // Anything that looks back or ahead again and again would take minutes here.
    findFileMentions(`#a${part.repeat(1_000_000 / part.length)}/`);
  }
});

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

test("a text that somebody typed is theirs to the last character [F3]", () => {
  for (const text of [
    "",
    "hi",
    "Uploaded files:\n- a",
    "\n\nUploaded files:\n",
    "x\n\nUploaded files:\n- one\nand more",
  ]) {
    assert.deepEqual(ownWords(text), { words: text, files: [] });
  }
});

test("what was put behind it in either language is taken off again, whatever the files held [F3]", () => {
  const plain = fc.string().filter((text) => !/\n\n/.test(text));
  const path = fc.stringMatching(/^uploads\/[a-z数 ]{1,8}\.[a-z]{3}$/);
  fc.assert(
    fc.property(
      plain,
      fc.uniqueArray(path, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...languages),
      (said, paths, language) => {
        const { list, inline } = attachedWords[language];
        const texts = paths.map((file) => `${inline(file)}\n\`\`\`\n${said}\n\n${list}\n- no\n\`\`\``);
        const lines = paths.map((file) => `- ${file.slice("uploads/".length)} → ${file} (text)`);
        const stored = [said, ...texts, [list, ...lines].join("\n")].join("\n\n");
        assert.deepEqual(ownWords(stored), { words: said, files: paths });
      },
    ),
  );
});
