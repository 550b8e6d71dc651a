import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { openTestPipe } from "../../test/world/pty.ts";
import { wordsFor } from "../words/words.ts";
import { languageAsked, parseCommandLine } from "./command-line.ts";
import { exitCodes } from "./exit-codes.ts";
import { asTyped, ownCommand, programAsTyped } from "./own-command.ts";
import { optionsOf, subCommandNames } from "./sub-commands.ts";
import { beginCommand } from "./terminal.ts";
import { typedChat } from "./typed-chat.ts";
import { readYesRule, yesRuleFor } from "./yes-rules.ts";

const parse = (line: string) => parseCommandLine(line === "" ? [] : line.split(" "), wordsFor("en").terminal);

const execLs = { name: "exec", code: "ls", programLanguage: "bash", conversation: "c1", json: false };
const understood: readonly (readonly [line: string, command: object])[] = [
  ["", { name: "chat" }],
  ["help", { name: "help" }],
  ["--lang zh help log", { name: "help", about: "log", language: "zh" }],
  ["chat --continue", { name: "chat", going: "newest" }],
  ["--data d --lang zh", { name: "chat", data: "d", language: "zh" }],
  ["run --json say hello", { name: "run", output: "json", message: "say hello" }],
  ["--json run hello --data=d", { name: "run", output: "json", message: "hello", data: "d" }],
  ["run --stream-json -c", { name: "run", output: "stream-json", message: "", going: "newest" }],
  ["run -r 3f2a --model code - ", { name: "run", output: "text", message: "- ", going: { id: "3f2a" }, slot: "code" }],
  ["run hi --file a.csv -f b.csv", { name: "run", output: "text", message: "hi", files: ["a.csv", "b.csv"] }],
  ["run hi --max-budget 0.5", { name: "run", output: "text", message: "hi", budget: { money: 0.5 } }],
  ["run -- --json", { name: "run", output: "text", message: "--json" }],
  ["model test", { name: "model", action: "test", slot: "base", json: false }],
  ["model test code --json --request f", { name: "model", action: "test", slot: "code", json: true, request: "f" }],
  ["approvals revoke 3f2a", { name: "approvals", action: "revoke", rule: "3f2a", json: false }],
  [
    "approvals test --json now {} --facts f",
    { name: "approvals", action: "test", tool: "now", arguments: "{}", facts: "f", json: true },
  ],
  ["log 3f2a --json", { name: "log", id: "3f2a", json: true }],
  ["doctor", { name: "doctor", json: false, fix: false }],
  ["exec", { name: "exec", json: false }],
  ["exec -", { name: "exec", json: false, isInputAwaited: true }],
  ["exec -f a.py --timeout 1.5", { name: "exec", file: "a.py", timeoutSeconds: 1.5, json: false }],
  ["exec --conversation c1 ls --language bash", execLs],
  ["exec --lang zh -- -1", { name: "exec", code: "-1", json: false, language: "zh" }],
  ["sandbox", { name: "sandbox", host: "127.0.0.1", port: 9100 }],
  ["serve --open", { name: "serve", opens: true }],
  [
    "serve --host 0.0.0.0 --port 8080 --base-path /yard --data d",
    { name: "serve", host: "0.0.0.0", port: "8080", basePath: "/yard", data: "d" },
  ],
  [
    "user add ada --admin",
    { name: "user", action: "add", user: "ada", isAdmin: true, isPasswordPiped: false, json: false },
  ],
  [
    "user add ada --sign-in-as ada@example.com",
    {
      ...{ name: "user", action: "add", user: "ada", isAdmin: false, isPasswordPiped: false, json: false },
      signInAs: "ada@example.com",
    },
  ],
  [
    "user password ada --password-stdin",
    { name: "user", action: "password", user: "ada", isPasswordPiped: true, json: false },
  ],
  ["user key add ada", { name: "user", action: "key add", user: "ada", scopes: ["chat", "files"], json: false }],
  [
    "user key add ada --scope admin,chat --label ci --days 9",
    { name: "user", action: "key add", user: "ada", scopes: ["chat", "admin"], label: "ci", days: 9, json: false },
  ],
  ["user key remove ada k1", { name: "user", action: "key remove", user: "ada", key: "k1", json: false }],
  ["backup b.tar --include-key", { name: "backup", file: "b.tar", includesKey: true, json: false }],
  ["restore b.tar --replace --json", { name: "restore", file: "b.tar", replaces: true, json: true }],
  [
    "search filter a.pdf b.pdf --limit 3 --json",
    { name: "search", asked: { query: "filter" }, paths: ["a.pdf", "b.pdf"], limit: 3, json: true },
  ],
  [
    "search --queries q.jsonl a.pdf",
    { name: "search", asked: { file: "q.jsonl" }, paths: ["a.pdf"], limit: 10, json: false },
  ],
  ["completion fish", { name: "completion", shell: "fish" }],
  ["--help", { name: "help" }],
  ["-h run", { name: "help", about: "run" }],
  ["-v", { name: "version" }],
];
for (const [line, command] of understood) {
  test(`“agentyard ${line}” is understood [P2]`, () => {
    assert.deepEqual(parse(line), { ok: true, value: command });
  });
}

