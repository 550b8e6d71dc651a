import { z } from "zod";
import { parsedJson } from "../base/json.ts";
import { agentEvents } from "./agent-events.ts";
import { BudgetLimits, BudgetLine, budgetEvents, ReservedForCall } from "./budget.ts";
import { decisionEvents } from "./decision-events.ts";
import { CallerPart, GivenMessage, Selection } from "./given.ts";
import { Finish, Image, ModelErrorKind, Slot, ToolCall, Usage } from "./message.ts";
import { StoredFailure } from "./stored-failure.ts";
import { Todo } from "./todo.ts";

/**
 * The closed list of events. An event is parsed in full before it is written, and old versions are read for ever.
 * `agent` is absent for the main agent (`root`). Times are milliseconds since 1970.
 */
const agent = z.string().optional();

/** How a tool call may be treated when its outcome was lost in a crash. */
export const EffectClass = z.enum(["pure", "idempotent", "unsafe"]);
export type EffectClass = z.infer<typeof EffectClass>;

export const TurnOutcome = z.enum(["done", "failed", "cancelled", "limit", "crashed"]);
export type TurnOutcome = z.infer<typeof TurnOutcome>;

export const CallOutcome = z.enum(["ok", "error", "cancelled", "rejected", "unknown", "not_run"]);
export type CallOutcome = z.infer<typeof CallOutcome>;

/** A regular file as it was: `hash` (SHA-256 of its bytes) is absent where it was too large to be read for this. */
export const FileState = z.strictObject({
  hash: z.string().optional(),
  bytes: z.number().int(),
  mode: z.number().int(),
});
export type FileState = z.infer<typeof FileState>;

/** A file that came with a message. */
const AttachedFile = z.strictObject({
  path: z.string(),
  name: z.string(),
  type: z.string(),
  bytes: z.number().int(),
  /** Its whole text stands in the message: the agent knows this content. */
  hash: z.string().optional(),
});

/** Which characters of the system message. */
const SystemPart = z.strictObject({ at: z.number().int(), length: z.number().int() });

/** Who wants room: the full window, a provider that refused the request, the agent's tool, or a person. */
export const CompactionCause = z.enum(["window", "overflow", "tool", "person"]);
export type CompactionCause = z.infer<typeof CompactionCause>;

