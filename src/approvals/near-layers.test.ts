import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { bash, callOf, inSandbox } from "../../test/world/judging.ts";
import { type CallFacts, type HitlRules, type JudgedCall, openApprovals, type PatternRule } from "./approvals.ts";
import { codeFindings, scriptsOf } from "./code.ts";
import { commandBytesMax, commandFindings, withinLimits } from "./commands.ts";
import { defaultRules } from "./rules.ts";
import { withoutSecrets } from "./secrets.ts";
import { openScene } from "./shell/open.ts";
import { spend } from "./shell/scene.ts";

const global = (more: Partial<HitlRules["global"]>): HitlRules => ({
  ...defaultRules,
  global: { ...defaultRules.global, ...more },
});
const judge = (rules: HitlRules, call: JudgedCall, facts: Partial<CallFacts> = {}) =>
  openApprovals({ rules, checkers: [] }).judge(call, { ...inSandbox, ...facts }, []);
const findings = (call: JudgedCall, facts: Partial<CallFacts> = {}, rules = defaultRules) =>
  judge(rules, call, facts).findings;
const pattern = (text: string, more: Partial<PatternRule> = {}): PatternRule => ({
  ...{ pattern: text, action: "ask", risk: "low", source: "f:1" },
  ...more,
});
const byDefault = { action: "ask", layer: "default" };

test("the default action counts where nobody else has said anything, and not where a rule allows [H1]", () => {
  const allows = [pattern("friend", { action: "allow" })];
  const rules = global({ defaultAction: "deny", patterns: allows });
  const verdicts = ["friend", "stranger"].map((to) => judge(rules, callOf("send", { to })).verdict);
  assert.deepEqual(verdicts, ["allow", "deny"]);
  const off = global({ isOn: false, defaultAction: "deny", patterns: [pattern("stranger")] });
  assert.deepEqual(judge(off, callOf("send", { to: "stranger" })).verdict, "allow");
});

test("what the default action forbids is told with where that is set; all else is asked as always [H1]", () => {
  const notSafe = { kind: "not_safe", risk: "medium", what: "make", shape: "make *" };
  const rules = global({ defaultAction: "deny", defaultSource: "f:7" });
  const removed = { ...byDefault, kind: "delete", risk: "medium", what: "rm outputs/a" };
  assert.deepEqual(findings(bash("rm outputs/a; make"), {}, rules), [
    { ...notSafe, action: "deny", layer: "global", source: "f:7" },
    removed,
  ]);
  assert.deepEqual(findings(bash("make"), {}, global({ defaultAction: "deny" })), [
    { ...notSafe, action: "deny", layer: "global" },
  ]);
  const asks = global({ defaultAction: "ask", defaultSource: "f:7" });
  assert.deepEqual(findings(bash("make"), {}, asks), [{ ...notSafe, action: "ask", layer: "global", source: "f:7" }]);
  // Without a sandbox it is asked for anyway.
  assert.deepEqual(findings(bash("make"), { contained: false }, asks), [{ ...notSafe, ...byDefault }]);
  assert.deepEqual(findings(bash("make"), { contained: false }, rules), [
    { ...notSafe, action: "deny", layer: "global", source: "f:7" },
  ]);
  const off = { ...defaultRules, tools: { run_bash_command: { isOn: false, patterns: [] } } };
  assert.deepEqual(findings(bash("make"), { contained: false }, off), []);
});

test("a rule is told with its layer, its source and the first text that it fits, and with words only where it has some [H1]", () => {
  const rule = { kind: "rule", action: "ask", risk: "low", source: "f:1" };
  const call = callOf("send", { one: "to all", two: "all of it" });
  assert.deepEqual(findings(call, {}, global({ patterns: [pattern("all")] })), [
    { ...rule, layer: "global", what: "to all" },
  ]);
  const tools = { send: { isOn: true, patterns: [pattern("all", { reason: "Keep v1.2." })] } };
  assert.deepEqual(findings(call, {}, { ...defaultRules, tools }), [
    { ...rule, layer: "tool", what: "to all", said: "Keep v1.2." },
  ]);
  assert.equal(judge({ ...defaultRules, tools }, call).reason, "Keep v1.2");
});

test("a rule for one argument reads that one and no other, also the contents of files [H1]", () => {
  const of = (argument: string) => global({ patterns: [pattern("all", { argument })] });
  const hit = (tool: string, argument: string, given: Record<string, unknown>) =>
    findings(callOf(tool, given), {}, of(argument)).map(({ what }) => what);
  assert.deepEqual(hit("send", "to", { to: "all", text: "x" }), ["all"]);
  assert.deepEqual(hit("send", "to", { to: "x", text: "all" }), []);
  assert.deepEqual(hit("write_file", "content", { path: "a", content: "all" }), ["all"]);
  const anywhere = global({ patterns: [pattern("all")] });
  assert.deepEqual(findings(callOf("write_file", { path: "a", content: "all" }), {}, anywhere), []);
});

