import { isDeepStrictEqual } from "node:util";
import { parsedJson } from "../base/json.ts";
import type { AllowRule } from "../protocol/approval.ts";
import { type EventOf, eventVersions, isEventType, type LogEvent, storedEvent } from "../protocol/events.ts";
import type { RuleRow, StoredEvent } from "../storage/storage.ts";
import { argumentsHash, askedHash, decidedOn, linkOf, madeHash } from "./decision-record.ts";

/** An event with the number of its conversation. */
export type RecordRow = StoredEvent & { readonly number: number };

/** What does not fit, and where. */
export type RecordFault = {
  readonly number: number;
  readonly seq: number;
  readonly what:
    | "unreadable"
    /** No version of this program writes such an event. */
    | "unknown_type"
    /** What was asked is not what was stored. */
    | "asked_changed"
    /** What was decided, or what was asked for it, is not what was stored. */
    | "made_changed"
    /** It is said to have been at another time. */
    | "time_changed"
    /** It is about other bytes than those that were shown. */
    | "bytes_differ"
    /** What was asked is not there. */
    | "asked_missing"
    /** The agent went on as if somebody had decided. */
    | "made_missing"
    | "made_twice"
    /** The decision before it is not the one that it names. */
    | "broken_link"
    | "conversation_missing";
};

/** What the rest of the database says. */
export type Beside = {
  /** Made before decisions had hashes. */
  isOld(decision: string): boolean;
  /** A person is still asked. */
  isOpen(number: number, decision: string): boolean;
  /** Undefined where there is no such conversation. */
  ownerOf(number: number): string | undefined;
};

export type RecordEnd = {
  readonly decisions: number;
  /** What people have allowed always, by id, with the conversation that they did it in. */
  readonly rules: ReadonlyMap<string, MadeRule>;
};
type MadeRule = { readonly rule: AllowRule; readonly number: number; readonly owner: string | undefined };

/** What is left of a question: hashes only, for a conversation may have asked a lot. */
type Asked = { readonly hash: string; readonly bytes: string; readonly isMade: boolean };
type Made = EventOf<"decision.made">;

/** A conversation as far as it was read. */
type Read = {
  readonly number: number;
  readonly asked: Map<string, Asked>;
  /** Decisions of the open turn that wait to be made, by their calls. */
  readonly waiting: Map<string, { readonly id: string; readonly seq: number; readonly isAskedOfPerson: boolean }>;
  /** What decisions so far can be named by; the newest apart. */
  readonly links: Set<string>;
  newest: string;
};

/**
 * Looks at the whole record, conversation by conversation and in the order of the log, and tells each fault when it is
 * found. Holds the hashes of one conversation at a time.
 */
export function* checkRecord(rows: Iterable<RecordRow>, beside: Beside): Generator<RecordFault, RecordEnd> {
  let read: Read | undefined;
  let decisions = 0;
  const rules = new Map<string, MadeRule>();
  for (const row of rows) {
    if (row.number !== read?.number) {
      yield* leftOpen(read, beside);
      read = begin(row.number);
      if (beside.ownerOf(row.number) === undefined) yield { ...placeOf(row), what: "conversation_missing" };
    }
    if (row.type === "decision.made") {
      decisions += 1;
      const { rule, by } = bodyOf(row, "decision.made") ?? {};
      // A branch has a copy of it, and comes later.
      if (rule !== undefined && by !== "rule" && !rules.has(rule.id))
        rules.set(rule.id, { rule, number: row.number, owner: beside.ownerOf(row.number) });
    }
    const what = faultIn(row, read, beside);
    if (what !== undefined) yield { ...placeOf(row), what };
  }
  yield* leftOpen(read, beside);
  return { decisions, rules };
}

/** Rules that count and that nobody made, by their ids. `mayBeLost`: the record of it may have been deleted in order. */
export function* checkRules(
  rows: Iterable<RuleRow & { readonly mayBeLost: boolean }>,
  made: RecordEnd["rules"],
): Generator<string> {
  for (const row of rows) {
    const found = made.get(row.id);
    if (found === undefined ? !row.mayBeLost : !isRule(row, found)) yield row.id;
  }
}

function isRule({ owner, body, at, number }: RuleRow, made: MadeRule): boolean {
  const { rule } = made;
  const place = rule.scope === "conversation" ? made.number : undefined;
  if (owner !== made.owner || at !== rule.at || number !== place) return false;
  return isDeepStrictEqual(parsedJson(body), rule);
}

function begin(number: number): Read {
  return { number, asked: new Map(), waiting: new Map(), links: new Set([""]), newest: "" };
}

function placeOf({ number, seq }: RecordRow): { readonly number: number; readonly seq: number } {
  return { number, seq };
}

