import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

const onlyListed = (command: string, commands: readonly string[] = []) =>
  kindsOf(commandFindings(command, judgedFacts, { commands, onlySafe: true }));

test("words of the shell itself go without asking where only listed commands do, and other programs do not [H1]", () => {
  const words = `: [ [[ test true false cd pushd popd pwd echo printf read mapfile readarray set shift unset export declare typeset
    local readonly let getopts return exit break continue wait jobs fg bg disown alias unalias umask ulimit type hash trap eval
    source . exec command builtin env shopt times dirs logout help history complete compgen enable if then else fi for while do
    done case esac function select time sleep`;
  const asked = rowsOf("", "'%'", words).filter(([command]) => onlyListed(command) !== "");
  assert.deepEqual(asked, []);
  const wrapped = "command builtin exec nohup nice env xargs parallel time setsid stdbuf".split(" ");
  assert.deepEqual(
    wrapped.map((wrapper) => [wrapper, onlyListed(`${wrapper} ls`, ["ls"]), onlyListed(`${wrapper} make`, ["ls"])]),
    wrapped.map((wrapper) => [wrapper, "", "not_safe"]),
  );
  assert.deepEqual(
    ["ls", "nohup", "xargs", "git", "git status", "git status -s", "git log", "status git"].map((command) =>
      onlyListed(command, ["git status"]),
    ),
    ["not_safe", "not_safe", "not_safe", "not_safe", "", "", "not_safe", "not_safe"],
  );
});

judged("each word that changes what the shell knows is followed [H1]", [
  ...rowsOf("", "% temp && rm a", "cd pushd"),
  ...rowsOf("delete", "% outputs && rm a", "cd pushd"),
  ...linesOf(
    "delete",
    `cd temp && popd && rm a
       D=temp/x; unset D; rm -rf "$D"
       set -- temp/a outputs/b; shift; rm $1
       set -- temp/a temp/b outputs/c; shift 2; rm $1
       set outputs/a; rm $1
       alias x=rm y=ls; x outputs/a
       complete -C 'rm outputs/a' x
       compgen -C 'rm outputs/a'
       trap 'rm outputs/a' INT TERM
       trap -- 'rm outputs/a' EXIT
       echo 'rm outputs/a' > temp/x; source temp/x
       echo 'rm $1' > temp/x; source temp/x outputs/a
       echo 'rm outputs/a' | source /dev/stdin`,
  ),
  ...linesOf(
    "",
    `set -- outputs/a temp/b; shift; rm $1
       set -- outputs/a outputs/b temp/c; shift 2; rm $1
       alias ls=rm; unalias ls; ls outputs/a
       trap - EXIT
       set -o errexit; cd temp/b; rm a
       set -eu; cd temp/b; rm a
       CDPATH=/; cd ./temp && rm a
       CDPATH=/; cd /tmp && rm a
       CDPATH=/; cd ~/temp && rm a
       cd; rm temp/a
       cd -P temp && rm a
       cd temp && hash -r && rm a`,
  ),
  ...rowsOf("unreadable", "% -n r=x; $r", "declare local typeset"),
  ...rowsOf("delete", "% -C 'rm outputs/a' -c 1 a < x", "mapfile readarray"),
  ...rowsOf("delete", 'echo outputs/a > temp/l; % a < temp/l; rm "${a[0]}"', "mapfile readarray"),
  ...rowsOf("delete", 'read % a <<< outputs/a; rm "$a"', "-r"),
  ...rowsOf(
    "delete",
    "% -v 'a[$(rm outputs/a)]'",
    "test '[' '[[' read mapfile readarray declare typeset local let unset wait printf",
  ),
  ...linesOf(
    "delete",
    "read a b <<< 'temp/x outputs/y'; rm $b\n read <<< outputs/a; rm $REPLY\n unset 'a[`rm outputs/a`]'",
  ),
  ...linesOf("delete", "read -a a <<< 'temp/x outputs/y'; rm ${a[1]}\n eval 'rm' outputs/a"),
  ...rowsOf("", "cd temp/b || %; rm a", "exit return break continue"),
  ...rowsOf("delete", "cd temp/b || %; rm a", "true echo"),
  ...linesOf("", "cd temp/b || { echo no; exit 1; }; rm a"),
  ...rowsOf("run_unseen", "% > temp/x.sh; echo 'rm outputs/a'; bash temp/x.sh", "exec"),
  ...linesOf("run_unseen", "builtin exec > temp/x.sh; echo 'rm outputs/a'; bash temp/x.sh"),
]);

