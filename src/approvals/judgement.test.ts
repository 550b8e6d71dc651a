import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, callOf, inSandbox } from "../../test/world/judging.ts";
import { FindingKind } from "../protocol/approval.ts";
import { alwaysOffered, coveringRule } from "./always.ts";
import { type CallFacts, type HitlRules, type JudgedCall, openApprovals } from "./approvals.ts";
import { scriptsOf } from "./code.ts";
import { defaultRules } from "./rules.ts";

const plain = openApprovals({ rules: defaultRules, checkers: [] });
const onlySafe = openApprovals({
  rules: { ...defaultRules, global: { ...defaultRules.global, defaultAction: "ask" } },
  checkers: [],
});
const told = (call: JudgedCall, facts: Partial<CallFacts> = {}, approvals = plain) =>
  approvals
    .judge(call, { ...inSandbox, ...facts }, [])
    .findings.map(({ kind, risk, what }) => `${kind} ${risk} ${what}`);
const secret = `sk-${"a1".repeat(10)}`;

test("what could hide anything may be allowed for the same call only, all else for its kind as well, and nothing critical [H2]", () => {
  const narrow = ["privilege", "run_unseen", "unreadable", "secret"];
  const call = bash("x");
  for (const kind of FindingKind.options) {
    const finding = { kind, action: "ask", risk: "high", layer: "default", what: "x y", shape: "x *" } as const;
    const covers = [{ kind, pattern: "x *", risk: "high" as const }];
    const wide = { match: "findings" as const, covers };
    const stored = [{ id: "1", tool: "run_bash_command", scope: "user", match: wide, at: 1, by: "local" } as const];
    const isNarrow = narrow.includes(kind);
    assert.deepEqual(alwaysOffered(call, inSandbox, [finding]).slice(1), isNarrow ? [] : [wide], kind);
    assert.equal(coveringRule(call, inSandbox, [finding], stored)?.id, isNarrow ? undefined : "1", kind);
    const critical = { ...finding, risk: "critical" } as const;
    assert.equal(alwaysOffered(call, inSandbox, [critical]).length, 1, kind);
    const match = { match: "findings" as const, covers: [{ kind, pattern: "x *", risk: "critical" as const }] };
    const graver = stored.map((rule) => ({ ...rule, match }));
    assert.equal(coveringRule(call, inSandbox, [critical], graver), undefined, kind);
  }
});

test("of several rules that allow a call the newest one is told, and one for the very call before all others [H2]", () => {
  const call = bash("pip install x");
  const [same, wide] = plain.judge(call, inSandbox, []).always;
  assert.ok(same !== undefined && wide !== undefined);
  const rule = (id: string, match: typeof same) =>
    ({ id, tool: "run_bash_command", scope: "user", match, at: 1, by: "local" }) as const;
  const idOf = (...rules: ReturnType<typeof rule>[]) => plain.judge(call, inSandbox, rules).rule?.id;
  assert.deepEqual(
    [idOf(rule("a", wide), rule("b", wide)), idOf(rule("a", wide), rule("b", same)), idOf()],
    ["a", "b", undefined],
  );
});

test("the same scripts make the same call, in whatever order they were read; another path makes another [H2]", () => {
  const call = bash("bash temp/a.sh; bash temp/b.sh");
  const scripts = (...pairs: [string, string][]) => ({ ...inSandbox, scripts: new Map(pairs) });
  const [a, b]: [[string, string], [string, string]] = [
    ["temp/a.sh", "rm outputs/a"],
    ["temp/b.sh", "rm outputs/b"],
  ];
  const hashOf = (facts: CallFacts) => {
    const [same] = plain.judge(call, facts, []).always;
    return same?.match === "call" ? same.hash : assert.fail();
  };
  assert.equal(hashOf(scripts(a, b)), hashOf(scripts(b, a)));
  assert.notEqual(hashOf(scripts(a, b)), hashOf(scripts([a[0], b[1]], [b[0], a[1]])));
});

