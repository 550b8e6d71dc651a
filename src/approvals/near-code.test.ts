import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";

type Rows = readonly (readonly [code: string, kinds: string])[];

function python(title: string, rows: Rows): void {
  test(title, () => compare((code, facts) => codeFindings(code, "python", facts), rows));
}

function javascript(title: string, rows: Rows): void {
  test(title, () => compare((code, facts) => codeFindings(code, "javascript", facts), rows));
}

/** `¶` stands for a new line. */
const lines = (kinds: string, text: string) =>
  linesOf(kinds, text).map(([code]): [string, string] => [code.replaceAll("¶", "\n"), kinds]);

python("a function that only has the name of one that deletes, runs or writes does not ask [H1]", [
  ...lines(
    "",
    `items = ['outputs/a']¶items.remove('outputs/a')
     a.b.remove('outputs/a')
     x.run(['rm', y])
     f('remove')
     operator.attrgetter('name')(x)
     os.rename('a')
     df.rename('temp/b')
     'outputs/a'.replace('/tmp/b', 'c')
     df.drop('uploads/a', inplace=True)
     fileinput.input('uploads/a')
     f('uploads/a', 'w')
     f('temp/x.sh', 'w')¶subprocess.run(['bash', 'temp/x.sh'])
     open('uploads/a', encoding='w')
     pd.read_csv('uploads/a.csv')¶c.execute('insert into t values (1)')
     f(0o4755)
     print('DROP TABLE users')
     subprocess.run(['rm outputs/a'], x='bash')
     subprocess.run([])
     password = 'correct horse battery'`,
  ),
  ...lines(
    "change_upload",
    `fileinput.input('uploads/a', inplace=True)
     shutil.copy('temp/a', dst='uploads/a')
     df.to_csv(path_or_buf='uploads/a')
     os.open('uploads/a', x)
     connect('uploads/a.db').execute('update t set a = 1')
     c = sqlite3.connect('uploads/a.db')¶c.execute('UPDATE t SET a = 1')
     c = sqlite3.connect('uploads/a.db')¶c.execute('update t set a = ?', 'x')`,
  ),
  ["execute('DROP TABLE users')", "database"],
  ["chmod('temp/x', 0o4755)", "privilege"],
  ["x.run(['visudo'])", "privilege"],
  ["open('~/.aws/credentials')", "credentials"],
  ["f('sk-abcdefghijklmnop1234567890')", "secret"],
]);

python("a function that is handed on is judged by what it is handed on with [H1]", [
  ...lines(
    "delete",
    `list(map(os.remove, ['outputs/a']))
     list(map(os.system, ['rm outputs/a']))
     executor.submit(os.remove, 'outputs/a')
     os.__dict__['remove']('outputs/a')`,
  ),
  ...lines(
    "",
    `list(map(os.remove, ['temp/a']))
     list(map(os.remove, glob.glob('temp/*')))
     executor.submit(os.remove, 'temp/a')`,
  ),
]);

python("a program that is started is judged by its own words, and changes nothing for what comes then [H1]", [
  ...lines(
    "delete",
    `subprocess.run('cd temp', shell=True)¶os.remove('a')
     subprocess.run(['rm', 'outputs/a'], shell=True)
     subprocess.run(['rm'] + ['outputs/a'])
     asyncio.create_subprocess_exec('rm', '-f', 'outputs/a')
     os.execv('/bin/rm', args)
     !cd temp¶os.remove('a')
     %%sh¶rm -rf outputs
     %%!¶rm -rf outputs
     %%bash --out x¶rm -rf outputs`,
  ),
  ...rowsOf("", "%('/bin/rm', ['outputs/x', 'temp/a'])", "os.execv os.posix_spawn"),
  ...["  !rm outputs/a", "\t!rm outputs/a", "! rm outputs/a", "!\trm outputs/a"].map((code): [string, string] => [
    `x = 1\n${code}`,
    "delete",
  ]),
  ["!Rscript -e 'unlink(\"outputs/a\")'", "delete"],
  ["os.system(f'{len(x)}')", "unreadable"],
  ["exec(open('/tmp/q.py').read())", "run_unseen"],
  ...lines("", "exec(open('a.py').read())\n exec(' ')"),
]);

