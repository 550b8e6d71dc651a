import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnerId } from "../../protocol/ids.ts";
import type { ExecutionRecord, ProgramReport } from "../../sandbox/sandbox.ts";
import { wordsFor } from "../../words/words.ts";
import { executionError } from "./execution-error.ts";
import { lastWords } from "./last-words.ts";

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

test("of a very long line a thousand characters are told, and of blank ones nothing [X2]", () => {
  const line = "x".repeat(1_000);
  for (const language of ["python", "javascript", "bash"] as const) {
    assert.equal(lastWords(`first\n  ${line}y\n`, language), line, language);
    assert.equal(lastWords(line, language), line, language);
  }
  assert.equal(lastWords(traceback(`ValueError: ${line}`), "python")?.length, 1_000);
  assert.equal(lastWords(" \n\t", "python"), undefined);
});

test("an execution that came to no good end says why in the caller's language [X2][P5]", () => {
  const ends: readonly (readonly [Partial<ExecutionRecord>, en: string | null, zh: string | null])[] = [
    [{ status: "running" }, null, null],
    [
      { status: "failed", report: ended({ exitCode: 3 }) },
      "The program ended with exit code 3.",
      "程序以退出码 3 结束。",
    ],
    [
      { status: "timeout", report: ended({ how: "timeout" }) },
      "The program was stopped after 2 s, its time limit.",
      "程序达到 2 秒的时间限制，已被停止。",
    ],
    [
      { status: "crashed", wasCutOff: true },
      "The AgentYard process that ran it ended.",
      "运行它的 AgentYard 进程已结束。",
    ],
    [{ status: "crashed" }, "The sandbox broke down while the program ran.", "程序运行时沙箱发生故障。"],
    [{ status: "cancelled" }, "The program was stopped.", "程序已停止。"],
    [
      { status: "failed", failure: { code: "sandbox_full", params: { retryAfterSeconds: 3 }, retryable: true } },
      "This machine has no room for another program now. Try again in 3 s.",
      "这台机器现在没有余力再运行程序。请在 3 秒后重试。",
    ],
  ];
  assert.deepEqual(
    ends.map(([record]) => [
      record,
      executionError({ ...base, ...record }, "en"),
      executionError({ ...base, ...record }, "zh"),
    ]),
    ends,
  );
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
  const { ends } = wordsFor("en").sandbox;
  const ourWords = [
    said("its own last words", {}, { exitCode: undefined, signal: "SIGSEGV" }),
    said("its own last words", {}, { how: "lost", signal: "SIGKILL" }),
    said("its own last words", {}, { how: "lost" }),
    ...(["killed", "out_of_memory", "disk_full", "cancelled"] as const).map((how) =>
      said("its own last words", {}, { how }),
    ),
  ];
  const expected = [ends.signalled("SIGSEGV"), ends.signalled("SIGKILL"), ends.lost];
  assert.deepEqual(ourWords, [...expected, ends.killed, ends.out_of_memory, ends.disk_full, ends.cancelled]);
});