test("people who allow a call always see its command, its code or what was written, and no secret of it [H2][Q1]", () => {
  const shown = (call: JudgedCall) => {
    const [same] = plain.judge(call, inSandbox, []).always;
    return same?.match === "call" ? same.shown : assert.fail(JSON.stringify(same));
  };
  assert.equal(shown(bash("rm outputs/a")), "rm outputs/a");
  assert.equal(shown(callOf("execute_code", { code: "os.remove('a')" })), "os.remove('a')");
  assert.equal(shown(callOf("write_file", { path: "uploads/a", content: "" })), '{"path":"uploads/a","content":""}');
  assert.equal(shown(bash(`rm outputs/a; echo ${secret}`)), "echo sk-a…");
  assert.equal(shown(bash(`rm ${"a".repeat(400)}`)), `rm ${"a".repeat(296)}…`);
});

test("each tool has its own defaults [H1]", () => {
  assert.deepEqual(told(callOf("write_file", { path: "uploads/a" })), ["change_upload medium uploads/a"]);
  assert.deepEqual(told(callOf("edit_file", { path: " uploads" })), ["change_upload medium  uploads"]);
  assert.deepEqual(told(callOf("read_file", { path: "uploads/a" })), []);
  assert.deepEqual(told(callOf("install_packages", { skill: "pdf" })), ["packages medium install_packages pdf"]);
  assert.deepEqual(told(callOf("execute_code", { code: "rm outputs/a", language: "bash" })), [
    "delete medium rm outputs/a",
  ]);
  assert.deepEqual(told(callOf("execute_code", { code: "os.remove('a')" })), ["delete medium os.remove('a')"]);
  assert.deepEqual(told(callOf("execute_code", { code: "fs.rmSync('a')", language: "javascript" })), [
    "delete high fs.rmSync('a')",
  ]);
  assert.deepEqual(told(callOf("remember", { fact: "tea" }), { tainted: true }), ["lasting low remember tea"]);
  const [packages] = plain.judge(callOf("install_packages", { skill: "pdf" }), inSandbox, []).findings;
  assert.equal(packages?.shape, "install_packages pdf");
});

test("a secret in the arguments of any tool asks, beside what the tool asks for itself [H1][Q1]", () => {
  const tools = ["fetch_web", "jina_reader", "http_fetch", "web_search", "send_mail", "remember", "install_packages"];
  const others = ["write_file", "edit_file"];
  assert.deepEqual(
    [...tools, ...others].map((tool) => [tool, told(callOf(tool, { note: { deep: [secret] } }))[0]]),
    [...tools, ...others].map((tool) => [tool, "secret high sk-a1a…"]),
  );
  assert.deepEqual(told(callOf("write_file", { path: "a", content: secret })), []);
  assert.deepEqual(told(callOf("edit_file", { path: "a", old_string: secret, new_string: secret })), []);
  assert.deepEqual(told(callOf("send_mail", { content: secret })), ["secret high sk-a1a…"]);
});

test("where only safe commands go by themselves, each tool that may change something asks [H1]", () => {
  const asks = (tool: string, more: Partial<JudgedCall> = {}) => told(callOf(tool, {}, more), {}, onlySafe);
  const changing = ["write_file", "edit_file", "remember", "fetch_web", "http_fetch", "send_mail"];
  assert.deepEqual(
    changing.map((tool) => asks(tool).at(-1)),
    changing.map((tool) => `not_safe medium ${tool}`),
  );
  for (const tool of ["todo_write", "compact_context"]) assert.deepEqual(asks(tool), [], tool);
  assert.deepEqual(asks("read_file", { class: "pure" }), []);
  assert.deepEqual(asks("read_file", { class: "idempotent" }), ["not_safe medium read_file"]);
  assert.deepEqual(told(callOf("execute_code", { code: "1" }), {}, onlySafe), ["not_safe medium execute_code"]);
  assert.deepEqual(told(callOf("execute_code", { code: "1" }), { contained: false }), ["not_safe high execute_code"]);
  assert.deepEqual(told(callOf("execute_code", { code: "1" })), []);
  assert.deepEqual(told(callOf("execute_code", { code: "make", language: "bash" }), {}, onlySafe), [
    "not_safe medium make",
  ]);
});

