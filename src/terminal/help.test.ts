import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { openTestPipe } from "../../test/world/pty.ts";
import { languages } from "../words/words.ts";
import { exitCodes } from "./exit-codes.ts";
import { optionsOf, subCommandNames } from "./sub-commands.ts";
import { beginCommand } from "./terminal.ts";

function begin(argv: readonly string[]) {
  const { streams, written } = openTestPipe("");
  const begun = beginCommand(argv, { ...streams, language: "en", version: "1.2.3", program: "npx agentyard" });
  return { begun, written };
}

for (const language of languages) {
  for (const name of subCommandNames) {
    test(`agentyard ${name} --help (${language}) names every option and ends with 0 [P2] [P4]`, () => {
      const { begun, written } = begin([name, "--help", "--lang", language]);
      assert.deepEqual(begun, { name: "ended", code: 0 });
      for (const option of optionsOf(name)) assert.ok(written.output.includes(`--${option}`));
      assert.equal(/[一-鿿]/.test(written.output), language === "zh");
    });
  }
}

test("the overview lists every command, and run its exit codes [P2]", () => {
  const overview = begin(["--help"]).written.output;
  for (const name of subCommandNames) assert.match(overview, new RegExp(`^ {2}${name} `, "m"));
  const codes = begin(["run", "--help"])
    .written.output.match(/^ +\d+(?= )/gm)
    ?.map(Number);
  assert.deepEqual(codes, Object.values(exitCodes));
});

test("the version is told, a wrong line ends with 2, and a script gets its object even then [P2]", () => {
  assert.equal(begin(["-v"]).written.output, "agentyard 1.2.3\n");
  const wrong = begin(["run", "--json", "--bogus"]);
  assert.deepEqual(wrong.begun, { name: "ended", code: 2 });
  assert.match(wrong.written.errors, /no option --bogus/);
  const object = JSON.parse(wrong.written.output);
  assert.deepEqual([object.conversation_id, object.finish, object.error.kind], [null, "failed", "usage"]);
  assert.deepEqual(object.exit, { code: 2, reason: "usage" });
  assert.equal(
    begin(["--lang", "zh", "rnu"]).written.errors,
    "✗ 没有命令 rnu（是不是想用 run？）。用 `npx agentyard --help` 查看可用的命令。\n",
  );
});

test("exec tells its own exit codes, and what is wrong about its line points to its own help [P2][P4]", () => {
  const help = begin(["exec", "--help"]).written.output;
  assert.match(help, /-f, --file PATH {2,}Run the code in this file\n/);
  for (const code of [2, 3, 124, 125, 130, 137, 128]) assert.match(help, new RegExp(`\\b${code}\\b`));
  assert.equal(
    begin(["exec", "--timeout", "0", "x"]).written.errors,
    "✗ --timeout cannot be “0”; use a number from 1 to 86400. `npx agentyard exec --help` shows what there is.\n",
  );
  assert.equal(
    begin(["--lang", "zh", "exec", "--timeout", "0", "x"]).written.errors,
    "✗ --timeout 不能是“0”，请使用 1 到 86400 之间的数字。用 `npx agentyard exec --help` 查看用法。\n",
  );
});

test("the completion scripts name every command, and bash can read its own [P2]", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { output } = begin(["completion", shell]).written;
    for (const name of subCommandNames) assert.ok(output.includes(name), `${shell}: ${name}`);
  }
  const script = begin(["completion", "bash"]).written.output;
  const tried = `${script}\nCOMP_WORDS=(agentyard run --st); COMP_CWORD=2; _agentyard; echo "\${COMPREPLY[@]}"`;
  assert.equal(execFileSync("bash", ["-c", tried], { encoding: "utf8" }), "--stream-json\n");
});
