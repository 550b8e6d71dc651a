import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { unfoldingPdf } from "../../../test/world/pdf-files.ts";
import { quietLogger } from "../../../test/world/workspace.ts";
import type { Job } from "./job.ts";
import { type Limits, startThread, threadOptions } from "./thread.ts";

const job = (): Job => ({ name: "a.txt", sizeBytes: 5, bytes: new Uint8Array(Buffer.from("hello")) });
const limits = (signal = new AbortController().signal): Limits => ({ timeMs: 1_000, signal, onProgress() {} });
const parts = (clock = manualClock(), lines: string[] = []) => ({ clock, logger: quietLogger(lines) });
/** A thread that runs this when it gets a job. */
function doing(what: string): Worker {
  const program = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { ${what} });`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), threadOptions);
}

test("a thread that breaks down, ends or takes too much memory ends its job and nothing else [D1]", async () => {
  const outcomes = [];
  for (const what of [
    "throw new Error('broken')",
    "process.exit(3)",
    "const all = []; for (;;) all.push(new Array(1e5).fill(all.length + 0.5))",
  ]) {
    const thread = startThread(parts(), doing(what));
    const outcome = await thread.run(job(), limits());
    outcomes.push([outcome.kind, outcome.kind === "crashed" ? outcome.error.message : "", thread.isFit]);
  }
  assert.deepEqual(outcomes, [
    ["crashed", "broken", false],
    ["crashed", "the thread ended", false],
    ["memory", "", false],
  ]);
});

test("a thread that breaks down when its job is done is told in the log, and takes no other job [D1]", async () => {
  const lines: string[] = [];
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  const ended = "{ ended: { ok: false, failure: { code: 'unknown' } } }";
  const worker = doing(`parentPort.postMessage(${ended}); setTimeout(() => { throw new Error("later"); });`);
  const thread = startThread(parts(manualClock(), lines), worker.once("exit", leave));
  assert.equal((await thread.run(job(), limits())).kind, "unread");
  await gone;
  assert.deepEqual([lines, thread.isFit], [['document.reader_crashed {"error":{}}'], false]);
});

test("a thread that takes too long, or that nobody waits for, is ended in the middle of its work [D1]", async () => {
  const clock = manualClock();
  const busy = "parentPort.postMessage({ progress: { done: 1, total: 2 } }); for (;;);";
  const late = startThread(parts(clock), doing(busy));
  const outcome = late.run(job(), { ...limits(), onProgress: () => clock.move(1_000) });
  assert.deepEqual([await outcome, late.isFit], [{ kind: "late" }, false]);
  const stop = new AbortController();
  const stopped = startThread(parts(clock), doing(busy));
  assert.deepEqual(await stopped.run(job(), { ...limits(stop.signal), onProgress: () => stop.abort() }), {
    kind: "stopped",
  });
  assert.deepEqual(await startThread(parts(clock)).run(job(), limits(AbortSignal.abort())), { kind: "stopped" });
  assert.equal(clock.timers(), 0);
});

test("a thread makes room for a new one after fifty files, or two hundred megabytes of them [D1]", async () => {
  const busy = startThread(parts());
  for (let files = 0; files < 50; files += 1) {
    assert.equal(busy.isFit, true);
    assert.equal((await busy.run(job(), limits())).kind, "read");
  }
  assert.equal(busy.isFit, false);
  await busy.end();
  const large = startThread(parts());
  await large.run({ ...job(), sizeBytes: 200 * 1024 * 1024 - 1 }, limits());
  assert.equal(large.isFit, true);
  await large.run({ ...job(), sizeBytes: 1 }, limits());
  assert.equal(large.isFit, false);
  await large.end();
});

test("a PDF that wants more memory than there is for it is too costly, and its thread makes room [D1]", async () => {
  const thread = startThread(parts());
  const bytes = unfoldingPdf(96);
  const outcome = await thread.run({ name: "a.pdf", sizeBytes: bytes.length, bytes }, limits());
  assert.deepEqual([outcome, thread.isFit], [{ kind: "memory" }, false]);
});
