import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { wordsFor } from "../../src/words/words.ts";
import { type Home, makeHome } from "../world/program.ts";

// `agentyard backup` and `agentyard restore` as an operator types them.

test("a running server is backed up through its own door and comes back elsewhere, with the same history [Q3][P2]", async (t) => {
  const home = makeHome(t);
  const server = home.start("serve", "--port", "0");
  await server.until("output", /Ctrl\+C/);
  const asked = await home.start("run", "--json", "what time is it").ended;
  const { conversation_id: id } = JSON.parse(asked.output);
  const file = join(home.folder, "yard.tar.gz");
  const made = await said(home, "backup", file, "--include-key");
  const [where, what, ...notes] = made.split("\n");
  assert.match(where ?? "", /^✓ Backup in \S+yard\.tar\.gz \(.+\), read back and compared$/);
  assert.match(what ?? "", /^ {2}1 conversation, \d+ files?$/);
  // No secret is stored, so there is no key: who asked for it hears that.
  assert.deepEqual(notes, [wordsFor("en").terminal.backups.noKey(), ""]);
  const there = join(home.folder, "there");
  assert.match(await said(home, "restore", file, "--data", there), /^✓ Restored into \S+there, and compared\n/);
  assert.equal(await said(home, "log", id, "--json", "--data", there), await said(home, "log", id, "--json"));
});

test("scripts get one object of each, and a file or a directory that is there is left alone [Q3][P2][P4]", async (t) => {
  const home = makeHome(t);
  await home.start("run", "hello").ended;
  const file = join(home.folder, "yard.tar");
  const made = JSON.parse(await said(home, "backup", file, "--json"));
  assert.deepEqual([made.path, made.conversations, made.leftOutCount], [file, 1, 0]);
  const again = await home.start("backup", file).ended;
  assert.deepEqual(
    [again.code, again.errors],
    [2, `✗ There is a file ${file} already. Name another one, or remove it first.\n`],
  );
  const full = await home.start("restore", file, "--lang", "zh").ended;
  assert.equal(full.code, 2);
  assert.match(full.errors, /^✗ 数据目录 \S+ 不是空的。.*--replace/);
  const restored = JSON.parse(await said(home, "restore", file, "--replace", "--json"));
  assert.deepEqual([restored.conversations, existsSync(restored.keptAt)], [1, true]);
});

async function said(home: Home, ...words: string[]): Promise<string> {
  const { code, output, errors } = await home.start(...words).ended;
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}