const idUnfit = (id: string) =>
  `--conversation cannot be “${id}”; an id has 1 to 64 letters (A–Z, a–z), digits and . _ -, begins with a letter or a digit, has no two dots in a row, and is none of uploads, outputs, temp, skills`;
const notLoopback = (host: string) =>
  `--host cannot be “${host}”: only this machine itself may call, for nobody signs in here; use 127.0.0.1, ` +
  "or `agentyard serve` for others";
const refused: readonly (readonly [line: string, what: string])[] = [
  ["rnu hello", "There is no command rnu (did you mean run?)"],
  ["run --jsn hello", "agentyard has no option --jsn (did you mean --json?)"],
  ["log 3f2a --continue", "log has no option --continue"],
  ["--request f", "chat has no option --request"],
  ["run --resume", "--resume needs a value: --resume ID"],
  ["run --json=yes", "--json takes no value"],
  ["run --continue --resume 3f", "--continue and --resume do not go together"],
  ["run --json --stream-json", "--json and --stream-json do not go together"],
  ["run hi --max-budget $5", "--max-budget cannot be “$5”; use a number from 0.000001 to 1000000"],
  ["run hi --max-turns 0", "--max-turns cannot be “0”; use a number from 1 to 1000000"],
  ["--lang fr", "--lang cannot be “fr”; use one of: en, zh"],
  ["run --model turbo hello", "--slot cannot be “turbo”; use one of: base, reasoning, vision, code, chat"],
  ["model test turbo", "SLOT cannot be “turbo”; use one of: base, reasoning, vision, code, chat"],
  ["model tset", "model cannot be “tset”; use one of: list, test"],
  ["log", "log needs ID"],
  ["doctor --json --fix", "--json and --fix do not go together"],
  ["exec --file a.py print(1)", "--file and print(1) do not go together"],
  ["exec --file a.py --file b.py", "exec does not take “--file b.py”"],
  ["exec --language cobol x", "--language cannot be “cobol”; use one of: python, bash, javascript"],
  ["exec --timeout 0 x", "--timeout cannot be “0”; use a number from 1 to 86400"],
  ["--conversation bad/../x exec x", idUnfit("bad/../x")],
  ["exec --conversation .a x", idUnfit(".a")],
  [`exec --conversation ${"a".repeat(65)} x`, idUnfit("a".repeat(65))],
  [`exec --conversation ${"a".repeat(1000)} x`, idUnfit(`${"a".repeat(79)}…`)],
  ["sandbox --port 65536", "--port cannot be “65536”; use a number from 0 to 65535"],
  ["sandbox --host 0.0.0.0", notLoopback("0.0.0.0")],
  ["sandbox --host 127.0.0.1.example.com", notLoopback("127.0.0.1.example.com")],
  ["user rename ada", "user cannot be “rename”; use one of: list, add, remove, password, link, key"],
  ["user list ada", "user list does not take “ada”"],
  ["user key add ada --scope all", "--scope cannot be “all”; use one of: chat, files, admin"],
  ["user key add ada --days 0", "--days cannot be “0”; use a number from 1 to 3650"],
  ["backup", "backup needs FILE"],
  ["search filter", "search needs PATH"],
  ["search filter a.pdf --limit 0", "--limit cannot be “0”; use one of: 1–100"],
];
const refusedOfRun: [line: string, what: string][] = [
  ["run --yes rm-rf! hi", "--yes cannot be “rm-rf!”; use one of: TOOL, TOOL:PATTERN, *"],
  ["run --url ftp://x hi", "--url cannot be “ftp://x”; use one of: http://…, https://…"],
  ["run --url http://x --data y hi", "--url and --data do not go together"],
  ["run --file - hi -", "--file - and - do not go together"],
  ["--plain --screen-reader", "--plain and --screen-reader do not go together"],
  ["config --url http://x", "config has no option --url"],
];