test("what the tools ask by default is told in full [H1]", () => {
  assert.deepEqual(findings(callOf("write_file", { path: "uploads/a" })), [
    { ...byDefault, kind: "change_upload", risk: "medium", what: "uploads/a" },
  ]);
  assert.deepEqual(findings(callOf("remember", { fact: "tea" }), { tainted: true }), [
    { ...byDefault, kind: "lasting", risk: "low", what: "remember tea", shape: "remember *" },
  ]);
  const post = (url: string, facts: Partial<CallFacts> = {}) =>
    findings(callOf("http_fetch", { method: "POST", url }), facts);
  const shape = "POST https://a.example *";
  const network = { ...byDefault, kind: "network", what: "POST https://a.example /x", shape };
  assert.deepEqual(post(" https://a.example/x "), [{ ...network, risk: "medium" }]);
  assert.deepEqual(post("https://a.example/x", { tainted: true }), [{ ...network, risk: "high", raised: true }]);
  assert.deepEqual(post("nonsense"), [{ ...byDefault, kind: "network", risk: "medium", what: "POST nonsense" }]);
  const keys = { one: `sk-${"a1".repeat(10)}`, two: `sk-${"b2".repeat(10)}` };
  assert.deepEqual(findings(callOf("send", keys)), [{ ...byDefault, kind: "secret", risk: "high", what: "sk-a1a…" }]);
  const asks = global({ defaultAction: "ask" });
  const code = callOf("execute_code", { code: "os.remove('a')" });
  assert.deepEqual(
    findings(code, {}, asks).map(({ kind, what, shape }) => [kind, what, shape]),
    [
      ["delete", "os.remove('a')", undefined],
      ["not_safe", "execute_code", "execute_code *"],
    ],
  );
});

test("code is read in the language that the call names, and as Python where it names none or another [H1]", () => {
  const told = (code: string, language?: string) =>
    kindsOf(findings(callOf("execute_code", { code, ...(language !== undefined && { language }) })));
  const later = "rmtree('outputs')";
  assert.deepEqual(
    [told(later), told(later, "python"), told(later, "ruby"), told(later, "javascript")],
    ["delete", "delete", "delete", ""],
  );
  assert.equal(told("['temp/a'].forEach((f) => fs.rmSync(f))", "javascript"), "");
  assert.equal(kindsOf(codeFindings("rm outputs/a", "bash", judgedFacts)), "delete");
  const code = { code: "import { a } from './b'", language: "javascript" };
  assert.deepEqual(scriptsOf({ tool: "execute_code", arguments: code }), ["b", "b.js", "b/index.js"]);
  assert.deepEqual(scriptsOf({ tool: "run_bash_command", arguments: { command: "bash ~/x.sh" } }), ["x.sh"]);
});

test("what is too much to be read asks with its beginning, and a fault of the reader is no answer [H1]", () => {
  const long = `${"a".repeat(79)}😀${"b".repeat(commandBytesMax)}`;
  const safe = { commands: [], onlySafe: false };
  const [told] = commandFindings(long, judgedFacts, safe);
  const what = `${"a".repeat(79)}\uFFFD…`;
  assert.deepEqual(told, { ...byDefault, kind: "unreadable", risk: "high", what });
  const fails = (error: Error) => () =>
    withinLimits(() => {
      throw error;
    });
  const deep = (): number => 1 + deep();
  const grow = (text: string): string => grow(text + text);
  const tooMuch = [
    () => void deep(),
    () => void grow("long"),
    () => spend(openScene(judgedFacts, safe).scene, Infinity),
  ];
  assert.deepEqual([() => {}, ...tooMuch].map(withinLimits), [true, false, false, false]);
  assert.throws(fails(new TypeError("a fault")), /a fault/);
  assert.throws(() => withinLimits(() => void (1).toFixed(-1)), /toFixed/);
});

test("a checker says why it allows a call, is asked for its own tools only, and may fail later without harm [H1]", async () => {
  const judged = (check: () => unknown, tool: string | string[] = "send") =>
    openApprovals({
      rules: defaultRules,
      checkers: [{ name: "c.ts", definition: { tool, check: () => check() as undefined } }],
    }).judge(callOf("send", {}), inSandbox, []);
  assert.equal(judged(() => ({ action: "allow", reason: "friends" })).reason, "friends");
  const asks = () => ({ action: "ask", reason: "why" });
  assert.deepEqual(
    ["send", "send_all", "resend", "*"].map((tool) => judged(asks, tool).verdict),
    ["ask", "allow", "allow", "ask"],
  );
  const late = judged(async () => {
    throw new Error("too late");
  });
  assert.deepEqual(
    late.findings.map(({ kind }) => kind),
    ["checker_unclear"],
  );
  await setImmediate();
});

test("every place of a secret is masked, also of one that is told in a sentence [H1][Q1]", () => {
  const key = `sk-${"a1".repeat(10)}`;
  assert.equal(withoutSecrets(`${key} and ${key}`), "sk-a… and sk-a…");
  assert.equal(withoutSecrets("my password is hunter22, hunter22 it is"), "my password is …, … it is");
  assert.equal(withoutSecrets("the passcode is 12345"), "the passcode is 12345");
});
