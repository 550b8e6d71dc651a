import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { attachedWords, languages } from "../words/words.ts";
import { ownWords } from "./own-words.ts";

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
