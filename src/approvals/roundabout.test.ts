import { test } from "node:test";
import { compare } from "../../test/world/judged-commands.ts";
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