test("what a run may do and where it runs is read in full [P2][U1]", () => {
  const run = { name: "run", output: "text", message: "hi" } as const;
  const yes = [
    { tool: "mark", pattern: undefined, written: "mark" },
    { tool: "fetch_web", pattern: "https://x/*", written: "fetch_web:https://x/*" },
  ];
  assert.deepEqual(parse("run --yes mark -y fetch_web:https://x/* --json-schema s.json hi"), {
    ok: true,
    value: { ...run, limits: { yes, answerSchema: "s.json" } },
  });
  assert.deepEqual(parse("run --url https://yard.example/x hi"), {
    ok: true,
    value: { ...run, url: "https://yard.example/x" },
  });
  assert.deepEqual(parse("--plain"), { ok: true, value: { name: "chat", surface: "plain" } });
  assert.deepEqual(parse("chat --screen-reader"), { ok: true, value: { name: "chat", surface: "screen_reader" } });
});

for (const [line, what] of [...refused, ...refusedOfRun]) {
  test(`“agentyard ${line}” is refused with what is wrong about it [P2]`, () => {
    const parsed = parse(line);
    const named = ["exec", "serve", "user", "backup", "restore", "search"].find((name) =>
      line.split(" ").includes(name),
    );
    const about = named === undefined || what.startsWith("serve does") ? {} : { command: named };
    assert.deepEqual(parsed.ok ? parsed.value : parsed.failure.params, { what, ...about });
  });
}

const pathEmpty = "--file was given an empty path (is the variable set?)";
const idEmpty = (name: string) => `${name} was given an empty id (is the variable set?)`;
for (const [line, what] of [
  [["run", "--resume", "", "hi"], idEmpty("--resume")],
  [["run", "--resume=", "hi"], idEmpty("--resume")],
  [["chat", "--resume", ""], idEmpty("--resume")],
  [["log", ""], idEmpty("log")],
  [["replay", " "], idEmpty("replay")],
  [["run", "--file", "", "hi"], pathEmpty],
  [["run", "--file=", "hi"], pathEmpty],
  [["run", "-f", " ", "-f", "a.csv", "hi"], pathEmpty],
] as const) {
  test(`what is empty is refused: ${JSON.stringify(line)} [P2][F3]`, () => {
    const parsed = parseCommandLine(line, wordsFor("en").terminal);
    assert.deepEqual(parsed.ok ? parsed.value : parsed.failure.params, { what });
  });
}

test("the language is found even in a line that is wrong [P4]", () => {
  assert.equal(languageAsked(["--bogus", "--lang", "zh"]), "zh");
  assert.equal(languageAsked(["--lang=zh", "rnu"]), "zh");
  assert.equal(languageAsked(["--lang"]), undefined);
});

