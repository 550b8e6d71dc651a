import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnerId } from "../protocol/ids.ts";
import type { ExecutionRecord, ProgramReport } from "./sandbox.ts";
import { keptCode, listedExecution } from "./shortened.ts";

const gap = "\n[…]\n";
const said = { text: "", cutBytes: 0, path: undefined };
const report: ProgramReport = {
  ...{ how: "done", exitCode: 0, signal: undefined, stdout: said, stderr: said, value: "41", returned: "{}" },
  ...{ figures: ["outputs/figure-1.png"], changes: [], startedAt: 1, endedAt: 2 },
  metrics: { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 },
};
const record: ExecutionRecord = {
  ...{ id: "e", owner: OwnerId.parse("ann"), session: "s", conversationId: undefined, status: "completed" },
  ...{ language: "python", code: "x", codeCutBytes: 0, timeoutMs: 1, createdAt: 1, startedAt: 1, endedAt: 2 },
  ...{ failure: undefined, wasCutOff: false, report, artifacts: [] },
};
const reportOf = (changes: Partial<ProgramReport>) =>
  listedExecution({ ...record, report: { ...report, ...changes } }).report ?? assert.fail();
const artifact = (path: string) => ({ path, bytes: 1, hash: "h", type: "text/plain", modifiedAt: 1 });
const change = (path: string) => ({
  path,
  before: undefined,
  after: { bytes: 1, hash: "h", mode: 0o644 },
  lost: undefined,
});

test("a short execution stands in a list as it is [X2]", () => {
  const short = { ...record, artifacts: [artifact("outputs/a")] };
  assert.deepEqual(listedExecution(short), short);
});

test("of long texts a list shows the beginning and the end, and counts what is left out, also what was before [X2]", () => {
  const long = `${"a".repeat(2000)}${"b".repeat(2000)}`;
  const short = `${"a".repeat(1024)}${gap}${"b".repeat(1024)}`;
  const listed = listedExecution({ ...record, code: long, codeCutBytes: 5 });
  assert.deepEqual([listed.code, listed.codeCutBytes], [short, 5 + 1952]);
  const output = { text: long, cutBytes: 7, path: "temp/output.txt" };
  const { stdout, stderr, value } = reportOf({ stdout: output, stderr: output, value: long });
  const shown = { text: short, cutBytes: 7 + 1952, path: "temp/output.txt" };
  assert.deepEqual([stdout, stderr, value], [shown, shown, short]);
});

test("a returned value that is long is left out of a list: without its middle it would be another one [X2]", () => {
  const json = (characters: number) => JSON.stringify("x".repeat(characters - 2));
  assert.deepEqual(
    [reportOf({ returned: json(2048) }).returned, reportOf({ returned: json(2049) }).returned],
    [json(2048), undefined],
  );
});

test("a list names the first twenty files of an execution, and fewer where their paths are long [X2]", () => {
  const paths = Array.from({ length: 25 }, (_, index) => `outputs/${index}`);
  const listed = listedExecution({ ...record, artifacts: paths.map(artifact) });
  const { figures, changes } = reportOf({ figures: paths, changes: paths.map(change) });
  const first = paths.slice(0, 20);
  assert.deepEqual(
    [listed.artifacts.map(({ path }) => path), figures, changes.map(({ path }) => path)],
    [first, first, first],
  );
  const long = ["a", "b", "c"].map((name) => name.repeat(1024));
  assert.deepEqual(reportOf({ figures: long }).figures, long.slice(0, 2));
});

test("of code as long as a record keeps it nothing is left out, and of longer code the middle [X2]", () => {
  const code = (bytes: number) => "#".repeat(bytes);
  assert.deepEqual(keptCode(code(65_536)), { code: code(65_536), codeCutBytes: 0 });
  assert.deepEqual(keptCode(code(65_537)), { code: `${code(32_768)}${gap}${code(32_768)}`, codeCutBytes: 1 });
});
