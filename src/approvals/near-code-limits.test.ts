import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { codeFindings, scriptsOf } from "./code.ts";

const kinds = (code: string, scripts = new Map<string, string>()) =>
  kindsOf(codeFindings(code, "python", { ...judgedFacts, scripts }));
const listed = (count: number, text: string) => `[${Array.from({ length: count }, (_, at) => `'${text}${at}'`)}]`;
const much = (length: number) => "a".repeat(length);

test("a path that may be one of 64 is followed, and one more can be any [H1]", () => {
  const loop = (count: number) => `for f in ${listed(count, "temp/")}:\n    os.remove(f)`;
  const pairs = (one: number, other: number, made: string) =>
    `for a in ${listed(one, "temp/")}:\n  for b in ${listed(other, "x")}:\n    os.remove(${made})`;
  const either = (count: number) =>
    `os.remove(${Array.from({ length: count }, (_, at) => `'temp/${at}'`).join(" or ")})`;
  assert.deepEqual([kinds(loop(64)), kinds(loop(65))], ["", "delete"]);
  for (const made of ["a + b", "os.path.join(a, b)"])
    assert.deepEqual([kinds(pairs(8, 8, made)), kinds(pairs(8, 9, made))], ["", "delete"], made);
  assert.deepEqual([kinds(either(64)), kinds(either(65))], ["", "delete"]);
});

test("a command of 8,192 characters that code puts together is read, and a longer one is not [H1]", () => {
  const forms: [form: (text: string) => string, lengthMax: number][] = [
    [(text) => `os.system('ls #' + '${text}')`, 8_192 - 4],
    [(text) => `os.system(os.path.join('ls #', '${text}'))`, 8_192 - 4],
    [(text) => `os.system(' '.join(['ls', '#${text}']))`, 8_192 - 5],
    [(text) => `os.system('ls #{}'.format('${text}'))`, (8_192 - 6) / 2],
  ];
  for (const [form, lengthMax] of forms)
    assert.deepEqual([kinds(form(much(lengthMax))), kinds(form(much(lengthMax + 1)))], ["", "unreadable"], form("…"));
});

test("brackets are followed 60 deep, and what stands behind deeper ones is read nevertheless [H1]", () => {
  const deep = (levels: number) => `y = ${"(".repeat(levels)}1${")".repeat(levels)}`;
  assert.deepEqual([kinds(deep(60)), kinds(deep(61))], ["", "unreadable"]);
  assert.equal(kinds(`${deep(61)}\nos.remove('outputs/a')`), "delete unreadable");
  assert.equal(kinds(`f(${deep(61).slice(4)}, os.remove('outputs/a'))`), "delete unreadable");
});

test("what stands in a text is read up to eight brackets deep, and is not known below [H1]", () => {
  const nested = (levels: number) => `os.remove(${"(".repeat(levels)}f'temp/{len(x)}'${")".repeat(levels)})`;
  assert.deepEqual([kinds(nested(6)), kinds(nested(7))], ["", "delete"]);
});

test("100,000 expressions are read, and one more is not [H1]", () => {
  assert.deepEqual([kinds("1\n".repeat(100_000)), kinds("1\n".repeat(100_001))], ["", "unreadable"]);
});

test("code that runs code is followed twelve deep, and deeper code is not read [H1]", () => {
  const chain = (last: number) => {
    const texts = Array.from({ length: last }, (_, at): [string, string] => [
      `${at}.py`,
      `exec(open('${at + 1}.py').read())`,
    ]);
    return kinds("exec(open('0.py').read())", new Map([...texts, [`${last}.py`, "os.remove('outputs/a')"]]));
  };
  assert.deepEqual([chain(10), chain(11)], ["delete", "unreadable"]);
});

test("modules are looked for in sixteen folders that code names, the first ones [H1]", () => {
  const code = `${Array.from({ length: 17 }, (_, at) => `sys.path.append('l${at}')\n`).join("")}import own`;
  const scripts = scriptsOf({ tool: "execute_code", arguments: { code } });
  assert.deepEqual(
    [0, 15, 16].map((at) => scripts.includes(`l${at}/own.py`)),
    [true, true, false],
  );
});

test("what is told is the line, wherever it stands and however long those before it are [H1]", () => {
  const told = (code: string) => codeFindings(code, "python", judgedFacts).map(({ what }) => what);
  const line = "os.remove('outputs/a')";
  assert.deepEqual(told(`a = 1\nb = 2\n${line}\nc = 3`), [line]);
  assert.deepEqual(told(`x = '${much(2_500)}'\n${line}\n${line}\nc = '${much(2_500)}'`), [line]);
  assert.deepEqual(told(`x = '${much(2_500)}'; ${line}`), [`${much(299)}…`]);
});

test("how grave a finding in code is stands with its kind [H1]", () => {
  const rows: [code: string, told: string][] = [
    ["requests.get('https://x.example')", "network medium"],
    ["pip.main(['install', 'x'])", "packages medium"],
    ["os.setuid(0)", "privilege high"],
    ["os.chmod('temp/x', 0o4755)", "privilege high"],
    ["exec(x)", "run_unseen critical"],
    ["exec(open('/tmp/q.py').read())", "run_unseen critical"],
    ["f = os.system", "run_unseen high"],
    ["getattr(os, name)('a')", "unreadable high"],
    ["operator.methodcaller('remove')(os)", "unreadable high"],
    ["__import__(name)", "unreadable medium"],
    ["subprocess.run(cmd)", "unreadable high"],
    ["open('uploads/a', 'w')", "change_upload high"],
    ["c = sqlite3.connect('uploads/a.db')\nc.execute('update t set a = 1')", "change_upload high"],
    ["Path('outputs/a').rmtree()", "delete high"],
    ["Path('outputs/a').unlink()", "delete medium"],
    ["c.execute('DROP TABLE t')", "database high"],
    ["subprocess.run(['perl', '-e', 'unlink \"outputs/a\"'])", "delete medium"],
    ["subprocess.run(['Rscript', '-e', 'install.packages(\"x\")'])", "packages medium"],
    ["os.system('echo x > ~/.ssh/authorized_keys')", "credentials high"],
  ];
  assert.deepEqual(
    rows.map(([code]) => [
      code,
      codeFindings(code, "python", judgedFacts)
        .map(({ kind, risk }) => `${kind} ${risk}`)
        .join(),
    ]),
    rows,
  );
});
