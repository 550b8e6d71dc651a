import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bash, callOf, inSandbox } from "../../test/world/judging.ts";
import { type AllowRule, Risk, type RuleMatch } from "../protocol/approval.ts";
import {
  actions,
  argumentsHash,
  type CallFacts,
  type HitlRules,
  type JudgedCall,
  openApprovals,
  type PatternRule,
} from "./approvals.ts";
import type { Checker } from "./checkers.ts";
import { defaultRules } from "./rules.ts";

const plain = openApprovals({ rules: defaultRules, checkers: [] });

const stored = (match: RuleMatch, tool = "run_bash_command"): AllowRule => ({
  ...{ id: "r1", tool, scope: "user", match, at: 1, by: "local" },
});

test("a call that nothing speaks about goes without asking, and a tool that asks itself says why and how risky it is [H1][H2]", () => {
  assert.deepEqual(plain.judge(callOf("now", {}), inSandbox, []), {
    ...{ verdict: "allow", risk: "low", layer: "default", reason: "nothing asks for a decision" },
    ...{ findings: [], always: [] },
  });
  const call = callOf("pay", { euro: 5 }, { own: { reason: "it pays money", risk: "high" } });
  const finding = { kind: "rule", action: "ask", layer: "tool", risk: "high", what: "pay", said: "it pays money" };
  assert.deepEqual(plain.judge(call, inSandbox, []), {
    ...{ verdict: "ask", risk: "high", layer: "tool", reason: "it pays money", findings: [finding] },
    always: [{ match: "call", hash: argumentsHash('{"euro":5}'), shown: '{"euro":5}' }],
  });
});

test("a tool that changes something outside asks and can be allowed always, one that only asks there goes [H1][T4]", () => {
  const outward = { by: "tool_box", host: "api.example", isReading: false } as const;
  const judged = plain.judge(callOf("Box__send", { a: 1 }, { outward }), inSandbox, []);
  const [what, shape] = ["Box__send (api.example)", "Box__send (api.example) *"];
  const finding = { kind: "network", action: "ask", layer: "default", risk: "medium", what, shape };
  assert.deepEqual([judged.verdict, judged.findings], ["ask", [finding]]);
  const match: RuleMatch = { match: "findings", covers: [{ kind: "network", pattern: shape, risk: "medium" }] };
  assert.ok(
    judged.always.some((one) => JSON.stringify(one) === JSON.stringify(match)),
    JSON.stringify(judged.always),
  );
  const again = callOf("Box__send", { a: 2 }, { outward });
  assert.equal(plain.judge(again, inSandbox, [stored(match, "Box__send")]).verdict, "allow");
  const moved = callOf("Box__send", { a: 2 }, { outward: { ...outward, host: "evil.example" } });
  assert.equal(plain.judge(moved, inSandbox, [stored(match, "Box__send")]).verdict, "ask", "it leads elsewhere now");
  // So does the very same call, which is allowed by its own words.
  const [same] = judged.always;
  assert.equal(same?.match, "call");
  const allowed = [stored(same, "Box__send")];
  const verdictAt = (host: string) =>
    plain.judge(callOf("Box__send", { a: 1 }, { outward: { ...outward, host } }), inSandbox, allowed).verdict;
  assert.deepEqual(["api.example", "evil.example"].map(verdictAt), ["allow", "ask"]);
  const reading = callOf("Box__read", { a: 1 }, { outward: { ...outward, isReading: true } });
  assert.equal(plain.judge(reading, { ...inSandbox, tainted: true }, []).verdict, "allow");
});

