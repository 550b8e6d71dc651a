import { derivedHex } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type BudgetLimits, heldFor } from "../protocol/budget.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import { asAgent } from "./agents/seats.ts";
import { reserve, tightest } from "./budget.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { standingOf } from "./spending.ts";

export type AgentWanted = Pick<EventBody<"agent.spawned">, "mode" | "call" | "role" | "brief" | "loops" | "budget"> & {
  readonly name?: string | undefined;
};

type Spawned = Extract<NewEvent, { type: "agent.spawned" }>;

const idCharacters = 12;
const contextCharacters = 8;

/**
 * The one way to make an agent: the event that does it. Its id follows from the call that wants it, so that a call that is
 * run again after a crash makes no second one. What it may spend is taken from what its parent has left.
 */
export function makeAgent(
  run: Run,
  parts: Pick<Parts, "limits" | "clock">,
  wanted: AgentWanted,
): Result<Spawned, Failure> {
  const { conversation, history, agent = "root" } = run;
  const { mode, call = "", role, brief, loops } = wanted;
  const held = heldBy(run, parts, wanted);
  if (!held.ok) return held;
  const budget = Object.keys(held.value).length === 0 ? undefined : held.value;
  const { turn = 0, step = 0 } = history.turn ?? {};
  const place = [conversation.owner, conversation.id, agent, String(turn), String(step), call];
  const id = `${mode}-${derivedHex(idCharacters, ...place)}`;
  const spawned: Spawned = {
    type: "agent.spawned",
    ...asAgent(agent),
    ...{ id, mode, role, brief },
    ...(wanted.call === undefined ? {} : { call }),
    name: nameOf(run, id, wanted),
    ...(loops === undefined ? {} : { loops }),
    ...(budget === undefined ? {} : { budget }),
    ...(mode === "worker" ? { context: `subagent-${derivedHex(contextCharacters, ...place)}` } : {}),
  };
  run.expected.set(call, spawned);
  return ok(spawned);
}

function expectedBeside({ expected }: Run, call: string | undefined): Spawned[] {
  return [...expected].flatMap(([other, spawned]) => (other === call ? [] : [spawned]));
}

/** Whoever is handed over to takes a place of its own, and spends what the one before it had left. */
function heldBy(
  run: Run,
  parts: Pick<Parts, "limits" | "clock">,
  { mode, call, budget = {} }: AgentWanted,
): Result<BudgetLimits, Failure> {
  const { history } = run;
  const others = expectedBeside(run, call).map((other) =>
    other.mode === "handoff" ? { agents: 1 } : heldFor(other.budget ?? {}),
  );
  const { left } = standingOf(history, parts, others);
  // Those on the stack stand one behind the other.
  const depth = left.depth === undefined ? {} : { depth: Math.max(0, left.depth - history.stack.length) };
  if (mode !== "handoff") {
    const held = reserve({ ...left, ...depth }, budget);
    return held.ok ? ok(tightest(held.value, parts.limits.budgets.agent)) : held;
  }
  const agents = left.agents === undefined ? {} : { agents: left.agents };
  const held = reserve({ ...agents, ...depth }, { agents: 0, depth: 0 });
  return held.ok ? ok({}) : held;
}

function nameOf(run: Run, id: string, { mode, role, name = role }: AgentWanted): string {
  return mode === "worker" ? id : mode === "handoff" ? name : nameFor(run, id, name);
}

const nameCharactersMax = 40;

/** Fit for a path and for a message, and unlike those of the agents that there are. */
function nameFor({ tenure }: Run, id: string, wanted: string): string {
  const plain = wanted
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, nameCharactersMax);
  const taken = new Set(["root", "user", "parent"]);
  for (const { history, expected } of tenure.runs.values())
    for (const spawned of [...[...history.children.values()].map((child) => child.spawned), ...expected.values()])
      if (spawned.id !== id) taken.add(spawned.name ?? spawned.id);
  const base = plain === "" ? "task" : plain;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(name)) return name;
  }
}
