import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { localOwner, OwnerId } from "../../protocol/ids.ts";
import type { ExecutionRecord, Executions, ProgramOutput, ProgramReport } from "../../sandbox/sandbox.ts";
import { wordsFor } from "../../words/words.ts";
import { toExecution } from "./execution-answer.ts";
import { executionError } from "./execution-error.ts";
import { followExecution, idOfFrame, placeOfId } from "./follow-execution.ts";
import { lastWords } from "./last-words.ts";

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

const node = (...lines: string[]) => ["[eval]:1", "f()", "^", ...lines, "", "Node.js v26.10.0", ""].join("\n");
const traceback = (...lines: string[]) =>
  [
    "Traceback (most recent call last):",
    '  File "<cell 1>", line 4, in <module>',
    "    f()",
    "    ^^^",
    ...lines,
    "",
  ].join("\n");

const said: readonly (readonly [
  language: "python" | "javascript" | "bash",
  stderr: string,
  why: string | undefined,
])[] = [
  ["javascript", node("", "Error: boom", "more of it", "    at [eval]:1:7", "    at x (node:vm:2:1)"), "Error: boom"],
  [
    "javascript",
    `warn: x\n${node("", "MyErr: zz", "    at [eval]:1:7 {", "  [cause]: Error: in", "      at y", "}")}`,
    "MyErr: zz",
  ],
  [
    "javascript",
    node("Expression expected", "", "SyntaxError: Unexpected token ';'", "    at z"),
    "SyntaxError: Unexpected token ';'",
  ],
  ["javascript", node("str", "(Use `node --trace-uncaught ...` to show where the exception was thrown)"), "str"],
  ["javascript", node("", "{ a: 1 }"), "{ a: 1 }"],
  ["javascript", "first\nlast of a program that left by itself\n", "last of a program that left by itself"],
  ["python", traceback("ValueError: no good", "of two lines"), "ValueError: no good"],
  ["python", `${traceback("KeyError: 'a'")}\nDuring handling:\n\n${traceback("TypeError: b")}`, "TypeError: b"],
  ["python", `${traceback("ValueError: a")}sys:1: RuntimeWarning: Enable tracemalloc to get it\n`, "ValueError: a"],
  ["python", '  File "<cell 2>", line 1\n    1 +* 2\nSyntaxError: invalid syntax\n', "SyntaxError: invalid syntax"],
  [
    "python",
    '  + Exception Group Traceback (most recent call last):\n  |   File "a", line 1\n  | ExceptionGroup: g (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: 1\n    +------------------------------------\n',
    "ExceptionGroup: g (1 sub-exception)",
  ],
  ["python", "stop\n", "stop"],
  ["bash", "bash: line 1: nope: command not found\n", "bash: line 1: nope: command not found"],
  ["bash", "\n\n", undefined],
];

test("why a program failed is its error, not the last line around it [X2]", () => {
  assert.deepEqual(
    said.map(([language, stderr]) => [language, stderr, lastWords(stderr, language)]),
    said,
  );
});

test("an execution that came to no good end says why, in the caller's language [X2][P5]", () => {
  const full = { code: "sandbox_full", params: { retryAfterSeconds: 3 }, retryable: true } as const;
  const ends: readonly (readonly [Partial<ExecutionRecord>, why: string | null])[] = [
    [{ status: "running" }, null],
    [{ status: "failed", report: ended({ exitCode: 3 }) }, "The program ended with exit code 3."],
    [{ status: "timeout", report: ended({ how: "timeout" }) }, "The program was stopped after 2 s, its time limit."],
    [{ status: "crashed", wasCutOff: true }, "The AgentYard process that ran it ended."],
    [{ status: "crashed" }, "The sandbox broke down while the program ran."],
    [{ status: "cancelled" }, "The program was stopped."],
    [{ failure: full }, "This machine has no room for another program now. Try again in 3 s."],
  ];
  for (const [record, why] of ends) assert.equal(executionError({ ...base, ...record }, "en"), why, String(why));
  assert.equal(executionError({ ...base, status: "cancelled" }, "zh"), "程序已停止。");
});

