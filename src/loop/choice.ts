import type { History, OpenTurn } from "../log/log.ts";
import type { ModelChoice } from "../models/models.ts";
import { roleOf } from "./agents.ts";
import type { Parts } from "./parts.ts";

type Now = Pick<History, "agent"> & { readonly turn: OpenTurn };

/** The model for the next step of a turn, as things stand. */
export function choiceOf(
  { agent, turn }: Now,
  parts: Pick<Parts, "models" | "agents">,
  { isFinal = false } = {},
): ModelChoice {
  // What the agent's own model cannot see it must not be given.
  const usual = turn.hasImages ? undefined : roleOf({ agent }, parts).slot;
  return parts.models.choose({
    preferred: turn.slot ?? usual,
    hasImages: turn.hasImages,
    hasCode: turn.message.hints?.includes("code") === true,
    task: turn.message.text,
    final: isFinal,
  });
}
