import { constants } from "node:os";
import type { SandboxExecution } from "../protocol/sandbox-resources.ts";
import { failureWords, type Words } from "../words/words.ts";
import { exitCodes } from "./exit-codes.ts";
import type { CommandFailure } from "./run-result.ts";

/** How `exec` ended: with a program's end, or without a program. Neither: it was stopped and nobody told the end. */
export type ExecEnd = {
  readonly execution?: SandboxExecution;
  readonly failure?: CommandFailure;
  /** Bytes of its output that were not kept, and so not written. */
  readonly missing?: Readonly<Record<"stdout" | "stderr", number>>;
};

/** As other programs that run programs have it (`timeout`, `docker`, shells): also 128 and the number of a signal. */
const execExitCodes = {
  timedOut: 124,
  notRun: 125,
  signalled: 128,
  stopped: exitCodes.interrupted,
  killed: 137,
} as const;

/** The program's own exit code, or what stands in for it. */
export function exitCodeOfExec({ execution, failure = execution?.failure ?? undefined }: ExecEnd): number {
  if (failure !== undefined) return failure.code === "usage" ? exitCodes.usage : execExitCodes.notRun;
  if (execution === undefined) return execExitCodes.stopped;
  switch (howOf(execution)) {
    case "done":
      return (execution.exit_code ?? 0) % 256;
    case "timeout":
      return execExitCodes.timedOut;
    case "cancelled":
      return execExitCodes.stopped;
    case "killed":
      return exitCodeOfKilled(execution);
    case "lost":
      return execExitCodes.notRun;
  }
}

/** Where a program ended by a signal that nobody here sent, the number of the signal tells more. */
function exitCodeOfKilled({ how, signal }: SandboxExecution): number {
  const isOwn = how === "done" || how === "lost";
  const number = isOwn && signal !== null ? numberOf(signal) : undefined;
  return number === undefined ? execExitCodes.killed : execExitCodes.signalled + number;
}

/** Those without a name are told as `SIG35`. */
function numberOf(signal: string): number | undefined {
  const known = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  const [, digits] = /^SIG(\d{1,2})$/.exec(signal) ?? [];
  return known ?? realTime[signal] ?? (digits === undefined ? undefined : Number(digits));
}

const realTime: Readonly<Record<string, number>> = { SIGRTMIN: 34, SIGRTMAX: 64 };

/** The one object that `exec --json` prints. */
export function describeExec(end: ExecEnd, words: Words) {
  const { execution, failure = execution?.failure } = end;
  const exit = exitCodeOfExec(end);
  if (failure) return { ...nothing, ...refused(failure, words), exit };
  if (execution === undefined) return { ...nothing, exit };
  const how = howOf(execution);
  const message = messageOf(execution, words);
  const former = new Set(execution.changed_files);
  return {
    executionId: execution.id,
    conversationId: execution.conversation_id,
    how,
    exitCode: how === "done" ? execution.exit_code : null,
    signal: execution.signal,
    durationMs: execution.metrics?.duration_ms ?? null,
    stdout: execution.stdout,
    stderr: execution.stderr,
    isStdoutCut: execution.stdout_truncated,
    isStderrCut: execution.stderr_truncated,
    stdoutPath: execution.stdout_path,
    stderrPath: execution.stderr_path,
    value: execution.value,
    returnValue: execution.return_value ?? null,
    files: execution.artifacts.map(({ path, size, mime_type: type, sha256 }) => {
      return { path, size, type, sha256, isNew: !former.has(path) };
    }),
    removedFiles: execution.removed_files,
    isOverLimit: execution.is_over_limit,
    error: message === null ? null : { kind: kindOf(execution), message, retryable: false },
    exit,
  };
}

/** It looked for files, or drew figures, where nobody had said whose files are meant. */
export function isConversationMissed(execution: SandboxExecution): boolean {
  const { code, stderr, figures } = execution;
  if (execution.conversation_id !== null) return false;
  const hasFailed = howOf(execution) === "done" && execution.exit_code !== 0;
  return figures.length > 0 || (hasFailed && (code.includes("/workspace/") || missed.test(stderr)));
}

/** The folders of nobody's conversation are missing, as Python, bash and Node say it. */
const missed = /\/workspace\/|^(?=.*no such file or directory).*\b(?:uploads|outputs|temp)\//im;

/** What the server advises those who call it is not what a command line can do. */
function messageOf({ error_message: message }: SandboxExecution, { sandbox, terminal }: Words): string | null {
  const [, id] = /\/workspace\/([A-Za-z0-9][A-Za-z0-9._-]*)/.exec(message ?? "") ?? [];
  if (message === null || id === undefined) return message;
  return message.replace(sandbox.noConversation({ id }), () => terminal.exec.noConversation());
}

type ExecHow = "done" | "timeout" | "cancelled" | "killed" | "lost";

/** What came to its own end is done, whatever it answered. */
export function howOf({ how, signal, status }: SandboxExecution): ExecHow {
  switch (how) {
    case "done":
      return signal === null ? "done" : "killed";
    case "timeout":
    case "cancelled":
      return how;
    case "killed":
    case "out_of_memory":
    case "disk_full":
      return "killed";
    case "lost":
      // Python that was hit by a signal has lost its state, too; the sandbox is still there.
      return signal === null ? "lost" : "killed";
    case null:
      return status === "cancelled" ? status : "lost";
  }
}

/** Why it was killed, where that was us. */
function kindOf(execution: SandboxExecution): string {
  const how = howOf(execution);
  if (how === "done") return "failed";
  return execution.how === "out_of_memory" || execution.how === "disk_full" ? execution.how : how;
}

const nothing = {
  ...{ executionId: null, conversationId: null, how: "cancelled", exitCode: null, signal: null, durationMs: null },
  ...{ stdout: "", stderr: "", isStdoutCut: false, isStderrCut: false, stdoutPath: null, stderrPath: null },
  ...{ value: null, returnValue: null, files: [], removedFiles: [], isOverLimit: false, error: null },
} as const;

function refused(failure: CommandFailure, words: Words) {
  const message = "detail" in failure ? failure.detail : failureWords(words, failure).join(words.terminal.gap);
  return { how: "refused", error: { kind: failure.code, message, retryable: failure.retryable ?? false } };
}
