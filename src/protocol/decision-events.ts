import { z } from "zod";
import { AllowRule, asked } from "./approval.ts";

/** Absent for the main agent (`root`). */
const agent = z.string().optional();

/** What a person is asked, and what they said. */
export const decisionEvents = {
  "decision.asked": z.strictObject({
    agent,
    turn: z.number().int(),
    id: z.string(),
    call: z.string(),
    ...asked,
    /** Hash of the texts of the scripts that the call runs, as they were when it was asked; absent where it runs none. */
    scripts: z.string().optional(),
    /** The decision that no longer counts because those texts have changed; `arguments` are those that it was about. */
    instead: z.string().optional(),
    /** From the main agent down to the one that asks; absent where it is the main agent itself. */
    path: z.array(z.string()).optional(),
    /** When; it is also the time of the event. Absent in logs from before it was kept, as is the hash. */
    time: z.number().int().optional(),
    /** Over all of this, so that what nobody answered can be checked, too. Absent in logs from before it was kept. */
    hash: z.string().optional(),
  }),
  "decision.made": z.strictObject({
    agent,
    id: z.string(),
    verdict: z.enum(["approve", "reject", "edit", "answer"]),
    /** A user; `rule` when an "allow always" answered. */
    by: z.string(),
    reason: z.string().optional(),
    /** Edit: the arguments that run instead. */
    arguments: z.string().optional(),
    answer: z.string().optional(),
    /** Edit: hash of the texts of the scripts that the new arguments run. */
    scripts: z.string().optional(),
    /** As in the question. */
    time: z.number().int().optional(),
    /** The "allow always" that was stored with this decision, or that made it. */
    rule: AllowRule.optional(),
    /** Hash of the exact arguments that were decided on, and of the decision before this one. */
    argumentsHash: z.string(),
    previous: z.string(),
    /** Over what was asked and all of this; the next decision names it. Absent in logs from before it was kept. */
    hash: z.string().optional(),
  }),
};