test("a tool of an MCP server that may change something asks once text from outside was read, and not before [H1][H2][G1]", () => {
  const outward = { by: "mcp_server", host: "mail", isReading: false } as const;
  const call = callOf("mcp__mail__send", { a: 1 }, { outward });
  const tainted = { ...inSandbox, tainted: true };
  assert.equal(plain.judge(call, inSandbox, []).verdict, "allow");
  const judged = plain.judge(call, tainted, []);
  const [what, shape] = ["mcp__mail__send (mail)", "mcp__mail__send (mail) *"];
  const finding = { kind: "mcp", action: "ask", layer: "default", risk: "medium", what, shape };
  assert.deepEqual([judged.verdict, judged.findings], ["ask", [finding]]);
  const match: RuleMatch = { match: "findings", covers: [{ kind: "mcp", pattern: shape, risk: "medium" }] };
  assert.deepEqual(judged.always.at(-1), match);
  const again = callOf("mcp__mail__send", { a: 2 }, { outward });
  assert.equal(plain.judge(again, tainted, [stored(match, "mcp__mail__send")]).verdict, "allow");
  const reading = callOf("mcp__mail__list", {}, { outward: { ...outward, isReading: true } });
  assert.equal(plain.judge(reading, tainted, []).verdict, "allow");
  const rules = { ...defaultRules, tools: { mcp__mail__send: { isOn: false, patterns: [] } } };
  assert.equal(
    openApprovals({ rules, checkers: [] }).judge(call, tainted, []).verdict,
    "allow",
    "the operator says so",
  );
});

const rule = fc.record<PatternRule>({
  pattern: fc.constantFrom("a", "b", "c"),
  argument: fc.constant(undefined),
  action: fc.constantFrom(...actions),
  risk: fc.constantFrom(...Risk.options),
  reason: fc.constantFrom("one", "two", undefined),
  source: fc.constantFrom("f:1", "f:2"),
});

const answer = fc.option(fc.record({ action: fc.constantFrom(...actions), risk: fc.constantFrom(...Risk.options) }));

const layers = fc.record({ global: fc.array(rule, { maxLength: 4 }), tool: fc.array(rule, { maxLength: 4 }), answer });

test("all layers are asked, and the strictest word wins, whatever they are and in whatever order [H1]", () => {
  fc.assert(
    fc.property(layers, fc.constantFrom("a", "b", "ab", ""), ({ global, tool, answer: said }, text) => {
      const rules: HitlRules = {
        ...defaultRules,
        global: { isOn: true, defaultAction: "allow", patterns: global },
        tools: { send: { isOn: true, patterns: tool } },
      };
      const check = () => (said === null ? undefined : { ...said, reason: "three" });
      const checkers = [{ name: "c.ts", definition: { tool: "send", check } }];
      const verdict = openApprovals({ rules, checkers }).judge(callOf("send", { text }), inSandbox, []);
      const words = [...[...global, ...tool].filter(({ pattern }) => text.includes(pattern)), ...(said ? [said] : [])];
      const strictest = actions.findLast((action) => words.some((word) => word.action === action)) ?? "allow";
      assert.equal(verdict.verdict, strictest);
      const risks = words.filter(({ action }) => action === strictest).map(({ risk }) => Risk.options.indexOf(risk));
      if (strictest !== "allow") assert.equal(verdict.risk, Risk.options[Math.max(...risks)]);
      assert.equal(verdict.always.length > 0, strictest === "ask");
    }),
    { numRuns: 400 },
  );
});

const files: [tool: string, path: string, verdict: string][] = [
  ["write_file", "outputs/a.md", "allow"],
  ["write_file", "uploads/a.csv", "ask"],
  ["edit_file", "./uploads//a.csv", "ask"],
  ["edit_file", "outputs/../uploads/a.csv", "ask"],
  ["write_file", "/workspace/x/uploads/a.csv", "ask"],
  ["write_file", "outputs/uploads/a.csv", "allow"],
  ["read_file", "uploads/a.csv", "allow"],
];

test("a file of the user's is changed only when somebody says so; what an agent makes is its own [H1]", () => {
  assert.deepEqual(
    files.map(([tool, path]) => [tool, path, plain.judge(callOf(tool, { path, content: "x" }), inSandbox, []).verdict]),
    files,
  );
});

test("a secret in an argument asks without showing it, text about secrets and contents of files do not [H1][Q1]", () => {
  const verdict = (tool: string, given: Record<string, unknown>) => plain.judge(callOf(tool, given), inSandbox, []);
  const secret = `sk-${"a1".repeat(20)}`;
  const asked = verdict("web_search", { query: `why does ${secret} fail` });
  assert.deepEqual([asked.verdict, asked.findings[0]?.kind, asked.findings[0]?.what], ["ask", "secret", "sk-a1a…"]);
  assert.equal(JSON.stringify(asked).includes(secret), false);
  assert.equal(verdict("http_fetch", { url: "https://me:hunter22@example.org/" }).verdict, "ask");
  assert.equal(verdict("send", { body: "password: correcthorse9" }).verdict, "ask");
  for (const query of ["how to reset a password", "token: what is it", "API_KEY=$KEY", "password=<your password>"])
    assert.deepEqual([query, verdict("web_search", { query }).verdict], [query, "allow"]);
  assert.equal(verdict("write_file", { path: "outputs/a.py", content: `password = "correcthorse9"` }).verdict, "allow");
});

