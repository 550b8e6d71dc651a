import type { Slot } from "../protocol/message.ts";
import { complexity } from "./complexity.ts";

export type ModelFacts = {
  /** What the user asked for, if anything. */
  readonly preferred?: Slot | undefined;
  readonly hasImages: boolean;
  /** A code file among uploads, selections or mentions, or a visible tool tagged `code`. */
  readonly hasCode: boolean;
  /** The newest user message, for the documented rule on complex tasks. */
  readonly task: string;
  /** Finalize: preference and vision first, then the chat slot. */
  readonly final: boolean;
};

/** Names a slot for one step, and why in a few stable words for the log. An empty slot may be named: base stands in. */
export type Resolver = (facts: ModelFacts, filled: ReadonlySet<Slot>) => SlotChoice;
type SlotChoice = { readonly slot: Slot; readonly reason: string };

/** Preference → images → (at the end: chat) → code → complex task → base. */
export const defaultResolver: Resolver = (facts, filled) => {
  if (facts.preferred !== undefined) return { slot: facts.preferred, reason: "preferred" };
  if (facts.hasImages && filled.has("vision")) return { slot: "vision", reason: "images" };
  if (facts.final && filled.has("chat")) return { slot: "chat", reason: "final" };
  if (facts.final) return { slot: "base", reason: "default" };
  if (facts.hasCode && filled.has("code")) return { slot: "code", reason: "code" };
  const complex = filled.has("reasoning") ? complexity(facts.task) : undefined;
  if (complex !== undefined) return { slot: "reasoning", reason: `complex: ${complex}` };
  return { slot: "base", reason: "default" };
};