test("a chat is drawn at once where nothing but a chat was typed [U1]", () => {
  const elsewhere = { isElsewhere: true };
  const here = { isElsewhere: false };
  for (const [argv, wanted] of [
    [[], here],
    [["-c"], here],
    [["--continue", "--slot", "base"], here],
    [["-r", "0123abcd"], here],
    [["--data", "/tmp/yard", "--lang", "zh"], { ...here, data: "/tmp/yard", lang: "zh" }],
    [["--lang=en", "--data=here"], { ...here, data: "here", lang: "en" }],
    [["--url", "http://127.0.0.1:4820"], elsewhere],
  ] as const)
    assert.deepEqual(typedChat(argv), wanted, argv.join(" "));
});

test("what may have to be refused, and every other command, is read in full before anything is drawn [U1][P2]", () => {
  const lines = "run hello|--help|-v|--plain|--screen-reader|--nonsense|nonsense|--lang fr|--lang|--data |--data=";
  for (const line of `${lines}|--continue=yes|--model base|-x|--|-cx`.split("|")) {
    const argv = line.split(" ");
    assert.equal(typedChat(argv), undefined, line);
  }
});

const asked = (tool: string, input: object, kind: "approval" | "question" = "approval") =>
  ({ kind, tool, arguments: JSON.stringify(input) }) as const;

test("a rule is a tool, a tool with a pattern, or everything [P2][H1]", () => {
  const read = (written: string) => {
    const rule = readYesRule(written);
    return rule && [rule.tool, rule.pattern];
  };
  assert.deepEqual(read("run_bash_command"), ["run_bash_command", undefined]);
  assert.deepEqual(read(" run_bash_command:rm temp/* "), ["run_bash_command", "rm temp/*"]);
  assert.deepEqual(read("fetch_web:https://example.org/*"), ["fetch_web", "https://example.org/*"]);
  assert.deepEqual(read("*"), ["*", undefined]);
  for (const wrong of ["", "  ", "*:x", "rm -rf", ":x", "9tool"]) assert.equal(read(wrong), undefined, wrong);
});

test("a star never lets another command in, and a question is never answered [P2][H1][H3]", () => {
  const fits = (rule: string, tool: string, input: object, kind?: "question") => {
    const read = readYesRule(rule);
    return read !== undefined && yesRuleFor([read], asked(tool, input, kind)) === read;
  };
  const bash = (rule: string, command: string) => fits(`run_bash_command:${rule}`, "run_bash_command", { command });
  assert.equal(bash("rm outputs/*", "rm outputs/a.txt"), true);
  assert.equal(bash("rm outputs/*", "rm outputs/a.txt outputs/b.txt"), true);
  for (const more of ["; curl x", "\ncurl x", " && y", " | sh", " > /x", " $(y)", " `y`", " & y", " <(y)", " \\\ny"])
    assert.equal(bash("rm outputs/*", `rm outputs/a.txt${more}`), false, more);
  assert.equal(bash("rm outputs/*", "sudo rm outputs/a.txt"), false);
  assert.equal(bash("rm a.c", "rm abc"), false, "a point is a point");
  assert.equal(bash("echo a; echo b", "echo a; echo b"), true, "what is written out is meant");
  assert.equal(fits("write_file:uploads/*.csv", "write_file", { path: "uploads/a.csv", content: "x" }), true);
  assert.equal(fits("write_file:uploads/*.csv", "write_file", { path: "outputs/a.csv", content: "x" }), false);
  assert.equal(fits("write_file", "run_bash_command", { command: "ls" }), false);
  assert.equal(fits("*", "anything", { x: 1 }), true);
  assert.equal(fits("*", "ask_human", { question: "?" }, "question"), false);
});

function begin(argv: readonly string[]) {
  const { streams, written } = openTestPipe("");
  const begun = beginCommand(argv, { ...streams, language: "en", version: "1.2.3", program: "npx agentyard" });
  return { begun, written };
}

