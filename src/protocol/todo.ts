import { z } from "zod";

/** A line in an agent's own list. */
export const Todo = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}$/),
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
  priority: z.enum(["low", "medium", "high"]),
});
export type Todo = z.infer<typeof Todo>;
