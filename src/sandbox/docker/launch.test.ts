import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Duplex, duplexPair } from "node:stream";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../../../test/world/events.ts";
import { folderWith } from "../../../test/world/folder.ts";
import { notingClock } from "../../../test/world/manual-clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { canaryLimits } from "../guest/canary.ts";
import { type CallFault, callFault } from "../guest/http-call.ts";
import type { SandboxFault } from "../provider.ts";
import type { DockerEngine } from "./engine.ts";
import { launchContainer } from "./launch.ts";

// A container from its making to its greeting, and what is done about one that does not come to it. The engine is played.

const id = "c".repeat(64);
const name = "agentyard-yard-g";
const removal = (what: string) => `DELETE /containers/${what}?force=1&v=1`;

type Answers = {
  readonly made?: Result<unknown, CallFault>;
  readonly attached?: CallFault;
  readonly started?: Result<unknown, CallFault>;
  readonly inspected?: Result<unknown, CallFault>;
  /** Until then the engine does not answer who has one removed. */
  readonly removed?: Promise<void>;
  readonly greet?: (stdio: Duplex, say: (stream: number, text: string) => void) => Promise<SandboxFault | undefined>;
};

function launching(t: TestContext, answers: Answers = {}) {
  const folder = folderWith(t, {});
  const [near, far] = duplexPair();
  const asked: string[] = [];
  const gone = Promise.withResolvers<void>();
  const engine: DockerEngine = {
    async ask(method, path) {
      asked.push(`${method} ${path}`);
      if (path.includes("/create")) return answers.made ?? ok({ Id: id });
      if (path.endsWith("/start")) return answers.started ?? ok(undefined);
      if (path.endsWith("/json")) return answers.inspected ?? ok({ State: { Pid: 77 } });
      if (method === "DELETE") await answers.removed;
      if (!path.includes("/wait")) return ok(undefined);
      await gone.promise;
      return ok({ StatusCode: 137 });
    },
    async attach(container) {
      asked.push(`attach ${container}`);
      return answers.attached === undefined ? ok(near) : failed(answers.attached);
    },
  };
  const { clock } = notingClock();
  const late: { elapse(): void; signal?: AbortSignal | undefined } = { elapse() {} };
  /** A start has the time that the test gives it; between two questions to the engine none passes. */
  const wait: typeof clock.wait = (ms, signal) => {
    if (ms !== 20_000) return clock.wait(ms, signal);
    late.signal = signal;
    return new Promise((resolve) => {
      late.elapse = () => resolve("elapsed");
    });
  };
  const say = (stream: number, text: string) => {
    const head = Buffer.alloc(8);
    head.writeUInt8(stream, 0);
    head.writeUInt32BE(text.length, 4);
    far.write(Buffer.concat([head, Buffer.from(text)]));
  };
  const greet = answers.greet ?? (async () => undefined);
  const launched = launchContainer(
    { id: "g", workspace: undefined, limits: canaryLimits, uid: undefined, env: {} },
    { command: ["/bin/sh"], files: {}, greet: (stdio) => greet(stdio, say) },
    {
      ...{ engine, clock: { ...clock, wait }, image: "i", runtime: undefined, installation: "yard" },
      ...{ folder: join(folder, "stages"), isRemapped: false, startTimeoutMs: 20_000 },
    },
  );
  let isOver = false;
  void launched.then(() => (isOver = true));
  const stages = () => (existsSync(join(folder, "stages")) ? readdirSync(join(folder, "stages")) : []);
  return { asked, near, far, gone, late, launched, stages, isOver: () => isOver };
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextLoop();
}

const faultOf = async ({ launched }: ReturnType<typeof launching>) => {
  const result = await launched;
  return result.ok || result.failure;
};

