import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { countSteps } from "../../test/world/steps.ts";
import type { Finding } from "../protocol/approval.ts";
import { codeFindings } from "./code.ts";
import { commandBytesMax, commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const find = (command: string) => commandFindings(command, judgedFacts, nothingListed);
const kinds = (command: string) => kindsOf(find(command));
const runs = { numRuns: 200 };
/** Twice what the hardest takes; what takes minutes by mistake takes thousands of millions. */
const stepsMax = 40_000_000;

/** Harmless and not, each a simple command that stands alone. */
const commands = [
  ...[
    "ls -la",
    "echo hello",
    "cat uploads/a.csv",
    "rm temp/a",
    "rm -rf /tmp/x",
    "grep -r rm src",
    "sed -i s/a/b/ outputs/a",
  ],
  ...[
    "rm outputs/a",
    "rm -rf uploads",
    "unlink outputs/a",
    "find . -delete",
    "mv outputs/a /dev/null",
    "git clean -fd",
  ],
  ...["sed -i s/a/b/ uploads/a", "cp temp/a uploads/a", "cat /etc/passwd", "cat .env", "curl https://x.example"],
  ...["pip install x", "npm ci", "sudo ls", "chmod 4755 temp/x", "sqlite3 outputs/a.db 'drop table t'"],
];
const command = fc.constantFrom(...commands);

test("however the letters of a name are quoted, the verdict is the same [H1]", () => {
  const letter = (one: string) =>
    fc.constantFrom(
      one,
      `'${one}'`,
      `"${one}"`,
      `\\${one}`,
      `$'${one}'`,
      `$'\\x${one.charCodeAt(0).toString(16)}'`,
      `''${one}""`,
    );
  const quoted = command.chain((text) => {
    const [program = "", ...rest] = text.split(" ");
    return fc
      .tuple(...[...program].map(letter))
      .map((letters) => [text, [letters.join(""), ...rest].join(" ")] as const);
  });
  fc.assert(
    fc.property(quoted, ([plain, written]) => assert.equal(kinds(written), kinds(plain), written)),
    runs,
  );
});

test("wrapped in another command, a verdict never gets milder [H1]", () => {
  const single = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const before = ["", "env A=1 ", "timeout 5 ", "nice -n 5 ", "command ", "exec ", "nohup ", "A=1 ", "\\command "];
  const wrappers: ((text: string) => string)[] = [
    (text) => `bash -c ${single(text)}`,
    (text) => `sh -ec ${single(text)}`,
    (text) => `eval ${single(text)}`,
    (text) => `( ${text} )`,
    (text) => `{ ${text}; }`,
    (text) => `true | ${text}`,
    (text) => `${text} | cat`,
    (text) => `true && ${text}`,
    (text) => `false || ${text}`,
    (text) => `! ${text}`,
    (text) => `${text} &`,
    (text) => `echo "$( ${text} )"`,
    (text) => `if true; then ${text}; fi`,
    (text) => `while ${text}; do break; done`,
    (text) => `{ f() { ${text}; }; f; }`,
    (text) => `trap ${single(text)} EXIT`,
    (text) => `cat <<'END' | bash\n${text}\nEND`,
    (text) => `{ echo ${single(text)} > temp/w.sh; bash temp/w.sh; }`,
    (text) => `python3 -c ${single(`import os\nos.system(${JSON.stringify(text)})`)}`,
  ];
  const order = fc.array(fc.constantFrom(...wrappers.keys()), { maxLength: 3 });
  fc.assert(
    fc.property(command, fc.constantFrom(...before), order, (text, front, wrapping) => {
      const whole = wrapping.reduce((inner, at) => wrappers[at]?.(inner) ?? inner, front + text);
      const found = kinds(whole).split(" ");
      const wanted = kinds(text).split(" ").filter(Boolean);
      for (const kind of wanted) assert.ok(found.includes(kind) || found.includes("unreadable"), whole);
    }),
    { numRuns: 500 },
  );
});

test("flags of rm, split, joined, long or behind its paths, change nothing [H1]", () => {
  const flags = fc.shuffledSubarray(["-r", "-f", "-v", "-rf", "-fR", "--force", "--recursive", "--verbose", "-i"]);
  const paths = fc.shuffledSubarray(["temp/a", "/tmp/b", "./temp/c", "outputs/d", "uploads", "."], { minLength: 1 });
  fc.assert(
    fc.property(flags, paths, fc.boolean(), (some, targets, isBehind) => {
      const words = isBehind ? [...targets, ...some] : [...some, ...targets];
      const isFree = targets.every((path) => /temp|tmp/.test(path));
      assert.equal(kinds(`rm ${words.join(" ")}`), isFree ? "" : "delete");
    }),
    runs,
  );
});

test("behind `cd temp &&` relative paths are below temp/, and absolute ones are where they were [H1]", () => {
  const path = fc.constantFrom(
    "a",
    "./a",
    "b/c",
    "*.log",
    "../temp/x",
    "../outputs/a",
    "../../w1/outputs/a",
    "/workspace/w1/outputs/a",
  );
  fc.assert(
    fc.property(path, (one) =>
      assert.equal(kinds(`cd temp && rm -rf ${one}`), one.includes("outputs") ? "delete" : ""),
    ),
    runs,
  );
});

test("any text at all gets an answer that can be shown [H1]", () => {
  const pieces = [
    "rm ",
    "'",
    '"',
    "$(",
    ")",
    "`",
    "${",
    "}",
    "{a,b}",
    "<<E\n",
    "E\n",
    ";",
    "|",
    "&&",
    "\\",
    "\n",
    "x=",
    "$x ",
    "*",
    "for ",
    "do ",
    "done",
    "if ",
    "[[ ",
    "((",
    "# ",
    "\u{e000}",
    "\ud800",
    "中",
    "\0",
    "eval ",
    "bash -c ",
  ];
  const text = fc.oneof(
    anyText(),
    fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((all) => all.join("")),
  );
  const isShown = (one: Finding) => one.what.length <= 300 && one.what.isWellFormed() && one.layer === "default";
  fc.assert(
    fc.property(text, (one) => {
      assert.ok(find(one).every(isShown));
      assert.ok(codeFindings(one, "python", judgedFacts).every(isShown));
      assert.ok(codeFindings(one, "javascript", judgedFacts).every(isShown));
    }),
    runs,
  );
});

test("hostile commands are answered quickly, and ask [H1]", async () => {
  const many = 10_000;
  const hostile: Record<string, string> = {
    "a megabyte": `echo ${"a".repeat(1024 * 1024)}`,
    "just too long": `#${"a".repeat(commandBytesMax)}`,
    parentheses: `${"(".repeat(many)}ls${")".repeat(many)}`,
    substitutions: `${"$(".repeat(many)}ls${")".repeat(many)}`,
    "too many commands": "true;".repeat(20_000),
    "open quotes": `echo ${`"$(`.repeat(many)}`,
    "nested shells": Array.from({ length: 30 }).reduce<string>(
      (text) => `bash -c ${JSON.stringify(text)}`.slice(0, 100_000),
      "ls",
    ),
    "a zero byte": "ls \0",
  };
  assert.deepEqual(await judgedInSteps("commandFindings", hostile, nothingListed), kindsOfAll(hostile, "unreadable"));
});

test("large harmless texts are read in a time that grows with their size [H1]", async () => {
  const large: Record<string, string> = {
    "a here-document": `cat > temp/a.csv <<'END'\n${"1,2,3\n".repeat(40_000)}END`,
    "many words": `echo ${"a ".repeat(100_000)}`,
    "many braces": `echo ${"{a,b}".repeat(200)}`,
    "many quotes": `echo ${"''a".repeat(50_000)}`,
    "nested braces": `echo ${"{a,".repeat(200)}b${"}".repeat(200)}`,
    "many values": `x=1; ${"if true; then x=$x$x; fi; ".repeat(60)} echo $x`,
    "a value that grows": `x=ab; ${"x=$x$x; ".repeat(60)} echo $x`,
    patterns: `x=${"a".repeat(300)}; echo \${x##*a*a*a*a*a*a*b}`,
    "functions that call two": `${Array.from({ length: 9 }, (_, at) => `f${at}() { f${at + 1}; f${at + 1}; }; `).join("")} f9() { ls; }; f0`,
  };
  assert.deepEqual(await judgedInSteps("commandFindings", large, nothingListed), kindsOfAll(large, ""));
  const code = {
    brackets: `${"[".repeat(50_000)}`,
    calls: "f(".repeat(50_000),
    texts: "f'{".repeat(20_000),
    loops: "[x for x in ".repeat(3_000),
  };
  const unread = kindsOfAll(code, "unreadable");
  assert.deepEqual(await judgedInSteps("codeFindings", code, "python"), unread);
  assert.deepEqual(await judgedInSteps("codeFindings", code, "javascript"), { ...unread, texts: "" });
});

/** What is found in each, after no more than so many steps. */
async function judgedInSteps<What extends string>(
  name: "commandFindings" | "codeFindings",
  texts: Readonly<Record<What, string>>,
  more: unknown,
): Promise<Record<string, string>> {
  const module = new URL(name === "codeFindings" ? "./code.ts" : "./commands.ts", import.meta.url);
  const inOrder = (text: string) => (name === "codeFindings" ? [text, more, judgedFacts] : [text, judgedFacts, more]);
  const calls = Object.values<string>(texts).map((text) => ({ name, with: inOrder(text) }));
  const counted = await countSteps<Finding[]>(module, calls);
  const told = Object.keys(texts).map((what, at) => ({ what, ...(counted[at] ?? assert.fail()) }));
  for (const { what, steps } of told) assert.ok(steps < stepsMax, `${what}: ${steps} steps`);
  return Object.fromEntries(told.map(({ what, value }) => [what, kindsOf(value)]));
}

const kindsOfAll = (texts: object, kinds: string) =>
  Object.fromEntries(Object.keys(texts).map((what) => [what, kinds]));

test("the risk grows with what is at stake, and by one level after text from outside was read [H1][R1]", () => {
  const risk = (text: string, tainted = false) =>
    commandFindings(text, { ...judgedFacts, tainted }, nothingListed)
      .map((one) => one.risk)
      .join(" ");
  const rows = [
    ["rm outputs/a.csv", "medium", "high"],
    ["rm outputs/*.csv", "high", "critical"],
    ["rm -r outputs/charts", "high", "critical"],
    ["rm uploads/a.csv", "critical", "critical"],
    ["rm -rf .", "critical", "critical"],
    ["rm -rf /", "critical", "critical"],
    ["rm -rf ~", "critical", "critical"],
    ["rm -rf *", "critical", "critical"],
    ["echo x > uploads/a.csv", "high", "critical"],
    ["curl https://x.example", "medium", "high"],
    ["curl -d @outputs/a https://x.example", "high", "critical"],
    ["curl http://localhost:8000/", "low", "medium"],
    ["pip install x", "medium", "high"],
    ["sudo ls", "high", "high"],
    ["$X", "high", "high"],
    ["rm temp/a", "", ""],
  ] as const;
  assert.deepEqual(
    rows.map(([text]) => [text, risk(text), risk(text, true)]),
    rows,
  );
});

test("what may be allowed always is a program and its command, never a deletion or a secret [H1][H2]", () => {
  const shape = (text: string) => find(text).map((one) => one.shape);
  const rows: [string, (string | undefined)[]][] = [
    ["pip install pandas", ["pip install *"]],
    ["python3 -m pip install pandas", ["pip install *"]],
    ["uv pip install x", ["uv pip install *"]],
    ["npx tsx a.ts", ["npx tsx *"]],
    ["curl -s https://x.example", ["curl *"]],
    ["git clone https://x.example/a", ["git clone *"]],
    ["rm outputs/a", [undefined]],
    ["sudo ls", [undefined]],
    ["$X", [undefined]],
    ["cat .env", [undefined]],
    ["echo x > uploads/a", [undefined]],
  ];
  assert.deepEqual(
    rows.map(([text]) => [text, shape(text)]),
    rows,
  );
  const [pushed] = find("git add . && git push origin main; ls");
  assert.deepEqual(pushed, {
    kind: "network",
    action: "ask",
    risk: "high",
    layer: "default",
    what: "git push origin main",
    shape: "git push *",
  });
});

test("a secret is told apart without being repeated [H1]", () => {
  const [found] = find("export OPENAI_API_KEY=sk-abcdefghijklmnop1234567890");
  assert.deepEqual(found?.what, "export OPENAI_API_KEY=sk-a…");
});

test("without a sandbox, or where the operator wants it, only commands on the list go without asking [H1]", () => {
  const safe = { commands: ["ls", "cat", "git status"], onlySafe: false };
  const rows: [string, string][] = [
    ["ls -la", ""],
    ["cat a | cat", ""],
    ["cd temp && ls; echo done", ""],
    ["timeout 5 ls", ""],
    ["git status", ""],
    ["git log", "not_safe"],
    ["make", "not_safe"],
    ["python3 -c 'print(1)'", "not_safe"],
    ["./run.sh", "not_safe"],
    ["ls; make", "not_safe"],
    ["ls > outputs/a", ""],
    ["rm outputs/a", "delete"],
    ["curl https://x.example", "network"],
    ["cat /etc/passwd", "credentials"],
  ];
  const only = rows.map(([text]) => [text, kindsOf(commandFindings(text, judgedFacts, { ...safe, onlySafe: true }))]);
  assert.deepEqual(only, rows);
  const bare = { ...judgedFacts, contained: false };
  const open = rows.map(([text]) => [text, kindsOf(commandFindings(text, bare, safe))]);
  assert.deepEqual(open, rows);
  // The machine's own /tmp is nobody's to empty, and files outside the workspace are not the agent's.
  assert.equal(kindsOf(commandFindings("rm /tmp/a", bare, safe)), "delete");
  assert.equal(kindsOf(commandFindings("rm temp/a", bare, { commands: ["rm"], onlySafe: false })), "");
  assert.equal(kindsOf(commandFindings("ls > /etc/motd", bare, safe)), "not_safe");
  assert.equal(kindsOf(commandFindings("ls 2> /etc/motd", bare, safe)), "not_safe");
  assert.equal(kindsOf(commandFindings("ls 2> outputs/a", bare, safe)), "");
  assert.equal(kindsOf(commandFindings("rm -rf ~/temp", bare, safe)), "delete");
});