const bodies = {
  /** Freezes what every request of this agent starts with. A second one is a known cache loss with a cause. */
  "recipe.set": z.strictObject({
    agent,
    cause: z.enum(["start", "tools_changed", "prompt_changed", "instructions_changed", "hand_off", "hand_back"]),
    role: z.string().optional(), // Whom the user was handed over to.
    /** Exactly as sent. */
    system: z.string(),
    /** Canonical JSON of the tool descriptions, exactly as sent. */
    tools: z.string(),
    startedAt: z.number(),
    /** The user's own file of standing instructions that is part of `system`, by the hash of its bytes. */
    instructions: SystemPart.extend({ path: z.string(), hash: z.string(), cut: z.literal(true).optional() }).optional(),
    /** The user's memories in it. */
    notes: SystemPart.optional(),
  }),
  "message.user": z.strictObject({
    agent,
    id: z.string(),
    text: z.string(),
    images: z.array(Image).optional(),
    /** `steer` joins the running turn at its next step; `queue` starts the next turn. */
    mode: z.enum(["queue", "steer"]),
    /** The slot this person prefers for the turn. */
    slot: Slot.optional(),
    /** Slots changed by what came with the message: a code file, for one. */
    hints: z.array(z.enum(["code"])).optional(),
    /** `text` names them already, as the model reads it. */
    files: z.array(AttachedFile).optional(),
    /** So many characters of `text` are the person's own words; what follows was put behind them for the model. */
    own: z.number().int().optional(),
    /** What follows was written by others, who need not be trusted. */
    untrusted: z.literal(true).optional(),
    /** Of the chat routes: the id of the message that will answer it, and of the run; made from `id` where absent. */
    reply: z.string().optional(),
    run: z.string().optional(),
    selected: Selection.optional(),
    /**
     * In this turn the model sees these in place of the history so far. Where `text` is empty, they end with what is to
     * be answered.
     */
    instead: z.array(GivenMessage).optional(),
    /** Values for the agent's inputs, as the caller named them. */
    inputs: z.record(z.string(), z.unknown()).optional(),
    program: CallerPart.optional(),
    /** What its turn may spend, within what the settings allow. */
    budget: BudgetLimits.optional(),
  }),
  "message.withdrawn": z.strictObject({ id: z.string() }),
  "turn.started": z.strictObject({
    agent,
    turn: z.number().int(),
    /** The message that this turn answers. */
    message: z.string(),
    epoch: z.number().int(),
  }),
  /** The process ended in the middle of the turn and another goes on with it; three of these park the turn. */
  "turn.recovered": z.strictObject({ agent, turn: z.number().int(), epoch: z.number().int() }),
  /** Of another agent than the main one: it ends. `by`: the agent that wants it; absent where a person does. */
  "cancel.asked": z.strictObject({ agent, turn: z.number().int(), by: z.string().optional() }),
  "step.started": z.strictObject({
    agent,
    turn: z.number().int(),
    step: z.number().int(),
    attempt: z.number().int(),
    slot: Slot,
    model: z.string(),
    /** Why the resolver chose this slot. */
    reason: z.string(),
    /** Hash and length of all message bytes, and how many of them the previous request began with. */
    hash: z.string(),
    bytes: z.number(),
    reused: z.number(),
    /** Attached to the newest user or tool message, exactly as sent; history from here on. */
    reminder: z.string().optional(),
    /** What that reminder told (`date:2026-11-15`, `todos`, `tokens:warning`), so that it is not told again too soon. */
    told: z.array(z.string()).optional(),
    /** Steering messages that join the history here, in this order. */
    joined: z.array(z.string()).optional(),
    /** The one call that may use no tool. */
    final: z.literal(true).optional(),
    reserved: ReservedForCall.optional(),
  }),
  "message.assistant": z.strictObject({
    agent,
    turn: z.number().int(),
    step: z.number().int(),
    text: z.string(),
    reasoning: z.string().optional(),
    reasoningDetails: z.array(z.unknown()).optional(),
    calls: z.array(ToolCall).optional(),
    finish: Finish,
    usage: Usage,
    usageEstimated: z.literal(true).optional(),
    /** US dollars, by the price of that time; absent where the model has none. */
    cost: z.number().optional(),
    /** The user stopped the answer here. */
    cut: z.literal(true).optional(),
    durationMs: z.number(),
    /** From the request to the first piece of text or reasoning. */
    firstTokenMs: z.number().optional(),
  }),
  "step.failed": z.strictObject({
    agent,
    turn: z.number().int(),
    step: z.number().int(),
    attempt: z.number().int(),
    kind: ModelErrorKind,
    failure: StoredFailure,
    retryAfterMs: z.number().optional(),
    /** What was shown before the failure, for people; never sent to a model. */
    textSeen: z.string().optional(),
    /** What it cost all the same. */
    usage: Usage.optional(),
    cost: z.number().optional(),
  }),
  ...decisionEvents,
  "call.started": z.strictObject({
    agent,
    call: z.string(),
    class: EffectClass,
    attempt: z.number().int(),
  }),
  "call.finished": z.strictObject({
    agent,
    call: z.string(),
    outcome: CallOutcome,
    /** Exactly what the model is told. */
    text: z.string(),
    images: z.array(Image).optional(),
    failure: StoredFailure.optional(),
    /** The whole result where `text` is only its head and tail. */
    blob: z.string().optional(),
    /** The same as a file of the workspace. */
    file: z.string().optional(),
    /** Text of files, programs, the web or others stands in it: data, not orders. */
    untrusted: z.literal(true).optional(),
    durationMs: z.number().optional(),
  }),
  "turn.finished": z.strictObject({
    agent,
    turn: z.number().int(),
    outcome: TurnOutcome,
    failure: StoredFailure.optional(),
    left: z.array(BudgetLine).optional(),
  }),
  /** A model is asked for a summary. */
  "compaction.started": z.strictObject({ agent, turn: z.number().int(), by: CompactionCause }),
  compacted: z.strictObject({
    agent,
    turn: z.number().int(),
    /**
     * `compact` and `summarize`: a model summed up what is left out; `fallback`: no model did; `trim`: nothing is left
     * out, long messages are shorter.
     */
    strategy: z.string(),
    /** The messages up to here are replaced in what is sent; the log keeps them. */
    upTo: z.number().int(),
    /** Exactly as sent in their place: the model's summary, then what is never lost, put there by code. Empty: none is. */
    summary: z.string(),
    /** Which characters of the summary are the model's own. */
    prose: z.strictObject({ at: z.number().int(), length: z.number().int() }).optional(),
    messagesBefore: z.number(),
    messagesAfter: z.number(),
    tokensBefore: z.number().optional(),
    tokensAfter: z.number().optional(),
    by: CompactionCause.optional(),
    /** What the summary was to look at most, in the words of who wanted it. */
    focus: z.string().optional(),
    /** Why there is no summary of a model. */
    because: z.enum(["error", "empty", "too_long", "refused", "off", "budget"]).optional(),
    /** Messages that stay, but shorter: by their place in the log. `own`: as in a message of the user. */
    trims: z
      .array(z.strictObject({ seq: z.number().int(), text: z.string(), own: z.number().int().optional() }))
      .optional(),
    /** How many of each kind were put back by code. */
    kept: z.record(z.string(), z.number().int()).optional(),
    /** What the summary cost; `cost` as in an answer. */
    usage: Usage.optional(),
    cost: z.number().optional(),
    /** The provider's refusal showed that this model's window is smaller than it was said to be. */
    window: z.strictObject({ model: z.string(), tokens: z.number().int() }).optional(),
  }),
  /** What was left out there is sent again. */
  "compaction.undone": z.strictObject({ compacted: z.number().int(), by: z.string() }),
  /** Going back: the fold skips what lies between `to` and here. */
  rewound: z.strictObject({
    to: z.number().int(),
    cause: z.enum(["reset", "checkpoint", "regenerate", "edit", "undo"]),
  }),
  /** What follows, up to `copiedUpTo`, was copied from `parent` as it stood at `place`. */
  branched: z.strictObject({ parent: z.string(), place: z.number().int(), copiedUpTo: z.number().int().optional() }),
  ...budgetEvents,
  /** Which role plays the main agent here: an entry of `agents.yaml`, and what the caller named. */
  "agent.chosen": z.strictObject({
    role: z.string(),
    /** `agent_id`, `agent_key` and `app_key` of the first chat, as they were given. */
    agentId: z.string().optional(),
    agentKey: z.string().optional(),
    appKey: z.string().optional(),
  }),
  ...agentEvents,
  /** A tool that is on demand is told of in this conversation from its next turn on: somebody named it. */
  "tool.loaded": z.strictObject({ agent, tool: z.string() }),
  "checkpoint.saved": z.strictObject({ name: z.string() }),
  "checkpoint.deleted": z.strictObject({ checkpoint: z.number().int() }),
  "todo.set": z.strictObject({ agent, todos: z.array(Todo) }),
  /** A skill was made ready for the agent, because the user named it or a file of its type came. */
  "skill.linked": z.strictObject({
    agent,
    turn: z.number().int(),
    skill: z.string(),
    because: z.enum(["mention", "file_type"]),
    /** The file that it is for. */
    file: z.string().optional(),
  }),
  /** The ledger: who changed which file. Neither `before` nor `after` means that a folder was made or removed. */
  "file.changed": z.strictObject({
    agent,
    /** The task's workspace; absent for the conversation's own. */
    workspace: z.string().optional(),
    path: z.string(),
    /** The call that did it; absent when a person did. */
    call: z.string().optional(),
    by: z.enum(["tool", "upload", "person", "undo"]),
    /** A program did it: the agent that ran it need not know what the file has now. */
    program: z.literal(true).optional(),
    /** The MCP server that it was read from, at the wish of a person: what it says is not theirs. */
    server: z.string().optional(),
    before: FileState.optional(),
    after: FileState.optional(),
    /** Why the bytes before cannot be given back. */
    lost: z.enum(["too_large", "quota", "unreadable"]).optional(),
  }),
  /** This agent was shown the content with this hash. */
  "file.known": z.strictObject({
    agent,
    workspace: z.string().optional(),
    path: z.string(),
    hash: z.string(),
    /** Not all of it was shown. */
    part: z.literal(true).optional(),
  }),
  "conversation.renamed": z.strictObject({ title: z.string() }),
  "conversation.deleted": z.strictObject({ by: z.string() }),
};

