import { derivedHex } from "../base/ids.ts";
import type { CallOutcome, EventOf, LogEvent, TurnOutcome } from "../protocol/events.ts";
import type { Image, Message, Slot, ToolCall, ToolDescription, Usage } from "../protocol/message.ts";
import type { Todo } from "../protocol/todo.ts";
import { forgetShown, type Knowledge, moveShown, noteAttached, noteChanged, noteShown, readShown } from "./known.ts";

/** What the log amounts to right now: the fold of all events that were not rewound. */
export type History = Knowledge & {
  head: number;
  /** Turns ever started, rewound ones included: turn numbers never come twice. */
  turnsEver: number;
  recipe: Recipe | undefined;
  /** What is sent after the system message. An object never changes once it was sent; `seqs` has its place in the log. */
  readonly messages: Message[];
  readonly seqs: number[];
  turn: OpenTurn | undefined;
  lastTurn: { readonly turn: number; readonly outcome: TurnOutcome } | undefined;
  readonly queue: QueuedMessage[];
  /** Open decisions, and those made in the running turn. */
  readonly decisions: Map<string, DecisionState>;
  /** Hash of the last decision made: each one names the one before it. */
  lastDecision: string;
  todos: readonly Todo[];
  /** The provider's own count for the last request and answer, and how many messages it covers. */
  counted: { readonly usage: Usage; readonly estimated: boolean; readonly messages: number } | undefined;
  /** What reminders told last, by kind, and at which step of all steps. */
  readonly told: Map<string, { readonly value: string; readonly step: number }>;
  steps: number;
  readonly checkpoints: CheckpointState[];
};

export type Recipe = {
  readonly system: string;
  readonly tools: string;
  /** Made once per recipe, so that the same objects go into every request. */
  readonly systemMessage: Message;
  readonly descriptions: readonly ToolDescription[];
  readonly startedAt: number;
};

export type QueuedMessage = EventOf<"message.user">;
export type DecisionState = { readonly asked: EventOf<"decision.asked">; made: EventOf<"decision.made"> | undefined };
export type CheckpointState = {
  readonly seq: number;
  readonly parent: number | null;
  readonly name: string;
  readonly at: number;
};

export type OpenTurn = {
  readonly turn: number;
  readonly message: QueuedMessage;
  readonly startedAt: number;
  epoch: number;
  recoveries: number;
  cancelAsked: boolean;
  /** Steps begun; the newest has had `attempt` attempts and is open until its answer is stored. */
  step: number;
  attempt: number;
  /** Failures of the open step so far. */
  failures: number;
  isStepOpen: boolean;
  /** The output limit cut the newest answer off. */
  isCut: boolean;
  isFinal: boolean;
  /** Room was made, or could not be made, since the newest answer: once is enough. */
  isCompacted: boolean;
  /** A call was refused because it went round in circles. */
  isStuck: boolean;
  slot: Slot | undefined;
  hasImages: boolean;
  /** The calls of the newest answer, in its order. */
  calls: CallState[];
  /** Calls with their results, in order, for the loop guard. */
  readonly finished: { readonly name: string; readonly arguments: string; readonly text: string }[];
};

export type CallState = {
  readonly call: ToolCall;
  decision: DecisionState | undefined;
  started: { readonly class: EventOf<"call.started">["class"]; readonly attempt: number } | undefined;
  result:
    | {
        readonly outcome: CallOutcome;
        readonly text: string;
        readonly images: readonly Image[] | undefined;
        readonly seq: number;
      }
    | undefined;
};

export function emptyHistory(): History {
  return {
    head: 0,
    turnsEver: 0,
    recipe: undefined,
    messages: [],
    seqs: [],
    turn: undefined,
    lastTurn: undefined,
    queue: [],
    decisions: new Map(),
    lastDecision: "",
    todos: [],
    counted: undefined,
    told: new Map(),
    steps: 0,
    checkpoints: [],
    known: new Map(),
    unread: new Map(),
  };
}

/** The events that count: what lies between a `rewound` and its target is left out. */
export function effectiveEvents(events: readonly LogEvent[]): LogEvent[] {
  const kept: LogEvent[] = [];
  for (const event of events) {
    if (event.type === "rewound") while ((kept.at(-1)?.seq ?? 0) > event.to) kept.pop();
    kept.push(event);
  }
  return kept;
}

export function foldHistory(events: readonly LogEvent[]): History {
  const history = emptyHistory();
  for (const event of effectiveEvents(events)) applyEvent(history, event);
  for (const event of events)
    if (event.type === "turn.started") history.turnsEver = Math.max(history.turnsEver, event.turn);
  return history;
}