const base: ExecutionRecord = {
  ...{ id: "e1", owner: OwnerId.parse("ada"), session: "s", conversationId: undefined, status: "failed" },
  ...{ language: "python", code: "1", codeCutBytes: 0, timeoutMs: 2000, createdAt: 1, startedAt: 1, endedAt: 2 },
  ...{ failure: undefined, wasCutOff: false, report: undefined, artifacts: [] },
};

function ended(report: Partial<ProgramReport>): ProgramReport {
  const nothing = { text: "", cutBytes: 0, path: undefined };
  return {
    ...{ how: "done", exitCode: undefined, signal: undefined, stdout: nothing, stderr: nothing, value: undefined },
    ...{ returned: undefined, figures: [], changes: [], startedAt: 1, endedAt: 2 },
    metrics: { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 },
    ...report,
  };
}

test("a program that looked for a network, or for files of a conversation that nobody named, is told so besides [X2][P5]", () => {
  const said = (stderr: string, record: Partial<ExecutionRecord> = {}, report: Partial<ProgramReport> = {}) => {
    const shown = { text: stderr, cutBytes: 0, path: undefined };
    return executionError({ ...base, report: ended({ exitCode: 1, stderr: shown, ...report }), ...record }, "en");
  };
  const { noNetwork, noConversation } = wordsFor("en").sandbox;
  const unresolved = "curl: (6) Could not resolve host: example.com";
  assert.equal(said(unresolved), `${unresolved} ${noNetwork}`);
  const missing = "FileNotFoundError: '/workspace/c1/a.csv'";
  assert.equal(said(missing), `${missing} ${noConversation({ id: "c1" })}`);
  assert.equal(
    said("No such file", { code: "open('/workspace/c2/a.csv')" }),
    `No such file ${noConversation({ id: "c2" })}`,
  );
  assert.equal(said(missing, { conversationId: "c1" }), missing, "who named theirs is told nothing of the kind");
});

test("one event holds ten thousand characters of one stream, and what goes out at once little more than it needs [X2]", async () => {
  const gathered = async (...texts: string[]) => {
    async function* said(): AsyncGenerator<ProgramOutput> {
      for (const text of texts) yield { stream: "stdout", text, cutBytes: 0, at: { stdout: 1, stderr: 0 } };
    }
    const view = { executions: played(() => said()), clock: manualClock(), owner: localOwner, id: "e" } as const;
    const start = { after: { stdout: 0, stderr: 0 }, language: "en" } as const;
    const lengths: number[][] = [];
    for await (const batch of followExecution({ ...view, ...start, signal: never, closing: never }))
      lengths.push(batch.map((frame) => ("text" in frame ? frame.text.length : 0)));
    return lengths;
  };
  assert.deepEqual(await gathered("x".repeat(6_000), "x".repeat(4_000), "x"), [[10_000, 1]]);
  const many = Array.from({ length: 8 }, () => "x".repeat(10_000));
  assert.deepEqual(await gathered(...many), [Array(7).fill(10_000), [10_000]]);
});

const never = new AbortController().signal;

function played(follow: Executions["follow"]): Executions {
  return {
    submit: () => assert.fail("nothing is submitted"),
    find: async () => undefined,
    list: async () => ({ items: [], total: 0 }),
    wait: async () => undefined,
    follow,
    cancel: async () => false,
    quiet: async () => {},
  };
}

test("a reader goes on after the place that a frame has, from the beginning where it has none, and never behind the end [X2]", () => {
  const at = { stdout: 12, stderr: 3 };
  const frames = [
    { frame: "output", stream: "stdout", text: "x", at },
    { frame: "cut", stream: "stdout", bytes: 7, at },
    { frame: "closing", after: "4-5" },
    { frame: "ping" },
  ] as const;
  assert.deepEqual(frames.map(idOfFrame), ["12-3", "12-3", "4-5", undefined]);
  const start = { stdout: 0, stderr: 0 };
  const ids = ["12-3", "end", undefined, "", "12", "x-3", "12-3x", `${"9".repeat(16)}-1`];
  const end = { stdout: Number.MAX_SAFE_INTEGER, stderr: Number.MAX_SAFE_INTEGER };
  assert.deepEqual(ids.map(placeOfId), [at, end, ...Array(6).fill(start)]);
});