const told = (call: JudgedCall, facts: Partial<CallFacts> = {}, approvals = plain) =>
  approvals
    .judge(call, { ...inSandbox, ...facts }, [])
    .findings.map(({ kind, risk, what }) => `${kind} ${risk} ${what}`);

const secret = `sk-${"a1".repeat(10)}`;

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

const call = callOf("send", { to: "all" });

const checker = (check: () => unknown, tool: string | readonly string[] = "send", name = "checkers/a.ts"): Checker => ({
  ...{ name, definition: { tool, check: () => check() as undefined } },
});

const judged = (...checkers: Checker[]) => openApprovals({ rules: defaultRules, checkers }).judge(call, inSandbox, []);

test("every checker of a tool is asked, also behind one that allows or breaks down, and those of other tools are not [H1]", () => {
  const asks = (reason: string) => () => ({ action: "ask", reason });
  const breaks = () => {
    throw new Error("no database\n    at somewhere");
  };
  const { verdict, findings } = judged(
    checker(() => ({ action: "allow", reason: "fine" }), "*", "one"),
    checker(breaks, ["pay", "send"], "two"),
    checker(asks("three"), "send", "three"),
    checker(asks("four"), ["pay"], "four"),
    checker(asks("five"), "sen", "five"),
    checker(asks("six"), "*", "six"),
  );
  assert.deepEqual(
    [verdict, ...findings.map(({ kind, source, what, said }) => [kind, source, what, said])],
    [
      "ask",
      ["checker_broke", "two", "two (Error: no database)", undefined],
      ["rule", "three", "send", "three"],
      ["rule", "six", "send", "six"],
    ],
  );
});

const named = "https://a.example/x?y=1";

const outward: readonly (readonly [tool: string, given: object, facts: Partial<CallFacts>, verdict: string])[] = [
  ["fetch_web", { url: named }, {}, "allow"],
  ["fetch_web", { url: named }, { tainted: true, addressNamed: true }, "allow"],
  ["fetch_web", { url: named }, { tainted: true }, "ask network medium GET https://a.example /x?y=1"],
  ["jina_reader", { url: named }, { tainted: true }, "ask network medium GET https://a.example /x?y=1"],
  ["http_fetch", { method: "GET", url: named }, {}, "allow"],
  ["http_fetch", { method: "HEAD", url: named }, { tainted: true }, "ask network medium HEAD https://a.example /x?y=1"],
  ["http_fetch", { method: "GET", url: named, headers: "" }, { tainted: true, addressNamed: true }, "allow"],
  [
    "http_fetch",
    { method: "GET", url: named, headers: "X-Data: all of it" },
    { tainted: true, addressNamed: true },
    "ask network medium GET https://a.example /x?y=1",
  ],
  ["http_fetch", { method: "POST", url: named }, {}, "ask network medium POST https://a.example /x?y=1"],
  [
    "http_fetch",
    { method: "DELETE", url: named },
    { tainted: true, addressNamed: true },
    "ask network raised to high DELETE https://a.example /x?y=1",
  ],
  ["http_fetch", { method: "PUT", url: "nonsense" }, {}, "ask network medium PUT nonsense"],
  ["web_search", { query: "tides" }, { tainted: true }, "allow"],
];

test("reading the web goes by itself; what may change something there asks, and so do addresses that nobody named, after text from outside was read [H1][T7]", () => {
  const said = outward.map(([tool, given, facts]) => {
    const { verdict, findings } = plain.judge(callOf(tool, { ...given }), { ...inSandbox, ...facts }, []);
    // Only what text from outside made graver says so.
    const told = findings.map(({ kind, risk, what, raised }) => `${kind} ${raised ? "raised to " : ""}${risk} ${what}`);
    return [verdict, ...told].join(" ");
  });
  assert.deepEqual(
    said,
    outward.map(([, , , verdict]) => verdict),
  );
});
