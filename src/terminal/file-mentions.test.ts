import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapedPath, findFileMentions, unfinishedMention } from "./file-mentions.ts";

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
  ...['#""', "#' '", '#"a\nb.csv"', '#"not closed'],
];
for (const text of leftAlone) {
  test(`${JSON.stringify(text)} names no file [F3]`, () => {
    assert.deepEqual(pathsIn(text), []);
  });
}

test("what is quoted, has a slash or is a pattern can only be a file; a word may be a tag [F3]", () => {
  const isMeant = (text: string) => findFileMentions(text).map((mention) => mention.isMeant);
  assert.deepEqual(isMeant('#"tag" #a/ #*.csv #x{a,b}.csv #a[1].csv'), [true, true, true, true, true]);
  assert.deepEqual(isMeant("#tag #data.csv #12/#13 #list[0] #really?no"), [false, false, false, false, false]);
});

test("Chinese right behind an ending may belong to the name: both readings are told [F3]", () => {
  assert.deepEqual(findFileMentions("看#表.v2最终.docx吧"), [
    { start: 1, end: 6, path: "表.v2", longer: "表.v2最终.docx吧", isMeant: false },
  ]);
  assert.deepEqual(findFileMentions("#v1.2版/数据.csv"), [
    { start: 0, end: 13, path: "v1.2版/数据.csv", isMeant: true },
  ]);
});

const piece = fc.constantFrom(
  ...["#", "#", "a", "数据", ".csv", "/", "\\", " ", "\n", '"', "'", "`", "```", "(", ")", "（", "）", "{", "}", ","],
  ...["，", "*", "**", "?", "[", "]", "~", "@", "12", "fff", "\u{1f600}", "\u{20000}", "\ud800", "\u202e", "\t"],
);
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
);

test("mentions stand in their order, apart from each other, each at a # of the text [F3]", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      let free = 0;
      for (const { start, end, path } of findFileMentions(text)) {
        assert.ok(start >= free && end > start + 1 && end <= text.length);
        assert.equal(text[start], "#");
        assert.ok(path !== "" && !path.includes("\n"));
        free = end;
      }
    }),
    { numRuns: 500 },
  );
});

test("a text without # names nothing, and neither does anything in a code block [F3]", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.deepEqual(findFileMentions(text.replaceAll("#", "")), []);
      assert.deepEqual(findFileMentions(`\`\`\`\`\`\n${text.replaceAll("`", "")}`), []);
    }),
  );
});

const plainName = fc.stringMatching(/^[a-z0-9_数据表]{1,8}\.[a-z]{2,4}$/);
const around = fc.constantFrom("", " ", "看", "，", "（", "\n", "请看：");
const behind = fc.constantFrom("", " ", "，谢谢", "。", "\n", ", and", "!", "）");

test("a plain name is found whatever stands around it [F3]", () => {
  fc.assert(
    fc.property(around, plainName, behind, (left, name, right) => {
      const text = `${left}#${name}${right}`;
      assert.deepEqual(pathsIn(text), [name]);
    }),
  );
});

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

test("a completed name is read back as it is on the disk [F3]", () => {
  const onDisk = fc.stringMatching(/^[A-Za-z数_][A-Za-z数 _()'"$&,;=!~-]{0,12}\.[a-z]{3}$/);
  fc.assert(
    fc.property(onDisk, (name) => {
      assert.deepEqual(pathsIn(`see #${escapedPath(name)} now`), [name]);
      assert.deepEqual(unfinishedMention(`see #${escapedPath(name)}`), { start: 4, path: name });
    }),
  );
});

test("a text of a megabyte is read in one go [F3]", () => {
  for (const part of ["#a`", '#"', "#(", ".a中", "```\n#", "`` ` ", "[", "#a(", ".", ".a"]) {
    // Anything that looks back or ahead again and again would take minutes here.
    findFileMentions(`#a${part.repeat(1_000_000 / part.length)}/`);
  }
});
