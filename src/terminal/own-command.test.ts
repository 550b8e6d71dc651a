import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../words/words.ts";
import { asTyped, ownCommand, programAsTyped } from "./own-command.ts";

test("our command is written as it must be typed: in a clone, beside it, linked and installed [P2]", () => {
  const own = { programDir: "/my/yard", isClone: true, script: "/my/yard/bin/agentyard.mjs" };
  assert.equal(programAsTyped({ ...own, cwd: "/my/yard" }), "npx agentyard");
  assert.equal(programAsTyped({ ...own, cwd: "/my/yard/docs" }), "npx agentyard");
  assert.equal(programAsTyped({ ...own, cwd: "/my/yard-2" }), "node /my/yard/bin/agentyard.mjs");
  assert.equal(programAsTyped({ ...own, cwd: "/", script: "/usr/local/bin/agentyard" }), "agentyard");
  const installed = { cwd: "/my", programDir: "/my/node_modules/agentyard", isClone: false };
  assert.equal(programAsTyped({ ...installed, script: "/my/node_modules/.bin/agentyard" }), "npx agentyard");
  assert.equal(programAsTyped({ ...installed, script: "/my/node_modules/agentyard/bin/agentyard.mjs" }), "agentyard");
});

test("suggested commands name the data that was typed, and nothing else is taken for one [P2]", () => {
  const command = ownCommand({ program: "npx agentyard", data: "/my $1 data" });
  const words = { ...wordsFor("en"), command };
  assert.equal(asTyped(words, "`agentyard user list`"), "`npx agentyard --data '/my $1 data' user list`");
  assert.equal(asTyped(words, "`agentyard`, then /inbox"), "`npx agentyard --data '/my $1 data'`, then /inbox");
  assert.equal(asTyped(words, "`agentyard --help`"), "`npx agentyard --data '/my $1 data' --help`");
  for (const text of ["npx agentyard user list", "agentyard.yaml", "/bin/agentyard user", "agentyard is served"])
    assert.equal(asTyped(words, text), text);
});