judged("what every shell has in its variables is known, and leads nowhere else [H1]", [
  ...rowsOf(
    "",
    'rm "temp/$%"',
    `$ ! ? # - RANDOM SECONDS EPOCHSECONDS LINENO UID EUID PPID BASHPID HOSTNAME USER LOGNAME LANG TERM OSTYPE`,
  ),
  ...rowsOf("delete", 'rm "temp/$%"', "NAME X 1 @ *"),
  ...rowsOf("delete", "$% -c 'rm outputs/a'", "SHELL BASH 0"),
  ...rowsOf("", "rm $%/temp/a", "HOME AGENT_WORKSPACE_PATH PWD"),
  ...linesOf("", "rm $TMPDIR/a\n cd temp && rm $PWD/a\n rm $(pwd)/temp/a"),
  ...linesOf("delete", "cd outputs && rm $PWD/a\n rm $OLDPWD/a"),
]);

test("a value is cut, replaced and turned as the shell does it [H1]", () => {
  compare(
    commandFindings,
    linesOf(
      "",
      `P=temp/a/b; rm \${P%/*}
       P=temp/../outputs; rm -r \${P%%/*}
       P=x/temp/a; rm \${P#*/}
       P=x/y/temp; cd temp && rm \${P##*/}
       P=temp/a.txt; rm \${P%.txt}
       P=xtemp/a; rm \${P/x/}
       P=txempx/a; rm \${P//x/}
       P=xtemp/a; rm \${P:1}
       P=temp/axx; rm \${P:0:6}
       P=xtemp/a; rm \${P: -6}
       P=temp/axx; rm \${P:0:-2}
       P=TEMP/a; rm \${P,,}
       P=Temp/a; rm \${P,}
       rm \${P:+temp/a}
       rm \${P:-temp/a}
       P=temp; rm \${P:?}/a
       P=temp; rm \${P:-outputs}/a
       rm \${P:=temp/a}; rm $P
       A=(temp/a temp/b); rm \${A[1]}
       A=(temp/a); A+=(temp/b); rm "\${A[@]}"
       A=(temp/a temp/b); rm "\${A[*]}"
       P=temp; P+=/a; rm $P
       rm temp/\${#P}
       rm temp/{a..c} temp/{1..3}
       rm temp/{a,b}{c,d}
       rm $"temp/a" temp/@(a|b)
       set -- temp/a; rm "$@" "$*" \${@} \${*} "./$@"`,
    ),
  );
  compare(
    commandFindings,
    linesOf(
      "delete",
      `P=x/temp/a; rm \${P##*/}
       P=temp/a/../../outputs; rm -r \${P%/*}
       P=txempx/a; rm \${P/x/}
       P=temp/a; rm \${P^^}
       P=temp/a; rm \${P^}
       P=TEMP/a; rm \${P,}
       P=xxtemp/a; rm \${P:1}
       P=outputs; rm \${P:-temp}/a
       P=outputs; rm \${P:?}/a
       rm \${P:?no}/a
       P=temp; rm \${P:+outputs}/a
       rm \${P:=outputs/a}
       rm \${P:=temp/a}; P=outputs/a; rm $P
       A=(temp/a outputs/b); rm \${A[1]}
       A=(temp/a); A+=(outputs/b); rm "\${A[@]}"
       A[0]=outputs/a; rm \${A[0]}
       P=outputs; P+=/a; rm $P
       N=P; P=outputs/a; rm \${!N}
       rm {temp/a,outputs/{b,c}}
       rm $"outputs/a"
       rm @(outputs)/a
       set -- outputs/a; rm "./$@"
       set -- outputs/a; rm "./$*"
       echo $(( \${x:-$(rm outputs/a)} ))
       rm temp/{a,"../outputs/b"}`,
    ),
  );
});

