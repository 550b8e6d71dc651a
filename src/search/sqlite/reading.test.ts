import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { test } from "node:test";
import { blocksOf, file } from "../../../test/world/search.ts";
import { cutIntoPairs } from "../text/runs.ts";
import { openReader } from "./reading.ts";
import { openForWriting } from "./tables.ts";
import { openWriter } from "./writing.ts";

/** A database that tells how each statement goes about its work. */
class ExplainedDatabase extends DatabaseSync {
  readonly plans: string[] = [];
  override prepare(sql: string): StatementSync {
    if (sql.startsWith("SELECT p.id"))
      for (const { detail } of super.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()) this.plans.push(String(detail));
    return super.prepare(sql);
  }
}

test("a pattern walks over the rows of the own documents only, be they one, a few or many [D3]", () => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-search-"));
  const path = join(folder, "search.db");
  const written = openForWriting(path, "bigram");
  const writer = openWriter(written, cutIntoPairs);
  const put = (owner: string, place: string) => {
    const writing = writer.begin(`${owner} ${place}`);
    writing.add(blocksOf(`hit ${place} of ${owner}`));
    writing.end(file(owner, place), 0);
  };
  // What was written last has the first place, so that the order of names is not the order of rows.
  for (const [owner, count] of Object.entries({ one: 1, few: 3, many: 70 }))
    for (let index = count - 1; index >= 0; index -= 1) {
      put(owner, `${index}`.padStart(2, "0"));
      put("other", `${owner} ${index}`);
    }
  written.close();

  const database = new ExplainedDatabase(path);
  const reader = openReader(database);
  for (const [owner, count] of Object.entries({ one: 1, few: 3, many: 70 }))
    for (const trigrams of [undefined, '"hit"']) {
      const texts = [...reader.windows(trigrams, reader.within({ owner }))].map(({ text }) => text);
      const expected = Array.from({ length: count }, (_, index) => `hit ${`${index}`.padStart(2, "0")} of ${owner}`);
      assert.deepEqual(texts, expected.toReversed(), `${owner} ${trigrams}`);
    }
  assert.ok(database.plans.length > 0);
  assert.deepEqual(
    database.plans.filter((step) => /^SCAN [pn]\b|TEMP B-TREE/.test(step)),
    [],
  );
  reader.close();
  rmSync(folder, { recursive: true, force: true });
});

test("of the words with one beginning, so many are gone through at most, in their order [D3]", () => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-search-"));
  const path = join(folder, "search.db");
  const written = openForWriting(path, "bigram");
  const writing = openWriter(written, cutIntoPairs).begin("key");
  writing.add(blocksOf("kokc koka kokb kokdddd other kokb"));
  writing.end(file("ann", "a"), 0);
  written.close();
  const reader = openReader(new DatabaseSync(path));
  const words = (walkedMax: number) =>
    reader.wordsLike({ beginning: "kok", lengths: [4, 5], walkedMax }).map(({ term }) => term);
  assert.deepEqual(
    [words(2), words(4)],
    [
      ["koka", "kokb"],
      ["koka", "kokb", "kokc"],
    ],
  );
  reader.close();
  rmSync(folder, { recursive: true, force: true });
});
