import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../words/words.ts";
import { languageAsked, parseCommandLine } from "./command-line.ts";

const parse = (line: string) => parseCommandLine(line === "" ? [] : line.split(" "), wordsFor("en").terminal);

const execLs = { name: "exec", code: "ls", programLanguage: "bash", conversation: "c1", json: false };
const understood: readonly (readonly [line: string, command: object])[] = [
  ["", { name: "chat" }],
  ["help", { name: "help" }],
  ["help run", { name: "help", about: "run" }],
  ["--lang zh help log", { name: "help", about: "log", language: "zh" }],
  ["chat --continue", { name: "chat", going: "newest" }],
  ["--data d --lang zh", { name: "chat", data: "d", language: "zh" }],
  ["run --json say hello", { name: "run", output: "json", message: "say hello" }],
  ["--json run hello --data=d", { name: "run", output: "json", message: "hello", data: "d" }],
  ["run --stream-json -c", { name: "run", output: "stream-json", message: "", going: "newest" }],
  ["run -r 3f2a --model code - ", { name: "run", output: "text", message: "- ", going: { id: "3f2a" }, slot: "code" }],
  ["run hi --file a.csv -f b.csv", { name: "run", output: "text", message: "hi", files: ["a.csv", "b.csv"] }],
  ["run hi --max-budget 0.5", { name: "run", output: "text", message: "hi", budget: { money: 0.5 } }],
  ["run hi --max-steps 9", { name: "run", output: "text", message: "hi", budget: { steps: 9 } }],
  ["run -- --json", { name: "run", output: "text", message: "--json" }],
  ["run model list", { name: "run", output: "text", message: "model list" }],
  ["model", { name: "model", action: "list", json: false }],
  ["model test", { name: "model", action: "test", slot: "base", json: false }],
  ["model test code --json --request f", { name: "model", action: "test", slot: "code", json: true, request: "f" }],
  ["approvals", { name: "approvals", action: "list", json: false }],
  ["approvals rules --json", { name: "approvals", action: "rules", json: true }],
  ["approvals revoke 3f2a", { name: "approvals", action: "revoke", rule: "3f2a", json: false }],
  [
    "approvals test --json now {} --facts f",
    { name: "approvals", action: "test", tool: "now", arguments: "{}", facts: "f", json: true },
  ],
  ["log 3f2a --json", { name: "log", id: "3f2a", json: true }],
  ["doctor", { name: "doctor", json: false, fix: false }],
  ["doctor --fix --lang zh", { name: "doctor", json: false, fix: true, language: "zh" }],
  ["doctor --json", { name: "doctor", json: true, fix: false }],
  ["exec", { name: "exec", json: false }],
  ["exec print(1) --json", { name: "exec", code: "print(1)", json: true }],
  ["exec -", { name: "exec", json: false, isInputAwaited: true }],
  ["exec -f a.py --timeout 1.5", { name: "exec", file: "a.py", timeoutSeconds: 1.5, json: false }],
  ["exec --conversation c1 ls --language bash", execLs],
  ["exec --lang zh -- -1", { name: "exec", code: "-1", json: false, language: "zh" }],
  ["sandbox", { name: "sandbox", host: "127.0.0.1", port: 9100 }],
  ["sandbox --host ::1 --port 0", { name: "sandbox", host: "::1", port: 0 }],
  ["serve", { name: "serve" }],
  ["serve --open", { name: "serve", opens: true }],
  [
    "serve --host 0.0.0.0 --port 8080 --base-path /yard --data d",
    { name: "serve", host: "0.0.0.0", port: "8080", basePath: "/yard", data: "d" },
  ],
  ["user", { name: "user", action: "list", json: false }],
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
  ["user link ada --json", { name: "user", action: "link", user: "ada", json: true }],
  ["user key list ada", { name: "user", action: "key list", user: "ada", json: false }],
  ["user key add ada", { name: "user", action: "key add", user: "ada", scopes: ["chat", "files"], json: false }],
  [
    "user key add ada --scope admin,chat --label ci --days 9",
    { name: "user", action: "key add", user: "ada", scopes: ["chat", "admin"], label: "ci", days: 9, json: false },
  ],
  ["user key remove ada k1", { name: "user", action: "key remove", user: "ada", key: "k1", json: false }],
  ["backup b.tar --include-key", { name: "backup", file: "b.tar", includesKey: true, json: false }],
  ["migrate --json", { name: "migrate", json: true }],
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
  ["log --help", { name: "help", about: "log" }],
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
  ["help rnu", "There is no command rnu (did you mean run?)"],
  ["rnu hello", "There is no command rnu (did you mean run?)"],
  ["hello", "There is no command hello"],
  ["run --jsn hello", "agentyard has no option --jsn (did you mean --json?)"],
  ["log 3f2a --continue", "log has no option --continue"],
  ["--request f", "chat has no option --request"],
  ["run --resume", "--resume needs a value: --resume ID"],
  ["run hi --file", "--file needs a value: --file PATH"],
  ["chat --file a.csv", "chat has no option --file"],
  ["run --resume --json", "--resume needs a value: --resume ID"],
  ["run --json=yes", "--json takes no value"],
  ["run --continue --resume 3f", "--continue and --resume do not go together"],
  ["run --json --stream-json", "--json and --stream-json do not go together"],
  ["run hi --max-budget $5", "--max-budget cannot be “$5”; use a number from 0.000001 to 1000000"],
  ["run hi --max-turns 0", "--max-turns cannot be “0”; use a number from 1 to 1000000"],
  ["run hi --max-turns many", "--max-turns cannot be “many”; use a number from 1 to 1000000"],
  ["--lang fr", "--lang cannot be “fr”; use one of: en, zh"],
  ["run --model turbo hello", "--slot cannot be “turbo”; use one of: base, reasoning, vision, code, chat"],
  ["model test turbo", "SLOT cannot be “turbo”; use one of: base, reasoning, vision, code, chat"],
  ["model tset", "model cannot be “tset”; use one of: list, test"],
  ["model list base", "model list does not take “base”"],
  ["log", "log needs ID"],
  ["log a b", "log does not take “b”"],
  ["doctor me", "doctor does not take “me”"],
  ["doctor --json --fix", "--json and --fix do not go together"],
  ["config --fix", "config has no option --fix"],
  ["exec --file a.py print(1)", "--file and print(1) do not go together"],
  ["exec --file a.py --file b.py", "exec does not take “--file b.py”"],
  ["exec --language cobol x", "--language cannot be “cobol”; use one of: python, bash, javascript"],
  ["exec --timeout 0 x", "--timeout cannot be “0”; use a number from 1 to 86400"],
  ["exec --timeout soon x", "--timeout cannot be “soon”; use a number from 1 to 86400"],
  ["exec --continue x", "exec has no option --continue"],
  ["exec --bogus x", "agentyard has no option --bogus"],
  ["--conversation bad/../x exec x", idUnfit("bad/../x")],
  ["exec --conversation .a x", idUnfit(".a")],
  ["exec --conversation a..b x", idUnfit("a..b")],
  ["exec --conversation uploads x", idUnfit("uploads")],
  [`exec --conversation ${"a".repeat(65)} x`, idUnfit("a".repeat(65))],
  [`exec --conversation ${"a".repeat(1000)} x`, idUnfit(`${"a".repeat(79)}…`)],
  ["sandbox now", "sandbox does not take “now”"],
  ["sandbox --port 65536", "--port cannot be “65536”; use a number from 0 to 65535"],
  ["sandbox --host 0.0.0.0", notLoopback("0.0.0.0")],
  ["sandbox --host 127.0.0.1.example.com", notLoopback("127.0.0.1.example.com")],
  ["serve now", "serve does not take “now”"],
  ["serve --port 70000", "--port cannot be “70000”; use a number from 0 to 65535"],
  ["user rename ada", "user cannot be “rename”; use one of: list, add, remove, password, link, key"],
  ["user key make ada", "user key cannot be “make”; use one of: add, list, remove"],
  ["user add", "user add needs NAME"],
  ["user key remove ada", "user key remove needs ID"],
  ["user list ada", "user list does not take “ada”"],
  ["user list --admin", "user list has no option --admin"],
  ["user link ada --sign-in-as x", "user link has no option --sign-in-as"],
  ["user key add ada --scope all", "--scope cannot be “all”; use one of: chat, files, admin"],
  ["user key add ada --days 0", "--days cannot be “0”; use a number from 1 to 3650"],
  ["backup", "backup needs FILE"],
  ["restore a b", "restore does not take “b”"],
  ["migrate there", "migrate does not take “there”"],
  ["search", "search needs QUERY"],
  ["search filter", "search needs PATH"],
  ["search --queries q.jsonl", "search needs PATH"],
  ["search filter a.pdf --limit 0", "--limit cannot be “0”; use one of: 1–100"],
  ["completion tcsh", "completion cannot be “tcsh”; use one of: bash, zsh, fish"],
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

for (const [line, name] of [
  [["run", "--resume", "", "hi"], "--resume"],
  [["run", "--resume=", "hi"], "--resume"],
  [["chat", "--resume", ""], "--resume"],
  [["log", ""], "log"],
  [["replay", " "], "replay"],
] as const) {
  test(`an empty id is refused: ${JSON.stringify(line)} [P2]`, () => {
    const parsed = parseCommandLine(line, wordsFor("en").terminal);
    const what = `${name} was given an empty id (is the variable set?)`;
    assert.deepEqual(parsed.ok ? parsed.value : parsed.failure.params, { what });
  });
}

for (const line of [
  ["run", "--file", "", "hi"],
  ["run", "--file=", "hi"],
  ["run", "-f", " ", "-f", "a.csv", "hi"],
]) {
  test(`an empty name of a file is refused: ${JSON.stringify(line)} [P2][F3]`, () => {
    const parsed = parseCommandLine(line, wordsFor("en").terminal);
    const what = "--file was given an empty path (is the variable set?)";
    assert.deepEqual(parsed.ok ? parsed.value : parsed.failure.params, { what });
  });
}

test("the language is found even in a line that is wrong [P4]", () => {
  assert.equal(languageAsked(["--bogus", "--lang", "zh"]), "zh");
  assert.equal(languageAsked(["--lang=zh", "rnu"]), "zh");
  assert.equal(languageAsked(["--lang"]), undefined);
});
