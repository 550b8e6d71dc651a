import type { Tool } from "../tools/tools.ts";
import { forModels, type PromptSection } from "../words/words.ts";

type PromptSize = Exclude<PromptSection["for"], "all">;

/** The system message: static text for the tools that are offered, and at the very end the conversation's start. */
export function systemPrompt(tools: readonly Tool[], size: PromptSize, startedAt: number): string {
  const names = new Set(tools.map((tool) => tool.name));
  const sections = forModels.prompt.filter(
    (section) => (section.for === "all" || section.for === size) && section.needs.every((name) => names.has(name)),
  );
  return [...sections.map((section) => section.text), forModels.startTime(minuteOf(startedAt))].join("\n\n");
}

/** `2026-11-15 06:12`: to the minute, because it is part of what providers cache. */
function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}
