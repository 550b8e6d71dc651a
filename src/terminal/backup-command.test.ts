import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { wordsFor } from "../words/words.ts";
import { printMoved } from "./backup-command.ts";

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
