import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Verdict } from "../approvals/approvals.ts";
import { ok } from "../base/result.ts";
import { type AgentSelf, argumentsHash, askedHash, madeHash } from "../log/log.ts";
import type { AllowRule, Finding } from "../protocol/approval.ts";
import { type Ask, defineTool } from "../tools/tools.ts";
import { askedAbout, madeByRule } from "./ask-person.ts";
import { denied } from "./denied.ts";
import type { Judged } from "./judge-calls.ts";
import { conversationRow } from "./rows.testing.ts";

const row = conversationRow("c");
type Place = Parameters<typeof askedAbout>[0];
const place: Place = { conversation: row, turn: 3, step: 2, time: 9, self: undefined };
const call = { id: "call-1", name: "pay", arguments: '{"sum":1}' };
const found: Finding = { kind: "network", action: "ask", risk: "high", layer: "default", what: "curl x" };
const match = { match: "call", hash: "h", shown: "pay 1" } as const;
const rule: AllowRule = { id: "r1", tool: "pay", scope: "user", match, at: 1, by: "local" };
const asks: Verdict = {
  ...{ verdict: "ask", risk: "high", layer: "default", reason: "it pays" },
  ...{ findings: [found], always: [match] },
};
const allows: Verdict = { ...asks, verdict: "allow", findings: [], always: [] };

function judged(verdict: Verdict, { ask, scripts }: { ask?: Ask; scripts?: string } = {}): Judged {
  const tool = defineTool({
    ...{ name: "pay", description: "Pays.", input: z.object({}), run: () => ok({ text: "" }) },
    ...(ask === undefined ? {} : { ask: () => ask }),
  });
  const opened = tool.open({});
  assert.ok(opened.ok);
  return { tool, opened: opened.value, verdict, scripts };
}

test("who is asked about a call is told all that was found in it, and by what hash it is known again [H1][H2]", () => {
  const event = askedAbout(place, call, judged(asks, { scripts: "s1" }), "before") ?? assert.fail("somebody is asked");
  const { id, hash, ...told } = event;
  assert.deepEqual(told, {
    ...{ type: "decision.asked", turn: 3, call: "call-1", tool: "pay", time: 9, kind: "approval" },
    ...{ arguments: '{"sum":1}', reason: "it pays", risk: "high", layer: "default", findings: [found] },
    ...{ always: [match], scripts: "s1", instead: "before" },
  });
  assert.deepEqual([id.length, hash], [12, askedHash(event)]);
});

test("the same call has the same decision whenever it is asked about, and another agent, turn, step, call or time before has another one [H2][L2]", () => {
  const idOf = (more: Partial<Place> = {}, of = call, instead?: string) =>
    askedAbout({ ...place, ...more }, of, judged(asks), instead)?.id;
  const self: AgentSelf = {
    ...{ id: "w1", mode: "worker", role: "writer", name: "w1", brief: "", parent: "root", path: ["root", "w1"] },
  };
  const workers = askedAbout({ ...place, self }, call, judged(asks));
  const ids = [
    ...[idOf(), idOf({ turn: 4 }), idOf({ step: 3 }), idOf({}, { ...call, id: "call-2" }), idOf({}, call, "before")],
    ...[idOf({ conversation: conversationRow("d") }), workers?.id],
  ];
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(idOf({ time: 10 }), idOf());
  assert.deepEqual([workers?.agent, workers?.path], ["w1", ["root", "w1"]]);
});

test("a question of a tool is asked as it is, whatever the rules say; what they allow is not asked, but what a stored rule allows is put on record [H1][H3]", () => {
  const ask = { kind: "question", question: "Which?", context: "roof", default: "red", required: true } as const;
  const question = askedAbout(place, call, judged(allows, { ask }));
  const { question: words, context, default: usual, required } = question ?? {};
  assert.deepEqual([words, context, usual, required], ["Which?", "roof", "red", true]);
  assert.deepEqual([question?.kind, question?.arguments], ["question", undefined]);
  assert.equal(askedAbout(place, call, judged(allows)), undefined);
  const noted = askedAbout(place, call, judged({ ...allows, rule }));
  assert.deepEqual([noted?.kind, noted?.arguments, noted?.scripts], ["approval", '{"sum":1}', undefined]);
});

test("the answer of a stored rule says by which rule, about which bytes and for which agent it was given [H2]", () => {
  const asked = askedAbout(place, call, judged(asks)) ?? assert.fail("somebody is asked");
  const made = madeByRule({ ...asked, agent: "w1" }, rule, { previous: "p", time: 11 });
  const { hash, ...told } = made;
  assert.deepEqual(told, {
    ...{ type: "decision.made", agent: "w1", id: asked.id, verdict: "approve", by: "rule", rule, time: 11 },
    ...{ argumentsHash: argumentsHash('{"sum":1}'), previous: "p" },
  });
  assert.equal(hash, madeHash(askedHash({ ...asked, agent: "w1" }), made));
  assert.equal("agent" in madeByRule(asked, rule, { previous: "", time: 1 }), false);
});

test("who is forbidden something reads why, what it was and where that is set, in the operator's words where there are any [H1]", () => {
  const deny: Finding = { ...found, action: "deny", what: "rm -rf /", source: "hitl_rules.yaml:14" };
  const paramsOf = (...findings: Finding[]) =>
    denied("pay", { ...asks, verdict: "deny", reason: "It is not allowed.", findings }).params;
  const why = { tool: "pay", why: "It is not allowed" };
  assert.deepEqual(paramsOf(found, deny), { ...why, kind: "network", what: "rm -rf /", source: "hitl_rules.yaml:14" });
  assert.deepEqual(paramsOf({ ...deny, said: "never" }), { ...why, what: "never", source: "hitl_rules.yaml:14" });
  assert.deepEqual([paramsOf(found), paramsOf()], [why, why]);
});
