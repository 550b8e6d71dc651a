import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Verdict } from "../approvals/approvals.ts";
import { ok } from "../base/result.ts";
import type { AgentSelf } from "../log/log.ts";
import { ConversationId, localOwner } from "../protocol/ids.ts";
import { defineTool } from "../tools/tools.ts";
import { askedAbout } from "./ask-person.ts";

type Place = Parameters<typeof askedAbout>[0];

const conversation = (id: string): Place["conversation"] => ({
  ...{ number: 1, owner: localOwner, id: ConversationId.parse(id), title: "", lastMessage: "", turns: 1 },
  ...{ origin: "person", isPassing: false, agentId: undefined, appKey: undefined, readIndex: 0 },
  ...{ isPinned: false, seenAt: undefined, createdAt: 0, updatedAt: 0, deletedAt: undefined, cursor: "" },
});

test("decision ids: the same call keeps its decision; another agent, turn, step, call or earlier decision gets another one [H2][L2]", () => {
  const place: Place = { conversation: conversation("c"), turn: 3, step: 2, time: 9, self: undefined };
  const call = { id: "call-1", name: "pay", arguments: "{}" };
  const pay = { name: "pay", description: "Pays.", input: z.object({}), run: () => ok({ text: "" }) };
  const tool = defineTool(pay);
  const opened = tool.open({});
  assert.ok(opened.ok);
  const verdict: Verdict = {
    ...{ verdict: "ask", risk: "high", layer: "default", reason: "it pays", findings: [], always: [] },
  };
  const judged = { tool, opened: opened.value, verdict, scripts: undefined };
  const asked = (more: Partial<Place> = {}, of = call, instead?: string) =>
    askedAbout({ ...place, ...more }, of, judged, instead);
  const self: AgentSelf = {
    ...{ id: "w1", mode: "worker", role: "writer", name: "w1", brief: "", parent: "root", path: ["root", "w1"] },
  };
  const ids = [
    ...[asked(), asked({ turn: 4 }), asked({ step: 3 }), asked({}, { ...call, id: "call-2" }), asked({ self })],
    ...[asked({}, call, "before"), asked({ conversation: conversation("d") })],
  ].map((event) => event?.id);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(asked({ time: 10 })?.id, ids[0]);
});
