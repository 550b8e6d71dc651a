import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { wordsFor } from "../../src/words/words.ts";

// A failure that no test meets has words, a status and advice that nobody ever saw.

const root = join(import.meta.dirname, "..", "..");

test("every failure is met by some test, which names its code [P4]", () => {
  const files = globSync("{src,test}/**/*.test.ts", { cwd: root }).concat(
    globSync("test/contracts/*.ts", { cwd: root }),
  );
  const text = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  // A code of one word is also a word of everyday language, unless it stands alone in quotes.
  const named = new Set([...text.matchAll(/\b[a-z]+(?:_[a-z]+)+\b|"([a-z]+)"/g)].map(([code, word]) => word ?? code));
  assert.deepEqual(
    Object.keys(wordsFor("en").failures).filter((code) => !named.has(code)),
    [],
  );
});
