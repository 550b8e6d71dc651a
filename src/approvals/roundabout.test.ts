import { test } from "node:test";
import { compare } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";
import { commandFindings } from "./commands.ts";

function shell(title: string, kinds: string, commands: readonly string[]): void {
  const rows = commands.map((command) => [command, kinds] as const);
  test(title, () => compare(commandFindings, rows));
}

shell("a function that calls itself with other words is asked about for what it deletes then [H1]", "delete", [
  'f() { rm -rf "$1"; [ -d outputs ] && f outputs; }; f temp/x',
  'f() { [ $# -gt 0 ] || return; rm -rf "$1"; shift; f "$@"; }; f temp/x outputs',
  'f() { rm -rf "$1"; g outputs; }; g() { f "$1"; }; f temp/x',
  'f() { rm -rf "$X"; X=outputs; f; }; X=temp/x; f',
  "f() { rm -rf x; cd ..; f; }; cd temp; f",
  "f() { bash temp/x.sh; echo 'rm -rf outputs' > temp/x.sh; f; }; f",
  'f() { rm -rf "$1"; f y; }; g() { cd temp; f x; f x; cd ..; f temp/x; }; g',
  'walk() { for f in "$1"/*; do if [ -d "$f" ]; then walk "$f"; else rm "$f"; fi; done; }; walk outputs',
  'walk() { rm -f "$1"/*.tmp; walk "$1/../.."; }; walk temp/x',
  // More words than are followed: what comes then can be anything.
  `f() { rm -rf "$1"; shift; f "$@"; }; f ${"temp/x ".repeat(7)} temp/a temp/b temp/c outputs`,
  `f() { rm -rf "$1"; shift; f "$@"; }; f ${Array.from({ length: 20 }, (_, at) => `temp/${at}`).join(" ")} outputs`,
]);

shell("a function that calls itself and deletes nothing of the user does not ask [H1]", "", [
  'f() { echo "$1"; [ "$1" -gt 0 ] && f $(($1 - 1)); }; f 5',
  'f() { echo "$1"; f "$1x"; }; f a',
  'f() { [ $# -gt 0 ] || return; echo "$1"; shift; f "$@"; }; f 1 2 3 4 5 6 7 8 9 10 11 12',
  'f() { [ $# -gt 0 ] || return; rm -rf "$1"; shift; f "$@"; }; f temp/x temp/y',
  "fib() { if [ $1 -le 1 ]; then echo $1; else echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); fi; }; fib 10",
  'hanoi() { hanoi $(($1 - 1)) $2 $4 $3; echo "$2 $3"; hanoi $(($1 - 1)) $4 $3 $2; }; hanoi 3 A B C',
  'walk() { for f in "$1"/*; do if [ -d "$f" ]; then walk "$f"; else echo "$f"; fi; done; }; walk uploads',
  'walk() { for f in "$1"/*; do if [ -d "$f" ]; then walk "$f"; else rm "$f"; fi; done; rmdir "$1"; }; walk temp/x',
  'walk() { for d in "$1"/*/; do walk "$d"; done; rm -f "$1"/*.pyc; }; walk temp/x',
  'retry() { n=$1; shift; "$@" || retry $((n - 1)) "$@"; }; retry 3 ls',
  'expr() { term; next; term; }; term() { factor; next; factor; }; factor() { expr; next; echo "$t"; }; next() { t=$1; }; expr',
]);

/** It calls itself with one word less each time, in the end twice without any. */
const shifting = (words: number) => `f() { rm -rf "$1"; shift; f "$@"; }; f ${wordsOf(words)}`;
const wordsOf = (count: number) => Array.from({ length: count }, (_, at) => `temp/${at}`).join(" ");
const within = (words: string) => `f() { rm -rf "$1"; f ${words}; }; f temp/x`;

test("a function that calls itself is followed for 8 calls, 32 words and 1,024 characters; beyond that it can delete anything [H1]", () =>
  compare(commandFindings, [
    [shifting(6), ""],
    [shifting(7), "delete"],
    [within(wordsOf(32)), ""],
    [within(wordsOf(33)), "delete"],
    [within("temp/".padEnd(1_023, "x")), ""],
    [within("temp/".padEnd(1_024, "x")), "delete"],
  ]));

