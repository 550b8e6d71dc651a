import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, kindsOf, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { scriptsOf } from "./code.ts";
import { commandFindings } from "./commands.ts";
import { bracesOf } from "./shell/braces.ts";
import { name } from "./shell/scene.ts";

const nothingListed = { commands: [], onlySafe: false };

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

test("braces stand for what the shell makes of them: ranges up and down, choices, and up to 200 of each [H1]", () => {
  const rows: [braces: string, texts: string[]][] = [
    ["{a,b}", ["a", "b"]],
    ["{,x}", ["", "x"]],
    ["{1..3}", ["1", "2", "3"]],
    ["{3..1}", ["3", "2", "1"]],
    ["{-1..1}", ["-1", "0", "1"]],
    ["{1..-1}", ["1", "0", "-1"]],
    ["{9..11}", ["9", "10", "11"]],
    ["{5..5}", ["5"]],
    ["{a..c}", ["a", "b", "c"]],
    ["{c..a}", ["c", "b", "a"]],
    ["{1..3..2}", ["1", "2", "3"]],
    ["{1..3..-10}", ["1", "2", "3"]],
    ["{a..9}", [name]],
    ["{a..bc}", [name]],
    ["{ab..c}", [name]],
    ["{a,{b,c},d}", ["a", "{b,c}", "d"]],
    ["{a,$(f b,c),d}", ["a", "$(f b,c)", "d"]],
    ["{'a,b',c}", ["'a,b'", "c"]],
    ['{"a,b",c}', ['"a,b"', "c"]],
    [`{"it's",b}`, [`"it's"`, "b"]],
    ["{a\\,b,c}", ["a\\,b", "c"]],
    ["{\\{,c}", ["\\{", "c"]],
  ];
  assert.deepEqual(
    rows.map(([braces]) => [braces, bracesOf(braces)]),
    rows,
  );
  const choices = (count: number) => `{${Array.from({ length: count }, (_, at) => at)}}`;
  assert.deepEqual(
    ["{1..200}", "{1..201}", choices(200), choices(201)].map((braces) => bracesOf(braces)?.length),
    [200, 1, 200, undefined],
  );
});

judged("what a program deletes is what it is told to, and not the archive or the place it goes to [H1]", [
  ...linesOf(
    "",
    `zip -d temp/a.zip outputs/x
     zip -m outputs/a.zip temp/x
     7z d temp/a.7z outputs/x
     7z a -sdel outputs/a.7z temp/x
     gio trash temp/a
     tar -cf outputs/a.tar --remove-files temp/x
     rsync --remove-source-files temp/a outputs/b
     mv
     mv a`,
  ),
  ...rowsOf("", "tar % outputs/a.tar --remove-files temp/x", "zcf Zcf cZf"),
  ...linesOf(
    "delete",
    `tar -cf a.tar --remove-files outputs
     rsync --remove-source-files outputs/a temp/b
     sed -e 'e rm outputs/a' -e p a`,
  ),
  ["rsync --delete a/ host:b", "network"],
]);

test("how grave it is to delete, to send or to raise privileges is told with it [H1]", () => {
  const rows: [command: string, told: string][] = [
    ...linesOf(
      "delete medium",
      `rmdir outputs/a
       unlink outputs/a
       shred outputs/a
       tar --delete outputs/a.tar x
       7z d outputs/a.7z x`,
    ),
    ...linesOf("delete high", "fdupes -d outputs/a\n rsync --delete temp/a/ outputs/a\n gio trash outputs/a"),
    ["echo x > /dev/tcp/a.example/80", "network high"],
    ["sudo ls", "privilege high"],
  ];
  assert.deepEqual(
    rows.map(([command]) => [
      command,
      commandFindings(command, judgedFacts, nothingListed)
        .map(({ kind, risk }) => `${kind} ${risk}`)
        .join(),
    ]),
    rows,
  );
});

judged("a pattern stands for uploads/ where the shell would find it there [H1]", [
  ...rowsOf("change_upload", "echo x > %/a", "[u-z]ploads [a-u]ploads [bu]ploads [a-cu]ploads [u-]ploads [-u]ploads"),
  ...rowsOf("", "echo x > %/a", "[v-z]ploads [a-t]ploads [a-cx]ploads [-x]ploads [x-]ploads"),
]);

