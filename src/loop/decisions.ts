import { createHash } from "node:crypto";
import { ok, type Result } from "../base/result.ts";
import type { DecisionState } from "../log/log.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Decision } from "../protocol/resources.ts";
import type { Driver } from "./driver.ts";
import type { Engine, Verdict } from "./loop.ts";
import { appendSeen, soon } from "./messages.ts";
import type { Parts } from "./parts.ts";

const decisionsMax = 200;

/** What people are asked, and what they say. A decision waits for ever; it never turns into a "no" by time. */
export function openDecisions(parts: Parts, driver: Driver): Pick<Engine, "decide" | "openDecisions"> {
  return {
    async decide(conversation, id, verdict) {
      const stored = await appendSeen(parts, conversation.number, ({ decisions, lastDecision: previous }) => {
        const state = decisions.get(id);
        if (state === undefined) return failure("decision_not_found", { id });
        const made = checkVerdict(parts, state, verdict);
        if (!made.ok) return made;
        const about = { id, by: verdict.by, argumentsHash: hashOf(state, verdict), previous };
        return ok({ events: [{ type: "decision.made", ...made.value, ...about }], with: { decided: [id], ...soon } });
      });
      if (!stored.ok) return stored;
      driver.wake(conversation);
      return ok({ decision: id, seq: stored.value.lastSeq });
    },

    async openDecisions(owner) {
      const rows = await parts.storage.openDecisions(owner, decisionsMax);
      return rows.map((row) => decisionOf(row.conversation.id, JSON.parse(row.body), row.at));
    },
  };
}

/** One open decision as surfaces see it. */
export function decisionOf(
  conversation: string,
  asked: Omit<DecisionState["asked"], "seq" | "at">,
  at: number,
): Decision {
  const { id, kind, tool, reason, risk, layer, question, context, default: fallback, required } = asked;
  const about = { conversation, id, kind, tool, path: ["root"], at };
  return { ...about, arguments: asked.arguments, reason, risk, layer, question, context, default: fallback, required };
}

/** A verdict must fit what was asked; edited arguments must be ones that the tool takes. */
function checkVerdict(
  parts: Parts,
  { asked, made }: DecisionState,
  verdict: Verdict,
): Result<Omit<Verdict, "by">, Failure> {
  if (made !== undefined) return failure("decision_already_made", { id: asked.id, verdict: made.verdict });
  const verdicts: Verdict["verdict"][] =
    asked.kind === "approval" ? ["approve", "reject", "edit"] : ["answer", "reject"];
  const unfit = failure("decision_verdict_unfit", { kind: asked.kind, verdicts: verdicts.join(", ") });
  if (!verdicts.includes(verdict.verdict)) return unfit;
  const { reason, arguments: edited = "", answer = "" } = verdict;
  switch (verdict.verdict) {
    case "answer": {
      const isMissing = answer.trim() === "" && asked.required === true && asked.default === undefined;
      return isMissing ? failure("answer_required", {}) : ok({ verdict: "answer", answer });
    }
    case "edit": {
      const fits = parts.toolbox.open({ id: asked.call, name: asked.tool, arguments: edited });
      return fits.ok ? ok({ verdict: "edit", arguments: edited }) : fits;
    }
    case "reject":
      return ok(reason === undefined ? { verdict: "reject" } : { verdict: "reject", reason });
    case "approve":
      return ok({ verdict: "approve" });
  }
}

function hashOf({ asked }: DecisionState, verdict: Verdict): string {
  const decidedOn = verdict.arguments ?? asked.arguments ?? asked.question ?? "";
  return createHash("sha256").update(decidedOn).digest("hex").slice(0, 32);
}
