import { ok } from "../../src/base/result.ts";
import type { Log } from "../../src/log/log.ts";
import type { Engine, LiveFrame } from "../../src/loop/loop.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { failure } from "../../src/protocol/failure.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import type { Decision } from "../../src/protocol/resources.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { manualClock } from "./manual-clock.ts";

type Status = "idle" | "running" | "waiting";
type Place = { readonly turn: number; readonly step: number; readonly attempt: number };

/** A conversation whose log and running answer the test writes, as whoever follows a message sees it. */
export function playedTurn() {
  const written = playedLog();
  const answer = playedAnswer();
  const clock = manualClock();
  let status: Status = "running";
  let decisions: readonly Decision[] = [];
  let looks = 0;
  const engine: Pick<Engine, "live" | "state"> = {
    live: answer.live,
    async state() {
      looks += 1;
      return { ...stateOf(status, written.events.length), decisions: [...decisions] };
    },
  };
  return {
    view: { conversation, clock, engine, log: written.log },
    clock,
    events: written.events,
    append: written.append,
    remove: written.remove,
    begin: answer.begin,
    say: answer.say,
    endAnswer: answer.end,
    /** What the engine says of it: `asked` are the decisions that are open. */
    rest(now: Status, ...asked: readonly Pick<Decision, "id" | "kind">[]): void {
      status = now;
      decisions = asked.map((one) => ({ conversation: "c", tool: "look", path: [], at: 1, ...one }));
    },
    /** How many times the state was looked at. */
    looks: () => looks,
    listeners: () => written.listeners.size + answer.listeners.size,
  };
}

function playedLog() {
  const events: LogEvent[] = [];
  const listeners = new Set<(head: number) => void>();
  let isGone = false;
  const tell = () => {
    for (const listener of [...listeners]) listener(events.length);
  };
  const log: Pick<Log, "read" | "find" | "headOf" | "onAppend"> = {
    read: async (_, { after, limit, upTo = Number.POSITIVE_INFINITY }) =>
      isGone ? [] : events.filter(({ seq }) => seq > after && seq <= upTo).slice(0, limit),
    find: async () => (isGone ? failure("conversation_not_found", { id: "c" }) : ok(conversation)),
    headOf: async () => events.length,
    onAppend(_, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    ...{ events, log, listeners },
    append(...made: readonly NewEvent[]): void {
      for (const event of made) events.push({ ...event, seq: events.length + 1, at: 1_000 + events.length });
      tell();
    },
    remove(): void {
      isGone = true;
      events.push({ type: "conversation.deleted", by: "local", seq: events.length + 1, at: 1 });
      tell();
    },
  };
}

/** As the engine's own: kept while it is written. */
function playedAnswer() {
  const listeners = new Set<(frame: LiveFrame) => void>();
  let running: { place: Place; text: string; reasoning: string } | undefined;
  return {
    listeners,
    live(_: number, listener: (frame: LiveFrame) => void): () => void {
      listeners.add(listener);
      for (const kind of ["reasoning", "text"] as const) {
        const text = running?.[kind];
        if (running !== undefined && text) listener({ frame: "delta", ...running.place, kind, offset: 0, text });
      }
      return () => void listeners.delete(listener);
    },
    begin(place: Place): void {
      running = { place, text: "", reasoning: "" };
    },
    say(text: string, kind: "text" | "reasoning" = "text"): void {
      if (running === undefined) throw new Error("no answer is being written");
      const offset = running[kind].length;
      running[kind] += text;
      for (const listener of [...listeners]) listener({ frame: "delta", ...running.place, kind, offset, text });
    },
    end(): void {
      running = undefined;
    },
  };
}

const times = { createdAt: 1, updatedAt: 1, deletedAt: undefined };
const about = { title: "", lastMessage: "", turns: 0, cursor: "1", readIndex: 0 };
export const conversation: ConversationRow = {
  ...{ number: 1, owner: localOwner, id: ConversationId.parse("c"), ...about, ...times },
  ...{ origin: "person", isPassing: false, agentId: undefined, appKey: undefined },
};

function stateOf(status: Status, head: number) {
  return {
    ...{ conversation, status, head, queue: [], decisions: [], todos: [], filesRemovedAt: null },
    model: { slot: "base", id: "m", server: "s", isDemo: false } as const,
    tokens: { used: 0, window: 1, level: "info", estimated: false } as const,
  };
}
