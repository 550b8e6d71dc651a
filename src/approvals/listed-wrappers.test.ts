import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

const nothingListed = { commands: [], onlySafe: false };
const scripts = (command: string) => scriptsOf({ tool: "run_bash_command", arguments: { command } });

judged("each program that runs another one is looked through [H1]", [
  ...rowsOf(
    "delete",
    "% rm outputs/a",
    `command builtin exec nohup setsid time nice ionice stdbuf unbuffer strace ltrace gdb valgrind busybox toybox chronic
       setarch linux32 linux64 i386 x86_64 uname26 cpulimit choom ifne prlimit numactl caffeinate catchsegv dbus-run-session
       fakeroot proxychains proxychains4 torify torsocks xvfb-run sshpass rlwrap env xargs watch entr screen /lib/ld.so
       /lib/ld-linux.so.2 /lib64/ld-linux-x86-64.so.2`,
  ),
  ...rowsOf("delete", "% 1 rm outputs/a", "timeout taskset chrt faketime"),
  ...rowsOf("delete privilege", "% rm outputs/a", "sudo doas pkexec unshare nsenter setpriv capsh chpst aa-exec"),
  ...rowsOf("delete privilege", "% x rm outputs/a", "chroot gosu su-exec setuidgid"),
  ...rowsOf("delete", "perf % rm outputs/a", "stat record trace"),
  ...rowsOf(
    "delete",
    "setarch % rm outputs/a",
    `linux32 linux64 uname26 i386 i486 i586 i686 x86_64 athlon alpha arm armv7l aarch64 mips ppc64 s390x sparc parisc riscv64
       loongarch64 ia64`,
  ),
  ...rowsOf("delete", "% exec c rm outputs/a", "docker podman"),
  ["script -c 'rm outputs/a' temp/log", "delete"],
  ...rowsOf("delete privilege", "% -c 'rm outputs/a' me", "su runuser"),
  ...rowsOf("delete privilege", "su % 'rm outputs/a'", "-c --command"),
  ["runuser -u me -- rm outputs/a", "delete privilege"],
  ...rowsOf("delete", "echo 'rm outputs/a' | %", "at batch sh parallel"),
  ...rowsOf("delete", "% run rm outputs/a", "uv poetry pdm hatch conda mamba micromamba"),
  ...rowsOf("delete", "% exec rm outputs/a", "bundle pnpm direnv"),
  ...linesOf("delete packages", "pipenv run rm outputs/a\n npm exec rm outputs/a"),
  ...rowsOf("delete", "tmux % 'rm outputs/a'", "new new-session new-window neww split-window run-shell run"),
  ...rowsOf("", "tmux % 'rm outputs/a'", "ls kill-session rename-window"),
  ...rowsOf("delete", "find outputs % rm {} +", "-exec -execdir -ok -okdir"),
  ...rowsOf("delete", "fd . outputs % rm", "-x -X --exec --exec-batch"),
  ...linesOf(
    "delete",
    `fdfind . outputs -x rm
       flock temp/lock rm outputs/a
       flock temp/lock -c 'rm outputs/a'
       parallel rm {} ::: outputs/a
       parallel rm ::: outputs/a
       parallel 'rm outputs/{}' ::: a
       hyperfine 'rm outputs/a'
       start-stop-daemon -S -x /bin/rm -- outputs/a
       start-stop-daemon -S --exec /bin/rm -- outputs/a
       start-stop-daemon -S -a /bin/rm -- outputs/a
       start-stop-daemon -S --startas /bin/rm -- outputs/a
       gdb -ex '!rm outputs/a' x
       gdb -ex 'shell rm outputs/a' x`,
  ),
  ...linesOf("", "command -v rm outputs/a\n command -V rm outputs/a\n docker cp rm outputs/a\n perf list rm outputs/a"),
]);

const short = (program: string, letters: string, kinds = "delete") =>
  rowsOf(kinds, `${program} -% x rm outputs/a`, letters);
const long = (program: string, words: string, kinds = "delete") =>
  rowsOf(kinds, `${program} --% x rm outputs/a`, words);
const raised = "delete privilege";

