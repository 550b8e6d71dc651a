import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

/** A value of so many characters below `temp/`. */
const long = (length: number) => `temp/${"a".repeat(length - 5)}`;

judged("a variable that is cut, filled in or taken apart stands for what the shell makes of it [H1]", [
  ...linesOf(
    "",
    `x=temp/a/b; rm \${x:0:6}
     x=outputs/temp/a; rm \${x:8}
     x=xtemp/a; rm \${x: -6}
     x=temp/abc; rm \${x:0:-1}
     x=xtemp/abcy; rm \${x:1:-1}
     x=xtemp/ay; rm \${x:1:6}
     x=outputs/temp/a; rm \${x#outputs/}
     x=a/b/temp; rm \${x##*/}/c
     x=temp/a.csv; rm \${x%.csv}
     x=temp/a.b.c; rm \${x%%.*}
     x=temp/a; rm \${x%zz}
     rm \${X:-temp/a}
     x=temp/a; rm \${x:-outputs/a}
     rm \${X:=temp/a}; rm $X
     x=temp/a; rm \${x:?}
     x=1; rm temp/\${x:+a}
     a=(temp/a temp/b); rm "\${a[$i]}"
     set -- temp/a temp/b; rm $*
     set -- outputs/a temp/b; shift; rm $1
     set -- a outputs/x temp/b; shift 2; rm $1`,
  ),
  ...linesOf(
    "delete",
    `rm temp/\${Y:0:1}
     x=temp/a; rm \${x:$n}
     x=temp/a; rm \${x:0:$n}
     x=temp/a; rm \${x#$y}
     rm \${X:-outputs/a}
     x=; rm \${x:-outputs/a}
     rm \${X:?temp/a}
     x=1; rm \${x:+outputs/a}
     if a; then x=; else x=temp/a; fi; rm \${x:-outputs/b}
     if a; then x=; else x=outputs/a; fi; rm \${x:-temp/b}
     a=(temp/a outputs/b); rm "\${a[$i]}"
     set -- temp/a outputs/b; rm $*`,
  ),
  [`x=${long(400)}; rm \${x%zz}`, ""],
  [`x=${long(401)}; rm \${x%zz}`, "delete"],
]);

judged("what a program prints about paths is known where the next one uses it [H1]", [
  ...linesOf(
    "",
    `mkdir temp/d; cd temp/d; rm $(pwd)/a
     rm $(mktemp temp/XXXX)
     rm $(mktemp -p temp)
     rm temp/$(basename outputs/a)
     rm temp/$(basename $X)
     rm $(basename x/temp)/a
     rm $(basename x/tempzz zz)/a
     rm $(dirname temp/a)/b
     rm $(realpath temp/a)
     ls temp/* | xargs rm
     cd temp && ls | xargs rm
     echo temp/a | sort | xargs rm`,
  ),
  ...linesOf(
    "delete",
    `rm $(mktemp --tmpdir=outputs)
     rm $(dirname temp)/b
     rm temp/$(dirname $X)
     rm $(realpath outputs/a)
     ls outputs/* | xargs rm
     ls | xargs rm
     $(which -a rm) outputs/a
     $(command -v rm) outputs/a`,
  ),
]);

judged("a text that is printed for a shell is read as it is printed [H1]", [
  ...linesOf(
    "delete",
    `echo -n 'rm outputs/a' | sh
     echo -e 'ls\\nrm outputs/a' | sh
     echo -ne 'ls\\nrm outputs/a' | sh
     echo -e 'rm\\toutputs/a' | sh
     echo rm outputs/a | sh
     printf '%s' 'rm outputs/a' | sh
     printf -- 'rm outputs/a' | sh
     printf 'rm temp/%c' x | sh
     printf 'rm' outputs/a | sh
     printf '%b' 'rm outputs/a' | sh
     printf -v x 'outputs/a'; rm $x
     echo 'rm outputs/a' | tee temp/x | sh
     echo 'rm outputs/a' | source /dev/stdin`,
  ),
  ...linesOf(
    "",
    `echo 'ls\\nrm outputs/a' -e | sh
     echo -E 'ls\\nrm outputs/a' | sh
     printf 'rm temp/%d' 3 | sh
     printf 'rm temp/%d' | sh
     printf 'rm temp/100%%' | sh
     printf -v x '%s' temp/a; rm $x
     echo 'rm outputs/a' | source x.sh`,
  ),
  ...rowsOf("run_unseen", "echo -e '%m outputs/a' | sh", "\\x72 \\0162 \\u0072"),
  ["echo 'rm outputs/a' | sort | sh", "run_unseen"],
]);

