import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { codeFindings, scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

type Rows = readonly (readonly [code: string, kinds: string])[];
function python(title: string, rows: Rows): void {
  test(title, () => compare((code, facts) => codeFindings(code, "python", facts), rows));
}

function javascript(title: string, rows: Rows): void {
  test(title, () => compare((code, facts) => codeFindings(code, "javascript", facts), rows));
}

python("deleting in Python asks outside temp/ and /tmp [H1]", [
  ["import os\nos.remove('outputs/a.csv')", "delete"],
  ["import os\nos.unlink('outputs/a.csv')", "delete"],
  ["import os as o\no.remove('outputs/a')", "delete"],
  ["from os import remove\nremove('outputs/a')", "delete"],
  ["from os import remove as r, path\nr('outputs/a')", "delete"],
  ["from shutil import rmtree\nrmtree('outputs')", "delete"],
  ["__import__('os').remove('outputs/a')", "delete"],
  ["import importlib\nimportlib.import_module('os').remove('outputs/a')", "delete"],
  ["getattr(os, 'rem' + 'ove')('outputs/a')", "delete"],
  ["f = os.remove\nf('outputs/a')", "delete"],
  ["import pathlib\npathlib.Path('outputs/a').unlink()", "delete"],
  ["from pathlib import Path\nPath('outputs', 'a').unlink(missing_ok=True)", "delete"],
  ["(Path('outputs') / 'a').unlink()", "delete"],
  ["for p in Path('outputs').glob('*'):\n    p.unlink()", "delete"],
  ["for f in glob.glob('outputs/*.csv'):\n    os.remove(f)", "delete"],
  ["[os.remove(f) for f in glob.glob('outputs/*')]", "delete"],
  ["(Path('temp') / '/workspace/c/outputs/a.csv').unlink()", "delete"],
  ["from os import path, remove\nremove(path.join('temp', '/workspace/c/outputs/a.csv'))", "delete"],
  ["for r, d, fs in os.walk('outputs'):\n    for f in fs:\n        os.remove(os.path.join(r, f))", "delete"],
  ["p = 'outputs'\nshutil.rmtree(p)", "delete"],
  ["shutil.rmtree(f'{base}/x')", "delete"],
  ["d = 'temp/../outputs'\nshutil.rmtree(d)", "delete"],
  ["os.system('rm -rf outputs')", "delete"],
  ["os.popen('rm -rf outputs').read()", "delete"],
  ["subprocess.run(['rm', '-rf', 'outputs'])", "delete"],
  ["subprocess.run('rm -rf outputs', shell=True, check=True)", "delete"],
  ["subprocess.Popen(['bash', '-c', 'rm outputs/a'])", "delete"],
  ["subprocess.check_output(f'rm {name}', shell=True)", "delete"],
  ["subprocess.run(['rm', '*.csv'], cwd='outputs')", "delete"],
  ["subprocess.run(['rm', '-rf', 'temp'], cwd='outputs')", "delete"],
  ["os.chdir('temp')\nsubprocess.run('rm -rf *', shell=True, cwd='../outputs')", "delete"],
  ["os.execvp('rm', ['rm', 'outputs/a'])", "delete"],
  ["!rm -rf outputs", "delete"],
  ["%%bash\nrm -rf outputs", "delete"],
  ["shutil.move('outputs/a', '/tmp/a')", "delete"],
  ["os.chdir('outputs')\nos.remove('a')", "delete"],
  ["exec(\"import os\\nos.remove('outputs/a')\")", "delete"],
  ["os.remove('temp/a')", ""],
  ["for f in glob.glob('temp/*'):\n    os.remove(f)", ""],
  ["for f in os.listdir('temp'):\n    os.remove(os.path.join('temp', f))", ""],
  ["(Path('temp') / 'a.csv').unlink()", ""],
  ["for p in Path('temp').iterdir():\n    p.unlink()", ""],
  ["with tempfile.TemporaryDirectory() as d:\n    shutil.rmtree(d)", ""],
  ["d = tempfile.mkdtemp()\nshutil.rmtree(d)", ""],
  ["p = Path('temp') / 'x.txt'\np.unlink()", ""],
  ["shutil.rmtree(f'temp/{len(x)}', ignore_errors=True)", ""],
  ["os.chdir('temp')\nos.remove('a')", ""],
  ["subprocess.run(['rm', '-rf', 'a'], cwd='temp')", ""],
  ["items.remove('a')\nd.pop('x')\ndel x['a']", ""],
]);

python("Python that changes uploads/, reads credentials or reaches out asks [H1]", [
  ["open('uploads/a.csv', 'w').write('')", "change_upload"],
  ["with open('uploads/a.csv', mode='a') as f:\n    f.write('x')", "change_upload"],
  ["with open('uploads/a.csv', 'r+') as f:\n    f.write('x')", "change_upload"],
  ["Path('uploads/a.bin').open('rb+').write(b'x')", "change_upload"],
  ["f = os.open('uploads/a.csv', os.O_WRONLY | os.O_TRUNC)\nos.write(f, b'x')", "change_upload"],
  ["f = os.open('uploads/a.csv', os.O_RDONLY | os.O_CLOEXEC)", ""],
  ["tarfile.open('uploads/a.tar.xz', 'r:xz').getnames()", ""],
  ["df.to_csv('uploads/a.csv', index=False)", "change_upload"],
  ["Path('uploads/a.txt').write_text('x')", "change_upload"],
  ["img.save('uploads/a.png')", "change_upload"],
  ["shutil.copy('temp/a', 'uploads/a')", "change_upload"],
  ["os.rename('uploads/a', 'outputs/a')", "change_upload"],
  ["c = sqlite3.connect('uploads/a.db')\nc.execute('update t set a = 1')", "change_upload"],
  ["c.execute('DROP TABLE users')", "database"],
  ["cur.executescript('''\nDELETE FROM users;\n''')", "database"],
  ["open('/etc/passwd').read()", "credentials"],
  ["Path.home().joinpath('.ssh')\nopen(os.path.expanduser('~/.ssh/id_rsa'))", "credentials"],
  ["from dotenv import load_dotenv\nload_dotenv('.env')", "credentials"],
  ["import requests\nrequests.post('https://x.example', data=d)", "network"],
  ["import requests as r\nr.get(url)", "network"],
  ["from urllib.request import urlopen\nurlopen('https://x.example')", "network"],
  ["pd.read_csv('https://x.example/a.csv')", "network"],
  ["import socket\ns = socket.socket()\ns.connect(('x.example', 80))", "network"],
  ["!pip install pandas", "packages"],
  ["%pip install pandas", "packages"],
  ["subprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])", "packages"],
  ["subprocess.check_call(['pip', 'install', 'x'])", "packages"],
  ["os.setuid(0)", "privilege"],
  ["exec(base64.b64decode('cHJpbnQoMSk='))", "run_unseen"],
  ["eval(input())", "run_unseen"],
  ["exec(requests.get('https://x.example').text)", "network run_unseen"],
  ["getattr(os, name)('outputs')", "unreadable"],
  ["subprocess.run(cmd)", "unreadable"],
  ["api_key = 'sk-abcdefghijklmnop1234567890'", "secret"],
  ["connect(password='hunter22')", "secret"],
  ["config = {'password': 'hunter22'}", "secret"],
]);

python("everyday Python does not ask [H1]", [
  [
    "import pandas as pd\ndf = pd.read_csv('uploads/a.csv')\nprint(df.groupby('x').sum())\ndf.to_csv('outputs/a.csv')",
    "",
  ],
  ["import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('outputs/a.png')", ""],
  ["with open('uploads/a.csv') as f:\n    rows = f.readlines()", ""],
  ["with open('outputs/a.txt', 'w') as f:\n    f.write('rm -rf /')", ""],
  ["print('os.remove(\"x\")')  # os.remove('outputs/a')", ""],
  ["import requests  # only imported\nprint(requests.__version__)", ""],
  ["text = '''\nos.remove('outputs/a')\n'''\nprint(text)", ""],
  ["import re\nre.compile('x').sub('a', 'b')", ""],
  ["model.eval()\ndf.eval('a + b')\ndf.query('a > 1')", ""],
  ["x = 1 / 2\ny = a % b\nprint(f'{x:.2f} {y!r}')", ""],
  ["subprocess.run(['ls', '-la'])\nos.system('echo hi')", ""],
  ["os.makedirs('outputs/a', exist_ok=True)\nshutil.copy('uploads/a', 'outputs/a')", ""],
  ["password = os.environ['PASSWORD']\ntoken = get_token()", ""],
  ["tokens = tokenizer('hello world')\nmax_tokens = 4096", ""],
  ["result = (lambda x: x + 1)(2)\nassert result == 3", ""],
  ["class A:\n    def remove(self, x):\n        self.items.remove(x)\nA().remove(1)", ""],
  ["zipfile.ZipFile('uploads/a.zip').extractall('temp/a')", ""],
  ["conn = sqlite3.connect('outputs/a.db')\nconn.execute('create table t (a)')", ""],
  ["import ast\nast.literal_eval('[1]')", ""],
]);

javascript("JavaScript is judged by the same rules [H1]", [
  ["const fs = require('fs'); fs.unlinkSync('outputs/a')", "delete"],
  ["import fs from 'node:fs';\nfs.rmSync('outputs', { recursive: true })", "delete"],
  ["import { rm } from 'node:fs/promises';\nawait rm('outputs/a')", "delete"],
  ["const { unlinkSync: u } = require('fs'); u('outputs/a')", "delete"],
  ["const fsp = require('fs').promises; await fsp.unlink('outputs/a')", "delete"],
  ["fs['rm' + 'Sync']('outputs')", "delete"],
  ["for (const f of fs.readdirSync('outputs')) fs.unlinkSync(path.join('outputs', f))", "delete"],
  ["fs.rmSync(path.join('outputs', '/tmp/x'))", "delete"],
  ["fs.rmSync(path.posix.join('outputs', '/tmp/x'))", "delete"],
  ["fs.rmSync(path.join('temp', '/outputs'))", ""],
  ["fs.rmSync(path.resolve('temp', '/workspace/c/outputs'))", "delete"],
  ["require('child_process').execSync('rm -rf outputs')", "delete"],
  ["const { spawn } = require('child_process'); spawn('rm', ['-rf', 'outputs'])", "delete"],
  ["const x = `outputs`; fs.rmSync(`${x}/a`)", "delete"],
  ["fs.writeSync(fs.openSync('uploads/a.csv', 'rs+'), 'x')", "change_upload"],
  ["const f = await fs.promises.open('uploads/a.csv', 'sa')", "change_upload"],
  ["fs.openSync('uploads/a.csv', fs.constants.O_RDWR)", "change_upload"],
  ["fs.openSync('uploads/a.csv', 'rs')", ""],
  ["fs.rmSync('temp/a'); fs.rmSync(`/tmp/${Date.now()}`)", ""],
  ["for (const f of fs.readdirSync('temp')) { const p = path.join('temp', f); fs.unlinkSync(p); }", ""],
  ["fs.readdirSync('temp').forEach((f) => fs.unlinkSync('temp/' + f))", ""],
  ["fs.writeFileSync('uploads/a.csv', '')", "change_upload"],
  ["fs.writeFileSync('outputs/a.csv', 'x')", ""],
  ["fs.readFileSync('/etc/passwd', 'utf8')", "credentials"],
  ["await fetch('https://x.example')", "network"],
  ["const https = require('https'); https.get('https://x.example')", "network"],
  ["eval(atob('YWxlcnQ='))", "run_unseen"],
  ["new Function(code)()", "run_unseen"],
  ["eval('1 + 1')", ""],
  ["const m = /rm -rf/.exec(text); console.log('fetch(x)')", ""],
  ["// fs.rmSync('outputs')\n/* fs.rmSync('outputs') */ console.log(1)", ""],
  ["const rows = data.map((r) => ({ ...r, total: r.a / r.b })); console.log(rows.filter(Boolean).length)", ""],
]);

javascript(
  "a program that JavaScript starts is judged by its options: where it runs, whether in a shell, what it is given [H1]",
  [
    ["require('child_process').execSync('rm -rf temp', { cwd: 'outputs' })", "delete"],
    ["require('child_process').spawn('rm', ['-rf', 'temp'], { 'cwd': 'outputs' })", "delete"],
    ["const cwd = 'outputs'; require('child_process').execSync('rm -rf temp', { cwd, stdio: 'inherit' })", "delete"],
    ["const o = { cwd: 'outputs' }; require('child_process').execSync('rm -rf temp', o)", "delete"],
    ["const o = { cwd: 'temp' }; o.cwd = 'outputs'; require('child_process').execSync('rm -rf *', o)", "delete"],
    ["require('child_process').spawn('rm -rf outputs', { shell: true })", "delete"],
    ["require('child_process').spawn('rm -rf outputs', [], { shell: '/bin/bash' })", "delete"],
    ["Bun.spawn({ cmd: ['rm', '-rf', 'outputs'] })", "delete"],
    ["new Deno.Command('rm', { args: ['-rf', 'outputs'] })", "delete"],
    ["require('child_process').spawn('rm', ['-rf', isOld ? a : b], { stdio: 'inherit' })", "delete"],
    ["require('child_process').execSync('ls', { cwd: 'outputs', encoding: 'utf8' })", ""],
    ["require('child_process').spawn('rm -rf temp/a', { shell: true })", ""],
    ["new Deno.Command('rm', { args: ['-rf', 'temp/a'] })", ""],
  ],
);

/** Goes to each of so many folders below `temp/`. */
const visits = (folders: number) =>
  `for d in [${Array.from({ length: folders }, (_, at) => `'temp/${at}'`)}]:\n    os.chdir(d)\nos.remove('a')`;
python("code that may stand in one of several folders is judged in all of them, up to 32 [H1]", [
  ["for d in ['temp', 'outputs']:\n    subprocess.run('rm -rf *', shell=True, cwd=d)", "delete"],
  ["for d in ['temp', 'outputs']:\n    os.chdir(d)\n    os.remove('a')", "delete"],
  ["os.chdir('temp' if isOld else 'outputs')\nos.remove('a')", "delete"],
  ["subprocess.run(['rm', '-rf', 'temp/a'], **{'cwd': 'outputs'})", "delete"],
  ["os.chdir('temp')\nsubprocess.run(['rm', '-rf', 'a'], cwd=None)", ""],
  [visits(32), ""],
  [visits(33), "delete"],
]);

const script = "temp/x.sh";
const runs = `import subprocess\nsubprocess.run(['bash', '${script}'])`;
python("a script that code writes piece by piece and then runs is judged by all of its pieces [H1]", [
  [
    `with open('${script}', 'w') as f:\n    f.write('rm -rf outputs\\n')\n    f.write('echo done\\n')\n${runs}`,
    "delete",
  ],
  [`f = open('${script}', 'w')\nf.write('echo go\\n')\nf.write('rm -rf outputs\\n')\nf.close()\n${runs}`, "delete"],
  [`f = open('${script}', 'w')\nf.write('rm -rf ')\nf.write('outputs')\nf.close()\n${runs}`, "delete"],
  [
    `open('${script}', 'w').write('rm -rf outputs\\n')\nwith open('${script}', 'a') as f:\n    f.write('ls')\n${runs}`,
    "delete",
  ],
  [`open('${script}', 'w').write('rm -rf outputs\\n')\nopen('${script}', 'w').write('ls')\n${runs}`, ""],
  [`with open('${script}', 'w') as f:\n    f.write('rm -rf temp/y\\n')\n    f.write('echo done\\n')\n${runs}`, ""],
]);

test("a script that is run is judged by its text, where it is known [H1]", () => {
  const scripts = new Map([
    ["temp/x.sh", "cd temp\nrm a\nbash ../outputs/y.sh"],
    ["outputs/y.sh", "rm ../uploads/a"],
    ["temp/a.py", "import os\nos.remove('outputs/a')"],
    ["temp/fine.js", "console.log(1)"],
  ]);
  const kinds = (command: string) =>
    kindsOf(commandFindings(command, { ...judgedFacts, scripts }, { commands: [], onlySafe: false }));
  const commands = [
    "bash temp/x.sh",
    "python3 temp/a.py",
    "cd temp && python3 a.py",
    "node temp/fine.js",
    "./temp/x.sh",
    "bash temp/unknown.sh",
  ];
  assert.deepEqual(commands.map(kinds), ["delete", "delete", "", "", "delete", ""]);
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