judged("an option of such a program that takes a word does not hide the program behind it [H1]", [
  ...short("exec", "a"),
  ...[...short("/usr/bin/time", "f o"), ...long("/usr/bin/time", "format output")],
  ...[...short("nice", "n"), ...long("nice", "adjustment")],
  ...[...short("ionice", "c n p"), ...long("ionice", "class classdata pid")],
  ...rowsOf("delete", "chrt % x 0 rm outputs/a", "-T -P -D --sched-runtime --sched-period --sched-deadline"),
  ...rowsOf("delete", "timeout % x 5 rm outputs/a", "-s -k --signal --kill-after"),
  ...[...short("stdbuf", "i o e"), ...long("stdbuf", "input output error")],
  ...[...short("strace", "o e p s u P a b E I O S U X"), ...long("strace", "output trace user env attach")],
  ...short("ltrace", "o e p s u a A D F l n w x"),
  ...long("ltrace", "output library indent align where"),
  ...short("gdb", "x ex"),
  ...short("cpulimit", "l p e"),
  ...[...short("choom", "n p"), ...long("choom", "adjust pid")],
  ...[...short("sudo", "u g h p C r t", raised), ...long("sudo", "user group", raised)],
  ...short("doas", "u C", raised),
  ...long("pkexec", "user", raised),
  ...short("unshare", "S G R w", raised),
  ...[...short("nsenter", "t S G", raised), ...long("nsenter", "target", raised)],
  ...long("setpriv", "reuid regid groups", raised),
  ...short("numactl", "C N m i p"),
  ...long("numactl", "physcpubind cpunodebind membind interleave preferred"),
  ...short("caffeinate", "t w"),
  ...short("perf stat", "e o r C p t x D F m u M"),
  ...long("perf stat", "event output repeat cpu pid tid freq"),
  ...short("chpst", "u U b e / n l L m d o p f c", raised),
  ...short("aa-exec", "p n", raised),
  ...[...short("fakeroot", "l i s b"), ...long("fakeroot", "lib faked fd-base")],
  ...[...short("proxychains", "f"), ...short("proxychains4", "f")],
  ...short("xvfb-run", "s e n f p w"),
  ...long("xvfb-run", "server-args error-file server-num auth-file xauth-protocol wait"),
  ...short("sshpass", "p f"),
  ...[...short("rlwrap", "b C D f H l M O P q S s t w z"), ...long("rlwrap", "history-filename file")],
  ...rowsOf("delete", "docker exec % x c rm outputs/a", "-e -u -w --env --user --workdir"),
  ...rowsOf("delete", "conda run % x rm outputs/a", "-n --name -p --prefix --with --python"),
  ...rowsOf("delete", "env % x rm outputs/a", "-u --unset"),
  ...rowsOf("delete", "env % outputs rm a", "-C --chdir"),
  ...rowsOf("", "env % temp rm a", "-C --chdir"),
  ...rowsOf("delete", "env % 'rm outputs/a'", "-S -vS --split-string"),
  ...linesOf("delete", "env --split-string='rm outputs/a'\n env -S'rm outputs/a'"),
  ...rowsOf("delete", "watch % 1 rm outputs/a", "-n --interval"),
  ...short("screen", "S t T c e h p"),
  ...rowsOf("delete", "hyperfine % 'rm outputs/a' ls", "-s --setup -p --prepare -C --conclude -c --cleanup"),
  ...rowsOf("", "hyperfine % 'rm outputs/a' ls", "-w -r -m -M -n --warmup --runs --min-runs --max-runs"),
  ...rowsOf("delete", "tmux new -% x 'rm outputs/a'", "n s t c"),
  ...rowsOf("", "start-stop-daemon -S % outputs/x -x /bin/rm -- temp/a", "-p --pidfile -u -c --chuid"),
  ...rowsOf("delete", "flock % 3 temp/lock rm outputs/a", "-w -E"),
  ...rowsOf("delete privilege", "su % x -c 'rm outputs/a'", "-s -g -w"),
  ...rowsOf(
    "delete",
    "echo outputs/a | xargs % x rm",
    `-I -i -L -n -P -s -E -d -a -j --replace --max-args --max-procs --delimiter --arg-file --jobs`,
  ),
  ...rowsOf("delete", "parallel % x rm ::: outputs/a", "-j --jobs -I -a"),
  ...rowsOf("delete network", "ssh -% x host 'rm outputs/a'", "B b c D E e F I i J L l m O o p Q R S W w"),
]);