test("a tool whose rules are turned off asks neither by its own word nor by the defaults [H1]", () => {
  const rules: HitlRules = {
    ...defaultRules,
    tools: { pay: { isOn: false, patterns: [] }, run_bash_command: { isOn: false, patterns: [] } },
  };
  const off = openApprovals({ rules, checkers: [] });
  const own = { reason: "it pays", risk: "high" } as const;
  assert.deepEqual(told(callOf("pay", { a: secret }, { own }), {}, off), []);
  assert.deepEqual(told(bash("rm -rf outputs"), {}, off), []);
  const safe = openApprovals({ rules: { ...rules, global: { ...rules.global, defaultAction: "deny" } }, checkers: [] });
  const { verdict, findings } = safe.judge(bash("rm -rf outputs; make"), inSandbox, []);
  assert.deepEqual([verdict, findings.map(({ kind }) => kind)], ["deny", ["not_safe"]]);
});

test("of many reasons three are told, each once, and how many more there are [H1]", () => {
  const reasonOf = (command: string) => plain.judge(bash(command), inSandbox, []).reason.split("; ");
  const three = reasonOf("rm outputs/a; rm outputs/b; rm outputs/c");
  assert.deepEqual([three.length, three.some((reason) => reason.endsWith("."))], [3, false]);
  assert.deepEqual(reasonOf("rm outputs/a; rm outputs/b; rm outputs/c; rm outputs/d"), [...three, "and 1 more"]);
  assert.equal(reasonOf("rm outputs/a; rm outputs/a").length, 1);
});

test("patterns read numbers, truths and lists, and what they hit is shown shortened and without secrets [H1][Q1]", () => {
  const patterns = [{ pattern: "42|true|deep", action: "ask", risk: "low", source: "f:1" } as const];
  const rules = { ...defaultRules, global: { ...defaultRules.global, patterns } };
  const approvals = openApprovals({ rules, checkers: [] });
  const hit = (given: Record<string, unknown>) => told(callOf("send", given), {}, approvals).at(-1);
  assert.deepEqual([{ a: 42 }, { a: true }, { a: [{ b: "deep" }] }, { a: 41 }, { a: null }, { a: false }].map(hit), [
    "rule low 42",
    "rule low true",
    "rule low deep",
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(hit({ a: `deep ${"x".repeat(400)}` }), `rule low deep ${"x".repeat(294)}…`);
  assert.equal(hit({ a: `deep ${secret}` }), "rule low deep sk-a…");
});

test("the scripts of a call are looked for in its command or in its code of each language, and not in what is too long [H1]", () => {
  const scripts = (given: Record<string, unknown>) => scriptsOf({ tool: "execute_code", arguments: given });
  assert.deepEqual(scripts({ command: "bash a.sh" }), ["a.sh"]);
  assert.deepEqual(scripts({ code: "bash a.sh", language: "bash" }), ["a.sh"]);
  assert.deepEqual(scripts({ code: "require('./a')", language: "javascript" }), ["a", "a.js", "a/index.js"]);
  assert.deepEqual(scripts({ code: "import a" }), ["a.py", "a/__init__.py"]);
  const room = 256 * 1024 - "bash a.sh #".length;
  const padded = (more: number) => `bash a.sh #${"x".repeat(room + more)}`;
  assert.deepEqual([scripts({ command: padded(0) }), scripts({ command: padded(1) })], [["a.sh"], []]);
  assert.deepEqual(told(bash(`#${"x".repeat(256 * 1024 - 1)}`)), []);
  assert.deepEqual(told(bash(`#${"x".repeat(256 * 1024)}`)), [`unreadable high #${"x".repeat(79)}…`]);
  const code = (length: number) => told(callOf("execute_code", { code: `#${"x".repeat(length - 1)}` }));
  assert.deepEqual([code(256 * 1024), code(256 * 1024 + 1)], [[], [`unreadable high #${"x".repeat(79)}…`]]);
  assert.equal(told(bash(`${secret} ${"x".repeat(256 * 1024)}`))[0]?.startsWith("unreadable high sk-a… x"), true);
});
