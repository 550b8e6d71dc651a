import type { EventOf, LogEvent } from "../../protocol/events.ts";

/** What any agent of a turn asks and has no answer to yet, by id; what was asked first stands first. */
export type OpenDecisions = Map<string, EventOf<"decision.asked">>;

/** What other agents than the main one do is their own, but for what they ask a person, and what ends that. */
export function isOthers(event: LogEvent): boolean {
  return "agent" in event && event.agent !== undefined && !decisive.has(event.type);
}

const decisive: ReadonlySet<LogEvent["type"]> = new Set<LogEvent["type"]>([
  "decision.asked",
  "decision.made",
  "agent.ended",
]);

/** Moves them on by an event of their turn. */
export function noteDecision(open: OpenDecisions, event: LogEvent): void {
  switch (event.type) {
    case "decision.asked":
      if (event.instead !== undefined) open.delete(event.instead);
      open.set(event.id, event);
      break;
    case "decision.made":
      open.delete(event.id);
      break;
    case "agent.ended":
      for (const { id } of askedBy(open, event.id)) open.delete(id);
      break;
    case "turn.finished":
      if (event.agent === undefined) open.clear();
      break;
    default:
  }
}

/** What this agent asks; nobody waits for it once that agent has ended. */
export function askedBy(open: OpenDecisions, agent: string): EventOf<"decision.asked">[] {
  return [...open.values()].filter((asked) => asked.agent === agent);
}
