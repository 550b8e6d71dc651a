import type { EventOf } from "../protocol/events.ts";
import { asWritten, type Message } from "../protocol/message.ts";
import { selectedMessage } from "../words/words.ts";
import { linkOf } from "./decision-record.ts";
import { takeOver } from "./fold-hand-off.ts";
import { forgetMails, noteCircle, noteWork } from "./fold-mail.ts";
import { setAside, takeBack, userMessage } from "./given-history.ts";
import type { CallState, DecisionState, History, QueuedMessage } from "./history-state.ts";
import { noteDecided, noteSaid } from "./keepsakes.ts";
import { noteAttached, readShown } from "./known.ts";

export function startTurn(history: History, event: EventOf<"turn.started">): void {
  const message = takeFromQueue(history, event.message);
  history.turnsEver = Math.max(history.turnsEver, event.turn);
  if (message === undefined) return;
  takeBack(history);
  const { instead } = message;
  history.turn = {
    turn: event.turn,
    message,
    startedAt: event.at,
    epoch: event.epoch,
    recoveries: 0,
    cancelAsked: false,
    step: 0,
    attempt: 0,
    failures: 0,
    isStepOpen: false,
    isCut: false,
    isFinal: false,
    compactions: 0,
    isOverflown: false,
    isStuck: false,
    slot: message.slot,
    model: undefined,
    hasImages: [message, ...(instead ?? [])].some((said) => "images" in said && (said.images?.length ?? 0) > 0),
    calls: [],
    finished: [],
  };
  if (instead !== undefined) setAside(history, instead);
  join(history, message, event.seq);
}

/** A message joins the history: first the files that were selected for it, then the words. */
function join(history: History, message: QueuedMessage, seq: number): void {
  const { aside, deeds } = history;
  const { selected, files, instead, text, images, untrusted } = message;
  noteAttached(history, message, seq);
  if (selected !== undefined) {
    addMessage(history, { role: "user", text: selectedMessage(selected), own: 0 }, seq);
    for (const place of [history, aside]) place?.selected.push({ seq, files: selected.files });
  }
  const last = instead?.at(-1)?.role;
  const isAnsweringGiven = last === "user" || last === "tool";
  if (text !== "" || (images?.length ?? 0) > 0 || !isAnsweringGiven) {
    addMessage(history, userMessage(message), seq);
    for (const place of [history, aside]) if (place !== undefined) noteSaid({ said: place.said, deeds }, message, seq);
  }
  // Texts of files stand in it, or a server's prompt.
  if (untrusted || files?.some(({ hash }) => hash !== undefined)) history.isTainted = true;
}

export function startStep(history: History, event: EventOf<"step.started">): void {
  const { turn } = history;
  if (turn === undefined) return;
  if (event.step !== turn.step) history.steps += 1;
  turn.step = event.step;
  turn.attempt = event.attempt;
  turn.model = event.model;
  turn.isStepOpen = true;
  turn.isFinal = event.final === true;
  readShown(history);
  for (const id of event.joined ?? []) {
    const message = takeFromQueue(history, id);
    if (message) join(history, message, event.seq);
    turn.hasImages ||= (message?.images?.length ?? 0) > 0;
  }
  for (const told of event.told ?? []) {
    const [kind = "", value = ""] = told.split(/:(.*)/s);
    history.told.set(kind, { value, step: history.steps });
  }
  if (event.reminder === undefined) return;
  const { messages, aside } = history;
  remind(messages, event.reminder);
  // One that was given does not stay, and neither does what was told behind it.
  if (aside !== undefined && aside.messages.length > aside.older) remind(aside.messages, event.reminder);
}

function remind(messages: Message[], reminder: string): void {
  const newest = messages.at(-1);
  if (newest === undefined || newest.role === "system") return;
  const reminded = { ...newest, text: newest.text + reminder, reminder: (newest.reminder ?? 0) + reminder.length };
  messages[messages.length - 1] = reminded;
}

export function addAnswer(history: History, event: EventOf<"message.assistant">): void {
  const { text, reasoning, reasoningDetails, calls } = event;
  addMessage(history, { role: "assistant", text, reasoning, reasoningDetails, toolCalls: asWritten(calls) }, event.seq);
  // An estimate over the bytes of a request takes an image for text: the last real count, and our own over the messages
  // since then, is the better one.
  if (event.usageEstimated !== true) {
    history.counted = { usage: event.usage, estimated: false, messages: history.messages.length };
    trustWindow(history, event.usage.input);
  }
  if (history.turn === undefined) return;
  history.turn.isStepOpen = false;
  history.turn.compactions = 0;
  history.turn.isCut = event.finish === "length";
  history.turn.failures = 0;
  history.turn.calls = (calls ?? []).map((call) => ({
    call,
    decision: undefined,
    started: undefined,
    result: undefined,
  }));
}

