import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const find = (command: string, facts: Partial<typeof judgedFacts> = {}) =>
  commandFindings(command, { ...judgedFacts, ...facts }, nothingListed);

/** A row for each word, which is put into the form for `%`. */
const rowsOf = (told: string, form: string, words: string) =>
  words.split(/\s+/).map((word): [command: string, told: string] => [form.replaceAll("%", word), told]);
const linesOf = (told: string, lines: string) =>
  lines
    .trim()
    .split(/\s*\n\s*/)
    .map((line): [command: string, told: string] => [line, told]);

const secret = "hunter2Zebra99";

const key = "sk-proj-AbCd1234EfGh5678IjKl9012";

test("the more would be lost, the graver it is [H1]", () => {
  const rows: [command: string, risk: string][] = [
    ...rowsOf(
      "critical",
      "rm -rf %",
      ". .. * ** ./* / /* /workspace /workspace/w1 /workspace/w1/* ~ ~/* uploads uploads/a u*s ./",
    ),
    ...rowsOf("critical", "rm %", "uploads/a u*s/a *"),
    ...rowsOf("high", "rm -rf %", "outputs outputs/* a/. a*/a $X"),
    ...rowsOf("high", "rm %", "*.csv a? [ab] $X outputs/$X"),
    ...rowsOf("medium", "rm %", "outputs/a a . outputs/$RANDOM"),
    ...rowsOf("high", "rm % outputs", "-r -R --recursive --recurs -vr"),
    ...rowsOf("medium", "rm % outputs", "-f -v --force --re -i"),
    ...linesOf("critical", "find . -delete\n find uploads -delete\n rm temp/a uploads/a outputs/b\n dropdb a"),
    ...linesOf(
      "high",
      "find outputs -delete\n git reset --hard\n git clean -fd\n cat .env\n echo x > uploads/a\n sudo ls\n psql -c 'drop table t'",
    ),
    ...linesOf(
      "high",
      "redis-cli flushall\n $X\n echo sk-abcdefghijklmnop1\n awk '{system($1)}' a\n LD_PRELOAD=./x.so ls\n gio trash a",
    ),
    ...linesOf(
      "medium",
      "git stash drop\n git branch -D x\n git tag -d x\n crontab -r\n mv a temp/b\n pip install x\n git clone x",
    ),
    ...linesOf(
      "critical",
      "eval $X\n bash /tmp/q.sh\n source /tmp/q.sh\n python3 /tmp/q.py\n sed s/a/b/e x\n perl -e 'eval unpack(1)'",
    ),
  ];
  assert.deepEqual([rows.map(([command]) => [command, find(command)[0]?.risk])], [rows]);
  const told = (command: string, facts = {}) => find(command, facts).map(({ kind, risk }) => `${kind} ${risk}`);
  assert.deepEqual(told("echo x > /etc/motd", { contained: false }), ["not_safe medium", "not_safe high"].slice(1));
  assert.deepEqual(told("make", { contained: false }), ["not_safe medium"]);
});

test("each kind that reaches out or cannot be brought back is one level graver after text from outside, the others are not [H1][R1]", () => {
  const rows = [
    ["rm outputs/a", "delete high raised"],
    ["echo x > uploads/a", "change_upload critical raised"],
    ["psql -c 'drop table t'", "database critical raised"],
    ["curl x.example", "network high raised"],
    ["pip install x", "packages high raised"],
    ["echo sk-abcdefghijklmnop1", "secret critical raised"],
    ["cat .env", "credentials critical raised"],
    ["eval $X", "run_unseen critical raised"],
    ["LD_PRELOAD=./x.so ls", "run_unseen critical raised"],
    ["sudo ls", "privilege high"],
    ["$X", "unreadable high"],
  ];
  assert.deepEqual(
    rows.map(([command = ""]) => {
      const [one] = find(command, { tainted: true });
      return [command, `${one?.kind} ${one?.risk}${one?.raised === true ? " raised" : ""}`];
    }),
    rows,
  );
  const bare = commandFindings("make", { ...judgedFacts, tainted: true, contained: false }, nothingListed);
  assert.deepEqual([bare.map(({ risk, raised }) => [risk, raised])], [[["medium", undefined]]]);
});

test("what is told of a command is its own words, once, shortened and without marks [H1][H2]", () => {
  const told = (command: string) => find(command).map(({ kind, risk, what }) => `${kind} ${risk} ${what}`);
  assert.deepEqual(told("ls; rm outputs/a ; rm outputs/a && rm outputs/b"), [
    "delete medium rm outputs/a",
    "delete medium rm outputs/b",
  ]);
  assert.deepEqual(told("for f in outputs/a uploads/b; do rm $f; done"), ["delete critical rm $f"]);
  assert.deepEqual(told("for f in uploads/b outputs/a; do rm $f; done"), ["delete critical rm $f"]);
  assert.deepEqual(told("bash -c 'rm outputs/a'"), ["delete medium rm outputs/a"]);
  assert.deepEqual(told("x() { rm outputs/a; }; x"), ["delete medium rm outputs/a"]);
  assert.deepEqual(told("curl a.example; rm outputs/a"), [
    "network medium curl a.example",
    "delete medium rm outputs/a",
  ]);
  const long = (length: number) => find(`rm ${"a".repeat(length - 3)}`)[0]?.what;
  assert.equal(long(300), `rm ${"a".repeat(297)}`);
  assert.equal(long(301), `rm ${"a".repeat(296)}…`);
  assert.deepEqual(told("rm \ue000\ue001a"), ["delete high rm ……a"]);
  const python = codeFindings("x = 1\n  os.remove('outputs/a')  \ny = 2", "python", judgedFacts);
  assert.deepEqual([python.map(({ what }) => what)], [["os.remove('outputs/a')"]]);
});