judged("what find comes by is told apart by where it starts and what it tests [H1]", [
  ...rowsOf("", "find % temp -delete", "-H -L -P -O3"),
  ["find temp \\( -name a \\) -delete", ""],
  ...linesOf("", "find temp ! -name a -delete\n find . -wholename './temp/*' -delete\n find temp -iname a -delete"),
  ...rowsOf("delete", "find . % -path './temp/*' -delete", "! -not"),
  ...rowsOf("delete", "find . -path './temp/*' % -name x -delete", "-o -or ,"),
]);

test("the commands of a makefile that a command wrote are judged, whatever it is called [H1]", () => {
  const write = "printf 'all:\\n\\trm -rf outputs\\n' >";
  const recipe = (text: string) => `printf '${text}' > Makefile; make`;
  compare(commandFindings, [
    ...rowsOf("delete", `${write} %; make`, "GNUmakefile makefile Makefile"),
    ...rowsOf("", `${write} %; make`, "notes.txt"),
    ...rowsOf("delete", `${write} temp/m; make % temp/m`, "-f --file --makefile"),
    ...rowsOf("delete", "printf 'all:\\n\\trm ../outputs/a\\n' > temp/makefile; make % temp", "-C --directory"),
    [`${write} makefile; gmake`, "delete"],
    [recipe("all: ; rm -rf outputs"), "delete"],
    [recipe("all:\\n\\t@-+rm -rf outputs"), "delete"],
    [recipe("X = outputs\\nall:\\n\\trm -rf $(X)"), "delete"],
    [recipe("X := temp/a\\nall:\\n\\trm -rf $(X)"), ""],
    [recipe("X ?= temp/a\\nall:\\n\\trm -rf ${X}"), ""],
    [recipe("all:\\n\\t$(RM) outputs/a"), "delete"],
    [recipe("all:\\n\\techo $$$$; rm temp/$$$$"), ""],
  ]);
});

test("each shell and each language runs the text it is given [H1]", () => {
  const node = `"require('fs').rmSync('outputs')"`;
  const python = `"import os; os.remove('outputs/a')"`;
  compare(commandFindings, [
    ...rowsOf("delete", "% -c 'rm outputs/a'", "sh bash dash zsh ksh ash fish rbash mksh"),
    ...rowsOf("delete", "bash % x -c 'rm outputs/a'", "-o -O --rcfile --init-file +o"),
    ...rowsOf("delete", "echo 'rm outputs/a' | bash %", "- -s /dev/stdin -e"),
    ...rowsOf("delete", `% -c ${python}`, "python python3 python3.12 ipython ipython3 pypy pypy3"),
    ...rowsOf("delete", `python3 % x -c ${python}`, "-W -X"),
    ...rowsOf("delete", `echo ${python} | python3 %`, "- /dev/stdin -u"),
    ...rowsOf("delete", `% -e ${node}`, "node nodejs deno bun tsx ts-node"),
    ...rowsOf("delete", `node % ${node}`, "-e --eval -p --print -pe"),
    ...rowsOf("delete", `node % x -e ${node}`, "-r --require --import --loader --env-file"),
    [`deno eval ${node}`, "delete"],
    ...rowsOf("delete", `node --%=${node}`, "eval print"),
    ...rowsOf(
      "delete",
      "% -e 'unlink(\"outputs/a\")'",
      "perl ruby lua luajit Rscript R osascript tclsh guile julia groovy expect emacs perl5.36",
    ),
    ...rowsOf("delete", "perl % 'unlink(\"outputs/a\")'", "-e -E -ne -pe -lne -lane -le"),
    ...rowsOf("delete", "perl % x -e 'unlink(\"outputs/a\")'", "-I"),
    ...linesOf(
      "delete",
      `perl -n -e 'unlink("outputs/a")'
       perl -MEncode -e 'unlink("outputs/a")'
       perl -e 1 -e 'unlink("outputs/a")'
       ruby -r date -e 'File.delete("outputs/a")'
       ruby -rdate -e 'File.delete("outputs/a")'
       ruby -E utf-8 -e 'File.delete("outputs/a")'
       php -d x=1 -r 'unlink("outputs/a");'
       php -z x -r 'unlink("outputs/a");'
       julia -E 'rm("outputs/a")'
       guile -c '(delete-file "outputs/a")'`,
    ),
    ...rowsOf("delete", `python3 % ${python}`, "-c -Ic -uc"),
    ...linesOf("", `python3 a.py -c "$CONFIG"\n node a.js -e "$MODE"\n python3 a.py -c print`),
    ...linesOf("delete", `php -r 'unlink("outputs/a");'\n emacs --eval '(delete-file "outputs/a")'`),
    ...rowsOf("delete", "% 'BEGIN{system(\"rm outputs/a\")}'", "awk gawk mawk nawk"),
    ...linesOf("", "ls | node -v\n ls | python3 -V\n ls | python3 -h"),
  ]);
});

