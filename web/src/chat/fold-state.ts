import type { EventOf, LogEvent } from "../../../src/protocol/events.ts";
import type { Todo } from "../../../src/protocol/todo.ts";
import type { Item, UserItem } from "./items.ts";
import type { Member } from "./team.ts";

export type RunningTurn = {
  readonly turn: number;
  readonly message: string;
  readonly startedAt: number;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly isStopping: boolean;
};

/** A message that no turn has taken up yet. */
export type Queued = { readonly item: UserItem; readonly mode: "queue" | "steer" };

/** The conversation as the events tell it. Items are replaced, never changed; the list of them is the fold's own. */
export type Folded = {
  items: Item[];
  queue: readonly Queued[];
  todos: readonly Todo[];
  run: RunningTurn | undefined;
  /** Open decisions, oldest first. */
  decisions: readonly EventOf<"decision.asked">[];
  title: string | undefined;
  isDeleted: boolean;
  /** What the newest request and its answer took of the window. */
  tokensUsed: number | undefined;
  head: number;
  /** Agents that others made, by id, in the order they were made. A member is replaced when something about it changes. */
  team: Map<string, Member>;
};

export function emptyFold(): Folded {
  return {
    ...{ items: [], queue: [], todos: [], run: undefined, decisions: [] },
    ...{ title: undefined, isDeleted: false, tokensUsed: undefined, head: 0, team: new Map() },
  };
}

/** Models give the same id to calls of different turns. */
export function callKey(turn: number, call: string): string {
  return `c${turn}/${call}`;
}

export function placed(event: LogEvent): { key: string; seq: number; at: number } {
  return { key: `e${event.seq}`, seq: event.seq, at: event.at };
}

export function add(folded: Folded, item: Item): void {
  folded.items.push(item);
}

/** Puts a changed copy in the place of an item; the newest of that key counts. */
export function change<K extends Item["kind"]>(
  folded: Folded,
  kind: K,
  key: string,
  make: (item: Extract<Item, { kind: K }>) => Item,
): void {
  const index = folded.items.findLastIndex((item) => item.kind === kind && item.key === key);
  const item = folded.items[index];
  if (item === undefined) return;
  // Its kind was compared.
  folded.items[index] = make(item as Extract<Item, { kind: K }>);
}
