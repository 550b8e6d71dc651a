import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("the words of the program behind another one stay its own [H1]", [
  ...rowsOf("delete", "% bash -c 'rm outputs/a'", "nohup nice time env setsid stdbuf command exec"),
  ...linesOf(
    "delete",
    `timeout 5 bash -c 'rm outputs/a'
     docker exec c bash -c 'rm outputs/a'
     uv run bash -c 'rm outputs/a'
     xargs bash -c 'rm outputs/a'
     screen bash -c 'rm outputs/a'
     screen -dm bash -c 'rm outputs/a'
     tmux new bash -c 'rm outputs/a'
     tmux -L s new 'rm outputs/a'
     tmux new -d -x 80 -y 24 'rm outputs/a'
     tmux split-window -l 10 'rm outputs/a'
     tmux new 'rm outputs/a' -d
     entr bash -c 'rm outputs/a'
     watch -x bash -c 'rm outputs/a'
     nice LONG=1 rm outputs/a
     command rm outputs/a-v
     command rm -vf outputs/a
     env rm outputs/a-S
     hyperfine ls 'rm outputs/a'
     script -c ls -c 'rm outputs/a' temp/log`,
  ),
  ...linesOf("delete network", "ssh host env -i rm outputs/a\n ssh host rm outputs/a"),
  ["su me -c 'rm outputs/a'", "delete privilege"],
]);

judged("a program that is looked through leaves the shell where it was [H1]", [
  ...linesOf(
    "delete",
    `tmux new 'cd temp'; rm a
     screen cd temp; rm a
     hyperfine 'cd temp'; rm a
     make -C temp; rm a
     make SHELL='cd temp'; rm a
     env -C temp ls; rm a
     flock temp/lock -c 'cd temp'; rm a
     script -c 'cd temp' temp/log; rm a
     timeout 5 cd /tmp; rm a
     echo 'cd /tmp' | at now; rm a
     uv run cd /tmp; rm a
     flock temp/lock cd /tmp; rm a
     echo /tmp | parallel cd; rm a
     echo 'cd /tmp' | parallel; rm a
     find . -exec cd /tmp \\;; rm a
     start-stop-daemon -S -x cd -- /tmp; rm a
     cd() { builtin cd /tmp; }; nice cd; rm a`,
  ),
  ...rowsOf("delete", "% cd /tmp; rm a", "nice nohup setsid watch entr xargs stdbuf busybox"),
  ...rowsOf("", "% cd /tmp; rm a", "command builtin"),
  ["ssh host 'cd temp'; rm a", "delete network"],
]);

judged("what only looks like such a program, or is told nothing to run, runs nothing [H1]", [
  ...linesOf(
    "",
    `command -vv rm outputs/a
     at now
     batch
     start-stop-daemon -K -p x
     tmux my-new 'rm outputs/a'
     tmux newx 'rm outputs/a'
     make -f -
     make MYSHELL='rm outputs/a'
     uv run
     gdb -ex 'print shell rm outputs/a' x
     gdb -ex 'rm outputs/a' x
     perf my-stat rm outputs/a
     perf statx rm outputs/a
     setarch mylinux32 rm outputs/a
     script rm outputs/a
     flock temp/lock`,
  ),
  ...linesOf("", "ls() { rm outputs/a; }; command ls\n echo() { rm outputs/a; }; builtin echo x"),
  ["ls() { rm outputs/a; }; nice ls", "delete"],
]);

judged("a makefile is read as make reads it: its variables, its comments and each line by itself [H1]", [
  ...["DIR = temp/a", "DIR=temp/a", "DIR := temp/a", "DIR ?= temp/a"].map((line): [string, string] => [
    `printf '${line}\\nall:\\n\\trm -rf $(DIR)\\n' > Makefile; make`,
    "",
  ]),
  ["printf 'all:\\n\\tls\\n\\trm -rf outputs\\n' > Makefile; make", "delete"],
  ["printf 'all:\\n\\trm a\\n' > temp/makefile; make -C temp", ""],
  ["printf '#all: ; rm -rf outputs\\n' > Makefile; make", ""],
  ["printf 'X=a: ; rm -rf outputs\\n' > Makefile; make", ""],
  ["printf 'all:\\n\\tfor f in temp/a; do rm -rf $$f $$f; done\\n' > Makefile; make", ""],
]);

judged("what comes in is put where it belongs, as often as it is named [H1]", [
  ...linesOf(
    "",
    `echo a | xargs -I{} rm temp/{}
     echo a | xargs --replace={} rm temp/{}
     echo temp/a | xargs -I{} sh -c 'ls {}; rm -rf {}'
     find temp -exec sh -c 'ls {}; rm {}' \\;
     find . -exec rm temp/a \\;
     find . -ok rm temp/a \\;
     find temp -exec rm -f {} \\; -exec ls outputs/a \\;`,
  ),
  ...rowsOf("delete", "echo temp/a | xargs % list rm", "-a --arg-file"),
  ["echo outputs/a | xargs echo rm | sh", "run_unseen"],
]);

judged("what find comes by lies below where it starts, by the names it looks for [H1]", [
  ...linesOf(
    "",
    `find temp/my-dir -delete
     find temp/a-H -delete
     find temp | xargs rm
     find . -path './temp/*' | xargs rm
     find -path './temp/*' -delete
     cd temp && find -delete`,
  ),
  ...linesOf(
    "delete",
    `find temp outputs | xargs rm
     find . -path './outputs/*' -delete
     find . -delete -path './temp/*' -exec ls {} +`,
  ),
  ...rowsOf("credentials", "find . % id_rsa -exec cat {} +", "-name -iname"),
]);