judged("what comes in is told apart into the variables that read it [H1]", [
  ...linesOf(
    "",
    `echo 'temp/a temp/b' | { read x y; rm $x $y; }
     echo 'temp/a outputs/b' | { read -a x; rm "\${x[0]}"; }`,
  ),
  ...linesOf(
    "delete",
    `echo 'temp/a outputs/b' | { read x y; rm $y; }
     echo 'temp/a outputs/b' | { read -a x; rm "\${x[1]}"; }
     printf 'temp/a\\noutputs/b' | { mapfile x; rm "\${x[1]}"; }`,
  ),
]);

judged("an alias stands for its whole text, each time that it is called [H1]", [
  ...linesOf(
    "delete",
    `alias x='D=1 rm'; x outputs/a
     alias x=rm; x temp/a; x outputs/b
     alias x=rm; x temp/a outputs/b`,
  ),
  ...linesOf("", `alias x=rm; x "temp/it's"\n alias ls='ls -l'; ls\n alias rm='rm -i'; rm temp/a\n hash ls; ls a`),
]);

judged("a folder that was gone to for sure counts alone, and one that may not have been reached does not [H1]", [
  ...linesOf(
    "",
    `echo a && cd /tmp; rm a
     printf a && cd /tmp; rm a
     true && cd /tmp; rm a
     : && cd /tmp; rm a
     export A=1 && cd /tmp; rm a
     set -u && cd /tmp; rm a
     touch a && cd /tmp; rm a
     mkdir temp/x && cd /tmp; rm a
     ls && cd /tmp || exit; rm a
     ls && cd /tmp || { echo no; exit; }; rm a`,
  ),
  ...linesOf(
    "delete",
    `ls && cd /tmp; rm a
     false && cd /tmp; rm a
     ls && cd /tmp || { echo no; }; rm a
     ls && cd /tmp || echo exit; rm a
     cd; rm a
     cd -; rm a
     trap 'cd /tmp' EXIT; rm a
     complete -C 'cd /tmp' x; rm a
     mapfile -C 'cd /tmp' b; rm a`,
  ),
]);

judged("a list keeps its words in their order, and what is set in it later [H1]", [
  ...linesOf(
    "delete",
    `a=(temp/x); a+=(outputs/y); rm "\${a[1]}"
     a=(outputs/x temp/y); rm $a
     a=(outputs/x temp/y); rm "\${a[@]}"
     a[0]=outputs/x; rm "\${a[0]}"
     a=(temp/x); a[1]=outputs/y; rm "\${a[1]}"
     set -- temp/a outputs/b; rm "$@"
     set -- temp/a outputs/b; rm "\${@}"
     set -- temp/a outputs/b; rm \${*}`,
  ),
  ...linesOf(
    "",
    `a=(outputs/x); a=(temp/y); rm "\${a[0]}"
     a=(temp/x outputs/y); rm $a
     a[0]=temp/x; rm "\${a[0]}"
     set -- temp/a temp/b; rm "\${@}"`,
  ),
]);

judged("a loop over one word runs once, and over more or nobody knows how many again with what it left [H1]", [
  ["D=temp/x; for i in 1; do rm $D; D=outputs/a; done", ""],
  ...rowsOf("delete", "D=temp/x; for i in %; do rm $D; D=outputs/a; done", "{1,2} * $X"),
  ["if D=temp; ls; then rm $D/a; fi", ""],
  ["time cd temp && rm a", ""],
  ["! cd temp/x && rm a", "delete"],
]);

judged("braces are spelled out with all that stands around them [H1]", [
  ...linesOf("", "rm temp/{a,b}\n rm temp/{1..3}.csv\n rm temp/{a,{b,c}}\n rm {temp,temp/x}/a"),
  ...linesOf(
    "delete",
    `rm {temp,outputs}/a
     rm temp/{a,../outputs/b}
     rm {temp/a,temp/b}/../../outputs/c
     rm {1..3}`,
  ),
]);

judged("a program that others start by a variable, and a text that stands for a file, are read like a command [H1]", [
  ...linesOf("delete", "PAGER='cd /tmp' man x; rm a\n cat <(rm outputs/a)"),
  ["sh <(echo 'rm outputs/a')", "delete run_unseen"],
  ["PAGER='rm outputs/a'", ""],
  ["sh <(curl x.example)", "network run_unseen"],
  ["rm outputs/a; if", "delete unreadable"],
]);
