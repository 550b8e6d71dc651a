import type { LogEvent, NewEvent } from "../protocol/events.ts";

/** Whether an event means something to the history of this agent; undefined is the main agent. */
export function reaches(event: LogEvent, self: string | undefined): boolean {
  const id = self ?? "root";
  const readers = readersNamed(event);
  return readers === "all" || readers.includes(id);
}

/** Those of these agents, and the main one, that an event means something to. */
export function readersOf(event: LogEvent | NewEvent, agents: Iterable<string>): Iterable<string> {
  const readers = readersNamed(event);
  return readers === "all" ? ["root", ...agents] : readers;
}

/** Most events are of one agent alone. */
function readersNamed(event: LogEvent | NewEvent): readonly string[] | "all" {
  const own = ("agent" in event ? event.agent : undefined) ?? "root";
  switch (event.type) {
    case "agent.spawned":
      return [own];
    case "agent.mailed":
      return event.to === own ? [own] : [own, event.to];
    case "agent.ended":
      return [own, event.id];
    // Each decision names the one before it, whoever was asked.
    case "decision.made":
      return "all";
    case "file.changed":
      return readersOfChange(event, own);
    default:
      return [own];
  }
}

/** What people do to files is for all; the main agent keeps a list of what was done to those of the conversation. */
function readersOfChange(
  { by, workspace }: Extract<NewEvent, { type: "file.changed" }>,
  own: string,
): readonly string[] | "all" {
  if (by === "upload" || by === "person") return "all";
  return own === "root" || workspace !== undefined ? [own] : [own, "root"];
}