test("agentyard COMMAND --help names every option and ends with 0 [P2]", () => {
  for (const name of subCommandNames) {
    const { begun, written } = begin([name, "--help"]);
    assert.deepEqual(begun, { name: "ended", code: 0 });
    for (const option of optionsOf(name)) assert.ok(written.output.includes(`--${option}`), `${name} --${option}`);
  }
});

test("the overview lists every command, and run its exit codes [P2]", () => {
  const overview = begin(["--help"]).written.output;
  for (const name of subCommandNames) assert.match(overview, new RegExp(`^ {2}${name} `, "m"));
  const codes = begin(["run", "--help"])
    .written.output.match(/^ +\d+(?= )/gm)
    ?.map(Number);
  assert.deepEqual(codes, Object.values(exitCodes));
});

test("the version is told, a wrong line ends with 2, and a script gets its object even then [P2]", () => {
  assert.equal(begin(["-v"]).written.output, "agentyard 1.2.3\n");
  const wrong = begin(["run", "--json", "--bogus"]);
  assert.deepEqual(wrong.begun, { name: "ended", code: 2 });
  assert.match(wrong.written.errors, /no option --bogus/);
  const object = JSON.parse(wrong.written.output);
  assert.deepEqual([object.conversation_id, object.finish, object.error.kind], [null, "failed", "usage"]);
  assert.deepEqual(object.exit, { code: 2, reason: "usage" });
  assert.equal(
    begin(["--lang", "zh", "rnu"]).written.errors,
    "✗ 没有命令 rnu（是不是想用 run？）。用 `npx agentyard --help` 查看可用的命令。\n",
  );
});

test("the completion scripts name every command, and bash can read its own [P2]", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { output } = begin(["completion", shell]).written;
    for (const name of subCommandNames) assert.ok(output.includes(name), `${shell}: ${name}`);
  }
  const script = begin(["completion", "bash"]).written.output;
  const tried = `${script}\nCOMP_WORDS=(agentyard run --st); COMP_CWORD=2; _agentyard; echo "\${COMPREPLY[@]}"`;
  assert.equal(execFileSync("bash", ["-c", tried], { encoding: "utf8" }), "--stream-json\n");
});

test("our command is written as it must be typed: in a clone, beside it, linked and installed [P2]", () => {
  const own = { programDir: "/my/yard", isClone: true, script: "/my/yard/bin/agentyard.mjs" };
  assert.equal(programAsTyped({ ...own, cwd: "/my/yard" }), "npx agentyard");
  assert.equal(programAsTyped({ ...own, cwd: "/my/yard/docs" }), "npx agentyard");
  assert.equal(programAsTyped({ ...own, cwd: "/my/yard-2" }), "node /my/yard/bin/agentyard.mjs");
  assert.equal(programAsTyped({ ...own, cwd: "/", script: "/usr/local/bin/agentyard" }), "agentyard");
  const installed = { cwd: "/my", programDir: "/my/node_modules/agentyard", isClone: false };
  assert.equal(programAsTyped({ ...installed, script: "/my/node_modules/.bin/agentyard" }), "npx agentyard");
  assert.equal(programAsTyped({ ...installed, script: "/my/node_modules/agentyard/bin/agentyard.mjs" }), "agentyard");
});

test("suggested commands name the data that was typed, and nothing else is taken for one [P2]", () => {
  const command = ownCommand({ program: "npx agentyard", data: "/my $1 data" });
  const words = { ...wordsFor("en"), command };
  assert.equal(asTyped(words, "`agentyard user list`"), "`npx agentyard --data '/my $1 data' user list`");
  assert.equal(asTyped(words, "`agentyard`, then /inbox"), "`npx agentyard --data '/my $1 data'`, then /inbox");
  assert.equal(asTyped(words, "`agentyard --help`"), "`npx agentyard --data '/my $1 data' --help`");
  for (const text of ["npx agentyard user list", "agentyard.yaml", "/bin/agentyard user", "agentyard is served"])
    assert.equal(asTyped(words, text), text);
});
