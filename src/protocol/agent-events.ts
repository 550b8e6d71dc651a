import { z } from "zod";
import { BudgetLimits, Spent } from "./budget.ts";
import { StoredFailure } from "./stored-failure.ts";

/** Absent for the main agent (`root`). */
const agent = z.string().optional();

/** How the agents of a conversation begin, write to each other and end. `agent` is who did it, or whose it was. */
export const agentEvents = {
  /** The one way to make an agent. `agent` is the parent; `id` follows from the call, so that a crash makes no second one. */
  "agent.spawned": z.strictObject({
    agent,
    id: z.string(),
    /** `task`: beside its parent, by mail; `worker`: its answer is the result of the call; `handoff`: the same history. */
    mode: z.enum(["task", "worker", "handoff"]),
    call: z.string().optional(),
    /** An id of `agents.yaml`, or a role that was made for it. */
    role: z.string(),
    /** What other agents and people call it: no two of a conversation's turn have the same. */
    name: z.string().optional(),
    /** What it is to do: the first message that it reads. */
    brief: z.string(),
    /** Steps that it may take. */
    loops: z.number().int().optional(),
    budget: BudgetLimits.optional(),
    /** `subagent-` and eight characters. */
    context: z.string().optional(),
  }),
  /** A message from one agent to another. It joins the history of `to` once, in the order of the log. */
  "agent.mailed": z.strictObject({
    agent,
    to: z.string(),
    id: z.string(),
    /** As the reader is told it. */
    text: z.string(),
    /**
     * `result`, `failure`, `silence`: how the work of the sender ended; `silence` also where an answer will never come.
     * `more`: its answer was too short, and is asked for once more. `circle`: the two only write to each other; what the
     * sender had to say was not delivered. A message where it is left out.
     */
    kind: z.enum(["message", "result", "failure", "silence", "more", "circle"]).optional(),
    /** By which circle it is known. */
    failure: StoredFailure.optional(),
    /** A hash of what was said, without numbers, blanks and capital letters: mails that have the same say the same. */
    words: z.string().optional(),
    /** The sender does not end before it hears from `to`. */
    awaits: z.literal(true).optional(),
    /** The sender has read text from outside: data, not orders. */
    untrusted: z.literal(true).optional(),
  }),
  /** An agent's work is over. `agent` is its parent. */
  "agent.ended": z.strictObject({
    agent,
    id: z.string(),
    outcome: z.enum(["done", "failed", "terminated", "limit"]),
    /** What it said last. */
    result: z.string().optional(),
    failure: StoredFailure.optional(),
    /** Steps that it took. */
    steps: z.number().int().optional(),
    /** What it and those that it made have spent: its parent's from now on. */
    spent: Spent.optional(),
    /** Where in the conversation its files were put. */
    folder: z.string().optional(),
    /** It has read text from outside. */
    untrusted: z.literal(true).optional(),
  }),
};