shell("a script that is written by way of another descriptor asks when it is run [H1]", "run_unseen", [
  "{ echo 'rm -rf outputs' >&2; } 2> temp/x.sh; bash temp/x.sh",
  "echo 'rm -rf outputs' 2> temp/y 1>&2; bash temp/y",
  "if true; then echo 'rm -rf outputs' >&3; fi 3> temp/x.sh; bash temp/x.sh",
  "f() { echo 'rm -rf outputs' >&4; } 4> temp/x.sh; f; bash temp/x.sh",
  "{ cd temp; echo 'rm -rf ../outputs' >&2; } 2> temp/x.sh; bash x.sh",
  "echo ls > temp/x.sh 2> temp/x.sh; bash temp/x.sh",
  "echo ls 2> temp/x.sh > temp/x.sh; bash temp/x.sh",
  "exec 3> temp/x.sh; echo 'rm -rf outputs' >&3; bash temp/x.sh",
  "exec 3> temp/x.sh; echo 'rm -rf outputs' >&3; cp temp/x.sh temp/y.sh; source temp/y.sh",
  "exec 3> temp/x.sh; echo ls > temp/x.sh; echo 'rm -rf outputs' >&3; bash temp/x.sh",
  "exec 3<> temp/x.sh; echo 'rm -rf outputs' >&3; cat temp/x.sh | bash",
  "exec {fd}> temp/x.sh; echo 'rm -rf outputs' >&$fd; ./temp/x.sh",
  "exec > temp/x.sh; echo 'rm -rf outputs'; bash temp/x.sh",
  "exec >> temp/x.sh; echo 'rm -rf outputs'; bash temp/x.sh",
  "command exec &> temp/x.sh; echo 'rm -rf outputs'; bash temp/x.sh",
  "eval 'exec > temp/x.py'; echo 'import os'; python3 temp/x.py",
]);

shell("a script that is run while it is being written asks [H1]", "run_unseen", [
  "{ echo 'rm -rf outputs'; bash temp/x.sh; } > temp/x.sh",
  "{ echo 'rm -rf outputs'; bash temp/x.sh; } >> temp/x.sh",
  "bash -c \"echo 'rm -rf outputs'; bash temp/x.sh\" > temp/x.sh",
  "{ echo 'rm -rf outputs' > temp/x.sh; } > temp/x.sh; bash temp/x.sh",
]);

shell(
  "a script is all that was written to its end, by whatever stream, and only what came last in its place [H1]",
  "delete",
  [
    "echo 'rm -rf outputs' > temp/x.sh; echo pwd >> temp/x.sh; sh temp/x.sh",
    "echo 'rm -rf outputs' > temp/x.sh; echo pwd &>> temp/x.sh; sh temp/x.sh",
    "echo pwd > temp/x.sh; echo 'rm -rf outputs' &>> temp/x.sh; sh temp/x.sh",
    "echo pwd > temp/x.sh; echo 'rm -rf outputs' &> temp/x.sh; sh temp/x.sh",
  ],
);

shell("logs, errors and locks that a command writes, and scripts of plain text, do not ask [H1]", "", [
  "exec > temp/log.txt; echo hi; ls",
  "exec > temp/log.txt 2>&1; bash temp/run.sh; cat temp/log.txt",
  "exec > >(tee temp/log.txt) 2>&1; echo hi; ls",
  "exec 2>&1; bash temp/run.sh",
  "exec 3>&1; echo hi >&3; exec 3>&-",
  "exec 9> temp/lock; flock -n 9 || exit 1; bash temp/run.sh",
  "exec {fd}> temp/log.txt; echo hi >&$fd; exec {fd}>&-",
  'exec 2> "$LOG"; python3 temp/a.py > "$OUT"; exec > "$LOG"',
  'ls 2> "$LOG"; exec > "$OUT"; bash "$SCRIPT"',
  "bash temp/run.sh > temp/log.txt 2>&1; cat temp/log.txt",
  "bash temp/run.sh 2> temp/errors.txt || cat temp/errors.txt",
  "{ time python3 temp/a.py; } 2> temp/time.txt; grep real temp/time.txt",
  "echo ls > temp/x.sh; echo pwd >> temp/x.sh; bash temp/x.sh 2>&1 | tee temp/log.txt",
  "{ echo ls; echo pwd; } > temp/x.sh; bash temp/x.sh 2> temp/errors.txt",
  "cat > temp/x.py <<'E'\nprint(1)\nE\npython3 temp/x.py > outputs/a.txt 2> temp/errors.txt",
]);

function code(title: string, kinds: string, programs: Record<"python" | "javascript", readonly string[]>): void {
  test(title, () => {
    for (const language of ["python", "javascript"] as const)
      compare(
        (text, facts) => codeFindings(text, language, facts),
        programs[language].map((text) => [text, kinds] as const),
      );
  });
}

const opened = "with open('temp/x.sh', 'w') as f:\n    ";
const runs = "\nimport subprocess\nsubprocess.run(['bash', 'temp/x.sh'])";
const runsInNode = "\nrequire('child_process').execSync('bash temp/x.sh')";

code("a script that code writes line by line is judged by its text, where that is known [H1]", "delete", {
  python: [
    `${opened}f.writelines(['ls\\n', 'rm -rf outputs\\n'])${runs}`,
    `${opened}print('rm', '-rf', 'outputs', file=f)${runs}`,
    `${opened}print('rm', 'outputs', sep=' -rf ', end='', file=f)\n    print('/a', file=f)${runs}`,
    `print('rm -rf outputs', file=open('temp/x.sh', 'w'))${runs}`,
    `f = Path('temp/x.sh').open('w')\nf.write('rm -rf outputs')\nf.close()${runs}`,
    `for p in ['temp/a.sh', 'temp/x.sh']:\n    open(p, 'w').write('rm -rf outputs')${runs}`,
  ],
  javascript: [
    `fs.writeFileSync('temp/x.sh', 'rm -rf outputs\\n'); fs.writeFileSync('temp/x.sh', 'ls', { flag: 'a' });${runsInNode}`,
  ],
});

