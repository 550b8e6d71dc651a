import assert from "node:assert/strict";
import { test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { bash, operatorFolder } from "../world/judging.ts";

const mistakes: [what: string, yaml: string, mistake: string][] = [
  ["a misspelt group", "globl:\n  enabled: true", "1: there is no setting globl. Write global instead."],
  [
    "a misspelt key",
    "global:\n  default_acton: ask",
    "2: there is no setting global.default_acton. Write global.default_action instead.",
  ],
  [
    "a level that is none",
    "global:\n  risk_patterns:\n    severe: {}",
    "3: there is no setting global.risk_patterns.severe. Write global.risk_patterns.",
  ],
  [
    "a misspelt key of a level",
    "global:\n  risk_patterns:\n    low: { pattern: x }",
    "3: there is no setting global.risk_patterns.low.pattern. Write global.risk_patterns.low.patterns instead.",
  ],
  [
    "a misspelt tool",
    "tools:\n  run_bash_comand: {}",
    "2: there is no tool run_bash_comand. Write run_bash_command instead.",
  ],
  [
    "a misspelt argument of a rule",
    "tools:\n  run_bash_command:\n    rules:\n      - { pattern: prod, argument: comand, action: deny }",
    "4: run_bash_command has no argument comand. Write command instead.",
  ],
  [
    "a misspelt argument of a pattern",
    "tools:\n  write_file:\n    patterns:\n      high_risk: [{ argument: contents, pattern: x }]",
    "4: write_file has no argument contents. Write content instead.",
  ],
  [
    "a misspelt key of a tool",
    "tools:\n  now:\n    enable: true",
    "3: there is no setting tools.now.enable. Write tools.now.enabled instead.",
  ],
  [
    "a misspelt level of a tool",
    "tools:\n  now:\n    patterns: { high: [x] }",
    "3: there is no setting tools.now.patterns.high. Write tools.now.patterns.high_risk instead.",
  ],
  [
    "a misspelt key of a rule",
    "tools:\n  now:\n    rules:\n      - patern: x",
    "4: there is no setting tools.now.rules.patern. Write tools.now.rules.pattern instead.",
  ],
  [
    "a rule without a pattern",
    "tools:\n  now:\n    rules:\n      - action: deny",
    "4: tools.now.rules has no pattern. Write pattern: and a regular expression into it.",
  ],
  [
    "an action that is none",
    "global:\n  default_action: perhaps",
    "2: global.default_action is perhaps. Write one of allow, ask, deny.",
  ],
  [
    "an unclosed group in a pattern",
    "tools:\n  now:\n    rules:\n      - pattern: '(x'",
    "4: (x is no regular expression (Unterminated group). Write a regular expression, such as \\bprod-\\w+.",
  ],
  [
    "a pattern that looks around",
    "global:\n  risk_patterns:\n    low:\n      patterns:\n        - a\n        - (?=b)",
    "6: the pattern (?=b) uses (?=, which is not possible here. Write it without that.",
  ],
  [
    "one pattern instead of a list",
    "global:\n  risk_patterns:\n    low: { patterns: x }",
    "3: global.risk_patterns.low.patterns is not a list. Write one line for each below it: - \\bprod-\\w+.",
  ],
  [
    "a word instead of a group",
    "tools: none",
    "1: tools holds other settings. Write them below it, such as run_bash_command.",
  ],
  [
    "a switch that is neither on nor off",
    "global:\n  enabled: maybe",
    "2: global.enabled is maybe. Write true or false.",
  ],
  [
    "a misspelt default",
    "defaults:\n  safe_command: [ls]",
    "2: there is no setting defaults.safe_command. Write defaults.safe_commands instead.",
  ],
];
for (const [what, yaml, mistake] of mistakes) {
  test(`${what} in hitl_rules.yaml is an error with file, line and what to write [P5][H1]`, async (t) => {
    const place = operatorFolder(t);
    place.rules(yaml);
    const [first = "", ...more] = await place.mistakes();
    assert.equal(first.slice(0, `config/hitl_rules.yaml:${mistake}`.length), `config/hitl_rules.yaml:${mistake}`);
    assert.deepEqual(more, []);
  });
}

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
