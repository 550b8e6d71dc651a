import type { EventOf, LogEvent } from "../../../src/protocol/events.ts";
import { add, change, type Folded, placed } from "./fold-state.ts";
import type { CallItem, FileChange } from "./items.ts";

/** What becomes of calls, the files they change, and what people are asked about them. Answers whether it was one. */
export function applyCallEvent(folded: Folded, event: LogEvent): boolean {
  switch (event.type) {
    case "call.started":
      changeCall(folded, event.call, (item) => ({ ...item, state: "running", at: event.at }));
      return true;
    case "call.finished":
      finishCall(folded, event);
      return true;
    case "file.changed":
      noteFile(folded, event);
      return true;
    case "decision.asked":
      changeCall(folded, event.call, (item) => ({ ...item, state: "waiting" }));
      addDecision(folded, event);
      return true;
    case "decision.made":
      makeDecision(folded, event, (call, make) => changeCall(folded, call, make));
      return true;
    default:
      return false;
  }
}

export function addDecision(folded: Folded, event: EventOf<"decision.asked">): void {
  folded.decisions = [...folded.decisions, event];
  add(folded, {
    kind: "decision",
    ...placed(event),
    key: `d${event.id}`,
    asked: event,
    made: undefined,
    isGone: false,
  });
}

/** Whoever asked these has ended. */
export function dropDecisions(folded: Folded, isGone: (asked: EventOf<"decision.asked">) => boolean): void {
  const gone = new Set(folded.decisions.filter(isGone).map(({ id }) => id));
  if (gone.size === 0) return;
  folded.decisions = folded.decisions.filter(({ id }) => !gone.has(id));
  folded.items = folded.items.map((item) =>
    item.kind === "decision" && gone.has(item.asked.id) && item.made === undefined ? { ...item, isGone: true } : item,
  );
}

/** `onCall`: what becomes of the call that it was about, where that is one of this fold. */
export function makeDecision(
  folded: Folded,
  event: EventOf<"decision.made">,
  onCall?: (call: string, make: (item: CallItem) => CallItem) => void,
): void {
  const asked = folded.decisions.find(({ id }) => id === event.id);
  folded.decisions = folded.decisions.filter(({ id }) => id !== event.id);
  change(folded, "decision", `d${event.id}`, (item) => ({ ...item, made: event }));
  if (asked === undefined) return;
  const { arguments: edited } = event;
  onCall?.(asked.call, (item) => ({
    ...item,
    state: "asked",
    ...(edited !== undefined && { arguments: edited }),
  }));
}

function finishCall(folded: Folded, event: EventOf<"call.finished">): void {
  changeCall(folded, event.call, (item) => ({
    ...item,
    state: event.outcome,
    durationMs: event.durationMs ?? event.at - item.at,
    result: event.text,
    images: event.images ?? [],
    failure: event.failure,
    file: event.file,
  }));
}

/** The ledger's lines of a call come before and after its end. */
function noteFile(folded: Folded, { call, workspace, path, before, after }: EventOf<"file.changed">): void {
  const isFile = before !== undefined || after !== undefined;
  if (call === undefined || !isFile) return;
  const kind: FileChange["change"] = after === undefined ? "removed" : before === undefined ? "made" : "changed";
  changeCall(folded, call, (item) => {
    const known = item.files.find((one) => one.path === path && one.workspace === workspace);
    const bytes = after?.bytes ?? 0;
    if (known === undefined) return { ...item, files: [...item.files, { path, change: kind, bytes, workspace }] };
    const made = known.change === "made" && kind === "changed" ? "made" : kind;
    const next = { path, change: made, bytes, workspace };
    return { ...item, files: item.files.map((one) => (one === known ? next : one)) };
  });
}

export function changeCall(folded: Folded, call: string, make: (item: CallItem) => CallItem): void {
  const item = folded.items.findLast((one) => one.kind === "call" && one.call === call);
  if (item !== undefined) change(folded, "call", item.key, make);
}
