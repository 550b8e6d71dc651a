import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
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
    [2, `✗ There is a file ${file} already. Name another one, or delete it first.\n`],
  );
  const full = await home.start("restore", file, "--lang", "zh").ended;
  assert.equal(full.code, 2);
  assert.match(full.errors, /^✗ 数据目录 \S+ 不是空的。.*--replace/);
  const restored = JSON.parse(await said(home, "restore", file, "--replace", "--json"));
  assert.deepEqual([restored.conversations, existsSync(restored.keptAt)], [1, true]);
});

test("a backup that had to leave something out names it to the operator, with what to do [Q3][P2][P4]", async (t) => {
  const home = makeHome(t);
  const asked = await home.start("run", "--json", "hello").ended;
  const { conversation_id: id } = JSON.parse(asked.output);
  // Deeper than a path leads.
  const folder = join(home.folder, "data", "workspace", id, "outputs", "d/".repeat(70));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a"), "a");
  for (const [language, note] of [
    ["en", /^! 1 could not be read and are not in it: workspace\/\S+… *\. Give the user .* back up again; or copy/m],
    ["zh", /^! 有 1 个文件无法读取，未包含在内：workspace\/\S+。请给运行 AgentYard 的用户.*重新备份/m],
  ] as const)
    assert.match(await said(home, "backup", join(home.folder, `${language}.tar`), "--lang", language), note);
});

async function said(home: Home, ...words: string[]): Promise<string> {
  const { code, output, errors } = await home.start(...words).ended;
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}