code("a script that code writes in a way that is not followed asks when it is run [H1]", "run_unseen", {
  python: [
    `${opened}for w in ['temp/x', 'outputs']:\n        f.write(f'rm -rf {w}\\n')${runs}`,
    `${opened}for w in ['temp/x', 'outputs']:\n        f.write('rm -rf ')\n        f.write(w)${runs}`,
    `${opened}f.writelines([f'rm -rf {w}\\n' for w in ['temp/x', 'outputs']])${runs}`,
    `${opened}f.writelines(f'rm -rf {w}\\n' for w in names)${runs}`,
    `${opened}print(text, file=f)${runs}`,
    `${opened}f.write('ls\\n')\n    subprocess.run(['echo', 'rm -rf outputs'], stdout=f)${runs}`,
    `${opened}f.write('ls\\n')\n    list(map(f.write, lines))${runs}`,
    `${opened}f.write('# ')\n    f.seek(0)\n    f.write('rm -rf outputs')${runs}`,
    `${opened}f.buffer.write(b'rm -rf outputs')${runs}`,
    `sys.stdout = open('temp/x.sh', 'w')\nprint('rm -rf outputs')\nsys.stdout.close()${runs}`,
    `self.f = open('temp/x.sh', 'w')\nself.f.write('rm -rf outputs')${runs}`,
    `f = open('temp/x.sh', 'r+')\nf.write('rm -rf outputs')${runs}`,
    `f = os.open('temp/x.sh', os.O_WRONLY | os.O_CREAT)\nos.write(f, b'rm -rf outputs')${runs}`,
    `text = 'ls' if a else 'rm -rf outputs'\nPath('temp/x.sh').write_text(text)${runs}`,
  ],
  javascript: [
    `const s = fs.createWriteStream('temp/x.sh'); s.write('rm -rf outputs'); s.end();${runsInNode}`,
    `const s = fs.createWriteStream('temp/x.sh'); s.end('rm -rf outputs', () => {${runsInNode} })`,
    `import { createWriteStream } from 'node:fs'; createWriteStream('temp/x.sh').write('rm -rf outputs');${runsInNode}`,
    `const f = fs.openSync('temp/x.sh', 'w'); fs.writeSync(f, 'rm -rf outputs'); fs.closeSync(f);${runsInNode}`,
    `const f = await fs.promises.open('temp/x.sh', 'w'); await f.write('rm -rf outputs');${runsInNode}`,
    `for (const w of ['temp/x', 'outputs']) fs.appendFileSync('temp/x.sh', \`rm -rf \${w}\\n\`);${runsInNode}`,
  ],
});

code("reports and tables that code writes, and scripts of plain text, do not ask [H1]", "", {
  python: [
    "with open('outputs/a.csv', 'w') as f:\n    f.writelines(f'{a},{b}\\n' for a, b in rows)",
    "with open('outputs/a.md', 'w') as f:\n    for r in rows:\n        print(r, file=f)\n        f.write(f'- {r}\\n')\nprint(open('outputs/a.md').read())\nsubprocess.run(['ls', 'outputs'])",
    "with open('outputs/a.csv', 'w', newline='') as f:\n    csv.writer(f).writerow([1])\nsubprocess.run(['python3', 'temp/a.py', 'outputs/a.csv'])",
    "with open('outputs/a.json', 'w') as f:\n    json.dump(d, f)\nos.system('cat outputs/a.json | jq .')",
    "with open('temp/a.sql', 'w') as f:\n    for t in ['a', 'b']:\n        f.write(f'select * from {t};\\n')\nos.system('sqlite3 outputs/a.db < temp/a.sql')",
    "with open('temp/log.txt', 'w') as f:\n    subprocess.run(['bash', 'temp/run.sh'], stdout=f, stderr=f)",
    "with open('temp/run.sh') as f:\n    print(len(list(f)))\nsubprocess.run(['bash', 'temp/run.sh'])",
    `${opened}f.writelines(['ls\\n', 'rm -rf temp/y\\n'])\n    f.flush()\nos.chmod(f.name, 0o755)${runs}`,
    `${opened}print('ls', file=f)\n    print('pwd', file=f)${runs}`,
    `with open('temp/x.sh', 'a') as f:\n    print('ls', file=f)${runs}`,
    `f = Path('temp/x.sh').open('w')\nf.write('ls')\nf.close()${runs}`,
  ],
  javascript: [
    "const s = fs.createWriteStream('outputs/a.csv'); for (const r of rows) s.write(r.join(',')); s.end();",
    `const f = fs.openSync('outputs/a.txt', 'w'); fs.writeSync(f, 'x'); fs.closeSync(f);${runsInNode}`,
    `fs.writeFileSync('temp/x.sh', ['ls', 'pwd'].join('\\n'));${runsInNode}`,
    `fs.openSync('temp/x.sh', 'r');${runsInNode}`,
  ],
});