/** Moves the history on by one event. A `rewound` needs the whole log again: see `foldHistory`. */
export function applyEvent(history: History, event: LogEvent): void {
  history.head = Math.max(history.head, event.seq);
  switch (event.type) {
    case "recipe.set":
      history.recipe = recipeOf(event);
      return;
    case "message.user":
      history.queue.push(event);
      return;
    case "message.withdrawn":
      takeFromQueue(history, event.id);
      return;
    case "turn.started":
      return startTurn(history, event);
    case "turn.recovered":
      if (history.turn) Object.assign(history.turn, { epoch: event.epoch, recoveries: history.turn.recoveries + 1 });
      return;
    case "cancel.asked":
      if (history.turn?.turn === event.turn) history.turn.cancelAsked = true;
      return;
    case "step.started":
      return startStep(history, event);
    case "message.assistant":
      return addAnswer(history, event);
    case "decision.asked":
      return addDecision(history, event);
    case "decision.made":
      return makeDecision(history, event);
    case "call.started":
      for (const state of callsNamed(history, event.call))
        state.started = { class: event.class, attempt: event.attempt };
      return;
    case "call.finished":
      return finishCall(history, event);
    case "turn.finished":
      return finishTurn(history, event);
    case "compacted":
      return compact(history, event);
    case "checkpoint.saved":
      addCheckpoint(history, event.seq, event.name, event.at);
      return;
    case "checkpoint.deleted":
      history.checkpoints.splice(
        0,
        history.checkpoints.length,
        ...history.checkpoints.filter((point) => point.seq !== event.checkpoint),
      );
      return;
    case "todo.set":
      history.todos = event.todos;
      return;
    case "file.known":
      return noteShown(history, event);
    case "file.changed":
      return noteChanged(history, event);
    case "step.failed":
      if (history.turn) history.turn.failures += 1;
      return;
    case "rewound":
    case "branched":
    case "conversation.renamed":
    case "conversation.deleted":
      return;
  }
}

/** Events whose effect does not depend on their order among a running turn's own. */
const orderFree: ReadonlySet<LogEvent["type"]> = new Set([
  "message.user",
  "cancel.asked",
  "decision.made",
  "conversation.renamed",
]);

function isOrderFree(event: LogEvent): boolean {
  return event.type === "file.changed" ? event.by === "upload" || event.by === "person" : orderFree.has(event.type);
}

/**
 * Takes in events of others that turned out to stand in the log between `after` and events already applied. False when
 * their order matters: then the log must be folded anew.
 */
export function insertEvents(history: History, after: number, events: readonly LogEvent[]): boolean {
  const isLate = (event: LogEvent) => event.type === "decision.made" && !history.decisions.has(event.id);
  if (!events.every((event) => isOrderFree(event) && !isLate(event))) return false;
  const moved = (seq: number) => (seq > after ? seq + events.length : seq);
  for (const [index, seq] of history.seqs.entries()) history.seqs[index] = moved(seq);
  for (const [index, { seq, parent, ...point }] of history.checkpoints.entries()) {
    history.checkpoints[index] = { ...point, seq: moved(seq), parent: parent === null ? null : moved(parent) };
  }
  for (const state of history.turn?.calls ?? []) {
    if (state.result !== undefined) state.result = { ...state.result, seq: moved(state.result.seq) };
  }
  moveShown(history, moved);
  history.head += events.length;
  for (const event of events) applyEvent(history, event);
  return true;
}

function recipeOf(event: EventOf<"recipe.set">): Recipe {
  const { system, tools, startedAt } = event;
  return { system, tools, startedAt, systemMessage: { role: "system", text: system }, descriptions: JSON.parse(tools) };
}

function startTurn(history: History, event: EventOf<"turn.started">): void {
  const message = takeFromQueue(history, event.message);
  history.turnsEver = Math.max(history.turnsEver, event.turn);
  if (message === undefined) return;
  noteAttached(history, message, event.seq);
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
    isCompacted: false,
    isStuck: false,
    slot: message.slot,
    hasImages: (message.images?.length ?? 0) > 0,
    calls: [],
    finished: [],
  };
  addMessage(history, userMessage(message), event.seq);
}

