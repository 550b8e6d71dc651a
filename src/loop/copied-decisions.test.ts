import assert from "node:assert/strict";
import { test } from "node:test";
import { askedHash, chained, linkOf } from "../log/log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { rechained } from "./copied-decisions.ts";

type Made = Extract<NewEvent, { type: "decision.made" }>;

function asked(id: string): Extract<NewEvent, { type: "decision.asked" }> {
  const body: EventBody<"decision.asked"> = { turn: 1, id, call: `call-${id}`, kind: "approval", tool: "pay", time: 1 };
  return { type: "decision.asked", ...body, hash: askedHash(body) };
}
function made(id: string, previous: string, reason?: string): Made {
  const said = { id, verdict: "reject", by: "local", argumentsHash: "0", time: 2 } as const;
  const body = { ...said, ...(reason === undefined ? {} : { reason }) };
  return { type: "decision.made", ...chained(asked(id), body, previous) };
}

test("in a branch each decision names the one before it there, with a hash of its own, and all else is as it was [H2][L9]", () => {
  const renamed: NewEvent = { type: "conversation.renamed", title: "Numbers" };
  const [first, second] = [made("a", "left behind", "too dear"), made("b", "left behind, too")];
  const [one, two] = [made("a", "", "too dear"), made("b", linkOf(made("a", "", "too dear")))];
  const copied = rechained([asked("a"), first, renamed, asked("b"), second]);
  assert.deepEqual(copied, [asked("a"), one, renamed, asked("b"), two]);
  assert.notEqual(first.hash, one.hash);
});

test("a decision that does not hold is copied as it is, and does not begin to hold; the next one names it [H2][L9]", () => {
  const forged: Made = { ...made("a", ""), verdict: "approve" };
  const unasked = made("c", "x");
  const copied = rechained([asked("a"), forged, unasked, asked("b"), made("b", "")]);
  assert.deepEqual(copied, [asked("a"), forged, unasked, asked("b"), made("b", linkOf(unasked))]);
});

test("a decision of the first logs, which has no hash of its own, is still named by the one after it [H2][L9]", () => {
  const { hash: _, ...old } = made("a", "");
  const copied = rechained([asked("a"), old, asked("b"), made("b", "")]);
  assert.deepEqual(copied, [asked("a"), old, asked("b"), made("b", linkOf(old))]);
});
