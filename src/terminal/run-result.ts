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
};

export type CommandFailure = Failure | ClientFailure | StoredFailure;
type StoredFailure = { readonly code: string; readonly params: object; readonly retryable?: boolean | undefined };

type RunFinish = TurnOutcome | "waiting";

/** The one object that `run --json` prints. */
export function describeRun({ conversation, record, failure, files = [], needsPerson }: RunEnd, words: Words) {
  const { end } = record;
  const cause = end?.failure ?? failure;
  const fallback = needsPerson !== undefined ? "waiting" : failure !== undefined ? "failed" : "cancelled";
  const finish: RunFinish = end?.outcome ?? fallback;
  const isBroken = finish === "failed" || finish === "crashed" || finish === "limit";
  const { answer, reasoning, ...counts } = record.summary();
  const reason = reasonOf(finish, cause?.code);
  return {
    ...{ conversation_id: conversation, answer, reasoning, finish, ...counts, files: describeFiles(files, words) },
    ...(finish === "waiting" && { decisions: record.openDecisions }),
    error: isBroken && cause !== undefined ? errorOf(cause, words) : null,
    exit: { code: exitCodes[reason], reason },
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