function startStep(history: History, event: EventOf<"step.started">): void {
  const { turn } = history;
  if (turn === undefined) return;
  if (event.step !== turn.step) history.steps += 1;
  turn.step = event.step;
  turn.attempt = event.attempt;
  turn.isStepOpen = true;
  turn.isFinal = event.final === true;
  readShown(history);
  for (const id of event.joined ?? []) {
    const message = takeFromQueue(history, id);
    if (message) addMessage(history, userMessage(message), event.seq);
    if (message) noteAttached(history, message, event.seq);
    turn.hasImages ||= (message?.images?.length ?? 0) > 0;
  }
  for (const told of event.told ?? []) {
    const [kind = "", value = ""] = told.split(/:(.*)/s);
    history.told.set(kind, { value, step: history.steps });
  }
  const newest = history.messages.at(-1);
  if (event.reminder === undefined || newest === undefined) return;
  history.messages[history.messages.length - 1] = { ...newest, text: newest.text + event.reminder };
}

function addAnswer(history: History, event: EventOf<"message.assistant">): void {
  const { text, reasoning, reasoningDetails, calls } = event;
  addMessage(history, { role: "assistant", text, reasoning, reasoningDetails, toolCalls: calls }, event.seq);
  history.counted = { usage: event.usage, estimated: event.usageEstimated === true, messages: history.messages.length };
  if (history.turn === undefined) return;
  history.turn.isStepOpen = false;
  history.turn.isCompacted = false;
  history.turn.isCut = event.finish === "length";
  history.turn.failures = 0;
  history.turn.calls = (calls ?? []).map((call) => ({
    call,
    decision: undefined,
    started: undefined,
    result: undefined,
  }));
}

function addDecision(history: History, event: EventOf<"decision.asked">): void {
  const state: DecisionState = { asked: event, made: undefined };
  history.decisions.set(event.id, state);
  for (const call of callsNamed(history, event.call)) call.decision = state;
}

function makeDecision(history: History, event: EventOf<"decision.made">): void {
  const state = history.decisions.get(event.id);
  if (state === undefined || state.made !== undefined) return;
  state.made = event;
  history.lastDecision = derivedHex(16, event.id, event.verdict, event.argumentsHash, event.previous);
}

/** Results go to the model in the order of the calls, so they wait here until the last one is in. */
function finishCall(history: History, event: EventOf<"call.finished">): void {
  const { turn } = history;
  const { outcome, text, images, seq } = event;
  for (const state of callsNamed(history, event.call)) {
    if (state.result !== undefined) continue;
    state.result = { outcome, text, images, seq };
    turn?.finished.push({ name: state.call.name, arguments: state.call.arguments, text });
  }
  if (turn !== undefined && event.failure?.code === "tool_repeated") turn.isStuck = true;
  if (turn !== undefined && images !== undefined && images.length > 0) turn.hasImages = true;
  if (turn === undefined || !turn.calls.every((state) => state.result !== undefined)) return;
  for (const { call, result } of turn.calls) {
    if (result)
      addMessage(history, { role: "tool", toolCallId: call.id, text: result.text, images: result.images }, result.seq);
  }
  turn.calls = [];
}

function finishTurn(history: History, event: EventOf<"turn.finished">): void {
  history.turn = undefined;
  history.decisions.clear();
  history.lastTurn = { turn: event.turn, outcome: event.outcome };
  addCheckpoint(history, event.seq, "", event.at);
}

/** The summary stands where the messages up to `upTo` stood; the log keeps them. */
function compact(history: History, event: EventOf<"compacted">): void {
  const firstKept = history.seqs.findIndex((seq) => seq > event.upTo);
  const count = firstKept < 0 ? history.messages.length : firstKept;
  history.messages.splice(0, count, { role: "user", text: event.summary });
  history.seqs.splice(0, count, event.upTo);
  forgetShown(history, event.upTo);
  history.counted = undefined;
  if (history.turn) history.turn.isCompacted = true;
}

function addCheckpoint(history: History, seq: number, name: string, at: number): void {
  history.checkpoints.push({ seq, parent: history.checkpoints.at(-1)?.seq ?? null, name, at });
}

function addMessage(history: History, message: Message, seq: number): void {
  history.messages.push(message);
  history.seqs.push(seq);
}

function userMessage(event: QueuedMessage): Message {
  return { role: "user", text: event.text, images: event.images };
}

function takeFromQueue(history: History, id: string): QueuedMessage | undefined {
  const index = history.queue.findIndex((message) => message.id === id);
  return index < 0 ? undefined : history.queue.splice(index, 1)[0];
}

function callsNamed(history: History, call: string): CallState[] {
  return history.turn?.calls.filter((state) => state.call.id === call) ?? [];
}