python("a path is followed through lists, texts and what is made of them [H1]", [
  ...lines(
    "",
    `a = ['outputs/x', 'temp/y']¶os.remove(a[1])
     a = ['temp/x', 'temp/y']¶os.remove(a[i])
     for i, f in enumerate(['temp/a']):¶    os.remove(f)
     for (i, f) in enumerate(['temp/a']):¶    os.remove(f)
     [os.remove(a + b) for a in ['temp/'] for b in ['x']]
     [os.remove(f) for f in sorted([g for g in ['temp/a']])]
     os.remove('temp/' 'a')
     os.remove('{place}/a'.format('temp'))
     for f in 'temp/a  temp/b'.split():¶    os.remove(f)
     shutil.rmtree(tempfile.mkdtemp() + 'x')
     os.remove(f'temp/{{x}}')
     os.remove(f'temp/{{{len(x)}}}')
     shutil.rmtree(f'temp/{{..}}/x')
     os.remove(R'temp/\\x2e\\x2e/outputs/a')
     os.remove('temp\\x2Fa')
     os.remove('temp\\u002Fa')
     os.remove('temp/a'.upper())
     for r, d, f in os.walk('temp'):¶    os.remove('temp/' + f)
     os.system('ls {}; rm {}'.format('temp/a'))`,
  ),
  ...rowsOf("", "os.remove(f'temp/{%}')", "len(x)!r len(x)!s len(x)!a len(x):>5 len(x)!r:>5"),
  ...lines(
    "delete",
    `a = ['outputs/x', 'temp/y']¶os.remove(a[0])
     a = ['outputs/x', 'temp/y']¶os.remove(a[i])
     for a, b in ['temp/a', 'temp/b']:¶    os.remove(a)
     [os.remove(f) for f in ['outputs/a'] if x]
     [f for f in a if b]¶os.remove('outputs/a')
     os.remove('temp' '/../outputs/a')
     os.remove(Path('temp').parent / 'a')
     os.remove(Path('temp', '../outputs/a'))
     os.remove('outputs/a'); x = '\\
     shutil.rmtree(Path('temp/' + x).parent)
     shutil.rmtree(os.path.dirname('temp'))
     os.remove(Path('temp').joinpath('../outputs/a'))
     Path('temp').with_name('b').unlink()
     Path('temp/' + x).with_suffix('.b').unlink()
     os.remove(open('a.txt').read())
     os.remove(F'temp/{x}')
     os.remove(f'temp/{{{x}}}')
     os.remove(t'temp/{x}')
     os.remove('outputs/a'
     x = 'it¶os.remove('outputs/a')`,
  ),
  ...rowsOf("delete", "os.remove('temp/%/a' % x)", "%5d %-5d %.2f %X %s"),
]);

python("what is imported is known by the name that it gets, between brackets as well [H1]", [
  ...lines(
    "network",
    `from requests import (get, post as p)¶p(1)
     from requests import (get)¶get(1)
     from requests import (a, get)¶get(1)`,
  ),
  ["import os.path\nos.remove('outputs/a')", "delete"],
]);

javascript("JavaScript is told apart from Python, and its own names from those of others [H1]", [
  ...lines(
    "",
    `x.remove('outputs/a')
     x.run(['rm', 'outputs/a'])
     f(rm)
     ['temp/a'].forEach(f => fs.rmSync(f))
     ['temp/a'].forEach(fs.unlinkSync)
     fs.unlinkSync(path.join('temp', '//outputs/a'))
     fs.rmSync(await fs.promises.mkdtemp('temp/x'))
     fs.unlinkSync('temp\\u{2F}a')
     fs.unlinkSync(path.join('/tmp', 'a'))
     /*/ fs.rmSync('outputs/a') */ 1`,
  ),
  ...lines(
    "delete",
    `['outputs/a'].forEach(f => fs.rmSync(f))
     ['outputs/a'].forEach(fs.unlinkSync)
     globalThis.window.fs.rmSync('outputs/a')
     getBuiltinModule('fs').rmSync('outputs/a')
     module._load('fs').rmSync('outputs/a')
     fs.unlinkSync('temp/'.concat('../outputs/a'))
     fs.rmSync(await fs.promises.mkdtemp('outputs/x'))
     /**/fs.rmSync('outputs/a')
     /* a */fs.rmSync('outputs/a')
     f(() => { x; fs.rmSync('outputs/a'); })
     '\\u{110000}'; fs.rmSync('outputs/a')
     \`\${f({ a: 1 })}\`; fs.rmSync('outputs/a')
     \`a¶\${fs.rmSync('outputs/a')}\`
     const cwd = 'outputs'; require('child_process').execSync('rm -rf temp', { stdio: 'inherit', cwd })`,
  ),
  ["fs.openSync('uploads/a', O_RDWR)", "change_upload"],
  ...lines(
    "network",
    `import { get } from 'https'; get(1)
     import { get as g } from 'https'; g(1)
     import { a, get } from 'https'; get(1)
     import { type Agent, get } from 'https'; get(1)
     import * as h from 'https'; h.get(1)`,
  ),
]);
