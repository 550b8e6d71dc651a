import { estimateTokens } from "../models/models.ts";

/** Words that sound as if they were meant for longer than one answer. */
const standing =
  /\b(always|never|from now on|must|must not|mustn't|remember|please keep|make sure|don't|do not|every time)\b|以后|今后|始终|总是|永远|一律|不要|不得|不能|禁止|必须|务必|记住|请记|从现在起|从现在开始|每次/i;

/** Longer ones are no instructions, whatever they sound like. */
export const instructionTokensMax = 400;

export function isInstruction(text: string): boolean {
  return standing.test(text) && estimateTokens(text) <= instructionTokensMax;
}

/** The lines of a longer text that sound like instructions. */
export function instructionsIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => isInstruction(line));
}
