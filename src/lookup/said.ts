import { type EventOf, type LogEvent, ownWordsOf } from "../protocol/events.ts";
import { withoutMarks } from "../words/words.ts";

/** What somebody said, or what a tool found. */
export type Said = {
  readonly seq: number;
  readonly at: number;
  readonly who: "user" | "agent" | { readonly tool: string };
  readonly text: string;
};

/** Tools that only repeat what was said elsewhere. */
const echoes: ReadonlySet<string> = new Set(["search_history", "recall", "todo_write", "todo_read", "compact_context"]);

/** What counts of a log that was read from its beginning and has nothing rewound in it; what was withdrawn stays away. */
export function saidIn(events: readonly LogEvent[]): Said[] {
  const tools = toolsIn(events);
  const withdrawn = new Set(events.map((event) => (event.type === "message.withdrawn" ? event.id : undefined)));
  return events.flatMap((event) =>
    event.type === "message.user" && withdrawn.has(event.id) ? [] : saidBy(event, (call) => tools.get(call)),
  );
}

/** Which tool each call is of. */
export function toolsIn(events: readonly LogEvent[]): Map<string, string> {
  const calls = events.flatMap((event) => (event.type === "message.assistant" ? (event.calls ?? []) : []));
  return new Map(calls.map((call) => [call.id, call.name]));
}

export function saidBy(event: LogEvent, toolOf: (call: string) => string | undefined): Said[] {
  const { at, seq } = event;
  if (event.type === "message.user") return [{ seq, at, who: "user", text: ownWordsOf(event) }];
  if ("agent" in event && event.agent !== undefined) return []; // Other agents talk among themselves.
  if (event.type === "message.assistant") return event.text === "" ? [] : [{ seq, at, who: "agent", text: event.text }];
  return event.type === "call.finished" ? resultSaid(event, toolOf(event.call)) : [];
}

/** Whose call nobody knows any more may be an echo. */
function resultSaid({ at, seq, outcome, text }: EventOf<"call.finished">, tool: string | undefined): Said[] {
  if (outcome !== "ok" || tool === undefined || echoes.has(tool)) return [];
  return [{ seq, at, who: { tool }, text: withoutMarks(text) }];
}
