import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { wordsFor } from "../words/words.ts";
import { printBackup, printMoved } from "./backup-command.ts";

for (const [language, notes] of [
  [
    "en",
    [
      "! 2 could not be read and are not in it: a, b. Give the user that runs AgentYard the right to read them, or move them to a shorter path with plain names, and back up again; or copy them yourself.",
      "! Written to all the time, so perhaps not as they should be: log.txt. Back up again when whatever writes to them has ended.",
    ],
  ],
  [
    "zh",
    [
      "! 有 2 个文件无法读取，未包含在内：a, b。请给运行 AgentYard 的用户读取权限，或把它们移到较短的路径并使用普通名称，然后重新备份；也可以自行复制。",
      "! 一直在被写入，内容可能不完整：log.txt。请在写入它们的程序结束后重新备份。",
    ],
  ],
] as const) {
  test(`a backup that lacks files, or has them from the middle of a write, says what to do (${language}) [Q3][P4]`, () => {
    const output = new PassThrough({ encoding: "utf8" });
    const parts = { input: new PassThrough(), output, errors: new PassThrough(), words: wordsFor(language) };
    const made = { path: "/yard.tar", bytes: 7, conversations: 1, files: 1, hasKey: false };
    const lacking = { ...made, leftOut: ["a", "b"], leftOutCount: 2, changing: ["log.txt"] };
    assert.equal(printBackup(lacking, { ...parts, json: false, includesKey: false }), 0);
    assert.deepEqual(String(output.read()).split("\n").slice(2), [...notes, ""]);
  });
}

test("data that is moved counts as moved, also where the file could not be given another name; that is said [N1][P4]", () => {
  const said = (language: "en" | "zh", keptAt: string | null, json = false) => {
    const output = new PassThrough({ encoding: "utf8" });
    const parts = { input: new PassThrough(), output, errors: new PassThrough(), words: wordsFor(language), json };
    const code = printMoved({ conversations: 1, events: 7, keptAt }, { ...parts, path: "/yard/sessions.db" });
    return [code, String(output.read())] as const;
  };
  assert.deepEqual(said("en", "/yard/sessions.db.moved"), [
    0,
    "✓ Moved to the database server and compared: 1 conversation, 7 events\n  What was there before lies in /yard/sessions.db.moved\n",
  ]);
  assert.match(
    said("en", null)[1],
    /^✓ Moved[^\n]*\n! It is moved, but the file stays: \/yard\/sessions\.db could not/,
  );
  assert.match(said("zh", null)[1], /^✓ 已迁移[^\n]*\n! 数据已迁移，但文件仍在原处：无法重命名 \/yard\/sessions\.db。/);
  assert.deepEqual(said("en", null, true), [0, '{"conversations":1,"events":7,"keptAt":null}\n']);
});
