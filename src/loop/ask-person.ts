import type { Verdict } from "../approvals/approvals.ts";
import { derivedHex } from "../base/ids.ts";
import { type AgentSelf, argumentsHash, askedHash, chained } from "../log/log.ts";
import type { AllowRule } from "../protocol/approval.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Judged } from "./judge-calls.ts";

type AskedEvent = Extract<NewEvent, { type: "decision.asked" }>;
export type MadeEvent = Extract<NewEvent, { type: "decision.made" }>;
type Place = {
  readonly conversation: ConversationRow;
  readonly turn: number;
  readonly step: number;
  readonly time: number;
  /** Who asks; undefined is the main agent. */
  readonly self: AgentSelf | undefined;
};

/**
 * What a person is to decide about a call: its tool's question as it is, or whether it may run. Undefined: nothing.
 * `instead`: the decision that it takes the place of.
 */
export function askedAbout(
  { conversation, turn, step, time, self }: Place,
  call: ToolCall,
  { tool, opened, verdict, scripts }: Judged,
  instead?: string,
): AskedEvent | undefined {
  const place = [conversation.id, ...(self === undefined ? [] : [self.id]), String(turn), String(step), call.id];
  const id = derivedHex(12, ...place, ...(instead === undefined ? [] : [instead]));
  const about = { ...askedBy(self), turn, id, call: call.id, tool: tool.name, time };
  if (opened.ask?.kind === "question") return hashed({ ...about, ...opened.ask });
  if (verdict.verdict === "allow" && verdict.rule === undefined) return undefined;
  return hashed({
    ...about,
    kind: "approval",
    arguments: call.arguments,
    ...foundIn(verdict),
    ...(scripts === undefined ? {} : { scripts }),
    ...(instead === undefined ? {} : { instead }),
  });
}

/** As a question says who asks it. */
export function askedBy(self: AgentSelf | undefined): { readonly agent?: string; readonly path?: string[] } {
  return self === undefined ? {} : { agent: self.id, path: [...self.path] };
}

/** The answer of an "allow always" that is stored. */
export function madeByRule(
  asked: EventBody<"decision.asked">,
  rule: AllowRule,
  { previous, time }: { readonly previous: string; readonly time: number },
): MadeEvent {
  const bytes = argumentsHash(asked.arguments ?? "");
  const of = asked.agent === undefined ? {} : { agent: asked.agent };
  const made = { ...of, id: asked.id, verdict: "approve", by: "rule", rule, argumentsHash: bytes, time } as const;
  return { type: "decision.made", ...chained(asked, made, previous) };
}

function foundIn({ reason, risk, layer, findings, always }: Verdict) {
  return { reason, risk, layer, findings: [...findings], always: [...always] };
}

function hashed(body: EventBody<"decision.asked">): AskedEvent {
  return { type: "decision.asked", ...body, hash: askedHash(body) };
}