type ChangeOfFile = { [K in "before" | "after" | "lost"]: EventBody<"file.changed">[K] | undefined };

/** The ledger's line about a change; what is not known is left out. */
export function fileChanged(
  { path, before, after, lost }: { readonly path: string } & Readonly<ChangeOfFile>,
  who: Pick<EventBody<"file.changed">, "by" | "agent" | "workspace" | "call" | "program" | "server">,
): NewEvent {
  return {
    type: "file.changed",
    ...who,
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(lost === undefined ? {} : { lost }),
  };
}

/** What the person said, without what was put behind it for the model. */
export function ownWordsOf({ text, own }: { readonly text: string; readonly own?: number | undefined }): string {
  return text.slice(0, own);
}

export type EventType = keyof typeof bodies;
export type EventBody<T extends EventType> = z.infer<(typeof bodies)[T]>;
/** An event that is to be appended. */
export type NewEvent = { [T in EventType]: { readonly type: T } & Readonly<EventBody<T>> }[EventType];
/** An event as it stands in the log, numbered by `seq` from 1 on. */
export type LogEvent = {
  [T in EventType]: { readonly type: T; readonly seq: number; readonly at: number } & Readonly<EventBody<T>>;
}[EventType];
export type EventOf<T extends EventType> = Extract<LogEvent, { type: T }>;

