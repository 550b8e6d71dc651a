import type { EventOf } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";

/** An agent that the user was handed over to. `isActing`: it has what it is to do before it; until then the one before it works. */
export type HandedOver = {
  readonly id: string;
  readonly role: string;
  readonly brief: string;
  isActing: boolean;
};

/** The user is handed over as soon as all calls of that answer have their results. */
export function handOver(stack: HandedOver[], { id, role, brief }: EventOf<"agent.spawned">): void {
  if (!stack.some((one) => one.id === id)) stack.push({ id, role, brief, isActing: false });
}

/** It is done: whoever it handed over to is, too. */
export function handBack(stack: HandedOver[], { id }: EventOf<"agent.ended">): void {
  const place = stack.findIndex((one) => one.id === id);
  if (place >= 0) stack.splice(place);
}

/** What those who begin to act now read first. */
export function takeOver(stack: readonly HandedOver[]): Message[] {
  const taking = stack.filter(({ isActing }) => !isActing);
  for (const one of taking) one.isActing = true;
  // Nobody but the user speaks as the user.
  return taking.map(({ brief }) => ({ role: "user", text: brief, own: 0 }));
}
