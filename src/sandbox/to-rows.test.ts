import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFailure } from "../protocol/failure.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { ExecutionRecord, ProgramReport } from "./sandbox.ts";
import { executionOf, executionRow, type KeptSession, rowFailure, sessionOf, sessionRow } from "./to-rows.ts";

const ann = OwnerId.parse("ann");
const state = { bytes: 3, hash: "h", mode: 0o644 };
const report: ProgramReport = {
  ...{ how: "done", exitCode: 3, signal: "SIGTERM", value: "41", returned: "{}", figures: ["outputs/figure-1.png"] },
  stdout: { text: "out", cutBytes: 2, path: "temp/output.txt", keptBytes: 9 },
  stderr: { text: "err", cutBytes: 0, path: undefined },
  changes: [
    { path: "made", before: undefined, after: state, lost: undefined },
    ...(["too_large", "quota", "unreadable"] as const).map((lost) => ({
      path: lost,
      before: state,
      after: undefined,
      lost,
    })),
  ],
  ...{ isOverLimit: true, isPythonNew: true, isPythonLost: true, hadCompany: true, startedAt: 2, endedAt: 3 },
  metrics: { durationMs: 1, cpuMs: 2, memoryPeakBytes: 3, readBytes: 4, writtenBytes: 5 },
};
const record: ExecutionRecord = {
  ...{ id: "e", owner: ann, session: "s", conversationId: "c", status: "completed", language: "python" },
  ...{ code: "x", codeCutBytes: 1, timeoutMs: 1000, createdAt: 1, startedAt: 2, endedAt: 3 },
  ...{ failure: makeFailure("sandbox_full", { retryAfterSeconds: 5 }), wasCutOff: true, report },
  artifacts: [{ path: "made", bytes: 3, hash: "h", type: "text/csv", modifiedAt: 4 }],
};

test("what is known of an execution is the same after a restart, whatever its end was [X2]", () => {
  const statuses = ["pending", "running", "completed", "failed", "timeout", "crashed", "cancelled"] as const;
  const ends = ["done", "timeout", "cancelled", "killed", "out_of_memory", "disk_full", "lost"] as const;
  const languages = ["python", "bash", "javascript"] as const;
  const bare = { conversationId: undefined, startedAt: undefined, endedAt: undefined, failure: undefined };
  const all: readonly ExecutionRecord[] = [
    ...statuses.map((status) => ({ ...record, status })),
    ...ends.map((how) => ({ ...record, report: { ...report, how } })),
    ...languages.map((language) => ({ ...record, language })),
    { ...record, ...bare, report: undefined, artifacts: [] },
    { ...record, code: "x".repeat(5000) },
  ];
  assert.deepEqual(
    all.map((one) => executionOf(executionRow(one))),
    all,
  );
  const short = { ...record, report: undefined };
  const fulls = [short, { ...short, code: "x".repeat(5000) }].map((one) => executionRow(one).full);
  assert.deepEqual(
    fulls.map((full) => full?.includes("x".repeat(5000))),
    [undefined, true],
  );
  assert.equal(executionOf({ ...executionRow(short), body: "{}" }), undefined);
});

const kept: KeptSession = {
  ...{ owner: ann, id: "mine", usedAt: 5, status: "running", dialect: "public", createdAt: 1, updatedAt: 2 },
  ...{ endedAt: 3, generation: 4, agentId: "a", businessDomain: "b", templateId: "t", env: { A: "a" } },
  uploads: { fileBytesMax: 1, filesMax: 2, types: ["csv"] },
  limits: {
    ...{ memoryBytes: 1, processesMax: 2, cpus: 0.5, fileBytesMax: 3, tmpBytesMax: 4, outputBytesMax: 5 },
  },
  executionTimeoutMs: 6,
  packages: {
    ...{ status: "completed", error: "e", startedAt: 1, endedAt: 2 },
    requested: [{ manager: "pip", name: "a", version: "1" }],
    current: [{ manager: "npm", name: "b" }],
    installed: [{ manager: "npm", name: "b", version: "2" }],
  },
};

test("what was asked for a session is the same after a restart, and a row that nobody can read is none [S1]", () => {
  const all: readonly KeptSession[] = [
    kept,
    { ...kept, status: "stopped", dialect: "seed" },
    ...(["installing", "failed"] as const).map((status) => ({
      ...kept,
      packages: { requested: [], current: [], installed: [], startedAt: 1, status },
    })),
  ];
  assert.deepEqual(
    all.map((one) => sessionOf(sessionRow(one))),
    all,
  );
  const row = sessionRow(kept);
  for (const body of ["{", "{}", JSON.stringify({ ...JSON.parse(row.body), env: { "A=B": "" } })])
    assert.equal(sessionOf({ ...row, body }), undefined);
});

test("what a storage answers to a row of the sandbox is told as it is [Q2]", () => {
  for (const failure of [
    makeFailure("storage_busy", {}),
    makeFailure("storage_full", {}),
    makeFailure("storage_read_only", {}),
    makeFailure("storage_broken", { why: "damaged" }),
    makeFailure("database_away", { why: "away", said: "" }),
  ])
    assert.deepEqual(rowFailure(failure), { ok: false, failure });
});