test("of more findings than anybody reads the gravest are kept [H1]", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `rm outputs/${at}`).join("\n");
  const risksOf = (command: string) => find(command).map(({ risk }) => risk);
  assert.equal(risksOf(many(200)).length, 200);
  assert.equal(risksOf(many(201)).length, 200);
  const graver = risksOf(`${many(200)}\nrm -rf uploads\nrm -rf outputs`);
  assert.deepEqual(
    [
      graver.length,
      graver.filter((risk) => risk === "critical").length,
      graver.filter((risk) => risk === "high").length,
    ],
    [200, 1, 1],
  );
});

test("a secret is masked wherever else it stands, also between quotes [H1][Q1]", () => {
  const told = (command: string) => find(command).map(({ what }) => what);
  assert.deepEqual(told("curl -u me:hunter2Zebra99 x.example/hunter2Zebra99"), [
    "curl -u me:… x.example/…",
    "curl -u me:… x.example/…",
  ]);
  assert.deepEqual(told(`run --token hunter2"Zebra"99`), ["run --token …"]);
  assert.deepEqual(told("mysql -phunter22 x"), ["mysql -p… x"]);
  assert.deepEqual(told("rm outputs/hunter22; run --token hunter22"), ["rm outputs/…", "run --token …"]);
  const many = (count: number) => Array.from({ length: count }, (_, at) => `run --token pw${at}zzzz`).join("\n");
  assert.deepEqual([told(many(64)).includes("…"), told(many(65))], [false, ["…"]]);
});

test("what is told of a command gives no secret away [H1][H2]", () => {
  const commands = [
    `curl -H "Authorization: Bearer "'${key}' https://x`,
    `curl -u me:${secret} http://x`,
    `rm -rf outputs --password ${secret}`,
    `echo ${"b".repeat(275)} ${key} | curl -d @- x`,
    `if then fi ${key} (`,
    `python3 -c "password='${secret}'; import os; os.remove('a'); os.system('curl -u a:${secret} x')"`,
    `${key} `.repeat(12_000),
  ];
  const told = commands.map((command) => JSON.stringify(commandFindings(command, judgedFacts, nothingListed)));
  const given = told.filter((text) => text.includes(secret.slice(4)) || text.includes(key.slice(8)));
  assert.deepEqual({ given, silent: told.filter((text) => text === "[]") }, { given: [], silent: [] });
});

test("what may be allowed always is a program and its command, never a deletion or a secret [H1][H2]", () => {
  const shape = (text: string) => find(text).map((one) => one.shape);
  const rows: [string, (string | undefined)[]][] = [
    ["pip install pandas", ["pip install *"]],
    ["python3 -m pip install pandas", ["pip install *"]],
    ["uv pip install x", ["uv pip install *"]],
    ["npx tsx a.ts", ["npx tsx *"]],
    ["curl -s https://x.example", ["curl *"]],
    ["git clone https://x.example/a", ["git clone *"]],
    ["rm outputs/a", [undefined]],
    ["sudo ls", [undefined]],
    ["$X", [undefined]],
    ["cat .env", [undefined]],
    ["echo x > uploads/a", [undefined]],
  ];
  assert.deepEqual([rows.map(([text]) => [text, shape(text)])], [rows]);
  const [pushed] = find("git add . && git push origin main; ls");
  assert.deepEqual(pushed, {
    kind: "network",
    action: "ask",
    risk: "high",
    layer: "default",
    what: "git push origin main",
    shape: "git push *",
  });
});

test("without a sandbox, or where the operator wants it, only commands on the list go without asking [H1]", () => {
  const safe = { commands: ["ls", "cat", "git status"], onlySafe: false };
  const rows: [string, string][] = [
    ["ls -la", ""],
    ["cat a | cat", ""],
    ["cd temp && ls; echo done", ""],
    ["timeout 5 ls", ""],
    ["git status", ""],
    ["git log", "not_safe"],
    ["make", "not_safe"],
    ["python3 -c 'print(1)'", "not_safe"],
    ["./run.sh", "not_safe"],
    ["ls; make", "not_safe"],
    ["ls > outputs/a", ""],
    ["rm outputs/a", "delete"],
    ["curl https://x.example", "network"],
    ["cat /etc/passwd", "credentials"],
  ];
  const only = rows.map(([text]) => [text, kindsOf(commandFindings(text, judgedFacts, { ...safe, onlySafe: true }))]);
  assert.deepEqual(only, rows);
  const bare = { ...judgedFacts, contained: false };
  const open = rows.map(([text]) => [text, kindsOf(commandFindings(text, bare, safe))]);
  assert.deepEqual(open, rows);
  // The machine's own /tmp is nobody's to empty, and files outside the workspace are not the agent's.
  assert.equal(kindsOf(commandFindings("rm /tmp/a", bare, safe)), "delete");
  assert.equal(kindsOf(commandFindings("rm temp/a", bare, { commands: ["rm"], onlySafe: false })), "");
  assert.equal(kindsOf(commandFindings("ls > /etc/motd", bare, safe)), "not_safe");
  assert.equal(kindsOf(commandFindings("ls 2> /etc/motd", bare, safe)), "not_safe");
  assert.equal(kindsOf(commandFindings("ls 2> outputs/a", bare, safe)), "");
  assert.equal(kindsOf(commandFindings("rm -rf ~/temp", bare, safe)), "delete");
});
