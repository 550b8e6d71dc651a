import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { findFileMentions, unfinishedMention, writtenMentions } from "./file-mentions.ts";

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

test("what is quoted, has a slash or is a pattern can only be a file; a word may be a tag [F3]", () => {
  const isMeant = (text: string) => findFileMentions(text).map((mention) => mention.isMeant);
  assert.deepEqual(isMeant('#"tag" #a/ #*.csv #x{a,b}.csv #a[1].csv'), [true, true, true, true, true]);
  assert.deepEqual(isMeant("#tag #data.csv #12/#13 #list[0] #really?no"), [false, false, false, false, false]);
});

test("Chinese right behind an ending may belong to the name: all readings are told [F3]", () => {
  assert.deepEqual(findFileMentions("看#表.v2最终.docx吧"), [
    {
      ...{ start: 1, end: 6, path: "表.v2", isMeant: false },
      readings: ["表.v2最终.docx吧", "表.v2最终.docx", "表.v2"],
    },
  ]);
  assert.deepEqual(findFileMentions("#v1.2版/数据.csv"), [
    { start: 0, end: 13, path: "v1.2版/数据.csv", isMeant: true },
  ]);
});

test("a name may hold what usually ends one: it is read up to the next blank as well [F3]", () => {
  const readings = (text: string) => findFileMentions(text).map((mention) => mention.readings ?? [mention.path]);
  assert.deepEqual(readings("(see #a,b.csv)."), [["a,b.csv).", "a,b.csv)", "a,b.csv", "a"]]);
  assert.deepEqual(readings("看#报告：终稿.docx。"), [["报告：终稿.docx。", "报告：终稿.docx", "报告"]]);
  assert.deepEqual(readings("#《报告》，谢谢"), [["《报告》，谢谢", "《报告》", "《报告"]]);
  assert.deepEqual(readings("#a.csv,#b.csv"), [["a.csv,", "a.csv"], ["b.csv"]]);
});

const piece = fc.constantFrom(
  ...["#", "#", "a", "数据", ".csv", "/", "\\", " ", "\n", '"', "'", "`", "```", "(", ")", "（", "）", "{", "}", ","],
  ...[
    "，",
    "*",
    "**",
    "?",
    "[",
    "]",
    "~",
    "@",
    "12",
    "＃",
    "“",
    "”",
    "《",
    "：",
    "fff",
    "\u{1f600}",
    "\u{20000}",
    "\ud800",
    "\u202e",
    "\t",
  ],
);
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

test("a text without # names nothing, and neither does anything in a code block [F3]", () => {
  fc.assert(
    fc.property(anyWords, (text) => {
      assert.deepEqual(findFileMentions(text.replaceAll(/[#＃]/g, "")), []);
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
  for (const part of [
    "#a`",
    '#"',
    "#(",
    ".a中",
    "```\n#",
    "`` ` ",
    "[",
    "#a(",
    ".",
    ".a",
    "#“",
    "#《",
    "a,",
    "\\#a,",
  ]) {
    // Anything that looks back or ahead again and again would take minutes here.
    findFileMentions(`#a${part.repeat(1_000_000 / part.length)}/`);
  }
});
