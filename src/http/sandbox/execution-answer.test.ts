import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnerId } from "../../protocol/ids.ts";
import type { ExecutionRecord, ProgramReport } from "../../sandbox/sandbox.ts";
import { toExecution } from "./execution-answer.ts";

const state = { bytes: 1, mode: 0o644, hash: "00" };
const report: ProgramReport = {
  ...{ how: "done", exitCode: 3, signal: undefined, value: "42", returned: '{"a":[0]}', figures: ["outputs/f.png"] },
  stdout: { text: "out", cutBytes: 1, path: "temp/out.txt" },
  stderr: { text: "err", cutBytes: 0, path: undefined },
  changes: [
    { path: "made.txt", before: undefined, after: state, lost: undefined },
    { path: "changed.txt", before: state, after: state, lost: undefined },
    { path: "removed.txt", before: state, after: undefined, lost: undefined },
  ],
  ...{ isOverLimit: true, startedAt: 2_000, endedAt: 9_000 },
  metrics: {
    ...{ durationMs: 1_234.567_89, cpuMs: 12.345_67, memoryPeakBytes: 1_572_864, readBytes: 7, writtenBytes: 8 },
  },
};
const record: ExecutionRecord = {
  ...{ id: "e1", owner: OwnerId.parse("ann"), session: "s1", conversationId: "c1", status: "failed" },
  ...{ language: "bash", code: "exit 3", codeCutBytes: 0, timeoutMs: 2_500 },
  ...{ createdAt: 1_000, startedAt: 2_000, endedAt: 9_000, failure: undefined, wasCutOff: false, report },
  artifacts: [
    { path: "made.txt", bytes: 5, hash: "ab", type: "text/plain", modifiedAt: 8_000 },
    { path: "odd", bytes: 6, hash: undefined, type: "application/octet-stream", modifiedAt: 8_500 },
  ],
};

test("an execution that is over is told with everything that became of it, and each number in its unit [X2]", () => {
  assert.deepEqual(toExecution(record, "en"), {
    ...{ id: "e1", execution_id: "e1", session_id: "s1", conversation_id: "c1", status: "failed", how: "done" },
    ...{ code: "exit 3", code_truncated: false, language: "shell", timeout: 2.5, exit_code: 3, signal: null },
    ...{ error_message: "err", failure: null, execution_time: 1.234_568 },
    ...{ stdout: "out", stderr: "err", stdout_truncated: true, stderr_truncated: false },
    ...{ stdout_path: "temp/out.txt", stderr_path: null, value: "42", return_value: { a: [0] } },
    figures: ["outputs/f.png"],
    artifacts: [
      {
        ...{ path: "made.txt", container_path: "/workspace/c1/made.txt", size: 5, mime_type: "text/plain" },
        ...{ type: "artifact", created_at: "1970-01-01T00:00:08.000Z", checksum: "sha256:ab", sha256: "ab" },
      },
      {
        ...{ path: "odd", container_path: "/workspace/c1/odd", size: 6, mime_type: "application/octet-stream" },
        ...{ type: "artifact", created_at: "1970-01-01T00:00:08.500Z", checksum: null, sha256: null },
      },
    ],
    ...{ changed_files: ["changed.txt"], removed_files: ["removed.txt"], is_over_limit: true, retry_count: 0 },
    metrics: {
      ...{ duration_ms: 1_234.568, cpu_time_ms: 12.346, peak_memory_mb: 1.5, io_read_bytes: 7, io_write_bytes: 8 },
    },
    ...{ created_at: "1970-01-01T00:00:01.000Z", started_at: "1970-01-01T00:00:02.000Z" },
    completed_at: "1970-01-01T00:00:09.000Z",
  });
});

test("what a program took is told as exactly as it is measured: memory by the hundredth of a MiB, times by the microsecond [X2]", () => {
  const measured = (metrics: Partial<typeof report.metrics>) =>
    toExecution({ ...record, report: { ...report, metrics: { ...report.metrics, ...metrics } } }, "en");
  const { metrics, execution_time } = measured({
    ...{ memoryPeakBytes: 1.256 * 1024 ** 2, durationMs: 0.123_456_7, cpuMs: 0.000_51 },
  });
  const { peak_memory_mb, duration_ms, cpu_time_ms } = metrics ?? assert.fail();
  assert.deepEqual([peak_memory_mb, duration_ms, cpu_time_ms, execution_time], [1.26, 0.123, 0.001, 0.000_123]);
});

test("an exit code is told once there is one: none while it runs, minus one where time was up or it never began [X2]", () => {
  const code = (more: Partial<ExecutionRecord>) => toExecution({ ...record, ...more }, "en").exit_code;
  assert.deepEqual(
    [
      code({ status: "pending", report: undefined }),
      code({ status: "running", report: undefined }),
      code({ status: "completed", report: { ...report, exitCode: 0 } }),
      code({ status: "timeout", report: { ...report, how: "timeout", exitCode: 137 } }),
      code({ report: { ...report, exitCode: undefined, signal: "SIGKILL" } }),
      code({ status: "crashed", report: undefined }),
    ],
    [null, null, 0, -1, -1, -1],
  );
});

test("one that has no report tells how long it took by its own times, what it said so far, and where its files would be [X2]", () => {
  const soFar = { stdout: { text: "so far", cutBytes: 0, path: undefined }, stderr: report.stderr };
  const none = { report: undefined, conversationId: undefined, language: "python", codeCutBytes: 1 } as const;
  const {
    execution_time: took,
    metrics,
    code_truncated: isCut,
    language,
    artifacts,
    ...rest
  } = toExecution({ ...record, ...none, soFar, status: "crashed" }, "en");
  assert.deepEqual([took, metrics, isCut, language, rest.stdout], [7, null, true, "python", "so far"]);
  assert.equal(artifacts[0]?.container_path, "/workspace/made.txt");
  assert.deepEqual([rest.return_value, rest.changed_files, rest.is_over_limit], [null, [], false]);
  assert.equal(toExecution({ ...record, ...none, endedAt: undefined }, "en").execution_time, null);
  assert.equal(toExecution({ ...record, report: { ...report, returned: "no JSON" } }, "en").return_value, null);
});
