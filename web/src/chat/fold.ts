import type { EventOf, LogEvent } from "../../../src/protocol/events.ts";
import { ownWordsOf } from "../../../src/protocol/events.ts";
import { applyCallEvent, dropDecisions } from "./fold-calls.ts";
import { add, callKey, change, emptyFold, type Folded, placed } from "./fold-state.ts";
import { applyTeamEvent } from "./fold-team.ts";
import type { CallItem, Item, UserItem } from "./items.ts";

/** The fold of a part of the log that ends at its head. What lies between a way back and its target is left out. */
export function foldEvents(events: readonly LogEvent[]): Folded {
  const folded = emptyFold();
  for (const event of effective(events)) applyEvent(folded, event);
  return folded;
}

function effective(events: readonly LogEvent[]): LogEvent[] {
  const kept: LogEvent[] = [];
  for (const event of events) {
    if (event.type === "rewound") {
      const place = kept.findLastIndex(({ seq }) => seq <= event.to) + 1;
      // A conversation keeps the name that it was given, however far one goes back.
      kept.push(...kept.splice(place).filter(({ type }) => type === "conversation.renamed"));
    }
    kept.push(event);
  }
  return kept;
}

/** Moves the fold on by one event. A way back needs the whole part again: see `foldEvents`. */
export function applyEvent(folded: Folded, event: LogEvent): void {
  folded.head = Math.max(folded.head, event.seq);
  if (!applyTeamEvent(folded, event, applyOwn)) applyOwn(folded, event);
}

/** An event of the agent whose fold it is. */
function applyOwn(folded: Folded, event: LogEvent): void {
  if (applyTurnEvent(folded, event) || applyCallEvent(folded, event)) return;
  if (event.type === "todo.set") folded.todos = event.todos;
  if (event.type === "conversation.renamed") folded.title = event.title;
  if (event.type === "conversation.deleted") folded.isDeleted = true;
  if (event.type === "compaction.started") add(folded, { kind: "notice", ...placed(event), what: "compacting" });
  if (event.type === "compacted") {
    folded.items = folded.items.filter((item) => item.kind !== "notice" || item.what !== "compacting");
    add(folded, { kind: "compaction", ...placed(event), event, isUndone: false });
  }
  if (event.type === "compaction.undone")
    change(folded, "compaction", `e${event.compacted}`, (item) => ({ ...item, isUndone: true }));
  if (event.type === "branched") add(folded, { kind: "notice", ...placed(event), what: "branched" });
  if (event.type === "rewound" && event.cause === "reset")
    add(folded, { kind: "notice", ...placed(event), what: "reset" });
}

/** Answers whether it was one. */
function applyTurnEvent(folded: Folded, event: LogEvent): boolean {
  switch (event.type) {
    case "message.user":
      folded.queue = [...folded.queue, { item: userItem(event), mode: event.mode }];
      return true;
    case "message.withdrawn":
      folded.queue = folded.queue.filter(({ item }) => item.id !== event.id);
      return true;
    case "turn.started":
      takeUp(folded, [event.message], false);
      folded.run = {
        ...{ turn: event.turn, message: event.message, startedAt: event.at },
        ...{ step: 0, attempt: 1, model: "", isStopping: false },
      };
      return true;
    case "turn.recovered":
      add(folded, { kind: "notice", ...placed(event), what: "recovered" });
      return true;
    case "cancel.asked":
      if (folded.run !== undefined) folded.run = { ...folded.run, isStopping: true };
      return true;
    case "step.started":
      takeUp(folded, event.joined ?? [], true);
      if (folded.run !== undefined)
        folded.run = { ...folded.run, step: event.step, attempt: event.attempt, model: event.model };
      return true;
    case "step.failed":
      add(folded, { kind: "notice", ...placed(event), what: "retrying", failure: event.failure, of: stepOf(event) });
      return true;
    case "message.assistant":
      addAnswer(folded, event);
      return true;
    case "turn.finished":
      finish(folded, event);
      return true;
    default:
      return false;
  }
}

function userItem(event: EventOf<"message.user">): UserItem {
  return {
    ...{ kind: "user", key: `m${event.id}`, seq: event.seq, id: event.id, at: event.at },
    text: ownWordsOf(event),
    files: event.files ?? [],
    images: event.images ?? [],
    steered: false,
  };
}

/** Messages that wait come into the list when a turn takes them up. */
function takeUp(folded: Folded, ids: readonly string[], steered: boolean): void {
  for (const id of ids) {
    const queued = folded.queue.find(({ item }) => item.id === id);
    if (queued === undefined) continue;
    folded.queue = folded.queue.filter((one) => one !== queued);
    add(folded, { ...queued.item, steered });
  }
}

function addAnswer(folded: Folded, event: EventOf<"message.assistant">): void {
  const { turn, step, text, reasoning = "", calls = [], usage, durationMs } = event;
  // Failed attempts of a step that was answered in the end are no longer news.
  const isOld = (item: Item) => item.kind === "notice" && item.of === stepOf(event);
  if (folded.items.some(isOld)) folded.items = folded.items.filter((item) => !isOld(item));
  folded.tokensUsed = usage.input + usage.output;
  if (text.trim() !== "" || reasoning.trim() !== "" || calls.length === 0)
    add(folded, {
      ...{ kind: "answer", ...placed(event), turn, step, text, reasoning, usage, durationMs },
      ...{ model: folded.run?.model ?? "", cut: event.cut === true, hasCalls: calls.length > 0 },
    });
  for (const call of calls)
    add(folded, {
      ...{ kind: "call", key: callKey(turn, call.id), seq: event.seq, at: event.at, turn, call: call.id },
      agent: event.agent,
      ...{ name: call.name, arguments: call.arguments, state: "asked", durationMs: undefined },
      ...{ result: "", images: [], failure: undefined, file: undefined, files: [], agents: [] },
    });
}

function stepOf({ turn, step }: { readonly turn: number; readonly step: number }): string {
  return `${turn}/${step}`;
}

function finish(folded: Folded, event: EventOf<"turn.finished">): void {
  const { turn, outcome, failure } = event;
  const answers = folded.items.filter((item) => item.kind === "answer" && item.turn === turn);
  const usage = answers.reduce(
    (sum, item) =>
      item.kind === "answer" ? { input: sum.input + item.usage.input, output: sum.output + item.usage.output } : sum,
    { input: 0, output: 0 },
  );
  const last = answers.at(-1);
  folded.items = folded.items.map((item) => (isOpenCall(item, turn) ? { ...item, state: "cancelled" } : item));
  add(folded, {
    ...{ kind: "end", ...placed(event), turn, outcome, failure, usage },
    startedAt: folded.run?.startedAt ?? event.at,
    message: folded.run?.message ?? "",
    answer: last?.kind === "answer" ? last.text : "",
  });
  folded.run = undefined;
  dropDecisions(folded, (asked) => asked.turn === turn && asked.agent === event.agent);
}

function isOpenCall(item: Item, turn: number): item is CallItem {
  return item.kind === "call" && item.turn === turn && ["asked", "running", "waiting"].includes(item.state);
}
