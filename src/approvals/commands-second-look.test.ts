import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

test("deleting by way of loops, archives, hooks and settings asks [H1]", () => {
  compare(commandFindings, [
    ["! cd temp/zz && rm -rf y", "delete"],
    ["X=temp; while true; do rm -rf $X; X=outputs; done", "delete"],
    ["for d in a b; do rm -f x; cd ..; done", "delete"],
    ["exec 3<<< 'rm a'; bash <&3", "run_unseen"],
    ["CDPATH=/; cd temp && rm -rf *", "delete"],
    ["echo x > /workspace/uploads/data.csv", "change_upload"],
    ["sed -i 1d /workspace/other/uploads/temparea/a.csv", "change_upload"],
    ["cd /workspace/uploads && sed -i 1d a.csv", "change_upload"],
    ["find . -fprintf uploads/a x", "change_upload"],
    ["zip -d outputs/x.zip a.csv", "delete"],
    ["7z d outputs/x.7z a.csv", "delete"],
    ["gio trash a", "delete"],
    ["rimraf a", "delete"],
    ["make -f - <<'EOF'\nall:\n\t@rm -rf outputs\nEOF", "delete"],
    ["printf 'all:\\n\\trm -rf outputs\\n' > Makefile; make", "delete"],
    ["make SHELL='rm -rf outputs'", "delete"],
    ["split --filter='rm -rf outputs' a", "delete"],
    ["mapfile -C 'rm -rf outputs' -c 1 a < x", "delete"],
    ["hash -p /bin/rm ls; ls outputs/a", "delete"],
    ["declare -n r=x; $r", "unreadable"],
    ["rg --pre rm x", "delete"],
    ["ed <<< '!rm -rf outputs'", "delete"],
    ["gdb -batch -ex 'shell rm -rf outputs'", "delete"],
    ["awk '{print | \"sh\"}' a", "run_unseen"],
    ["git config alias.x '!rm -rf outputs'", "delete"],
    ["sqlite3 a.db <<< '.shell rm a'", "delete"],
    ["psql -c '\\! rm a'", "delete"],
  ]);
});

test("a wrapper, a language and a text do not hide what is run [H1]", () => {
  compare(commandFindings, [
    ["env - rm a", "delete"],
    ["flock -n l -c 'rm a'", "delete"],
    ["numactl -C 0 rm a", "delete"],
    ["prlimit --nofile=1 rm a", "delete"],
    ["/lib64/ld-linux-x86-64.so.2 /bin/rm a", "delete"],
    ["perf stat rm a", "delete"],
    ["hyperfine 'rm a'", "delete"],
    ["tmux new -d 'rm a'", "delete"],
    ["screen -dm rm a", "delete"],
    ["docker exec c rm a", "delete"],
    ["start-stop-daemon -S -x /bin/rm -- a", "delete"],
    ["gosu root ls", "privilege"],
    ["BASH_ENV=<(echo x | base64 -d) bash -c ls", "run_unseen"],
    ["python3 -c\"import os;os.remove('a')\"", "delete"],
    ["node --eval=\"require('fs').rmdirSync('outputs')\"", "delete"],
    ["node -e \"import('fs/promises').then(f=>f.rm('outputs',{recursive:true}))\"", "delete"],
    ["python3 -c 'import os; list(map(os.remove, [\"a\"]))'", "delete"],
    ["python3 -c 'from functools import partial; import os; partial(os.remove,\"a\")()'", "delete"],
    ['python3 -c \'import os; vars(os)["remove"]("a")\'', "delete"],
    ['python3 -c \'import os; os.__dict__["remove"]("a")\'', "delete"],
    ['python3 -c \'import sys; sys.modules["os"].remove("a")\'', "delete"],
    [
      "python3 -c \"import fileinput\nfor l in fileinput.input('uploads/a.csv', inplace=True): print(l)\"",
      "change_upload",
    ],
    ['perl -e \'rename "uploads/a","b"\'', "change_upload"],
    ["julia -e 'rm(\"a\")'", "delete"],
    ["tclsh <<< 'file delete a'", "delete"],
    ["groovy -e 'new File(\"a\").delete()'", "delete"],
  ]);
});

