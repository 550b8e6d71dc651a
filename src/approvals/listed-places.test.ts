import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const find = (command: string, facts: Partial<typeof judgedFacts> = {}) =>
  commandFindings(command, { ...judgedFacts, ...facts }, nothingListed);

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("a path is followed to where it leads: through patterns, homes, links and dots [H1]", [
  ...rowsOf(
    "change_upload",
    "echo x > %/a",
    `uploads ./uploads temp/../uploads ~/uploads /workspace/uploads /workspace/other/uploads /workspace/w1/uploads upload?
     u*s [u]ploads [a-z]ploads [!a]ploads [^a]ploads [[:alpha:]]ploads up*ads *ploads uploads/b ?ploads`,
  ),
  ...rowsOf(
    "",
    "echo x > %/a",
    `outputs temp upload uploadss uplo?d [a]ploads [v-z]ploads [!u]ploads [^u]ploads [a-t]ploads u*x outputs/uploads
     /srv/uploads /workspace/skills /workspaces/uploads /workspace/w1/temp/uploads [u`,
  ),
  ...rowsOf("delete", "rm -rf temp/%/a", ".. .? .* [.]. [.]* .[.] ../outputs $X .[[:punct:]] .[![:alpha:]]"),
  ...rowsOf("", "rm -rf temp/%/a", "?? a* *a ? [ab]* a?b .[a-z]*x ... a/../b"),
  ...rowsOf(
    "",
    "rm -rf %",
    "/workspace/temp/a /workspace/w1/temp /workspace/other/temp/a /tmp /tmp/a ~/temp temp/ temp//a",
  ),
  ...rowsOf(
    "delete",
    "rm -rf %",
    "/workspace/$X/temp/a /tmpx /t*/a /tm?/a ~me/temp/a ~me / /workspace /workspace/w2 temp$X",
  ),
  ...linesOf(
    "delete",
    `ln -s ../outputs temp/a; ln -s a temp/b; ln -s b temp/c; rm temp/c/x
     rm temp/${"a/".repeat(2_048)}x`,
  ),
]);

test("files that themselves lie below /tmp are no rubbish [H1]", () => {
  const at = (command: string) => kindsOf(find(command, { root: "/tmp/yard/w1" }));
  assert.deepEqual(
    [
      "rm a",
      "rm -rf /tmp",
      "rm -rf /tmp/yard",
      "rm -rf /tmp/yard/w1/outputs",
      "rm temp/a",
      "rm /tmp/other",
      "rm /tmp/ya*",
    ].map(at),
    ["delete", "delete", "delete", "delete", "", "", ""],
  );
  const bare = (command: string) =>
    kindsOf(find(`${command} `, { contained: false }).filter(({ kind }) => kind === "delete"));
  assert.deepEqual(["rm /tmp/a", "rm temp/a", "rm ~/temp/a", "rm /workspace/temp/a"].map(bare), [
    "delete",
    "",
    "delete",
    "delete",
  ]);
  const alone = (command: string) => kindsOf(find(command, { root: "/w1" }));
  assert.deepEqual(["rm /uploads/a", "rm /temp/a", "rm /w1/temp/a"].map(alone), ["delete", "delete", ""]);
});

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
  assert.deepEqual(
    rows.map(([command]) => [command, find(command)[0]?.risk]),
    rows,
  );
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
  assert.deepEqual(
    bare.map(({ risk, raised }) => [risk, raised]),
    [["medium", undefined]],
  );
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
  assert.deepEqual(
    python.map(({ what }) => what),
    ["os.remove('outputs/a')"],
  );
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

judged("both ways that a command can go are followed [H1]", [
  ...linesOf(
    "delete",
    `if true; then D=outputs; else D=temp; fi; rm $D/a
     if true; then D=temp; else D=outputs; fi; rm $D/a
     if false; then D=temp; elif true; then D=outputs; fi; rm $D/a
     D=outputs; if true; then D=temp; fi; rm $D/a
     case x in a) D=temp;; *) D=outputs;; esac; rm $D/a
     if true; then f() { rm outputs/a; }; fi; f
     if true; then alias x=rm; fi; x outputs/a
     ls && cd temp; rm a
     ls && cd temp || rm a
     D=outputs; false && D=temp; rm $D/a
     D=outputs; f() { D=temp; }; ls && f; rm $D/a
     D=outputs; ls && { D=temp; }; rm $D/a
     f() { ls; }; ls && { f() { rm outputs/a; }; }; f
     if true; then cd temp; fi; rm a
     true || cd temp; rm a
     D=temp; true && D=outputs; rm $D/a
     D=temp; false || D=outputs; rm $D/a
     for i in 1 2; do rm $D; D=temp/a; done
     D=temp/a; until false; do rm $D; D=outputs/a; done
     while D=outputs; do break; done; rm $D/a
     D=outputs; (D=temp); rm $D/a
     D=outputs; { D=temp; } | cat; rm $D/a
     D=outputs; coproc { D=temp; }; rm $D/a
     D=outputs; echo $(D=temp); rm $D/a
     select d in outputs/a; do rm $d; done
     for d; do rm $d; done
     for ((i = 0; i < 3; i++)); do rm outputs/$i; done
     for (( ; $(rm outputs/a); )); do ls; done
     (( $(rm outputs/a) ))
     [[ -f $(rm outputs/a) ]]
     [[ a == $(rm outputs/a) ]]
     [[ a && ( ! -n $(rm outputs/a) ) ]]
     case $(rm outputs/a) in x) ls;; esac
     echo $(( (1 + -$(rm outputs/a)) ? 1 : 2 ))
     echo $(( 1 ? $(rm outputs/a) : 2 ))
     a[$(rm outputs/a)]=1
     x=($(rm outputs/a))
     trap 'cd outputs && rm a' EXIT; cd temp
     cd temp && (cd ../outputs && rm a)`,
  ),
  ...linesOf(
    "",
    `if true; then D=temp; else D=temp/b; fi; rm $D/a
     D=outputs; D=temp; rm $D/a
     mkdir -p temp/b && cd temp/b; rm a
     ls && cd temp && rm a
     ls && cd temp || exit; rm a
     X=1 && cd temp; rm a
     [ -d temp/x ] && D=temp/x; rm -rf "$D"
     D=temp; (D=outputs); rm $D/a
     D=temp; { D=outputs; } | cat; rm $D/a
     for ((i = 0; i < 3; i++)); do rm temp/$i; done
     select d in temp/a; do rm $d; done
     cd temp && cd b && rm a
     cd temp && { cd ../outputs || true; } ; ls
     if ! cd temp; then ls; fi; cd /tmp && rm a
     set -e; cd temp/b; cd c; rm a
     f() { D=temp; }; D=outputs; f; rm $D/a`,
  ),
]);
