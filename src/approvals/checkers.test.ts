import assert from "node:assert/strict";
import { test } from "node:test";
import { callOf, inSandbox } from "../../test/world/judging.ts";
import { type CallFacts, openApprovals } from "./approvals.ts";
import { askCheckers, type Checker } from "./checkers.ts";
import { defaultRules } from "./rules.ts";

const call = callOf("send", { to: "all" });
const checker = (check: () => unknown, tool: string | readonly string[] = "send", name = "checkers/a.ts"): Checker => ({
  ...{ name, definition: { tool, check: () => check() as undefined } },
});
const judged = (...checkers: Checker[]) => openApprovals({ rules: defaultRules, checkers }).judge(call, inSandbox, []);

test("an answer of a checker counts to the letter: with an empty reason or anything more or else a person is asked [H1]", () => {
  const answers = [
    { action: "allow", reason: "" },
    { action: "allow" },
    { action: "allow", reason: "fine", risk: "huge" },
    { action: "allow", reason: "fine", until: "tomorrow" },
    "allow",
  ];
  const finding = { kind: "checker_unclear", action: "ask", layer: "checker", risk: "medium" };
  assert.deepEqual(
    answers.map((answer) => judged(checker(() => answer)).findings),
    answers.map(() => [{ ...finding, source: "checkers/a.ts", what: "checkers/a.ts" }]),
  );
});

test("a checker says how risky a call is, and where it does not its word does [H1]", () => {
  const said = (action: string, risk?: string) => {
    const answer = { action, reason: "so it is", ...(risk !== undefined && { risk }) };
    const { verdict, risk: told, layer, findings } = judged(checker(() => answer));
    return [verdict, told, layer, ...findings];
  };
  const finding = (action: string, risk: string) => ({
    ...{ kind: "rule", action, layer: "checker", risk, source: "checkers/a.ts", what: "send", said: "so it is" },
  });
  assert.deepEqual(
    [said("allow"), said("allow", "high"), said("ask"), said("ask", "low"), said("deny"), said("deny", "critical")],
    [
      ["allow", "low", "checker"],
      ["allow", "high", "checker"],
      ["ask", "medium", "checker", finding("ask", "medium")],
      ["ask", "low", "checker", finding("ask", "low")],
      ["deny", "high", "checker", finding("deny", "high")],
      ["deny", "critical", "checker", finding("deny", "critical")],
    ],
  );
});

test("a checker is told each fact as it is [H1]", () => {
  const told = (facts: Partial<CallFacts>) => {
    const seen: unknown[] = [];
    const check = (_: unknown, { tool, contained, network, tainted }: Record<string, unknown>) => {
      seen.push(tool, contained, network, tainted);
      return undefined;
    };
    const none = { ...inSandbox, contained: false, network: false, tainted: false };
    assert.deepEqual(askCheckers([{ name: "a", definition: { tool: "*", check } }], call, { ...none, ...facts }), []);
    return seen;
  };
  assert.deepEqual(
    [told({ contained: true }), told({ network: true }), told({ tainted: true })],
    [
      ["send", true, false, false],
      ["send", false, true, false],
      ["send", false, false, true],
    ],
  );
});

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
