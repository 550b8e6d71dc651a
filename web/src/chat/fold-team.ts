import type { EventOf, LogEvent } from "../../../src/protocol/events.ts";
import { addDecision, changeCall, dropDecisions, makeDecision } from "./fold-calls.ts";
import { add, emptyFold, type Folded, placed } from "./fold-state.ts";
import type { Member } from "./team.ts";

/**
 * What agents do that others made: each has a fold of its own. What they ask stands in the main agent's list as well.
 * Answers whether it was theirs alone; `apply` moves the fold of one of them on.
 */
export function applyTeamEvent(
  folded: Folded,
  event: LogEvent,
  apply: (folded: Folded, event: LogEvent) => void,
): boolean {
  switch (event.type) {
    case "agent.spawned":
      // Who is handed over to is the main agent for a while.
      if (event.mode !== "handoff") begin(folded, event, event.mode);
      return true;
    case "agent.mailed":
      mail(folded, event);
      return true;
    case "agent.ended":
      dropDecisions(folded, ({ agent }) => agent === event.id);
      if (folded.team.has(event.id)) change(folded, event.id, (member) => end(member, event));
      return true;
    default: {
      const { agent = undefined } = "agent" in event ? event : {};
      if (agent === undefined) return false;
      work(folded, agent, event, apply);
      return true;
    }
  }
}

function begin(folded: Folded, event: EventOf<"agent.spawned">, mode: Member["mode"]): void {
  const { id, agent: parent = "root", name = id, brief, at, call } = event;
  const known = folded.team.get(id);
  folded.team.set(id, {
    ...{ id, name, parent, mode, brief, at, folded: known?.folded ?? emptyFold() },
    ...{ steps: known?.steps ?? 0, tokens: known?.tokens ?? 0, isStopping: false, ended: known?.ended },
  });
  if (call === undefined) return;
  const made = (into: Folded) =>
    changeCall(into, call, (item) => (item.agents.includes(id) ? item : { ...item, agents: [...item.agents, id] }));
  if (parent === "root") made(folded);
  else change(folded, parent, (member) => changed(member, made));
}

/** Between the two of them; in the main agent's list only what was written to say something. */
function mail(folded: Folded, event: EventOf<"agent.mailed">): void {
  const { agent: from = "root", to, text, kind = "message" } = event;
  const note = (into: Folded) => add(into, { kind: "mail", ...placed(event), from, to, text });
  for (const id of new Set([from, to])) {
    if (id !== "root") change(folded, id, (member) => changed(member, note));
    else if (kind === "message") note(folded);
  }
}

function work(folded: Folded, agent: string, event: LogEvent, apply: (folded: Folded, event: LogEvent) => void): void {
  if (event.type === "decision.asked") addDecision(folded, event);
  if (event.type === "decision.made") makeDecision(folded, event);
  change(folded, agent, (member) => {
    const next = changed(member, (own) => apply(own, event));
    if (event.type === "cancel.asked") return { ...next, isStopping: true };
    if (event.type !== "message.assistant") return next;
    const { input, output } = event.usage;
    return { ...next, steps: member.steps + 1, tokens: member.tokens + input + output };
  });
}

function end(member: Member, ended: EventOf<"agent.ended">): Member {
  const { folded } = member;
  const isOpen = (state: string) => ["asked", "running", "waiting"].includes(state);
  folded.items = folded.items.map((item) =>
    item.kind === "call" && isOpen(item.state) ? { ...item, state: "cancelled" } : item,
  );
  dropDecisions(folded, () => true);
  folded.run = undefined;
  return { ...member, ended };
}

function changed(member: Member, make: (folded: Folded) => void): Member {
  make(member.folded);
  return { ...member };
}

/** One whose beginning lies before what was read goes by its id until that is read, too. */
function change(folded: Folded, id: string, make: (member: Member) => Member): void {
  const unknown: Member = {
    ...{ id, name: id, parent: "root", mode: id.startsWith("worker-") ? "worker" : "task", brief: "", at: 0 },
    ...{ folded: emptyFold(), steps: 0, tokens: 0, isStopping: false, ended: undefined },
  };
  folded.team.set(id, make(folded.team.get(id) ?? unknown));
}
