import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { codeFindings, scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

/** Each line deletes below `temp/`, and with `outputs` in its place something that the user keeps. */
function both(title: string, language: "python" | "javascript", lines: string): void {
  const free = linesOf("", lines).map(([line]) => line.replaceAll("¶", "\n"));
  const kept = free.map((line): [string, string] => [line.replaceAll("temp", "outputs"), "delete"]);
  test(title, () =>
    compare(
      (code, facts) => codeFindings(code, language, facts),
      [...free.map((line): [string, string] => [line, ""]), ...kept],
    ),
  );
}

both(
  "a path is known in Python whatever it was made with [H1]",
  "python",
  `os.remove(os.path.join('temp', 'a'))
   os.remove(posixpath.join('temp', 'a'))
   os.remove(os.path.abspath('temp/a'))
   os.remove(os.path.normpath('temp/a'))
   os.remove(os.path.realpath('temp/a'))
   os.remove(os.path.expanduser('temp/a'))
   os.remove(os.path.expandvars('temp/a'))
   os.remove(os.fspath('temp/a'))
   os.remove(str('temp/a'))
   os.remove(bytes('temp/a'))
   os.remove(shlex.quote('temp/a'))
   os.remove(Path('temp/a'))
   os.remove(PurePath('temp/a'))
   os.remove(PosixPath('temp/a'))
   os.remove(pathlib.Path('temp', 'a'))
   os.remove(os.path.dirname('temp/a/b'))
   os.remove(Path('temp/a/b').parent)
   os.remove(Path('temp').joinpath('a'))
   os.remove(Path('temp/a').with_suffix('.x'))
   os.remove(Path('temp/a').with_name('x'))
   os.remove(Path('temp/a').with_stem('x'))
   os.remove('/'.join(['temp', 'a']))
   os.remove('temp/{}'.format('a'))
   os.remove('xxxx/a'.replace('xxxx', 'temp'))
   os.remove(Path('temp/a').resolve())
   os.remove(Path('temp/a').absolute())
   os.remove(Path('temp/a').as_posix())
   os.remove(Path('temp/a').expanduser())
   os.remove('temp/a'.strip())
   os.remove('temp/a'.lstrip())
   os.remove('temp/a'.rstrip())
   os.remove('temp/a'.lower())
   os.remove('temp/a'.encode())
   os.remove(os.getcwd() + '/temp/a')
   os.remove(Path.cwd() / 'temp/a')
   os.remove(Path.home() / 'temp/a')
   for p in glob.glob('temp/*'):¶    os.remove(p)
   for p in glob.iglob('temp/*'):¶    os.remove(p)
   for p in sorted(glob.glob('temp/*')):¶    os.remove(p)
   for p in list(glob.glob('temp/*')):¶    os.remove(p)
   for p in set(['temp/a']):¶    os.remove(p)
   for p in tuple(['temp/a']):¶    os.remove(p)
   for p in reversed(['temp/a']):¶    os.remove(p)
   for p in iter(['temp/a']):¶    os.remove(p)
   for p in Path('temp').glob('*'):¶    os.remove(p)
   for p in Path('temp').rglob('*'):¶    os.remove(p)
   for p in Path('temp').iterdir():¶    os.remove(p)
   for p in os.scandir('temp'):¶    os.remove(p)
   for e in os.scandir('temp'):¶    os.remove(e.path)
   for p in Path('temp').listdir():¶    os.remove(p)
   from os import (path, remove)¶remove('temp/a')
   x = """it's "so" """; os.remove('temp/a')
   os.remove('temp/a'.decode())
   for p in 'temp/a temp/b'.split():¶    os.remove(p)
   for i, p in enumerate(['temp/a']):¶    os.remove(p)
   for r, d, f in os.walk('temp'):¶    os.remove(r)
   for i in range(3):¶    os.remove(f'temp/{i}')
   [os.remove(f'temp/{i}') for i in range(3)]
   os.remove('temp' '/a')
   os.remove(Path() / 'temp/a')
   subprocess.run(['rm'] + ['temp/a'])
   with open('temp/x') as f, open('temp/y') as g:¶    os.remove('temp/a')
   os.remove(r'temp/a')
   os.remove(R"temp/a")
   os.remove(b'temp/a')
   os.remove(B'temp/a')
   os.remove(u'temp/a')
   os.remove(U'temp/a')
   os.remove(f'temp/a')
   os.remove(F'temp/a')
   os.remove(rb'temp/a')
   os.remove("""temp/a""")
   os.remove('''temp/a''')
   os.remove('temp\\x2fa')
   os.remove('temp\\u002fa')
   os.remove('temp\\57a')
   p: str = 'temp/a'¶os.remove(p)
   os.remove('temp/a' if x else 'temp/b')
   os.remove('temp/a' or 'temp/b')
   with open('temp/a') as f:¶    os.remove('temp/a')`,
);

both(
  "a path is known in JavaScript whatever it was made with [H1]",
  "javascript",
  `fs.unlinkSync(path.join('temp', 'a'))
   fs.unlinkSync(path.posix.join('temp', 'a'))
   fs.unlinkSync(path.resolve('temp', 'a'))
   fs.unlinkSync(path.normalize('temp/a'))
   fs.unlinkSync(fs.realpathSync('temp/a'))
   fs.unlinkSync(String('temp/a'))
   fs.unlinkSync(path.dirname('temp/a/b'))
   fs.unlinkSync('temp/'.concat('a'))
   fs.unlinkSync(['temp', 'a'].join('/'))
   fs.unlinkSync('temp/a'.trim())
   fs.unlinkSync('temp/a'.toString())
   fs.unlinkSync('temp/a'.normalize())
   fs.unlinkSync(fs.mkdtempSync('temp/x'))
   fs.unlinkSync(process.cwd() + '/temp/a')
   fs.unlinkSync(os.homedir() + '/temp/a')
   fs.unlinkSync(process.env.HOME + '/temp/a')
   fs.unlinkSync(process.env.PWD + '/temp/a')
   fs.unlinkSync(process.env.AGENT_WORKSPACE_PATH + '/temp/a')
   for (const p of glob.sync('temp/*')) fs.unlinkSync(p)
   for (const p of glob.globSync('temp/*')) fs.unlinkSync(p)
   for (const p of globSync('temp/*')) fs.unlinkSync(p)
   for (const p of glob('temp/*')) fs.unlinkSync(p)
   const { unlinkSync } = require('fs'); unlinkSync('temp/a')
   const { x, unlinkSync: u, y } = require('fs'); u('temp/a')
   require('child_process').spawn(process.execPath, ['-e', "require('fs').unlinkSync('temp/a')"])
   let { unlinkSync: u } = require('fs'); u('temp/a')
   var { unlinkSync: u } = require('fs'); u('temp/a')
   import * as f from 'fs'; f.unlinkSync('temp/a')
   import { type Stats, unlinkSync } from 'fs'; unlinkSync('temp/a')
   fs?.unlinkSync('temp/a')
   return /'/.test(x); fs.unlinkSync("temp/a")
   typeof /'/; fs.unlinkSync("temp/a")
   case /'/: fs.unlinkSync("temp/a")
   x in /'/; fs.unlinkSync("temp/a")
   x = /\\'/; fs.unlinkSync("temp/a")
   x = /[/']/; fs.unlinkSync("temp/a")
   x = /[\\]']/; fs.unlinkSync("temp/a")
   for (const p of ['temp/a'].filter(Boolean)) fs.unlinkSync(p)
   for (const p of ['temp/a'].sort()) fs.unlinkSync(p)
   fs.unlinkSync('temp\\u{2f}a')
   fs.unlinkSync('temp/a' || 'temp/b')
   fs.unlinkSync('temp/a' && 'temp/b')`,
);

test("what only makes a name or a number leads nowhere else, and what makes any text may [H1]", () => {
  compare(
    (code, facts) => codeFindings(code, "python", facts),
    [
      ...rowsOf(
        "",
        "os.remove(f'temp/{%}')",
        `len(x) int(x) float(x) round(x) time.time() id(x) hash(x) uuid.uuid4() os.path.basename(x) Path('a').name Path('a').stem
       Path('a').suffix`,
      ),
      ...rowsOf("delete", "os.remove(f'temp/{%}')", "x f(x) input() os.path.dirname(x) x.name"),
      ...rowsOf("", "os.remove(%)", "tempfile.mktemp() tempfile.gettempdir()+'/a' tempfile.mkdtemp()+'/a'"),
      ["for fd, p in tempfile.mkstemp():\n    os.remove(p)", ""],
      ["os.remove('temp/a' or 'outputs/b')", "delete"],
      ["os.remove('temp/a' if x else 'outputs/b')", "delete"],
      ["os.remove('temp/%s' % x)", "delete"],
      ["os.remove(tempfile.gettempdir() + 'x')", "delete"],
    ],
  );
  compare(
    (code, facts) => codeFindings(code, "javascript", facts),
    [
      ...rowsOf("", "fs.unlinkSync(`temp/${%}`)", "path.basename(x) 'a'.length Date.now()"),
      ...rowsOf("", "fs.unlinkSync(%)", "os.tmpdir()+'/a' process.env.TMPDIR+'/a'"),
      ["fs.unlinkSync(x || 'outputs/b')", "delete"],
      ["fs.unlinkSync(os.tmpdir() + 'x')", "delete"],
      ["fs.unlinkSync('temp/a' || 'outputs/b')", "delete"],
    ],
  );
});

test("a module that everybody has is at the most hidden by a file of its name [H1]", () => {
  const common =
    `abc argparse array ast asyncio base64 bisect builtins calendar codecs collections concurrent contextlib copy csv
    ctypes dataclasses datetime decimal difflib email enum fileinput fnmatch fractions functools gc getpass glob gzip hashlib heapq
    html http importlib inspect io itertools json locale logging math mimetypes multiprocessing operator os pathlib pickle platform
    pprint queue random re secrets shlex shutil signal socket sqlite3 statistics string struct subprocess sys tarfile tempfile
    textwrap threading time timeit traceback types typing unicodedata unittest urllib uuid warnings weakref xml zipfile zlib
    zoneinfo __future__ pip venv numpy pandas matplotlib scipy sklearn seaborn plotly requests httpx bs4 lxml openpyxl xlsxwriter
    docx pptx pypdf PIL cv2 torch yaml tqdm jinja2 sqlalchemy pytest dotenv IPython reportlab`.split(/\s+/);
  const scripts = (code: string) => scriptsOf({ tool: "execute_code", arguments: { code } });
  assert.deepEqual(
    common.map((module) => scripts(`import ${module}.x`)),
    common.map((module) => [`${module}.py`]),
  );
  assert.deepEqual(scripts("from own import *"), ["own.py", "own/__init__.py"]);
  const imported = { code: "import './x';", language: "javascript" };
  assert.deepEqual(scriptsOf({ tool: "execute_code", arguments: imported }), ["x", "x.js", "x/index.js"]);
  const added = scripts("import sys\nsys.path.append('temp/lib')\nimport own");
  assert.equal(added.includes("temp/lib/own.py"), true);
  const read = (name: string) => ({ code: `eval(fs.${name}('x.txt'))`, language: "javascript" });
  for (const name of ["readFileSync", "readFile"])
    assert.deepEqual(scriptsOf({ tool: "execute_code", arguments: read(name) }), ["x.txt"], name);
  assert.deepEqual(scripts("import own.x"), ["own.py", "own/__init__.py", "own/x.py", "own/x/__init__.py"]);
});

test("a script that code writes is judged by its text, whichever function writes it, and not by who only looks at it [H1]", () => {
  const runs = "\nimport subprocess\nsubprocess.run(['bash', 'temp/x.sh'])";
  const runsInNode = "; require('child_process').execSync('bash temp/x.sh')";
  const opened = "f = open('temp/x.sh', 'w')\nf.write('ls')\n";
  compare(
    (code, facts) => codeFindings(code, "python", facts),
    [
      ...rowsOf(
        "",
        `${opened}f.%()${runs}`,
        "close flush tell isatty writable seekable read readline __enter__ __exit__",
      ),
      ...rowsOf("run_unseen", `${opened}f.%(1)${runs}`, "seek truncate detach"),
      ...rowsOf("delete", `Path('temp/x.sh').%('rm outputs/a')${runs}`, "write_text write_bytes"),
      ...rowsOf("delete", `f = %('temp/x.sh', 'w')\nf.write('rm outputs/a')${runs}`, "open io.open codecs.open"),
      [`with open('b') as g, open('temp/x.sh', 'w') as f:\n    f.write('rm outputs/a')${runs}`, "delete"],
      [`with open('temp/x.sh', 'w') as f, open('b') as g:\n    f.write('rm outputs/a')${runs}`, "delete"],
      ...rowsOf("", `f = open('temp/x.sh', '%')\nf.write('ls')${runs}`, "w x a wb xt tw"),
    ],
  );
  compare(
    (code, facts) => codeFindings(code, "javascript", facts),
    rowsOf(
      "delete",
      `%('temp/x.sh', 'rm outputs/a')${runsInNode}`,
      `fs.writeFile fs.writeFileSync fs.outputFile fs.outputFileSync fs.appendFile fs.appendFileSync writeFileSync
       Deno.writeTextFile Deno.writeTextFileSync Bun.write`,
    ),
  );
});

test("a function that takes a whole folder along is the graver one [H1]", () => {
  const riskOf = (code: string, language: "python" | "javascript") =>
    codeFindings(code, language, judgedFacts)[0]?.risk;
  const risks = (words: string, language: "python" | "javascript") =>
    words.split(" ").map((word) => [word, riskOf(`${word}('outputs/a')`, language)]);
  const all = (words: string, risk: string) => words.split(" ").map((word) => [word, risk]);
  const deep = "shutil.rmtree distutils.dir_util.remove_tree";
  assert.deepEqual(risks(deep, "python"), all(deep, "high"));
  assert.deepEqual(risks("os.remove os.rmdir", "python"), all("os.remove os.rmdir", "medium"));
  const deepInNode = "rimraf fs.emptyDir fs.rm fs.rmSync rmSync del del.sync";
  assert.deepEqual(risks(deepInNode, "javascript"), all(deepInNode, "high"));
  assert.deepEqual(risks("fs.unlinkSync fs.rmdir", "javascript"), all("fs.unlinkSync fs.rmdir", "medium"));
});

test("asked for help a program does nothing else, but for those whose next words are another program's [H1]", () => {
  compare(commandFindings, [
    ...rowsOf("", "curl %", "--help --version -V -h"),
    ...linesOf("", "rm --help outputs/a\n git push --help\n curl get --version\n apt install --help"),
    ...linesOf("delete", "rm -h outputs/a\n rm outputs/a outputs/b --help\n rm outputs/A --help"),
    ...rowsOf("packages", "% x --help", "npx pnpx bunx uvx"),
    ["pipx run x --help", "packages"],
    ["pipx run --help", ""],
    ...rowsOf("privilege", "% x --help", "sudo doas su"),
    ...linesOf("network", "ssh host --help"),
    ...linesOf("delete", "find -delete --help"),
  ]);
  const scripts = (command: string) => scriptsOf({ tool: "run_bash_command", arguments: { command } });
  assert.deepEqual([scripts("source x --help"), scripts("bash x --help a")], [["x"], ["x"]]);
});