/** A log that ends with a question is waiting for an answer: then a person is asked. */
function* leftOpen(read: Read | undefined, beside: Beside): Generator<RecordFault> {
  if (read === undefined) return;
  const { number } = read;
  for (const { id, seq, isAskedOfPerson } of read.waiting.values())
    if (isAskedOfPerson && !beside.isOpen(number, id)) yield { number, seq, what: "made_missing" };
}

function faultIn(row: RecordRow, read: Read, beside: Beside): RecordFault["what"] | undefined {
  const { type, version } = row;
  if (!isEventType(type)) return "unknown_type";
  if (version < 1 || version > eventVersions[type]) return "unreadable";
  switch (type) {
    case "decision.asked":
      return checkAsked(row, read, beside);
    case "decision.made":
      return checkMade(row, read, beside);
    case "call.started":
    case "step.started":
      return checkGoesOn(row, type, read);
    case "turn.finished":
      forget(read, bodyOf(row, type)?.agent);
      return undefined;
    case "rewound":
      read.waiting.clear();
      return undefined;
    default:
      return undefined;
  }
}

/** What waits for a decision does not start, and nothing comes after it but the end. */
function checkGoesOn(
  row: RecordRow,
  type: "call.started" | "step.started",
  read: Read,
): RecordFault["what"] | undefined {
  if (read.waiting.size === 0) return undefined;
  const event = bodyOf(row, type);
  if (event === undefined) return "unreadable";
  if (event.type === "call.started")
    return read.waiting.delete(callOf(event.agent, event.call)) ? "made_missing" : undefined;
  return forget(read, event.agent) && event.final !== true ? "made_missing" : undefined;
}

/** Calls of two agents may have the same id. */
function callOf(agent: string | undefined, call: string): string {
  return JSON.stringify([agent ?? "root", call]);
}

/** An agent goes on or ends; true where it waited for a decision. */
function forget({ waiting }: Read, agent: string | undefined): boolean {
  const own = [...waiting.keys()].filter((key) => key.startsWith(`${JSON.stringify([agent ?? "root"]).slice(0, -1)},`));
  for (const key of own) waiting.delete(key);
  return own.length > 0;
}

function checkAsked(row: RecordRow, read: Read, { isOld }: Beside): RecordFault["what"] | undefined {
  const event = bodyOf(row, "decision.asked");
  if (event === undefined) return "unreadable";
  const hash = askedHash(event);
  read.asked.set(event.id, { hash, bytes: argumentsHash(decidedOn(event, {})), isMade: false });
  read.waiting.set(callOf(event.agent, event.call), {
    id: event.id,
    seq: row.seq,
    isAskedOfPerson: event.kind !== "function",
  });
  const isKept = event.hash === undefined ? isOld(event.id) : event.hash === hash;
  if (!isKept) return "asked_changed";
  return isInTime(event) ? undefined : "time_changed";
}

function checkMade(row: RecordRow, read: Read, { isOld }: Beside): RecordFault["what"] | undefined {
  const made = bodyOf(row, "decision.made");
  if (made === undefined) return "unreadable";
  const asked = read.asked.get(made.id);
  const what = faultOf(made, asked, { read, isOld: isOld(made.id) });
  read.newest = linkOf(made);
  read.links.add(read.newest);
  for (const [call, { id }] of read.waiting) if (id === made.id) read.waiting.delete(call);
  if (asked !== undefined) read.asked.set(made.id, { ...asked, isMade: true });
  return what;
}

function faultOf(
  made: Made,
  asked: Asked | undefined,
  { read, isOld }: { readonly read: Read; readonly isOld: boolean },
): RecordFault["what"] | undefined {
  if (asked === undefined) return "asked_missing";
  if (asked.isMade) return "made_twice";
  // The first logs had no hash; one that was asked back then may have been answered since.
  const hasNone = isOld && made.hash === undefined;
  if (!hasNone && made.hash !== madeHash(asked.hash, made)) return "made_changed";
  if (!isInTime(made)) return "time_changed";
  const bytes = made.arguments === undefined ? asked.bytes : argumentsHash(made.arguments);
  if (made.argumentsHash !== bytes) return "bytes_differ";
  // Back then a decision after a return named the newest one of those that still counted.
  return (hasNone ? read.links.has(made.previous) : made.previous === read.newest) ? undefined : "broken_link";
}

function isInTime({ time, at }: Pick<Made, "time" | "at">): boolean {
  return time === undefined || time === at;
}

/** Undefined where it cannot be what we wrote. Unchecked in the end: nothing of it may be left out of its hash. */
function bodyOf<T extends LogEvent["type"]>(row: RecordRow, type: T): EventOf<T> | undefined {
  const checked = storedEvent({ ...row, type }, { check: true });
  const event = storedEvent({ ...row, type }, { check: false });
  if ("broken" in checked || "broken" in event) return undefined;
  const isOurs = (found: LogEvent): found is EventOf<T> => found.type === type;
  return isOurs(event) && JSON.stringify(parsedJson(row.body)) === row.body ? event : undefined;
}