/** The version that is written today, by type; anything older is upgraded when it is read. */
export const eventVersions: Readonly<Record<EventType, number>> = mapBodies(() => 1);

const eventTypes: ReadonlySet<string> = new Set(Object.keys(bodies));

export function isEventType(type: string): type is EventType {
  return eventTypes.has(type);
}

/** The same event of this agent, where it does not say whose it is. */
export function ofAgent(event: NewEvent, agent: string): NewEvent {
  // The schema of its type has the field.
  return "agent" in bodies[event.type].shape ? ({ agent, ...event } as NewEvent) : event;
}

/** The body of an event that is to be written, checked in full; throws, because only our own mistake can make a bad one. */
export function eventBody(event: NewEvent): object {
  const { type, ...body } = event;
  return bodies[type].parse(body);
}

/** An event as it was stored. `check`: its whole body against today's schema, not only that it is an object. */
export function storedEvent(
  row: { type: EventType; seq: number; at: number; body: string },
  options: { check: boolean },
): LogEvent | { readonly broken: string } {
  const body = parsedJson(row.body);
  if (typeof body !== "object" || body === null)
    return { broken: `the body is not ${body === undefined ? "JSON" : "an object"}` };
  const checked = options.check ? bodies[row.type].safeParse(body) : undefined;
  if (checked?.success === false) return { broken: checked.error.message };
  // The schema was chosen by the type, so the object is that member of the union.
  return {
    type: row.type,
    seq: row.seq,
    at: row.at,
    ...(checked === undefined ? body : checked.data),
  } as LogEvent;
}

/** One event as clients receive it, for validation and the API document. */
export const AnyEvent = z.object({ type: z.string(), seq: z.number().int(), at: z.number() }).loose();

function mapBodies<V>(make: () => V): Record<EventType, V> {
  return Object.fromEntries(Object.keys(bodies).map((type) => [type, make()])) as Record<EventType, V>;
}
