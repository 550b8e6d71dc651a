import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { codeFindings, scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

type Language = "python" | "javascript";
const nothingListed = { commands: [], onlySafe: false };
const facts = (texts: Readonly<Record<string, string>>) => ({
  ...judgedFacts,
  scripts: new Map(Object.entries(texts)),
});
const ofCode = (code: string, language: Language = "python") =>
  scriptsOf({ tool: "execute_code", arguments: { code, language } });
const ofCommand = (command: string) => scriptsOf({ tool: "run_bash_command", arguments: { command } });

test("modules are looked for by names of 200 characters at the most, from where they are named [H1]", () => {
  const long = "a".repeat(200);
  assert.deepEqual([ofCode(`import ${long}`), ofCode(`import ${long}a`)], [[`${long}.py`, `${long}/__init__.py`], []]);
  assert.deepEqual(ofCode("__import__('a/b')"), []);
  assert.equal(ofCode("from .own import x").includes("own.py"), true);
  assert.equal(ofCommand("python3 -m pkg.sub").includes("pkg/sub/__main__.py"), true);
  assert.deepEqual(ofCode("require('lodash/fp')", "javascript"), []);
  assert.deepEqual(ofCode("require('file:///workspace/any/x.js')", "javascript").slice(0, 1), ["x.js"]);
  assert.equal(ofCommand("PYTHONPATH=lib python3 -c 'import own'").includes("lib/own.py"), true);
  assert.deepEqual(
    ["a/own.py", "b/own.py", "/own.py"].map((path) =>
      ofCommand("PYTHONPATH=a::b python3 -c 'import own'").includes(path),
    ),
    [true, true, false],
  );
});

test("a module is read in its own language, with those that lie beside it [H1]", () => {
  const rows: [code: string, language: Language, texts: Record<string, string>, kinds: string][] = [
    ["import own", "python", { "own.py": "rmtree('outputs')" }, "delete"],
    ["import runpy\nrunpy.run_path('x.py')", "python", { "x.py": "rmtree('outputs')" }, "delete"],
    ["import pkg", "python", { "pkg/__init__.py": "import b", "pkg/b.py": "rmtree('outputs')" }, "delete"],
    ["require('./x')", "javascript", { "x.js": "['temp/a'].forEach((f) => fs.rmSync(f))" }, ""],
    ["require('./x')", "javascript", { "x.js": "['outputs/a'].forEach((f) => fs.rmSync(f))" }, "delete"],
  ];
  assert.deepEqual(
    rows.map(([code, language, texts]) => [code, language, texts, kindsOf(codeFindings(code, language, facts(texts)))]),
    rows,
  );
  const main = { "pkg/__main__.py": "rmtree('outputs')" };
  assert.equal(kindsOf(commandFindings("python3 -m pkg", facts(main), nothingListed)), "delete");
});

test("where nobody can look, only what this command wrote is a module [H1]", () => {
  compare(commandFindings, [
    ["cd /tmp && python3 -c 'import json'", ""],
    ["cd /tmp; echo \"import os; os.remove('/workspace/w1/outputs/a')\" > own.py; python3 -c 'import own'", "delete"],
    ["python3 -c \"import os; os.chdir('temp')\"; rm a", "delete"],
  ]);
});

const script = "'temp/x.sh'";
const runs = "\nimport subprocess\nsubprocess.run(['bash', 'temp/x.sh'])";
const runsInNode = "; require('child_process').execSync('bash temp/x.sh')";

test("what is written over is gone, and what is written behind stays [H1]", () => {
  const opened = `f = open(${script}, 'w')\n`;
  const twice = `open(${script}, 'w').write('rm outputs/a\\n')\nopen(${script}, '%').write('ls')`;
  compare(
    (code, judged) => codeFindings(code + runs, "python", judged),
    [
      ...rowsOf("delete", twice, "a ba ta ab"),
      ...rowsOf("", twice, "w bw bx"),
      [`Path(${script}).write_text('rm outputs/a')\nPath(${script}).write_text('ls')`, ""],
      [`${opened}f.write('rm outputs/a\\n')\nf.writelines(['ls'])`, "delete"],
      [`${opened}print('rm', 'outputs/a', sep='; ', file=f)`, ""],
      [`${opened}print('rm', 'outputs/a', file=f)`, "delete"],
      [`${opened}print('rm', end=' outputs/a', file=f)`, "delete"],
      [`${opened}print('ls', file=f)\nprint('rm outputs/a', file=f)`, "delete"],
    ],
  );
  const first = `fs.writeFileSync(${script}, 'rm outputs/a\\n'); `;
  compare(
    (code, judged) => codeFindings(first + code + runsInNode, "javascript", judged),
    [
      [`fs.appendFileSync(${script}, 'ls')`, "delete"],
      ...rowsOf("delete", `fs.writeFileSync(${script}, 'ls', { flag: '%' })`, "a as ax a+"),
      ...rowsOf("", `fs.writeFileSync(${script}, 'ls', { flag: '%' })`, "w wx"),
      [`fs.writeFileSync(${script}, 'ls')`, ""],
    ],
  );
});

test("code of other languages is read statement by statement, with its own quotes [H1]", () => {
  const judge = (code: string, judged: typeof judgedFacts) =>
    codeFindings(`import subprocess\nsubprocess.run(['perl', '-e', ${JSON.stringify(code)}])`, "python", judged);
  compare(judge, [
    ...linesOf(
      "delete",
      `rm('outputs/a')
       unlink qw(outputs/a)
       unlink(<outputs/*>)
       system("ls"); system("rm outputs/a")
       unlink("outputs/it\\"s")`,
    ),
    ...linesOf(
      "",
      `unlink(<temp/*>)
       unlink ( <temp/*> )
       unlink("temp/a"); print("it is done")
       unlink("temp/a", "")
       print unpack("a", $x)
       write("outputs/a", 1); print("uploads/b")
       write("outputs/a", read.csv("uploads/a"))
       File.write("outputs/a", File.read('uploads/a'))
       write('outputs/a', readLines('uploads/a'))`,
    ),
    ['write("outputs/a", 1)\nprint("uploads/b")', ""],
    ["get('https://x.example')", "network"],
    ['print("~/.aws/credentials")', "credentials"],
    ...rowsOf("change_upload", 'fopen("uploads/a", "%")', "w a x wb at w+ w+b rb+ rt+ r+"),
    ...rowsOf("", 'fopen("uploads/a", "%")', "r rb rt"),
    ['open(F, ">>", "uploads/a")', "change_upload"],
  ]);
});
