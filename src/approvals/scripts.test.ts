import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { unreadScript } from "./approvals.ts";
import { codeFindings, scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const python = (code: string, scripts: Record<string, string> = {}) =>
  kindsOf(codeFindings(code, "python", { ...judgedFacts, scripts: new Map(Object.entries(scripts)) }));

const shell = (command: string, scripts: Record<string, string> = {}) =>
  kindsOf(commandFindings(command, { ...judgedFacts, scripts: new Map(Object.entries(scripts)) }, nothingListed));

const scriptsOfCode = (code: string) => scriptsOf({ tool: "execute_code", arguments: { code } });

const scriptsOfShell = (command: string) => scriptsOf({ tool: "run_bash_command", arguments: { command } });

test("a script is judged by its text, however it comes to run [H1]", () => {
  const text = "rm -rf outputs";
  const code = "import shutil\nshutil.rmtree('outputs')";
  const rows: [string, string, string][] = [
    ["bash < x.txt", "x.txt", text],
    ["bash -s < x.txt", "x.txt", text],
    ["cat x.txt | bash", "x.txt", text],
    ["cd temp && cat x.txt | sh", "temp/x.txt", "rm -rf ../outputs"],
    ["cat a.txt x.txt | bash", "x.txt", text],
    ["BASH_ENV=x.txt bash -c ls", "x.txt", text],
    ["python3 < x.txt", "x.txt", code],
    ["cat x.txt | python3", "x.txt", code],
    ["python3 -m cleanup", "cleanup.py", code],
    ["python3 -m cleanup", "cleanup/__main__.py", code],
    ["python3 -c 'import cleanup'", "cleanup.py", code],
    ["cd temp && python3 -c 'import a.b'", "temp/a/b.py", "import os\nos.remove('../outputs/a')"],
    ["python3 temp/a.py", "temp/a.py", code],
    ["node -e \"require('./x')\"", "x.js", "require('fs').rmSync('outputs')"],
    ["node -e \"import('./x.mjs')\"", "x.mjs", "require('fs').rmSync('outputs')"],
    ["echo ls >> x.sh; bash x.sh", "x.sh", `${text}\n`],
  ];
  assert.deepEqual(
    rows.map(([command, path]) => [command, scriptsOfShell(command).includes(path)]),
    rows.map(([command]) => [command, true]),
  );
  assert.deepEqual(
    rows.map(([command, path, held]) => [command, shell(command, { "a.txt": "ls\n", [path]: held })]),
    rows.map(([command]) => [command, "delete"]),
  );
  // A file that is not there runs nothing.
  assert.deepEqual([rows.map(([command]) => [command, shell(command)])], [rows.map(([command]) => [command, ""])]);
});

test("a program that runs a file of the workspace is judged with it [H1]", () => {
  const code = "import shutil\nshutil.rmtree('outputs')";
  const rows: [string, string][] = [
    ["import cleanup", "cleanup.py"],
    ["import numpy as np, cleanup as c", "cleanup.py"],
    ["import cleanup", "cleanup/__init__.py"],
    ["from tools import cleanup", "tools/cleanup.py"],
    ["from tools.cleanup import all", "tools/cleanup.py"],
    ["import random", "random.py"],
    ["exec(open('x.txt').read())", "x.txt"],
    ["with open('x.txt') as f:\n    exec(f.read())", "x.txt"],
    ["from pathlib import Path\nexec(Path('x.txt').read_text())", "x.txt"],
    ["import runpy\nrunpy.run_path('x.txt')", "x.txt"],
    ["import runpy\nrunpy.run_module('cleanup')", "cleanup.py"],
    ["import importlib\nimportlib.import_module('cleanup')", "cleanup.py"],
    ["__import__('cleanup')", "cleanup.py"],
    ["import sys\nsys.path.insert(0, 'temp/lib')\nimport cleanup", "temp/lib/cleanup.py"],
  ];
  assert.deepEqual(
    rows.map(([text, path]) => [text, scriptsOfCode(text).includes(path), python(text, { [path]: code })]),
    rows.map(([text]) => [text, true, "delete"]),
  );
  assert.deepEqual([rows.map(([text]) => [text, python(text)])], [rows.map(([text]) => [text, ""])]);
  // Two modules that import each other are read once.
  assert.equal(python("import a", { "a.py": "import b", "b.py": "import a" }), "");
});

test("a script that nobody could read asks, and one that this command wrote is known [H1]", () => {
  const unread = { "x.sh": unreadScript, "x.txt": unreadScript, "x.py": unreadScript };
  assert.deepEqual(
    ["bash x.sh", "./x.sh", "bash < x.txt", "cat x.txt | sh", "source x.sh", "python3 -m x", "cat x.txt"].map((one) =>
      shell(one, unread),
    ),
    ["run_unseen", "run_unseen", "run_unseen", "run_unseen", "run_unseen", "run_unseen", ""],
  );
  assert.deepEqual(
    ["import x", "exec(open('x.txt').read())", "open('x.txt').read()"].map((one) => python(one, unread)),
    ["run_unseen", "run_unseen", ""],
  );
  assert.equal(python("open('/tmp/a.sh', 'w').write('ls')\nos.system('bash /tmp/a.sh')"), "");
  assert.equal(
    python("with open('/tmp/a.sh', 'w') as f:\n    f.write('rm -rf outputs')\nos.system('sh /tmp/a.sh')"),
    "delete",
  );
  assert.equal(python("Path('temp/a.sh').write_text(data)\nos.system('sh temp/a.sh')"), "run_unseen");
});

test("the scripts that a call runs are named from the root of the files [H1]", () => {
  const scripts = (command: string) => scriptsOf({ tool: "run_bash_command", arguments: { command } });
  assert.deepEqual(scripts("bash temp/x.sh; cd outputs && python a.py; source ../b; ./c; node /opt/x.js < d.csv"), [
    "temp/x.sh",
    "outputs/a.py",
    "b",
    "outputs/c",
    "/opt/x.js",
  ]);
  // Where the first one fails, nobody goes anywhere.
  assert.deepEqual(scripts("bash temp/x.sh && cd outputs; ./c"), ["temp/x.sh", "outputs/c", "c"]);
  assert.deepEqual(scripts("ls; cat a.txt; echo 'bash x.sh'; python3 -c 'print(1)'"), []);
  const known = { root: "/workspace/w1", scripts: new Map([["a.sh", "bash b.sh"]]) };
  const command = "bash /workspace/w1/a.sh";
  assert.deepEqual(scriptsOf({ tool: "run_bash_command", arguments: { command } }, known), ["b.sh"]);
  const code = { code: "import os\nos.system('bash temp/x.sh')", language: "python" };
  // A file of the name of a module hides it.
  assert.deepEqual(scriptsOf({ tool: "execute_code", arguments: code }), ["os.py", "temp/x.sh"]);
});
