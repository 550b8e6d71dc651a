import { askedHash, chained, linkOf, madeHash } from "../log/log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";

/**
 * A branch has only what counts of its parent's log, so that a decision may follow another one there than here: it names
 * that one now. What does not hold in the parent is copied as it is: it must not hold because it was copied.
 */
export function rechained(events: readonly NewEvent[]): NewEvent[] {
  const asked = new Map<string, EventBody<"decision.asked">>();
  let previous = "";
  return events.map((event) => {
    if (event.type === "decision.asked") asked.set(event.id, event);
    if (event.type !== "decision.made") return event;
    const question = asked.get(event.id);
    const holds = question !== undefined && event.hash === madeHash(askedHash(question), event);
    const { previous: _, hash: __, ...made } = event;
    const copy: typeof event = holds ? { ...event, ...chained(question, made, previous) } : event;
    previous = linkOf(copy);
    return copy;
  });
}