judged("each program that is told to run another one on the way is judged by it [H1]", [
  ...rowsOf(
    "delete",
    "tar xf a.tar --%='rm outputs/a'",
    "checkpoint-action=exec to-command use-compress-program rsh-command",
  ),
  ...rowsOf("delete", "tar xf a.tar % 'rm outputs/a'", "-I --to-command --use-compress-program"),
  ...rowsOf("delete", "sqlite3 a.db '.% rm outputs/a'", "shell system"),
  ...rowsOf("delete", "% '+!rm outputs/a'", "vim vi nvim ex view less more"),
  ["vim '+:!rm outputs/a'", "delete"],
  ...rowsOf("delete", "man % 'rm outputs/a' ls", "-P --pager"),
  ...rowsOf("delete", "echo '!rm outputs/a' | %", "ed ex"),
  ...linesOf(
    "delete",
    `man --pager='rm outputs/a' ls
       rg --pre='rm' x
       rg --pre rm x
       sort --compress-program 'rm outputs/a' a
       sort --compress-program='rm outputs/a' a
       split --filter 'rm outputs/a' a
       echo '.system rm outputs/a' | sqlite3 a.db
       echo '\\! rm outputs/a' | psql
       psql -c "copy t to program 'rm outputs/a'"
       psql -c "COPY t FROM PROGRAM 'rm outputs/a'"
       sed -e '1e rm outputs/a' a
       sed --expression='1e rm outputs/a' a
       sed 'p;e rm outputs/a' a
       sed '$e rm outputs/a' a
       sed '/x/e rm outputs/a' a
       sed p -e '1e rm outputs/a' a
       sed p --expression '1e rm outputs/a' a
       sed -l 5 '1e rm outputs/a' a
       awk -F x 'BEGIN{system("rm outputs/a")}'
       awk -v x=1 'BEGIN{system("rm outputs/a")}'
       awk 'BEGIN{print "x" | "rm outputs/a"}'
       awk 'BEGIN{"rm outputs/a" | getline x}'
       awk 'BEGIN{print "x" |& "rm outputs/a"}'`,
  ),
  ...rowsOf("run_unseen", "sed '%' a", "s/a/b/e s|a|b|e s#a#b#e s,a,b,e s@a@b@e s/a/b/ge s/a/b/2e s/a/b/pe s/a/b/Ie"),
  ...rowsOf("", "sed '%' a", "s/a/e/ s/e/b/g"),
  ...linesOf(
    "run_unseen",
    `awk '{system($1)}' a
       awk '{cmd = $1; cmd | getline x}' a
       awk '{print | cmd}' a
       awk '{print | $1}' a`,
  ),
  ...rowsOf(
    "delete",
    "%='rm outputs/a' ls",
    `PAGER MANPAGER GIT_PAGER GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR EDITOR VISUAL PROMPT_COMMAND LESSOPEN LESSCLOSE
       RSYNC_RSH`,
  ),
  ...rowsOf("", "%='rm outputs/a' ls", "NAME PAGERS MY_EDITOR"),
  ...rowsOf("run_unseen", "%=./x.so ls", "LD_PRELOAD LD_AUDIT"),
  ...rowsOf("", "LD_PRELOAD=% ls", "/usr/lib/x.so /lib/x.so libx.so ''"),
]);

