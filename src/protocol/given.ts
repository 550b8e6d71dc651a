import { z } from "zod";
import { Image, ToolCall } from "./message.ts";

/** Files that the user selected for a message: they are named in a message of their own directly before it. */
export const Selection = z.strictObject({
  /** `/workspace/{conversation_id}/uploads/temparea/`. */
  root: z.string(),
  /** `sess-{user_id}`. */
  session: z.string(),
  /** Full paths as programs see them, in the order of the selection. */
  files: z.array(z.string()),
});
export type Selection = z.infer<typeof Selection>;

/** A message of a history that the caller sent along. */
export const GivenMessage = z.discriminatedUnion("role", [
  z.strictObject({
    ...{ role: z.literal("user"), text: z.string(), images: z.array(Image).optional() },
    /** So many characters of it are the person's own words, where others stand behind them. */
    own: z.number().int().optional(),
  }),
  z.strictObject({ role: z.literal("assistant"), text: z.string(), toolCalls: z.array(ToolCall).optional() }),
  z.strictObject({ role: z.literal("tool"), toolCallId: z.string(), text: z.string() }),
]);
export type GivenMessage = z.infer<typeof GivenMessage>;

/** What a caller brings along for the turn: its own words for the system message, and its functions. */
export const CallerPart = z.strictObject({
  instructions: z.string().optional(),
  functions: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
  /** What else a response is asked with: it is given back with the answer. */
  request: z
    .strictObject({
      metadata: z.record(z.string(), z.unknown()).optional(),
      previous: z.string().optional(),
      toolChoice: z.unknown().optional(),
    })
    .optional(),
});
export type CallerPart = z.infer<typeof CallerPart>;