judged("credentials are known by their names, wherever they lie and however they are reached [H1]", [
  ...rowsOf(
    "credentials",
    "cat %",
    `/workspace/uploads/.env /workspace/uploads/x/.env ~me/.ssh/id_rsa my.private.pem private-a.pem private.v2.key
     a.b_key.pem a-b_key.pem mykeys.p12 client_secrets.a.json service-account.b.json`,
  ),
  ...linesOf("credentials", "cp -Lr /etc temp/x\n gpg --armor --export-secret-keys me"),
  ...rowsOf("", "cat %", "privately.txt key_pem.txt a.p12.txt"),
]);

judged("each mode that makes a program run as its owner asks, wherever it stands among others [H1]", [
  ...rowsOf(
    "privilege",
    "chmod % x",
    "o+s u,g+s +ts o-x,u+s o-x,o+s o-x,a+s o-x,u=s o-x,u+rs o-x,u+ws o-x,u+xs o-x,u+Xs o-x,+s o-x,ug+s",
  ),
  ...rowsOf("", "chmod % x", "o-x,u+x u+x,g-s"),
  ...rowsOf("privilege", "install % a b", "-m4755 --mode=4755 --mode=u+s"),
  ["install --mode 4755 a b", "privilege"],
  ...rowsOf("", "install % a b", "--mode=755 -o4755"),
  ["mount -v /dev/sda a", "privilege"],
]);

test("a command that came as a block of Markdown is read without the block [H1]", () => {
  const told = (command: string) => commandFindings(command, judgedFacts, nothingListed).map(({ what }) => what);
  assert.deepEqual(
    ["```bash\nls\nrm outputs/a\n```", "```\nrm outputs/a```", "\n```sh\nrm outputs/a\n```\n"].map(told),
    [["rm outputs/a"], ["rm outputs/a"], ["rm outputs/a"]],
  );
});

judged("a function is read at each call, however often it was called before [H1]", [
  ['x() { rm -f "$f"; }; f=temp/a; x; f=temp/b; x; f=temp/c; x; f=temp/d; x; f=uploads/a.csv; x', "delete"],
  ['x() { rm -f "$1"; }; x temp/a; x temp/b; x temp/c; x temp/d; x uploads/a.csv', "delete"],
  ['say() { echo "$1"; }; rm -rf "$(say temp/a)"; rm -rf "$(say temp/b)"; rm -rf "$(say temp/c)"', ""],
]);

test("a file that is run under another name is judged by what it holds, and asked about where nobody has read it [H1]", () => {
  const scripts = new Map([
    ["temp/harm.txt", "rm -r uploads"],
    ["temp/plain.txt", "ls"],
    ["run.sh", "ls"],
  ]);
  const found = (command: string) => kindsOf(commandFindings(command, { ...judgedFacts, scripts }, nothingListed));
  assert.deepEqual(
    ["cp", "mv", "install -m 755"].map((copy) => found(`${copy} temp/harm.txt run.sh; sh run.sh`)),
    ["delete", "delete", "delete"],
  );
  assert.equal(found("cp temp/plain.txt run.sh; sh run.sh"), "");
  assert.deepEqual(
    [
      "cp notes run; sh run",
      "mv notes.txt run; . ./run",
      "cp notes.txt run.sh; sh run.sh",
      "cp notes temp; sh temp/notes",
    ].map(found),
    ["run_unseen", "run_unseen", "run_unseen", "run_unseen"],
  );
  assert.deepEqual(["cp a.csv temp/b.csv; cat temp/b.csv", "cp -r a temp/a; ls temp/a"].map(found), ["", ""]);
  const read = scriptsOf({ tool: "run_bash_command", arguments: { command: "cp notes.txt run.sh; cp a.csv b.csv" } });
  assert.deepEqual(read, ["notes.txt"]);
});

judged("as many names as a word in braces may have are read one by one, and more than that are any [H1]", [
  ["rm -f temp/part{1..50}.txt", ""],
  [`rm -f temp/a${"{b,c}".repeat(7)}`, ""],
  [`rm -f temp/a${"{b,c}".repeat(8)}`, "delete"],
  [`rm -f temp/a${"{b..b}".repeat(32)}`, ""],
  [`rm -f temp/a${"{b..b}".repeat(33)}`, "delete"],
]);