test("a file that is read before a program begins is judged with it [H1]", () => {
  const facts = { ...judgedFacts, scripts: new Map([["temp/x", "rm outputs/a"]]) };
  const found = ["BASH_ENV", "ENV", "PYTHONSTARTUP", "OTHER"].map((name) =>
    kindsOf(commandFindings(`${name}=temp/x ls`, facts, nothingListed)),
  );
  assert.deepEqual(found, ["delete", "delete", "delete", ""]);
});

test("a script is asked for by its ending, and by the program that runs it [H1]", () => {
  const endings = "sh bash py js mjs cjs ts sql pl rb php awk".split(" ");
  assert.deepEqual(
    [...endings, "txt", "csv"].map((ending) => scripts(`cat a.${ending}`)),
    [...endings.map((ending) => [`a.${ending}`]), [], []],
  );
  const programs = ["deno run", "deno test", "bun run", "bun test", "node", "tsx", "perl", "fish"];
  assert.deepEqual(
    programs.map((program) => scripts(`${program} a.x`)),
    programs.map(() => ["a.x"]),
  );
  const behind = `node --require x a.x
    node -r x a.x
    node --import x a.x
    node --loader x a.x
    node --env-file x a.x
    python3 -W x a.x
    python3 -X x a.x
    ruby -r x a.x
    ruby -rdate a.x
    ruby -E utf-8 a.x
    ruby -c a.x
    ruby -I lib -C temp/.. a.x
    perl -MEncode a.x
    perl -I lib a.x
    php -d x=1 -c x a.x
    lua -l x a.x`;
  assert.deepEqual(
    linesOf("", behind).filter(([command]) => !scripts(command).includes("a.x")),
    [],
  );
  const places = ["/usr/local/x", "/bin/x", "/sbin/x", "/opt/x", "/run/x", "x"];
  assert.deepEqual(
    places.map((place) => scripts(place)),
    places.map(() => []),
  );
  assert.deepEqual([scripts("./x"), scripts("/srv/x")], [["x"], ["/srv/x"]]);
  compare(commandFindings, rowsOf("run_unseen", "bash %/q", "/tmp /var/tmp /dev/shm"));
});

test("a script that is started by its path is read in the language of its ending or its first line [H1]", () => {
  const texts: Record<string, string> = {
    python: "import os\nos.remove('outputs/a')",
    javascript: "const f = require('fs'); f.rmSync('outputs/a')",
    other: 'File.delete("outputs/a")',
    shell: "rm outputs/a",
  };
  const rows: [path: string, language: string, head?: string][] = [
    ...["a.py"].map((path): [string, string] => [path, "python"]),
    ...["a.js", "a.cjs", "a.mjs", "a.ts", "a.cts", "a.mts"].map((path): [string, string] => [path, "javascript"]),
    ...["a.pl", "a.rb", "a.php", "a.lua"].map((path): [string, string] => [path, "other"]),
    ...["a.sh", "a"].map((path): [string, string] => [path, "shell"]),
    ["a", "python", "#!/usr/bin/env python3\n"],
    ...["node", "deno", "bun"].map((name): [string, string, string] => ["a", "javascript", `#!/usr/bin/env ${name}\n`]),
    ...["perl", "ruby"].map((name): [string, string, string] => ["a", "other", `#!/usr/bin/${name}\n`]),
  ];
  assert.deepEqual(
    rows.map(([path, language, head = ""]) => {
      const facts = { ...judgedFacts, scripts: new Map([[path, head + texts[language]]]) };
      return [path, head, kindsOf(commandFindings(`./${path}`, facts, nothingListed))];
    }),
    rows.map(([path, , head = ""]) => [path, head, "delete"]),
  );
});
