import type { ChildState, History } from "../../log/log.ts";

/** The agents that an agent made in this turn and that have not ended. */
export function openChildren({ children }: Pick<History, "children">): ChildState[] {
  return [...children.values()].filter(({ ended }) => ended === undefined);
}

/** Whom an agent works for, by the id of that agent. */
export function parentOf({ self }: Pick<History, "self">): string {
  return self?.parent ?? "root";
}

/** As the field of an event: absent is the main agent. */
export function asAgent(id: string): { readonly agent?: string } {
  return id === "root" ? {} : { agent: id };
}
