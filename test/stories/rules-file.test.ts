import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { defaultRules } from "../../src/approvals/rules.ts";
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

test("with the signs of its examples taken away, too, the file that comes with a clone can be used [P5][H1]", async (t) => {
  const place = operatorFolder(t);
  const shipped = readFileSync(join(root, "config/hitl_rules.yaml"), "utf8");
  place.rules(shipped.replaceAll(/^#:? /gm, ""));
  const verdicts = ["psql prod-db", "terraform plan", "make deploy", "git push", "ls"].map((command) =>
    place.judge(bash(command)),
  );
  assert.deepEqual(
    (await Promise.all(verdicts)).map(({ verdict }) => verdict),
    ["deny", "deny", "ask", "deny", "allow"],
  );
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

for (const risk of ["critical", "high", "medium", "low"] as const) {
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
