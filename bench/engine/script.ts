/**
 * The scripted work, the same for every variant: a question, then per step 20 pieces of text and one tool call, then an
 * answer. Where a conversation stands is written in the conversation itself (`bench-step-3-of-50`, first in the
 * question, then as the id of each call), so the model server keeps no state and need not parse a request.
 */
export const modelName = "bench-model";

export const textPieces = Array.from({ length: 20 }, (_, index) => `word ${index} of a thought, `);
export const fullText = textPieces.join("");

export const lookUp = {
  name: "look_up",
  description: "Look up one page of the notes on a topic.",
  parameters: {
    type: "object",
    properties: { topic: { type: "string" }, page: { type: "number" } },
    required: ["topic", "page"],
    additionalProperties: false,
  },
  result: "A line of a note, forty characters long. ".repeat(5).slice(0, 200),
} as const;

export function question(steps: number): string {
  return `Look up every page of the notes, one at a time. ${stepMark(0, steps)}`;
}

export function stepMark(step: number, steps: number): string {
  return `bench-step-${step}-of-${steps}`;
}

/** The last step mark in the bytes of a request. */
export function findStepMark(request: Buffer): { step: number; steps: number } {
  const at = request.lastIndexOf("bench-step-");
  const match = at < 0 ? null : /^bench-step-(\d+)-of-(\d+)/.exec(request.toString("latin1", at, at + 40));
  if (match === null) throw new Error("a request without a step mark reached the model server");
  return { step: Number(match[1]), steps: Number(match[2]) };
}
