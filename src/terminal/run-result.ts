import type { ClientFailure } from "../client/client.ts";
import type { TurnOutcome } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import { ModelErrorKind } from "../protocol/message.ts";
import { failureWords, type Words } from "../words/words.ts";
import { type ExitReason, exitCodes, exitReasonOf, exitReasonOfTurn } from "./exit-codes.ts";
import { TurnRecord } from "./turn-record.ts";
import type { FileReport } from "./upload.ts";

/** How a run ended: by its turn, by an open decision, by a signal, or by a failure before there was a turn. */
export type RunEnd = {
  readonly conversation: string | null;
  readonly record: TurnRecord;
  readonly failure?: CommandFailure | undefined;
  /** What became of the files that were to come with the message. */
  readonly files?: readonly FileReport[] | undefined;
  /** No message was sent. */
  readonly isUnsent?: boolean;
  /** The failure has been told line by line. */
  readonly isSaid?: true;
  /** The tool that waits for a decision. */
  readonly needsPerson?: string | undefined;
  /** Turns before it, whose answers were not what was asked for. */
  readonly earlier?: readonly TurnRecord[] | undefined;
  /** The answer as the value that was asked for; absent where none was. */
  readonly structured?: { readonly value: unknown } | undefined;
};

export type CommandFailure = Failure | ClientFailure | StoredFailure;
type StoredFailure = { readonly code: string; readonly params: object; readonly retryable?: boolean | undefined };

type RunFinish = TurnOutcome | "waiting";

/** The one object that `run --json` prints. */
export function describeRun(run: RunEnd, words: Words) {
  const { conversation, record, failure, files = [], needsPerson, structured } = run;
  const { end } = record;
  const cause = end?.failure ?? failure;
  const fallback = needsPerson !== undefined ? "waiting" : failure !== undefined ? "failed" : "cancelled";
  // An answer that is not what was asked for is none, however well the turn went.
  const isUnfit = end?.outcome === "done" && failure?.code === "answer_unfit";
  const finish: RunFinish = isUnfit ? "failed" : (end?.outcome ?? fallback);
  const isBroken = finish === "failed" || finish === "crashed" || finish === "limit";
  const { answer, reasoning } = record.summary();
  const counts = countsOf([...(run.earlier ?? []), record]);
  const reason = reasonOf(finish, cause?.code);
  return {
    ...{ conversation_id: conversation, answer, reasoning, finish, ...counts, files: describeFiles(files, words) },
    ...(structured !== undefined && { structured: structured.value }),
    ...(finish === "waiting" && { decisions: record.openDecisions }),
    error: isBroken && cause !== undefined ? errorOf(cause, words) : null,
    exit: { code: exitCodes[reason], reason },
  };
}

/** Of all turns together. */
function countsOf(records: readonly TurnRecord[]) {
  const all = records.map((record) => record.summary());
  const sum = (pick: (usage: (typeof all)[number]["usage"]) => number | undefined) => {
    const told = all.flatMap(({ usage }) => pick(usage) ?? []);
    return told.length === 0 ? undefined : told.reduce((total, one) => total + one, 0);
  };
  const [cached, reasoning] = [sum((usage) => usage.cached_input), sum((usage) => usage.reasoning)];
  return {
    steps: all.reduce((steps, one) => steps + one.steps, 0),
    tool_calls: all.flatMap((one) => one.tool_calls),
    usage: {
      ...{ input: sum(({ input }) => input) ?? 0, output: sum(({ output }) => output) ?? 0 },
      ...(cached !== undefined && { cached_input: cached }),
      ...(reasoning !== undefined && { reasoning }),
    },
  };
}

/** One for each file, under the name that was given. */
export function describeFiles(files: readonly FileReport[], words: Words) {
  return files.map((file) => {
    if (!file.success) return { success: false, name: file.name, error: errorOf(file.failure, words) };
    return { success: true, path: file.path, type: file.type, name: file.name };
  });
}

/** The same object where there was not even a conversation. */
export function describeRefusal(failure: CommandFailure, words: Words) {
  return describeRun({ conversation: null, record: new TurnRecord(), failure }, words);
}

function reasonOf(finish: RunFinish, code: string | undefined): ExitReason {
  if (finish === "waiting") return "approval_needed";
  return finish === "failed" ? exitReasonOf(code ?? "") : exitReasonOfTurn({ outcome: finish, failureCode: code });
}

/** `kind` is the kind of a model's error, or our own failure code; a window that nothing fits into is the model's word. */
function errorOf(failure: CommandFailure, words: Words) {
  const code = failure.code === "context_exhausted" ? "context_overflow" : failure.code.replace(/^model_/, "");
  const kind = ModelErrorKind.safeParse(code);
  return {
    kind: kind.success ? kind.data : failure.code,
    message: "detail" in failure ? failure.detail : failureWords(words, failure).join(words.terminal.gap),
    retryable: failure.retryable ?? false,
  };
}
