import { derivedHex } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import { asAgent } from "./agents/seats.ts";
import { reserve } from "./budget.ts";
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
export function makeAgent(run: Run, parts: Parts, wanted: AgentWanted): Result<Spawned, Failure> {
  const { conversation, history, agent = "root" } = run;
  const { mode, call = "", role, brief, loops } = wanted;
  const held = reserve(standingOf(history, parts).left, wanted.budget ?? {});
  if (!held.ok) return held;
  const budget = Object.keys(held.value).length === 0 ? undefined : held.value;
  const { turn = 0, step = 0 } = history.turn ?? {};
  const place = [conversation.owner, conversation.id, agent, String(turn), String(step), call];
  const id = `${mode}-${derivedHex(idCharacters, ...place)}`;
  return ok({
    type: "agent.spawned",
    ...asAgent(agent),
    ...{ id, mode, role, brief },
    ...(wanted.call === undefined ? {} : { call }),
    name: mode === "worker" ? id : nameFor(run, id, wanted.name ?? role),
    ...(loops === undefined ? {} : { loops }),
    ...(budget === undefined ? {} : { budget }),
    ...(mode === "worker" ? { context: `subagent-${derivedHex(contextCharacters, ...place)}` } : {}),
  });
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
  for (const { history } of tenure.runs.values())
    for (const { spawned } of history.children.values()) if (spawned.id !== id) taken.add(spawned.name ?? spawned.id);
  const base = plain === "" ? "task" : plain;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(name)) return name;
  }
}
