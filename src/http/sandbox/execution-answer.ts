import { parsedJson } from "../../base/json.ts";
import type { SandboxExecution } from "../../protocol/sandbox-resources.ts";
import type { ExecutionRecord, ProgramReport } from "../../sandbox/sandbox.ts";
import type { Language } from "../../words/words.ts";
import { executionError } from "./execution-error.ts";
import { isoTime } from "./session-answer.ts";

/** An execution as the public service spells it, with every field filled as far as it went. */
export function toExecution(record: ExecutionRecord, language: Language): SandboxExecution {
  const { id, report, startedAt, endedAt } = record;
  const isOver = record.status !== "pending" && record.status !== "running";
  return {
    id,
    execution_id: id,
    session_id: record.session,
    conversation_id: record.conversationId ?? null,
    status: record.status,
    how: report?.how ?? null,
    code: record.code,
    code_truncated: record.codeCutBytes > 0,
    language: record.language === "bash" ? "shell" : record.language,
    timeout: record.timeoutMs / 1000,
    exit_code: isOver ? exitCodeOf(report) : null,
    signal: report?.signal ?? null,
    error_message: executionError(record, language),
    failure: record.failure === undefined ? null : { ...record.failure },
    execution_time: secondsOf(record),
    ...outputOf(report ?? record.soFar),
    value: report?.value ?? null,
    return_value: parsed(report?.returned),
    figures: [...(report?.figures ?? [])],
    artifacts: record.artifacts.map(({ path, bytes, hash, type, modifiedAt }) => ({
      path,
      container_path: `/workspace/${record.conversationId === undefined ? "" : `${record.conversationId}/`}${path}`,
      size: bytes,
      mime_type: type,
      type: "artifact",
      created_at: isoTime(modifiedAt),
      checksum: hash === undefined ? null : `sha256:${hash}`,
      sha256: hash ?? null,
    })),
    ...formerFilesOf(report),
    is_over_limit: report?.isOverLimit === true,
    metrics: report === undefined ? null : metricsOf(report),
    retry_count: 0,
    created_at: isoTime(record.createdAt),
    started_at: startedAt === undefined ? null : isoTime(startedAt),
    completed_at: endedAt === undefined ? null : isoTime(endedAt),
  };
}

/** What became of files that were there before. */
function formerFilesOf(report: ProgramReport | undefined) {
  const former = (report?.changes ?? []).filter(({ before }) => before !== undefined);
  const [changed, removed] = [former.filter(isThere), former.filter((change) => !isThere(change))];
  return { changed_files: changed.map(({ path }) => path), removed_files: removed.map(({ path }) => path) };
}

function isThere({ after }: ProgramReport["changes"][number]): boolean {
  return after !== undefined;
}

/** As the public service has it: −1 when time was up, or when there is none. */
function exitCodeOf(report: ProgramReport | undefined): number {
  return report === undefined || report.how === "timeout" ? -1 : (report.exitCode ?? -1);
}

function outputOf(report: Pick<ProgramReport, "stdout" | "stderr"> | undefined) {
  const { stdout, stderr } = report ?? {};
  return {
    stdout: stdout?.text ?? "",
    stderr: stderr?.text ?? "",
    stdout_truncated: (stdout?.cutBytes ?? 0) > 0,
    stderr_truncated: (stderr?.cutBytes ?? 0) > 0,
    stdout_path: stdout?.path ?? null,
    stderr_path: stderr?.path ?? null,
  };
}

function secondsOf({ startedAt, endedAt, report }: ExecutionRecord): number | null {
  if (report !== undefined) return rounded(report.metrics.durationMs / 1000, 6);
  return startedAt === undefined || endedAt === undefined ? null : (endedAt - startedAt) / 1000;
}

function metricsOf({ metrics }: ProgramReport): NonNullable<SandboxExecution["metrics"]> {
  return {
    duration_ms: rounded(metrics.durationMs, 3),
    cpu_time_ms: rounded(metrics.cpuMs, 3),
    peak_memory_mb: rounded(metrics.memoryPeakBytes / 1024 ** 2, 2),
    io_read_bytes: metrics.readBytes,
    io_write_bytes: metrics.writtenBytes,
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** It comes from inside a sandbox, so it may be no JSON at all. */
function parsed(json: string | undefined): unknown {
  if (json === undefined) return null;
  return parsedJson(json) ?? null;
}
