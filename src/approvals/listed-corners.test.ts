import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, linesOf } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";
import { commandFindings } from "./commands.ts";
import { secretIn } from "./secrets.ts";

const safe = { commands: [], onlySafe: false };
const risksOf = (commands: readonly string[]) =>
  commands.map((command) =>
    commandFindings(command, judgedFacts, safe)
      .map(({ kind, risk }) => `${kind} ${risk}`)
      .join(),
  );

test("what one command prints is what the next one gets, neither more nor less [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "delete",
      `echo 'rm outputs/a' | cat - | sh
       echo outputs/a > temp/l; echo temp/b > temp/m; cat temp/l temp/m | xargs rm
       a=(temp/x outputs/y); rm "\${a[1]}"
       nice rm -v outputs/a
       parallel rm ::: outputs/a
       { sh; } <<< 'rm outputs/a'
       for x in temp outputs; do (cd "$x" && rm a); done
       if [ -e x ]; then x=temp; else x=outputs; fi; cd $x; rm a
       echo 'rm outputs/a' 1> temp/x; sh temp/x
       echo 'rm outputs/a' > temp/s.sh; cp temp/s.sh outputs; sh outputs/s.sh
       echo "import os; os.remove('outputs/a')" | python3 -
       echo 'rm outputs/a' > 1; sh 1`,
    ),
    ...linesOf(
      "",
      `echo 'ls\\nrm outputs/a' | bash
       echo 'temp/a outputs/b' | { read x; rm "$x"; }
       a=(outputs/x temp/y); rm "\${a[1]}"
       nice rm -v temp/a
       parallel rm ::: temp/a
       while read f; do rm "$f"; done <<< temp/a
       for x in temp temp/b; do (cd "$x" && rm a); done
       echo 'temp/a outputs/b' | { read -p prompt x; rm "$x"; }
       7z a -sdel temp/a.7z temp/x
       f=$(mktemp --suffix .x); rm "$f"`,
    ),
  ]);
});

test("code is followed into its templates, and a name that is taken out of a module beside others is known [H1]", () => {
  compare(
    (code, facts) => codeFindings(code, "javascript", facts),
    [
      ["`${f({ a: 1 }, fs.rmSync('outputs/a'))}`", "delete"],
      ["`${f({ a: 1 }, fs.rmSync('temp/a'))}`", ""],
      ["const { rm, x } = require('fs')\nrm(y)", "delete"],
      ["rm(y)", ""],
      ["const d = fs.mkdtempSync('outputs/x')\nfs.rmSync(d, { recursive: true })", "delete"],
      ["const d = fs.mkdtempSync('temp/x')\nfs.rmSync(d, { recursive: true })", ""],
    ],
  );
  compare(
    (code, facts) => codeFindings(code, "python", facts),
    [
      ["o.unlink('temp/a')", ""],
      ["o.rmdir('outputs/a')", "delete"],
      ["from pathlib import Path\nf = Path('temp/a').unlink", ""],
      ["from pathlib import Path\nf = Path('outputs/a').unlink", "delete"],
      ["f = path_of_a_file.unlink", "delete"],
      ["o.system('rm outputs/a')", "delete"],
      ["o.system(y)", ""],
      ["import runpy\nrunpy.run_path('/tmp/x.py')", "run_unseen"],
    ],
  );
});

test("scripts that run scripts are read eleven deep, and one more is not read any more [H1]", () => {
  const kindsAt = (deep: number) => {
    const scripts = Array.from({ length: deep }, (_, at): [string, string] => [
      `temp/${at}.sh`,
      `sh temp/${at + 1}.sh`,
    ]);
    const facts = { ...judgedFacts, scripts: new Map([...scripts, [`temp/${deep}.sh`, "rm outputs/a"]]) };
    return commandFindings("sh temp/0.sh", facts, safe).map(({ kind, what }) => `${kind} ${what}`);
  };
  assert.deepEqual([kindsAt(10), kindsAt(11)], [["delete rm outputs/a"], ["unreadable sh temp/11.sh"]]);
});

test("of a program that is too deep to be read, or imports what it does not use, that line is told [H1]", () => {
  const deep = `y = ${"(".repeat(70)}1${")".repeat(70)}`;
  assert.deepEqual(codeFindings(`x = 1\n${deep}\nz = 2`, "python", judgedFacts), [
    { kind: "unreadable", action: "ask", risk: "high", layer: "default", what: deep },
  ]);
  const [imported] = codeFindings("x = 1\nfrom shutil import rmtree\nz = 2", "python", judgedFacts);
  assert.equal(imported?.what, "from shutil import rmtree");
});

test("a folder that goes into an archive is as much as the folder, and a line to another machine is a network [H1]", () => {
  assert.deepEqual(
    risksOf([
      "tar cf temp/a.tar --remove-files outputs/x",
      "zip -m temp/a.zip outputs/x",
      "7z a -sdel temp/a.7z outputs/x",
      "zip -d outputs/a.zip x",
      "openssl s_client -connect a.example:443",
      "perl -MLWP::Simple -e 'getprint(\"http://a.example\")'",
    ]),
    ["delete high", "delete high", "delete high", "delete medium", "network medium", "network medium"],
  );
});

test("of a long name that promises a secret the first forty characters are told [H1][Q1]", () => {
  const name = `${"ab_".repeat(6).padStart(40, "c")}password`;
  assert.equal(secretIn(`${name}=hunter22`), `${name.slice(0, 40)}=…`);
  assert.equal(secretIn("password=hunter22"), "password=…");
});
