import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, callOf, inSandbox } from "../../test/world/judging.ts";
import type { AllowRule, RuleMatch } from "../protocol/approval.ts";
import { type HitlRules, openApprovals } from "./approvals.ts";
import { shortened } from "./argument-texts.ts";
import { defaultRules } from "./rules.ts";

const plain = openApprovals({ rules: defaultRules, checkers: [] });
const stored = (match: RuleMatch | undefined, tool = "run_bash_command", id = "r1"): AllowRule =>
  match === undefined ? assert.fail("nothing to store") : { id, tool, scope: "user", match, at: 1, by: "local" };

test("what was allowed always for one kind of finding covers no other kind of the same words [H1][H2]", () => {
  const verdict = (kind: "packages" | "network") =>
    plain.judge(bash("pip install x"), inSandbox, [
      stored({ match: "findings", covers: [{ kind, pattern: "pip install *", risk: "medium" }] }),
    ]).verdict;
  assert.deepEqual([verdict("packages"), verdict("network")], ["allow", "ask"]);
});

test("what was allowed always for one tool covers no other, also where that one has a rule of its own [H1][H2]", () => {
  const covers = [{ kind: "packages", pattern: "pip install *", risk: "medium" }] as const;
  const rules = [
    stored({ match: "findings", covers: [...covers] }, "execute_code"),
    stored({ match: "call", hash: "of another call", shown: "ls" }, "run_bash_command", "r2"),
  ];
  assert.equal(plain.judge(bash("pip install x"), inSandbox, rules).verdict, "ask");
  assert.equal(
    plain.judge(bash("pip install x"), inSandbox, [stored({ match: "findings", covers: [...covers] })]).verdict,
    "allow",
  );
});

test("packages of one skill can be allowed always, and those of no other with them [H2]", () => {
  const install = (skill: string) => callOf("install_packages", { skill });
  const [, wide] = plain.judge(install("pdf"), inSandbox, []).always;
  assert.deepEqual(wide, {
    match: "findings",
    covers: [{ kind: "packages", pattern: "install_packages pdf", risk: "medium" }],
  });
  const rules = [stored(wide, "install_packages")];
  assert.deepEqual(
    ["pdf", "pdf-tools", "pdf tools", "slides", ""].map(
      (skill) => plain.judge(install(skill), inSandbox, rules).verdict,
    ),
    ["allow", "ask", "ask", "ask", "ask"],
  );
});

test("another command that runs the same script is another call [H2]", () => {
  const facts = { ...inSandbox, scripts: new Map([["temp/x.sh", "rm outputs/a"]]) };
  const [same] = plain.judge(bash("bash temp/x.sh"), facts, []).always;
  const verdict = (command: string) => plain.judge(bash(command), facts, [stored(same)]).verdict;
  assert.deepEqual([verdict("bash temp/x.sh"), verdict("rm -rf outputs; bash temp/x.sh")], ["allow", "ask"]);
});

test("a call that was allowed always is told with what it would have asked for, and by which rule [H2]", () => {
  const call = bash("pip install x");
  const { findings, reason, risk, always } = plain.judge(call, inSandbox, []);
  const [older, newer] = [stored(always[0], call.tool, "older"), stored(always[0], call.tool, "newer")];
  assert.deepEqual(plain.judge(call, inSandbox, [newer, older]), {
    ...{ verdict: "allow", layer: "always", risk, reason, findings, always: [], rule: newer },
  });
});

test("whoever is told no hears what forbids it, and not what would only have asked [H1]", () => {
  const rules: HitlRules = {
    ...defaultRules,
    global: {
      ...defaultRules.global,
      patterns: [{ pattern: "outputs", action: "deny", risk: "low", reason: "Results stay.", source: "rules.yaml:3" }],
    },
  };
  const { verdict, reason, findings, risk } = openApprovals({ rules, checkers: [] }).judge(
    bash("rm -rf outputs"),
    inSandbox,
    [],
  );
  assert.deepEqual(
    [verdict, risk, reason, findings.map(({ kind, action }) => `${kind} ${action}`)],
    ["deny", "low", "Results stay (rules.yaml:3)", ["rule deny", "delete ask"]],
  );
});

test("where a rule stands is told to who is told no, and not to who is only asked [H1]", () => {
  const reasonOf = (action: "ask" | "deny") => {
    const pattern = { pattern: "all", action, risk: "low", reason: "Not all.", source: "rules.yaml:3" } as const;
    const rules = { ...defaultRules, global: { ...defaultRules.global, patterns: [pattern] } };
    return openApprovals({ rules, checkers: [] }).judge(callOf("send", { to: "all" }), inSandbox, []).reason;
  };
  assert.deepEqual([reasonOf("ask"), reasonOf("deny")], ["Not all", "Not all (rules.yaml:3)"]);
  const none = { ...defaultRules, global: { ...defaultRules.global, defaultAction: "deny" as const } };
  const { verdict, reason } = openApprovals({ rules: none, checkers: [] }).judge(callOf("send", {}), inSandbox, []);
  assert.deepEqual([verdict, reason.includes("undefined")], ["deny", false]);
});

test("what a rule allows is told with the rule's own words, or with where it stands [H1]", () => {
  const told = (reason?: string) => {
    const pattern = { pattern: "all", action: "allow", risk: "medium", reason, source: "rules.yaml:3" } as const;
    const rules = { ...defaultRules, global: { ...defaultRules.global, patterns: [pattern] } };
    return openApprovals({ rules, checkers: [] }).judge(callOf("send", { to: "all" }), inSandbox, []);
  };
  const allowed = { verdict: "allow", risk: "medium", layer: "global", findings: [], always: [] };
  assert.deepEqual(
    [told("Friends."), told()],
    [
      { ...allowed, reason: "Friends." },
      { ...allowed, reason: "it is allowed by rules.yaml:3" },
    ],
  );
});

test("a text of 300 characters is shown in full, one of 301 is cut, and never in the middle of a sign [H1]", () => {
  assert.equal(shortened("x".repeat(300)), "x".repeat(300));
  assert.equal(shortened("x".repeat(301)), `${"x".repeat(299)}…`);
  assert.equal(shortened(`${"x".repeat(298)}😀y`), `${"x".repeat(298)}\uFFFD…`);
});

test("scripts whose texts are known already are not asked for again, and those that they name are [H1]", () => {
  const call = bash("bash temp/a.sh");
  assert.deepEqual(plain.scriptsOf(call), ["temp/a.sh"]);
  const known = { root: "/workspace/x", scripts: new Map([["temp/a.sh", "bash /workspace/x/temp/b.sh"]]) };
  assert.deepEqual(plain.scriptsOf(call, known), ["temp/b.sh"]);
});