judged("what a program prints is followed where its words tell it [H1]", [
  ...rowsOf(
    "",
    "find temp -type f | % | xargs rm",
    "grep egrep fgrep rg sort uniq head tail tee shuf pv nl less more fzf sponge column expand fold fmt cat tac",
  ),
  ...rowsOf("delete", "find temp -type f | % | xargs rm", "awk sed cut tr rev run"),
  ...rowsOf(
    "",
    'rm "temp/$(% x)"',
    `wc date seq expr nproc id whoami hostname uname bc stat du df uuidgen md5sum sha256sum sha1sum cksum arch tty logname free
       jot basename`,
  ),
  ...rowsOf("delete", 'rm "temp/$(% x)"', "awk cat run head"),
  ...rowsOf("", "rm $(% temp/a)", "echo printf realpath readlink"),
  ...rowsOf("delete", "rm $(% outputs/a)", "echo printf realpath readlink basename"),
  ...rowsOf("delete", "$(% rm) outputs/a", "which type echo printf"),
  ...rowsOf("delete", "% <<< 'rm outputs/a' | sh", "cat tac"),
  ...linesOf(
    "",
    `rm $(mktemp -p temp)
       rm $(mktemp --tmpdir=temp)
       rm $(mktemp -t a.XXX)
       rm $(mktemp temp/a.XXX)
       rm $(dirname temp/a/b)
       cd temp && rm $(pwd)/a
       rm $(echo -n temp/a)
       rm $(echo -e 'temp/a\\ttemp/b')
       rm $(printf '%s/%d' temp 7)
       rm $(printf '%q/%i' temp 7)
       rm $(printf '%b' temp/a)
       rm $(printf -- temp/a)
       true | sh
       rm temp/$(true)a`,
  ),
  ...linesOf(
    "delete",
    `rm $(mktemp outputs/a.XXX)
       rm $(mktemp -p outputs)
       rm $(dirname outputs/a/b)
       rm $(echo -e 'temp/a\\noutputs/b')
       rm $(printf '%s ' temp/a outputs/b)
       rm $(printf '%s/%s' outputs a)
       cat temp/l - <<< x; echo 'rm outputs/a' > temp/l; cat temp/l temp/l | sh`,
  ),
  ...rowsOf("run_unseen", "echo -e '%' | sh", "\\\\x6c \\\\0154 \\\\154 \\\\u006c"),
]);

judged("where a word stands for something that is known, nothing is asked for its sake; where it changed, it is [H1]", [
  ...linesOf(
    "",
    `set temp/a; rm $1
     declare D=temp/x; rm $D
     read f <<< temp/a; rm "$f"
     read -p x f <<< temp/a; rm "$f"
     read <<< temp/a; rm $REPLY
     read a b <<< 'temp/x temp/y'; rm $a $b
     read -a a <<< 'temp/x temp/y'; rm "\${a[@]}"
     mapfile a <<< temp/x; rm "\${a[@]}"
     mapfile <<< temp/x; rm "\${MAPFILE[@]}"
     echo 'rm $1' > temp/x; source temp/x temp/a
     echo 'rm $1' > temp/x; bash temp/x temp/a
     bash -c 'rm $1' x temp/a
     bash -c 'rm $0' temp/a
     cd /tmp; rm a
     cd temp/$RANDOM; rm a
     trap 'rm outputs/a'
     find temp -exec rm {} + -newer outputs/x
     find temp -exec rm {} \\; -newer outputs/x
     find outputs -exec rm temp/a \\;
     find outputs -ok rm temp/a \\;
     echo 'temp/a outputs/b' | xargs -0 rm
     echo 'temp/a outputs/b' | xargs --null rm
     echo 'temp/a outputs/b' | xargs -d , rm
     docker cp x rm outputs/a
     git submodule status 'rm outputs/a'
     git bisect good rm outputs/a
     git rebase main 'rm outputs/a'
     git clean -n outputs
     git branch -f x y`,
  ),
  ...linesOf(
    "delete",
    `set -- outputs/a; set -u; rm $1
     set -- outputs/a; set +u; rm $1
     set -- outputs/a; echo 'rm $1' > temp/x; source temp/x
     set -x; cd temp/b; rm a
     echo 'temp/a outputs/b' | xargs rm
     env -S 'rm' outputs/a
     env -S'rm' -f outputs/a
     rm -- -a`,
  ),
  ...linesOf("run_unseen", "source $X\n source /dev/fd/9"),
  ["curl -o temp/a x.example/a -o temp/b.sh x.example/b; bash temp/b.sh", "network run_unseen"],
]);