test("secrets, credentials and other machines are seen wherever they stand [H1]", () => {
  compare(commandFindings, [
    ["cat <<EOF > temp/k\n-----BEGIN RSA PRIVATE KEY-----\nMII\nEOF", "secret"],
    ["openssl enc -aes-256-cbc -k mysecretpw -in a -out b", "secret"],
    ["echo x >> /etc/passwd", "credentials"],
    ["tee -a /etc/passwd", "credentials"],
    ["echo x > ~/.ssh/authorized_keys", "credentials"],
    ["tar czf outputs/x.tgz ~/.ssh", "credentials"],
    ["tar cf - /etc | base64", "credentials"],
    ["cp -r /etc temp/", "credentials"],
    ["grep -r password /etc", "credentials"],
    ["gpg --export-secret-keys", "credentials"],
    ["ssh-copy-id h", "network"],
    ["gpg --recv-keys x", "network"],
    ["perl -MLWP::Simple -e 'getprint \"http://x\"'", "network"],
    ["php -r 'echo file_get_contents(\"http://x\");'", "network"],
    ["cpan X", "packages"],
    ["deno install x", "packages"],
    ["python -mpip install x", "packages"],
  ]);
});

test("work that a sandbox contains, and words that only sound like secrets, go [H1]", () => {
  compare(commandFindings, [
    ["if cd temp/x; then rm y; fi", ""],
    ["rm -rf /workspace/temp/x", ""],
    ["truncate -s 0 outputs/a.log", ""],
    [": > outputs/a.log", ""],
    ["cp /dev/null outputs/a.csv", ""],
    ["truncate -s 100 outputs/x", ""],
    ['echo "a basic understanding of it" > outputs/a.md', ""],
    ['echo "Use Bearer authentication for the API" >> outputs/doc.md', ""],
    ['echo "Password: must contain eight letters"', ""],
    ["PWD=/tmp/x ls", ""],
    ["echo 'DEBUG=1' > .env", ""],
    ['Rscript -e \'d <- read.csv("uploads/a.csv"); write.csv(d, "outputs/b.csv")\'', ""],
    ["python3 -m http.server 8000 &", ""],
    ["make install", ""],
    ["go build ./...", ""],
    ["cargo build --release", ""],
    [":(){ :|:& };:", ""],
    ["kill -9 1", ""],
    ["dd if=/dev/zero of=/dev/sda", ""],
    ["mkfs.ext4 /dev/sda", ""],
    ["history -c", ""],
    ["chmod -R 777 .", ""],
    ["git config alias.st status", ""],
    ["printf 'all:\\n\\t$(CC) -o a a.c\\n' > Makefile; make", ""],
    ["curl --version", ""],
    [`ruby -e 'File.write("outputs/a", File.read("uploads/a"))'`, ""],
    [`perl -e 'open(my $f, "<", "uploads/a") or die; print while <$f>'`, ""],
  ]);
});

const secret = "hunter2Zebra99";
const key = "sk-proj-AbCd1234EfGh5678IjKl9012";

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
  const told = commands.map((command) => JSON.stringify(commandFindings(command, judgedFacts, nothingSafe)));
  const given = told.filter((text) => text.includes(secret.slice(4)) || text.includes(key.slice(8)));
  assert.deepEqual({ given, silent: told.filter((text) => text === "[]") }, { given: [], silent: [] });
});

test("a hostile text is judged in the time of an honest one [H1]", () => {
  const texts = [
    `echo ${"{".repeat(200_000)}`,
    `echo ${"$[".repeat(100_000)}`,
    `echo $((${"1+".repeat(90_000)}1)); rm a`,
    `${"env ".repeat(50_000)}rm a`,
    `${"xargs ".repeat(30_000)}rm`,
    `${"cd a;".repeat(20_000)}rm x`,
    `${"while true; do ".repeat(200)}ls;${"done;".repeat(200)}`,
    `python3 -c '${"(".repeat(100)}__import__("os").remove("a")${")".repeat(100)}'`,
    Array.from({ length: 3000 }, (_, at) => `curl --password pw${at}zzzz`).join(";"),
  ];
  for (const text of texts) {
    const from = process.cpuUsage();
    const found = commandFindings(text, judgedFacts, nothingSafe);
    const { user } = process.cpuUsage(from);
    assert.ok(user < cpuMicrosecondsMax, `${text.slice(0, 20)} took ${user} µs`);
    assert.notDeepEqual(found, [], text.slice(0, 20));
  }
});

/** Ten times what the slowest takes; without its limits each takes minutes. */
const cpuMicrosecondsMax = 10_000_000;
const nothingSafe = { commands: [], onlySafe: false };
