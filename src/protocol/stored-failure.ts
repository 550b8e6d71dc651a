import { z } from "zod";

/** A failure as it is stored and sent: a code with parameters; words come from the catalogue at the door. */
export const StoredFailure = z.strictObject({
  code: z.string(),
  params: z.record(z.string(), z.union([z.string(), z.number()])),
  retryable: z.boolean().optional(),
});