/** A provider that counts more than its window was taken for has shown that it is larger. */
function trustWindow({ windows, turn }: History, counted: number): void {
  const model = turn?.model ?? "";
  if (counted > (windows.get(model) ?? counted)) windows.delete(model);
}

export function failStep({ turn }: History, event: EventOf<"step.failed">): void {
  if (turn === undefined) return;
  turn.failures += 1;
  if (event.kind === "context_overflow") turn.isOverflown = true;
}

export function addDecision(history: History, event: EventOf<"decision.asked">): void {
  const state: DecisionState = { asked: event, made: undefined };
  history.decisions.set(event.id, state);
  // Whether the call may run is decided already; this one is about something else.
  if (event.kind === "elicitation") return;
  for (const call of callsNamed(history, event.call)) call.decision = state;
}

export function makeDecision(history: History, event: EventOf<"decision.made">): void {
  const state = history.decisions.get(event.id);
  const isOthers = event.agent !== history.self?.id;
  if (!isOthers && (state === undefined || state.made !== undefined)) return;
  history.lastDecision = linkOf(event);
  if (isOthers || state === undefined) return;
  state.made = event;
  noteDecided(history, state.asked, event);
}

export function startCall(history: History, event: EventOf<"call.started">): void {
  for (const state of callsNamed(history, event.call)) state.started = { class: event.class, attempt: event.attempt };
}

/** Results go to the model in the order of the calls, so they wait here until the last one is in. */
export function finishCall(history: History, event: EventOf<"call.finished">): void {
  const { turn } = history;
  const { outcome, text, images, file, seq } = event;
  for (const state of callsNamed(history, event.call)) {
    if (state.result !== undefined) continue;
    state.result = { outcome, text, images, file, seq };
    turn?.finished.push({ name: state.call.name, arguments: state.call.arguments, text });
    if (state.call.name !== "send_message") noteWork(history, seq);
  }
  if (event.untrusted) history.isTainted = true;
  noteCircle(history, event.failure);
  if (turn !== undefined && event.failure?.code === "tool_repeated") turn.isStuck = true;
  if (turn !== undefined && images !== undefined && images.length > 0) turn.hasImages = true;
  if (turn === undefined || !turn.calls.every((state) => state.result !== undefined)) return;
  for (const { call, result } of turn.calls) {
    if (result === undefined) continue;
    const { text, images, file, seq } = result;
    addMessage(history, { role: "tool", toolCallId: call.id, text, images, ...(file !== undefined && { file }) }, seq);
  }
  turn.calls = [];
  addBriefs(history, event.seq);
}

/** The calls of the answer that handed over have their results: whoever it was handed over to reads what it is to do. */
export function addBriefs(history: History, seq: number): void {
  for (const message of takeOver(history.stack)) addMessage(history, message, seq);
}

export function finishTurn(history: History, event: EventOf<"turn.finished">): void {
  takeBack(history);
  history.turn = undefined;
  history.stack.length = 0;
  // Agents end with the turn that made them, and so does what they had to say.
  history.children.clear();
  history.awaited.clear();
  forgetMails(history);
  const waiting = history.queue.filter(({ from }) => from === undefined);
  history.queue.splice(0, history.queue.length, ...waiting);
  history.decisions.clear();
  history.lastTurn = { turn: event.turn, outcome: event.outcome };
  addCheckpoint(history, event.seq, "", event.at);
}

export function addCheckpoint(history: History, seq: number, name: string, at: number): void {
  history.checkpoints.push({ seq, parent: history.checkpoints.at(-1)?.seq ?? null, name, at });
}

export function forgetCheckpoint({ checkpoints }: History, forgotten: number): void {
  const left = checkpoints.filter(({ seq }) => seq !== forgotten);
  checkpoints.splice(0, checkpoints.length, ...left);
}

function addMessage(history: History, message: Message, seq: number): void {
  history.messages.push(message);
  history.seqs.push(seq);
  history.aside?.messages.push(message);
  history.aside?.seqs.push(seq);
}

export function takeFromQueue(history: History, id: string): QueuedMessage | undefined {
  const index = history.queue.findIndex((message) => message.id === id);
  return index < 0 ? undefined : history.queue.splice(index, 1)[0];
}

export function callsNamed(history: History, call: string): CallState[] {
  return history.turn?.calls.filter((state) => state.call.id === call) ?? [];
}
