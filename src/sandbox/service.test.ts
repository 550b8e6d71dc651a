import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { openDatabase } from "../../test/world/database.ts";
import { until } from "../../test/world/events.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { playedProvider } from "../../test/world/played-provider.ts";
import { testSettings } from "../../test/world/sandbox-settings.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import type { Clock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { localOwner } from "../protocol/ids.ts";
import { wordsFor } from "../words/words.ts";
import type { ExecutionEvent, SandboxProvider } from "./provider.ts";
import { openSandbox } from "./sandbox.ts";

// How a server ends with programs that end when the test lets them.

const metrics = { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 };
const place = { owner: localOwner, conversation: undefined, workspace: undefined, agent: "root" };
const long = { language: "bash", code: "long", timeoutMs: 60_000, conversationId: "c1" } as const;

/** A program that runs, and hears of nothing; and whoever waits for something to be over. */
async function running(t: TestContext) {
  const played = playedProvider();
  const over = Promise.withResolvers<void>();
  const provider: SandboxProvider = {
    ...played,
    async open(wanted) {
      const opened = await played.open(wanted);
      if (!opened.ok) return opened;
      const close = (why: string) => over.promise.then(() => opened.value.close(why));
      return ok({
        ...opened.value,
        close,
        async *run(): AsyncGenerator<ExecutionEvent, void, undefined> {
          yield { kind: "started" };
          await over.promise;
          yield { kind: "exited", how: "cancelled", code: undefined, signal: undefined, metrics };
        },
      });
    },
  };
  const waits: { readonly ms: number; elapse(): void; how: string }[] = [];
  const clock: Clock = {
    ...manualClock(),
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const wait = { ms, how: "waits", elapse: () => end("elapsed") };
        const end = (how: "elapsed" | "aborted") => {
          wait.how = how;
          resolve(how);
        };
        signal?.addEventListener("abort", () => end("aborted"));
        waits.push(wait);
      }),
  };
  const storage = openDatabase(t);
  const sandbox = openSandbox({
    ...{ provider, storage, clock, ids: systemIds, logger: quietLogger([]), words: wordsFor("en") },
    settings: testSettings,
  });
  const submitted = await sandbox.executions.submit(place, long);
  assert(submitted.ok);
  const { id } = submitted.value;
  await until("it runs", async () => (await sandbox.executions.find(localOwner, id))?.status === "running");
  let isClosed = false;
  const closed = sandbox.close().then(() => {
    isClosed = true;
  });
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  const written = async () => (await storage.findExecution(localOwner, id))?.endedAt !== undefined;
  return { closed, isClosed: () => isClosed, waits, written, letGo: over.resolve };
}

test("a server that ends goes when its programs are gone and written down, and waits for nothing after that [X2][X4]", async (t) => {
  const { closed, isClosed, waits, written, letGo } = await running(t);
  assert.deepEqual([isClosed(), await written()], [false, false]);
  assert.deepEqual(
    waits.map(({ ms, how }) => [ms, how]),
    [[5000, "waits"]],
  );
  letGo();
  await closed;
  assert.deepEqual([await written(), waits[0]?.how], [true, "aborted"]);
});

test("a server that ends waits five seconds for programs that do not go, and not longer [X2][X4]", async (t) => {
  const { closed, isClosed, waits, written, letGo } = await running(t);
  assert.equal(isClosed(), false);
  waits[0]?.elapse();
  await closed;
  assert.equal(await written(), false);
  letGo();
  await until("its end is written all the same", written);
});
