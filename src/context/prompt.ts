import { estimateTokens } from "../models/models.ts";
import type { EventBody } from "../protocol/events.ts";
import { headOf, type Tool } from "../tools/tools.ts";
import { forModels, type PromptSection, withoutOurTags } from "../words/words.ts";

type PromptSize = Exclude<PromptSection["for"], "all">;

/** What the user has put into the system message: as it is written there. */
export type OwnParts = {
  readonly instructions?: (Instructions & { readonly text: string }) | undefined;
  readonly notes?: string | undefined;
};
/** What is not the main agent's: the words of another one, and those of the caller. */
export type AgentParts = {
  readonly prompt?: string | undefined;
  readonly callerPart?: string | undefined;
  /** The lists of skills, and of other agents. */
  readonly skills?: string | undefined;
  readonly agents?: string | undefined;
};
type SystemParts = Pick<EventBody<"recipe.set">, "system" | "instructions" | "notes">;
type Instructions = Omit<NonNullable<SystemParts["instructions"]>, "at" | "length">;

/**
 * The system message: static text for the tools that are offered, then what is the user's own, and at the very end the
 * conversation's start.
 */
export function systemPrompt(
  tools: readonly Tool[],
  size: PromptSize,
  startedAt: number,
  { instructions, notes }: OwnParts = {},
  { prompt, callerPart, skills, agents }: AgentParts = {},
): SystemParts {
  const names = new Set(tools.map((tool) => tool.name));
  const sections = forModels.prompt.filter(
    (section) =>
      (section.for === "all" || section.for === size) &&
      section.needs.every((name) => names.has(name)) &&
      (prompt === undefined || section.isMain !== true),
  );
  const own = prompt === undefined ? [] : [prompt.trim()];
  const wanted = callerPart === undefined || callerPart.trim() === "" ? [] : [forModels.callerPart(callerPart.trim())];
  let system = [...own, ...sections.map((section) => section.text), ...wanted.map(withoutOurTags)].join("\n\n");
  const add = (text: string) => {
    system += `\n\n${text}`;
    return { at: system.length - text.length, length: text.length };
  };
  const parts: Partial<SystemParts> = {};
  if (skills !== undefined) add(skills);
  if (agents !== undefined) add(agents);
  if (instructions !== undefined) {
    const { text, ...about } = instructions;
    parts.instructions = { ...about, ...add(text) };
  }
  if (notes !== undefined) parts.notes = add(notes);
  add(forModels.startTime(minuteOf(startedAt)));
  return { system, ...parts };
}

/** `2026-11-15 06:12`: to the minute, because it is part of what providers cache. */
function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}

/** The parts as they stand in a system message. */
export function ownPartsOf({ system, instructions, notes }: SystemParts): OwnParts {
  const textOf = ({ at, length }: { at: number; length: number }) => system.slice(at, at + length);
  const own: { instructions?: OwnParts["instructions"]; notes?: OwnParts["notes"] } = {};
  if (instructions !== undefined) {
    const { at, length, ...about } = instructions;
    own.instructions = { ...about, text: textOf({ at, length }) };
  }
  if (notes !== undefined) own.notes = textOf(notes);
  return own;
}

const instructionsShareMax = 0.1;
const instructionsTokensMax = 8_000;
const bytesPerToken = 4;

/** A user's file of standing instructions as it stands in the system message; undefined when it says nothing. */
export function instructionsPart(
  { path, hash, text }: { path: string; hash: string; text: string },
  windowTokens: number,
): OwnParts["instructions"] {
  const whole = text.toWellFormed().trim();
  if (whole === "") return undefined;
  const tokensMax = Math.min(Math.floor(windowTokens * instructionsShareMax), instructionsTokensMax);
  const shown = headOf(whole, { bytesMax: tokensMax * bytesPerToken });
  const isCut = shown.length < whole.length;
  const section = forModels.memory.instructions({ path, text: shown, isCut });
  return { path, hash, ...(isCut ? { cut: true } : {}), text: section };
}

const notesTokensMax = 400;

/** The newest memories that there is room for, oldest first; a memory is a line, and none can pass for our own words. */
export function notesShown(memories: readonly string[]): string[] {
  const shown: string[] = [];
  let left = notesTokensMax;
  for (const memory of memories.toReversed()) {
    const line = withoutOurTags(memory.replaceAll(/\s+/g, " "));
    left -= estimateTokens(line) + 2;
    if (left < 0) break;
    shown.unshift(line);
  }
  return shown;
}

/** The user's memories as they stand in the system message; undefined when there are none. */
export function notesPart(memories: readonly string[]): string | undefined {
  const shown = notesShown(memories);
  return shown.length === 0 ? undefined : forModels.memory.notes(shown);
}