test("a container that the engine refused is not removed; one that it may have made is, by its name [X3]", async (t) => {
  const told = async (made: Result<unknown, CallFault>) => {
    const launch = launching(t, { made });
    return [await faultOf(launch), launch.asked.slice(1), launch.stages()];
  };
  const away = "unavailable";
  assert.deepEqual(
    [
      await told(failed(callFault("refused", "no such image: i", 404))),
      await told(failed(callFault("refused", "bad mount", 400))),
      await told(failed(callFault("unreachable", "ECONNREFUSED"))),
      await told(failed(callFault("broken_off", "ECONNRESET"))),
      await told(failed(callFault("late"))),
      await told(ok({ Id: "../x" })),
    ],
    [
      [{ why: away, said: "no such image: i" }, [], []],
      [{ why: "start_failed", said: "bad mount" }, [], []],
      [{ why: away, said: "unreachable ECONNREFUSED" }, [], []],
      [{ why: away, said: "broken_off ECONNRESET" }, [removal(name)], []],
      [{ why: away, said: "late" }, [removal(name)], []],
      [{ why: "start_failed", said: "no id" }, [removal(name)], []],
    ],
  );
});

test("a container that cannot be attached to is removed, and that is told when it is [X3]", async (t) => {
  const removed = Promise.withResolvers<void>();
  const launch = launching(t, { attached: callFault("broken_off", "not attached"), removed: removed.promise });
  await someTurns();
  assert.deepEqual([launch.isOver(), launch.stages()], [false, ["g"]]);
  removed.resolve();
  assert.deepEqual(await faultOf(launch), { why: "unavailable", said: "broken_off not attached" });
  assert.deepEqual(launch.asked.slice(1), [`attach ${id}`, removal(id)]);
});

test("a container that does not start, is no guest or says nothing in time is removed, and that is told when it is gone, with its own last words [X3]", async (t) => {
  const ends = async (answers: Answers, isLate = false) => {
    const launch = launching(t, answers);
    await someTurns();
    if (isLate) launch.late.elapse();
    await until("it is asked to go", () => launch.asked.includes(removal(id)));
    await someTurns();
    assert.deepEqual([launch.isOver(), launch.stages(), launch.near.destroyed], [false, ["g"], true]);
    launch.gone.resolve();
    return [await faultOf(launch), launch.stages(), launch.late.signal?.aborted];
  };
  const fault = (why: SandboxFault["why"], said: string) => [{ why, said }, [], true];
  const never = () => new Promise<never>(() => {});
  assert.deepEqual(
    await ends({ started: failed(callFault("refused", "no runtime", 500)) }),
    fault("start_failed", "no runtime"),
  );
  assert.deepEqual(await ends({ greet: async () => ({ why: "wrong_workspace", said: "x" }) }), [
    ...fault("wrong_workspace", "x"),
  ]);
  const talking: Answers["greet"] = async (_, say) => {
    say(2, "no python here");
    await someTurns();
    return { why: "start_failed", said: "" };
  };
  assert.deepEqual(await ends({ greet: talking }), fault("start_failed", "no python here"));
  assert.deepEqual(await ends({ greet: never }, true), fault("start_timeout", ""));
});

test("a container whose stream ends before it has greeted is no guest [X3]", async (t) => {
  const launch = launching(t, { greet: () => new Promise<never>(() => {}) });
  await someTurns();
  launch.far.end();
  await until("it is asked to go", () => launch.asked.includes(removal(id)));
  launch.gone.resolve();
  assert.deepEqual(await faultOf(launch), { why: "start_failed", said: "" });
});

test("a container that has greeted is a guest with its first process, its end and its files until then; nobody waits for it to start any more [X3]", async (t) => {
  for (const [inspected, pid] of [
    [ok({ State: { Pid: 77 } }), 77],
    [ok({ State: {} }), 0],
    [failed(callFault("late")), 0],
  ] as const) {
    const launch = launching(t, { inspected });
    const result = await launch.launched;
    assert.ok(result.ok);
    const { container, pid: found, ended, kill } = result.value;
    assert.deepEqual([container, found, launch.late.signal?.aborted, launch.stages()], [id, pid, true, ["g"]]);
    kill();
    await someTurns();
    assert.deepEqual([launch.asked.includes(removal(id)), launch.stages()], [true, ["g"]]);
    launch.gone.resolve();
    assert.deepEqual(await ended, { code: 137 });
    await someTurns();
    assert.deepEqual(launch.stages(), []);
  }
});
