import { z } from "zod";

// What all our streams have in common.

/**
 * How far a reader of a conversation's stream has come. A number alone is a place in the log (`42`). In the middle of an
 * answer it goes on with `~turn.step.attempt.` and how many characters of its reasoning and of its text are there
 * (`42~3.1.1.r120t350`); then with what running programs have said, by their calls (`42,call_1:4000`).
 */
export const StreamCursor = z
  .string()
  .max(2_000)
  .regex(/^\d{1,15}(~\d{1,9}\.\d{1,9}\.\d{1,9}\.(r\d{1,15})?(t\d{1,15})?)?(,[\w.!~*'()%-]{1,200}:\d{1,15}){0,8}$/);

/** A piece of an event that is too long for one: all of them, put together, are its JSON. Only the last has an id. */
export const PartFrame = z.object({
  frame: z.literal("part"),
  /** The id of the whole. */
  of: z.string(),
  index: z.number().int(),
  count: z.number().int(),
  text: z.string(),
});

/** The server ends: open the stream again after this place. The last frame. */
export const ClosingFrame = z.object({ frame: z.literal("closing"), after: z.string() });
