import type { OpenTurn } from "../log/log.ts";
import type { ModelChoice } from "../models/models.ts";
import type { Parts } from "./parts.ts";

/** The model for the next step of a turn, as things stand. */
export function choiceOf(turn: OpenTurn, { models }: Pick<Parts, "models">, { isFinal = false } = {}): ModelChoice {
  return models.choose({
    preferred: turn.slot,
    hasImages: turn.hasImages,
    hasCode: turn.message.hints?.includes("code") === true,
    task: turn.message.text,
    final: isFinal,
  });
}
