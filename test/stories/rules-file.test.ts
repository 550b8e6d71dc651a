import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { loadCheckers } from "../../src/approvals/approvals.ts";
import { defaultRules } from "../../src/approvals/rules.ts";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { bash, callOf, operatorFolder } from "../world/judging.ts";

const root = join(import.meta.dirname, "..", "..");
const told = ({ verdict, risk, layer, reason }: { verdict: string; risk: string; layer: string; reason: string }) => [
  ...[verdict, risk, layer],
  reason,
];

test("the file that comes with a clone changes nothing, and without its comment signs it states the defaults [P5][H1]", async (t) => {
  const place = operatorFolder(t);
  const shipped = readFileSync(join(root, "config/hitl_rules.yaml"), "utf8");
  assert.deepEqual((await place.load()).approvals, defaultRules);
  place.rules(shipped);
  assert.deepEqual((await place.load()).approvals, defaultRules);
  place.rules(shipped.replaceAll(/^# /gm, ""));
  const { approvals } = await place.load();
  const { defaultSource, ...global } = approvals.global;
  assert.match(defaultSource ?? "", /^config\/hitl_rules\.yaml:\d+$/);
  assert.deepEqual({ ...approvals, global }, defaultRules);
});

test("the example of the documentation is a file that can be used, and so is its checker [P5][H1]", async (t) => {
  const page = readFileSync(join(root, "docs/use/approvals.md"), "utf8");
  const blockOf = (language: string) => page.split(`\`\`\`${language}\n`)[1]?.split("```")[0] ?? "";
  const place = operatorFolder(t);
  place.rules(blockOf("yaml"));
  const extend = import.meta.resolve("agentyard/extend");
  assert.equal(extend, pathToFileURL(join(root, "src/extend.ts")).href);
  place.write("checkers/backup.ts", blockOf("ts").replace("agentyard/extend", extend));
  const verdicts = ["psql prod-db", "terraform plan", "make deploy", "git push", "make backup"].map((command) =>
    place.judge(bash(command), { tainted: true }),
  );
  assert.deepEqual(
    (await Promise.all(verdicts)).map(({ verdict, layer }) => `${verdict} ${layer}`),
    ["deny global", "deny tool", "ask tool", "deny tool", "deny checker"],
  );
});

for (const risk of ["critical", "low"] as const) {
  test(`global.risk_patterns.${risk}: its patterns, action and reason count for every tool [H1]`, async (t) => {
    const place = operatorFolder(t);
    place.rules(`global:\n  risk_patterns:\n    ${risk}:\n      patterns: ["prod-\\\\d+"]\n      reason: hands off`);
    assert.deepEqual(told(await place.judge(bash("echo PROD-7"))), ["ask", risk, "global", "hands off"]);
    assert.deepEqual(told(await place.judge(callOf("web_search", { query: "prod-1" }))), [
      "ask",
      risk,
      "global",
      "hands off",
    ]);
    assert.equal((await place.judge(bash("echo prod-x"))).verdict, "allow");
    place.rules(`global: { risk_patterns: { ${risk}: { patterns: [prod], action: deny } } }`);
    const denied = await place.judge(bash("echo prod"));
    assert.deepEqual(
      [denied.verdict, denied.risk, denied.findings[0]?.source],
      ["deny", risk, "config/hitl_rules.yaml:1"],
    );
  });
}

test("global.enabled: false takes away its patterns and its default action, and nothing else [H1]", async (t) => {
  const place = operatorFolder(t);
  const rest =
    "  default_action: ask\n  risk_patterns: { high: { patterns: [prod] } }\ntools:\n  now: { rules: [{ pattern: x, action: deny }] }";
  place.rules(`global:\n  enabled: true\n${rest}`);
  const calls = [bash("echo prod"), callOf("send_mail", {}), callOf("now", { timezone: "x" }, { class: "pure" })];
  const verdicts = async () =>
    (await Promise.all(calls.map((call) => place.judge(call)))).map(({ verdict }) => verdict);
  assert.deepEqual(await verdicts(), ["ask", "ask", "deny"]);
  place.rules(`global:\n  enabled: false\n${rest}`);
  assert.deepEqual(await verdicts(), ["allow", "allow", "deny"]);
});

for (const action of ["ask", "deny"] as const) {
  test(`global.default_action: ${action} is for what nothing else speaks about: safe commands and tools that only look go by themselves [H1]`, async (t) => {
    const place = operatorFolder(t);
    place.rules(
      `global: { default_action: ${action} }\ntools:\n  run_bash_command: { rules: [{ pattern: "^make test$", action: allow }] }`,
    );
    const pure = { class: "pure" } as const;
    const cases: [call: Parameters<typeof place.judge>[0], verdict: string, layer: string][] = [
      [bash("ls -la outputs | wc -l"), "allow", "default"],
      [bash("make all"), action, "global"],
      [bash("make test"), "allow", "tool"],
      [callOf("execute_code", { code: "print(1)" }), action, "global"],
      [callOf("write_file", { path: "outputs/a", content: "x" }, { class: "idempotent" }), action, "global"],
      [callOf("read_file", { path: "a" }, pure), "allow", "default"],
      [callOf("todo_write", { todos: [] }, { class: "idempotent" }), "allow", "default"],
      [callOf("send_mail", { to: "a" }), action, "global"],
    ];
    for (const [call, verdict, layer] of cases) {
      const judged = await place.judge(call);
      assert.deepEqual(
        [call.tool, call.written, judged.verdict, judged.layer],
        [call.tool, call.written, verdict, layer],
      );
    }
    assert.equal((await place.judge(bash("make all"), { contained: false })).verdict, action);
    const { findings } = await place.judge(callOf("send_mail", {}));
    assert.equal(findings[0]?.source, "config/hitl_rules.yaml:1");
  });
}

test("tools.<name>.patterns ask at their level, and actions change what they do; require_approval is the source system's word for ask [H1]", async (t) => {
  const place = operatorFolder(t);
  const patterns = "patterns: { high_risk: [frobnicate], medium_risk: [make] }";
  const calls = [bash("frobnicate plan"), bash("make all"), callOf("execute_code", { code: "frobnicate" })];
  const judged = async () =>
    (await Promise.all(calls.map((call) => place.judge(call)))).map((one) => told(one).slice(0, 3));
  place.rules(`tools:\n  run_bash_command:\n    ${patterns}`);
  const free = ["allow", "low", "default"];
  assert.deepEqual(await judged(), [["ask", "high", "tool"], ["ask", "medium", "tool"], free]);
  place.rules(
    `tools:\n  run_bash_command:\n    ${patterns}\n    actions: { high_risk: deny, medium_risk: require_approval }`,
  );
  assert.deepEqual(await judged(), [["deny", "high", "tool"], ["ask", "medium", "tool"], free]);
  place.rules(`tools:\n  run_bash_command:\n    actions: { high_risk: allow, medium_risk: deny }\n    ${patterns}`);
  assert.deepEqual(await judged(), [["allow", "high", "tool"], ["deny", "medium", "tool"], free]);
});

test("tools.<name>.rules have pattern, argument, action and reason of their own [H1]", async (t) => {
  const place = operatorFolder(t);
  place.rules(`tools:
  write_file:
    rules:
      - { pattern: "\\\\.env$", action: deny, reason: settings are for people }
      - pattern: BEGIN RSA
        argument: content
        reason: a key
      - pattern: ^outputs/
        action: allow`);
  const write = (path: string, content: string) => place.judge(callOf("write_file", { path, content }));
  assert.deepEqual(told(await write("outputs/.env", "")), [
    "deny",
    "high",
    "tool",
    "settings are for people (config/hitl_rules.yaml:4)",
  ]);
  assert.deepEqual(told(await write("temp/a", "-- begin rsa --")), ["ask", "medium", "tool", "a key"]);
  assert.deepEqual(told(await write("temp/a", ".env")), ["allow", "low", "default", "nothing asks for a decision"]);
  assert.deepEqual(told(await write("outputs/a", "")), [
    "allow",
    "low",
    "tool",
    "it is allowed by config/hitl_rules.yaml:8",
  ]);
});

test("tools.<name>.enabled: false takes the rules of that tool and the defaults away from it, other layers stay [H1]", async (t) => {
  const place = operatorFolder(t);
  const rules = "rules: [{ pattern: x, action: deny }]";
  place.rules(`tools: { write_file: { enabled: true, ${rules} } }`);
  const calls = ["uploads/x.csv", "uploads/prod.csv"].map((path) => callOf("write_file", { path, content: "" }));
  const verdicts = async () =>
    (await Promise.all(calls.map((call) => place.judge(call)))).map(({ verdict }) => verdict);
  assert.deepEqual(await verdicts(), ["deny", "ask"]);
  place.rules(
    `tools: { write_file: { enabled: false, ${rules} } }\nglobal: { risk_patterns: { low: { patterns: [prod] } } }`,
  );
  assert.deepEqual(await verdicts(), ["allow", "ask"]);
});

test("a tool may be named as models call it [H1]", async (t) => {
  const place = operatorFolder(t);
  place.rules("tools: { bash: { rules: [{ pattern: deploy, action: deny }] } }");
  assert.equal((await place.judge(bash("./deploy"))).verdict, "deny");
});

test("defaults.safe_commands is the list of commands that go by themselves without a sandbox [H1]", async (t) => {
  const place = operatorFolder(t);
  const verdicts = async () => {
    const judged = ["ls", "frobnicate now"].map((command) => place.judge(bash(command), { contained: false }));
    return (await Promise.all(judged)).map(({ verdict, layer }) => `${verdict} ${layer}`);
  };
  assert.deepEqual(await verdicts(), ["allow default", "ask default"]);
  place.rules("defaults: { safe_commands: [frobnicate] }");
  assert.deepEqual(await verdicts(), ["ask default", "allow default"]);
});

test("patterns read each argument by itself, and contents of files only where they name the argument [H1]", async (t) => {
  const place = operatorFolder(t);
  place.rules("global: { risk_patterns: { high: { patterns: ['a b', '^x$'] } } }");
  const verdictOf = async (given: Record<string, unknown>, tool = "send") =>
    (await place.judge(callOf(tool, given))).verdict;
  assert.deepEqual(
    await Promise.all([
      verdictOf({ one: "a", two: "b" }),
      verdictOf({ one: "a b" }),
      verdictOf({ list: ["q", { deep: "x" }] }),
      verdictOf({ path: "outputs/q", content: "a b" }, "write_file"),
      verdictOf({ path: "outputs/q", old_string: "a b", new_string: "x" }, "edit_file"),
    ]),
    ["allow", "ask", "ask", "allow", "allow"],
  );
  place.rules("global: { risk_patterns: { high: { patterns: [{ argument: content, pattern: 'a b' }] } } }");
  assert.equal(await verdictOf({ path: "outputs/q", content: "a b" }, "write_file"), "ask");
});

const mistakes = rowsOf(`
  globl:¶  enabled: true → 1: there is no setting globl. Write global instead.
  global:¶  default_acton: ask → 2: there is no setting global.default_acton. Write global.default_action instead.
  tools:¶  run_bash_comand: {} → 2: there is no tool run_bash_comand. Write run_bash_command instead.
  tools:¶  run_bash_command:¶    rules:¶      - { pattern: prod, argument: comand, action: deny } → 4: run_bash_command has no argument comand. Write command instead.
  tools:¶  now:¶    enable: true → 3: there is no setting tools.now.enable. Write tools.now.enabled instead.
  tools:¶  now:¶    rules:¶      - action: deny → 4: tools.now.rules has no pattern. Write pattern: and a regular expression into it.
  global:¶  default_action: perhaps → 2: global.default_action is perhaps. Write one of allow, ask, deny.
  tools:¶  now:¶    rules:¶      - pattern: '(x' → 4: (x is no regular expression (Unterminated group). Write a regular expression, such as \\bprod-\\w+.
  global:¶  risk_patterns:¶    low:¶      patterns:¶        - a¶        - (?=b) → 6: the pattern (?=b) uses (?=, which is not possible here. Write it without that.
  global:¶  risk_patterns:¶    low: { patterns: x } → 3: global.risk_patterns.low.patterns is not a list. Write one line for each below it: - \\bprod-\\w+.
  tools: none → 1: tools holds other settings. Write them below it, such as run_bash_command.
  global:¶  enabled: maybe → 2: global.enabled is maybe. Write true or false.`);

test("a mistake in hitl_rules.yaml is an error with file, line and what to write [P5][H1]", async (t) => {
  const place = operatorFolder(t);
  for (const [yaml, mistake] of mistakes) {
    place.rules(yaml);
    const [first = "", ...more] = await place.mistakes();
    assert.equal(first.slice(0, `config/hitl_rules.yaml:${mistake}`.length), `config/hitl_rules.yaml:${mistake}`);
    assert.deepEqual(more, []);
  }
});

test("the project's file adds its rules to the user's, and its single values are taken first [P5][H1]", async (t) => {
  const place = operatorFolder(t);
  place.usersRules("global: { default_action: deny, risk_patterns: { high: { patterns: [one], action: deny } } }");
  place.rules("global: { default_action: ask, risk_patterns: { high: { patterns: [two] } } }");
  const { approvals } = await place.load();
  assert.deepEqual(
    [approvals.global.defaultAction, approvals.global.patterns.map(({ pattern, source }) => `${pattern} ${source}`)],
    ["ask", ["two config/hitl_rules.yaml:1", "one ~/.config/agentyard/hitl_rules.yaml:1"]],
  );
});

test("a folder that the program was only started in may add rules, but take none away [P5][H1][Q1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  place.usersRules("global: { default_action: ask }");
  place.rules(`global:
  enabled: false
  default_action: allow
  risk_patterns: { high: { patterns: [one], action: deny } }
tools:
  now: { enabled: false }
defaults: { safe_commands: [rm] }`);
  const loosens = (line: number, name: string) =>
    `config/hitl_rules.yaml:${line}: ${name} would let this folder decide what is no longer asked. ` +
    "Write it into ~/.config/agentyard/hitl_rules.yaml, or name the folder with AGENTYARD_CONFIG.";
  assert.deepEqual(await place.mistakes(), [
    loosens(2, "global.enabled"),
    loosens(3, "global.default_action"),
    loosens(6, "tools.now.enabled"),
    loosens(7, "defaults.safe_commands"),
  ]);
  assert.deepEqual(await place.mistakes({ AGENTYARD_CONFIG: place.dir }), []);
  place.rules("global: { risk_patterns: { high: { patterns: [one], action: deny } } }");
  assert.equal((await place.judge(bash("echo one"))).verdict, "deny");
});

test("such a folder cannot speak about a call either, so that the user's own default no longer counts for it [P5][H1][Q1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  const lines = `global:
  risk_patterns: { low: { patterns: [make], action: allow } }
tools:
  write_file:
    rules:
      - { pattern: outputs, action: allow }
      - { pattern: secret, action: ask }`;
  place.rules(lines);
  assert.deepEqual(await place.mistakes(), []);
  const loosens = (line: number, name: string) =>
    `config/hitl_rules.yaml:${line}: ${name} would let this folder decide what is no longer asked. ` +
    "Write it into ~/.config/agentyard/hitl_rules.yaml, or name the folder with AGENTYARD_CONFIG.";
  place.usersRules("global: { default_action: ask }");
  assert.deepEqual(await place.mistakes(), [loosens(2, "make"), loosens(6, "outputs")]);
  place.usersRules("global: { default_action: deny }");
  assert.deepEqual(await place.mistakes(), [loosens(2, "make"), loosens(6, "outputs"), loosens(7, "secret")]);
  assert.deepEqual(await place.mistakes({ AGENTYARD_CONFIG: place.dir }), []);
});

test("agentyard config names the file and line of every rule, and a change is noticed [P5]", async (t) => {
  const place = operatorFolder(t);
  place.rules(
    "global:\n  default_action: require_approval\ntools:\n  now:\n    rules:\n      - pattern: x\n        action: deny",
  );
  place.write("checkers/a.mjs", "");
  const config = await place.load();
  assert.deepEqual(
    explainConfig(config).filter(({ name }) => /^(hitl|checkers)/.test(name)),
    [
      { name: "hitl_rules.global.default_action", value: "ask", source: "config/hitl_rules.yaml:2" },
      { name: "hitl_rules.tools.now.rules.pattern", value: "x", source: "config/hitl_rules.yaml:6" },
      { name: "hitl_rules.tools.now.rules.action", value: "deny", source: "config/hitl_rules.yaml:7" },
      { name: "checkers", value: "on", source: "checkers/a.mjs" },
    ],
  );
  place.rules("global: { default_action: deny }");
  assert.equal(hasChanged(config), true);
  const reloaded = await place.reload(config);
  assert.equal(reloaded.ok && reloaded.value.config.approvals.global.defaultAction, "deny");
});

const extend = join(import.meta.dirname, "..", "..", "src", "extend.ts");

test("a checker of the operator sees arguments and facts, and its word counts with its name [H1][P5]", async (t) => {
  const place = operatorFolder(t);
  place.write(
    "checkers/night.ts",
    `import { defineChecker } from ${JSON.stringify(extend)};
const checker = defineChecker({
  tool: ["send", "pay"],
  check({ to }, { tool, contained, network, tainted }) {
    if (to === "all") return { action: "deny", reason: \`\${tool} to all \${contained} \${network} \${tainted}\` };
    if (to === "boss") return { action: "ask", risk: "critical", reason: "the boss" };
    if (to === "me") return { action: "allow", reason: "that is me" };
    return undefined;
  },
});
  export { checker as default };`,
  );
  const judged = async (tool: string, to: string) => {
    const { verdict, risk, layer, reason } = await place.judge(callOf(tool, { to }));
    return [verdict, risk, layer, reason];
  };
  assert.deepEqual(await judged("send", "all"), [
    "deny",
    "high",
    "checker",
    "send to all true false false (checkers/night.ts)",
  ]);
  assert.deepEqual(await judged("pay", "boss"), ["ask", "critical", "checker", "the boss"]);
  assert.deepEqual(await judged("send", "me"), ["allow", "low", "checker", "that is me"]);
  assert.deepEqual(await judged("send", "you"), ["allow", "low", "default", "nothing asks for a decision"]);
  assert.deepEqual(await judged("call", "all"), ["allow", "low", "default", "nothing asks for a decision"]);
  const { findings } = await place.judge(callOf("send", { to: "all" }));
  assert.equal(findings[0]?.source, "checkers/night.ts");
});

test("the allow of a checker is only its own word: others may still ask [H1]", async (t) => {
  const place = operatorFolder(t);
  place.write("checkers/all.mjs", `export default { tool: "*", check: () => ({ action: "allow", reason: "fine" }) };`);
  place.rules("global: { default_action: deny }");
  assert.equal((await place.judge(callOf("send", {}))).verdict, "allow");
  assert.equal((await place.judge(callOf("write_file", { path: "uploads/a" }))).verdict, "ask");
});

const silent: [what: string, body: string, why: RegExp][] = [
  [
    "throws",
    'throw new Error("no database")',
    /broke down and gave no answer: checkers\/a\.mjs \(Error: no database\)/,
  ],
  ["does not end", "for (;;);", /took too long and gave no answer: checkers\/a\.mjs/],
  ["answers nonsense", 'return { action: "maybe" }', /answered something else than undefined or .*: checkers\/a\.mjs/],
  [
    "answers later",
    'return Promise.reject(new Error("late"))',
    /answered something else than undefined or .*: checkers\/a\.mjs/,
  ],
  [
    "changes what it was given",
    'given.to = "x"; given.list.push(1); return { action: "ask", reason: "changed" }',
    /changed/,
  ],
];
for (const [what, body, why] of silent) {
  test(`a checker that ${what} means that a person is asked [H1]`, async (t) => {
    const place = operatorFolder(t);
    place.write("checkers/a.mjs", `export default { tool: "send", check(given) { ${body} } };`);
    const call = callOf("send", { to: "all", list: [] });
    const { verdict, layer, reason } = await place.judge(call);
    assert.deepEqual([verdict, layer, call.arguments], ["ask", "checker", { to: "all", list: [] }]);
    assert.match(reason, why);
  });
}

const broken: [what: string, text: string, why: RegExp][] = [
  ["cannot be read", "export default {", /Unexpected/],
  ["is about no tool", 'export default { tool: "", check() {} };', /its default export is not/],
  ["cannot check", 'export default { tool: "*", check: true };', /its default export is not/],
  ["breaks down with many words", 'throw new Error("no key\\nat home");', /^(Error: )?no key$/],
];
for (const [what, text, why] of broken) {
  test(`nothing starts with a checker that ${what} [H1][P5]`, async (t) => {
    const place = operatorFolder(t);
    place.write("checkers/a.mjs", text);
    const loaded = await loadCheckers((await place.load()).checkers);
    assert.ok(!loaded.ok);
    assert.deepEqual([loaded.failure.code, loaded.failure.params.file], ["checker_broken", "checkers/a.mjs"]);
    assert.match(loaded.failure.params.why, why);
  });
}

test("nothing starts where the folder of checkers is there and cannot be listed: less would be asked than was meant [H1][P5]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual(await place.mistakes(), []);
  place.write("checkers", "no folder");
  place.write("me/.config/agentyard/agentyard.yaml", "");
  symlinkSync("checkers", join(place.dir, "me/.config/agentyard/checkers"));
  const advice = "Give this user permission to read the folder, or take it away";
  const said = (folder: string, why: string) =>
    `${folder}:1: this folder of checkers cannot be listed (${why}), and without them less would be asked than you meant. ${advice}.`;
  assert.deepEqual(await place.mistakes(), [
    said("checkers", "ENOTDIR"),
    said("~/.config/agentyard/checkers", "ELOOP"),
  ]);
});

test("checkers of a folder that the program was only started in are not run, the user's own are [H1][Q1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  for (const name of [
    "checkers/evil.mjs",
    "me/.config/agentyard/checkers/mine.mjs",
    "me/.config/agentyard/checkers/a.test.ts",
  ])
    place.write(name, "");
  const shown = async (env?: Record<string, string>) => (await place.load(env)).checkers.map((file) => file.shown);
  assert.deepEqual(await shown(), ["~/.config/agentyard/checkers/mine.mjs"]);
  assert.deepEqual(await shown({ AGENTYARD_CONFIG: place.dir }), [
    "checkers/evil.mjs",
    "~/.config/agentyard/checkers/mine.mjs",
  ]);
});

/** Of each line the text of a file, `¶` for a new line, and what is said of it. */
function rowsOf(table: string): (readonly [yaml: string, mistake: string])[] {
  return table
    .trim()
    .split(/\n\s*/)
    .map((line) => line.split(" → "))
    .map(([yaml = "", mistake = ""]) => [yaml.replaceAll("¶", "\n"), mistake]);
}
