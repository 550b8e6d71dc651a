import type { CallOutcome, EventOf, TurnOutcome } from "../../../src/protocol/events.ts";
import type { Image, Usage } from "../../../src/protocol/message.ts";

// What stands in the list of messages, from the top down. Each is replaced as a whole when something about it changes.

/** What a failure in the log is: a code with its parameters. */
export type LoggedFailure = NonNullable<EventOf<"turn.finished">["failure"]>;

export type UserItem = {
  readonly kind: "user";
  readonly key: string;
  /** 0: it is on its way, and not in the log yet. */
  readonly seq: number;
  readonly id: string;
  /** The person's own words. */
  readonly text: string;
  readonly files: readonly { readonly path: string; readonly name: string; readonly bytes: number }[];
  readonly images: readonly Image[];
  readonly at: number;
  /** It joined a turn that was running. */
  readonly steered: boolean;
  /** Why it could not be sent, in words. */
  readonly unsent?: string | undefined;
};

export type AnswerItem = {
  readonly kind: "answer";
  readonly key: string;
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly text: string;
  readonly reasoning: string;
  readonly at: number;
  readonly model: string;
  readonly usage: Usage;
  readonly durationMs: number;
  /** The user stopped it here. */
  readonly cut: boolean;
  /** It asked for tools: more follows. */
  readonly hasCalls: boolean;
};

export type FileChange = {
  readonly path: string;
  readonly change: "made" | "changed" | "removed";
  readonly bytes: number;
  /** The task whose files these are; undefined: the conversation's own. */
  readonly workspace: string | undefined;
};

export type CallItem = {
  readonly kind: "call";
  readonly key: string;
  readonly seq: number;
  /** Whose it is; undefined: the main agent's. */
  readonly agent: string | undefined;
  readonly turn: number;
  readonly call: string;
  readonly name: string;
  readonly arguments: string;
  readonly at: number;
  /** `asked`: the model wants it, nothing was done yet; `waiting`: for a person. */
  readonly state: "asked" | "waiting" | "running" | CallOutcome;
  readonly durationMs: number | undefined;
  /** What the model was told. */
  readonly result: string;
  readonly images: readonly Image[];
  readonly failure: LoggedFailure | undefined;
  readonly file: string | undefined;
  readonly files: readonly FileChange[];
  /** Agents that it made. */
  readonly agents: readonly string[];
};

export type DecisionItem = {
  readonly kind: "decision";
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly asked: EventOf<"decision.asked">;
  readonly made: EventOf<"decision.made"> | undefined;
  /** Whoever asked has ended: nobody waits for it any more. */
  readonly isGone: boolean;
};

export type CompactionItem = {
  readonly kind: "compaction";
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly event: EventOf<"compacted">;
  readonly isUndone: boolean;
};

/** What one agent wrote to another. */
export type MailItem = {
  readonly kind: "mail";
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  /** As the reader was told it. */
  readonly text: string;
};

/** A line about what happened; `failure` says why. */
export type NoticeItem = {
  readonly kind: "notice";
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly what: "retrying" | "recovered" | "branched" | "reset" | "compacting";
  readonly failure?: LoggedFailure | undefined;
  /** Turn and step whose attempt it was. */
  readonly of?: string | undefined;
};

/** The end of a turn: its bar of what can be done with the answer stands here. */
export type EndItem = {
  readonly kind: "end";
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly turn: number;
  readonly outcome: TurnOutcome;
  readonly failure: LoggedFailure | undefined;
  readonly startedAt: number;
  readonly usage: Usage;
  /** The message that it answered, and its answer. */
  readonly message: string;
  readonly answer: string;
};

export type Item = UserItem | AnswerItem | CallItem | DecisionItem | CompactionItem | NoticeItem | MailItem | EndItem;
