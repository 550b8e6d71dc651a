import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { ExecutionRecord, Executions, ProgramOutput } from "../../sandbox/sandbox.ts";
import { followExecution, idOfFrame, placeOfId } from "./follow-execution.ts";

test("silence is filled with pings, and a reader that goes leaves nothing waiting [X2]", async () => {
  const gone = new AbortController();
  let isLeft = false;
  const silent: AsyncIterableIterator<ProgramOutput> = {
    [Symbol.asyncIterator]: () => silent,
    next: () => new Promise(() => {}),
    async return() {
      isLeft = true;
      return { done: true, value: undefined };
    },
  };
  const executions = played(() => silent);
  const after = { stdout: 0, stderr: 0 };
  const clock = manualClock();
  const view = { executions, clock, owner: localOwner, id: "e", after, language: "en" } as const;
  const frames = followExecution({ ...view, signal: gone.signal, closing: never });
  for (let ping = 0; ping < 2; ping += 1) {
    const next = frames.next();
    await nextLoop();
    clock.move(15_000);
    assert.deepEqual(await next, { done: false, value: [{ frame: "ping" }] });
  }
  const last = frames.next();
  gone.abort();
  assert.deepEqual(await last, { done: true, value: undefined });
  assert.deepEqual([isLeft, clock.timers()], [true, 0]);
});

test("what a program printed before anybody looked comes as one piece, and its gaps stay where they were [X2]", async () => {
  async function* lines(): AsyncGenerator<ProgramOutput> {
    for (let line = 1; line <= 1000; line += 1)
      yield { stream: "stdout", text: "x\n", cutBytes: line === 600 ? 7 : 0, at: { stdout: 2 * line, stderr: 0 } };
    yield { stream: "stderr", text: "end", cutBytes: 0, at: { stdout: 2000, stderr: 3 } };
  }
  const clock = manualClock();
  const view = { executions: played(() => lines()), clock, owner: localOwner, id: "e" } as const;
  const signal = new AbortController().signal;
  const frames = followExecution({ ...view, after: { stdout: 0, stderr: 0 }, language: "en", signal, closing: never });
  const batches: unknown[] = [];
  for await (const batch of frames) batches.push(batch);
  assert.deepEqual(batches, [
    [
      { frame: "output", stream: "stdout", text: "x\n".repeat(599), at: { stdout: 1198, stderr: 0 } },
      { frame: "cut", stream: "stdout", bytes: 7, at: { stdout: 1200, stderr: 0 } },
      { frame: "output", stream: "stdout", text: "x\n".repeat(401), at: { stdout: 2000, stderr: 0 } },
      { frame: "output", stream: "stderr", text: "end", at: { stdout: 2000, stderr: 3 } },
    ],
  ]);
  assert.equal(clock.timers(), 0);
});

test("a program that pauses before each line is heard line by line, and no line is missing [X2]", async () => {
  const lines = ["one\n", "two\n", "six\n", "ten\n"];
  const places = lines.map((_, index) => ({ stdout: 4 * (index + 1), stderr: 0 }));
  async function* slowly(): AsyncGenerator<ProgramOutput> {
    for (const [index, text] of lines.entries()) {
      // Longer than the one turn for which a batch waits.
      for (let turns = 0; turns < 3; turns += 1) await nextLoop();
      yield { stream: "stdout", text, cutBytes: 0, at: places[index] ?? assert.fail() };
    }
  }
  const view = { executions: played(() => slowly()), clock: manualClock(), owner: localOwner, id: "e" } as const;
  const start = { after: { stdout: 0, stderr: 0 }, language: "en" } as const;
  const batches: unknown[] = [];
  for await (const batch of followExecution({ ...view, ...start, signal: never, closing: never })) batches.push(batch);
  assert.deepEqual(
    batches,
    lines.map((text, index) => [{ frame: "output", stream: "stdout", text, at: places[index] }]),
  );
});

test("a reader is told when the server ends, and where to go on [X2]", async () => {
  async function* lines(): AsyncGenerator<ProgramOutput> {
    yield { stream: "stdout", text: "x\n", cutBytes: 0, at: { stdout: 2, stderr: 0 } };
    await new Promise(() => {});
  }
  const closing = new AbortController();
  const view = { executions: played(() => lines()), clock: manualClock(), owner: localOwner, id: "e" } as const;
  const start = { after: { stdout: 0, stderr: 0 }, language: "en" } as const;
  const frames = followExecution({ ...view, ...start, signal: never, closing: closing.signal });
  const said = [{ frame: "output", stream: "stdout", text: "x\n", at: { stdout: 2, stderr: 0 } }];
  assert.deepEqual((await frames.next()).value, said);
  const last = frames.next();
  closing.abort();
  assert.deepEqual((await last).value, [{ frame: "closing", after: "2-0" }]);
  assert.deepEqual(await frames.next(), { done: true, value: undefined });
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

test("a ping comes after a quarter of a minute in which nothing was said, and the end of the program after all it said [X2]", async () => {
  const clock = manualClock();
  const [words, over] = [Promise.withResolvers<ProgramOutput>(), Promise.withResolvers<ExecutionRecord>()];
  const asked: unknown[] = [];
  const executions: Executions = {
    ...played((...how) => {
      asked.push(how);
      return (async function* () {
        yield await words.promise;
      })();
    }),
    wait: () => over.promise,
  };
  const after = { stdout: 3, stderr: 1 };
  const view = { executions, clock, owner: localOwner, id: "e", after, language: "en" } as const;
  const frames = followExecution({ ...view, signal: never, closing: never });
  const first = frames.next();
  await nextLoop();
  clock.move(10_000);
  const at = { stdout: 4, stderr: 1 };
  words.resolve({ stream: "stdout", text: "x", cutBytes: 0, at });
  assert.deepEqual((await first).value, [{ frame: "output", stream: "stdout", text: "x", at }]);
  const second = frames.next();
  for (const ms of [5_000, 9_999]) {
    await nextLoop();
    clock.move(ms);
    assert.equal(await Promise.race([second, nextLoop("silence")]), "silence");
  }
  clock.move(1);
  assert.deepEqual((await second).value, [{ frame: "ping" }]);
  const third = frames.next();
  over.resolve(ended);
  const [last] = (await third).value ?? [];
  assert.deepEqual(last?.frame === "result" && [last.execution.id, last.execution.status], ["e", "completed"]);
  assert.deepEqual(await frames.next(), { done: true, value: undefined });
  assert.deepEqual([asked, clock.timers()], [[[localOwner, "e", after]], 0]);
});

const ended: ExecutionRecord = {
  ...{ id: "e", owner: localOwner, session: "s", conversationId: undefined, status: "completed", language: "python" },
  ...{ code: "1", codeCutBytes: 0, timeoutMs: 1_000, createdAt: 1_000, startedAt: 2_000, endedAt: 3_000 },
  ...{ failure: undefined, wasCutOff: false, report: undefined, artifacts: [] },
};

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
