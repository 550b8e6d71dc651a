import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { failed, ok } from "../../base/result.ts";
import { callFault } from "../guest/http-call.ts";
import type { DockerEngine } from "./engine.ts";
import { followContainer, removeUnconfirmed } from "./gone.ts";

type Answer = Awaited<ReturnType<DockerEngine["ask"]>>;

/** An engine that answers those who wait for a container as it is told to, one after the other, and then not at all. */
function playEngine(...answers: readonly Answer[]) {
  const asked: string[] = [];
  const left = [...answers];
  const engine: DockerEngine = {
    async ask(method, path, { timeoutMs } = {}) {
      const isWait = path.includes("/wait");
      asked.push(`${method} ${path}${timeoutMs === null ? " without an end" : ""}`);
      return (isWait ? left.shift() : ok(undefined)) ?? new Promise<never>(() => {});
    },
    attach: () => assert.fail("nobody attaches"),
  };
  return { engine, asked };
}

const wait = "POST /containers/c/wait?condition=removed without an end";
const remove = "DELETE /containers/c?force=1&v=1";
const away = failed(callFault("unreachable", "ECONNREFUSED"));

test("a container that is gone tells its exit code, and one that nobody knows has none [X3]", async () => {
  for (const [answer, code] of [
    [ok({ StatusCode: 137 }), 137],
    [ok("odd"), null],
    [failed(callFault("refused", "no such container", 404)), null],
  ] as const) {
    const { engine, asked } = playEngine(answer);
    assert.deepEqual(await followContainer({ engine, clock: manualClock() }, "c").ended, { code });
    assert.deepEqual(asked, [wait]);
  }
});

test("after an engine was started anew it is asked to remove the container, and waited for again [X3]", async () => {
  const { engine, asked } = playEngine(away, away, ok({ StatusCode: 0 }));
  assert.deepEqual(await followContainer({ engine, clock: manualClock() }, "c").ended, { code: 0 });
  assert.deepEqual(asked, [wait, remove, wait, remove, wait]);
});

test("an engine that stays away is given up after some looks [X3]", async () => {
  const { engine, asked } = playEngine(...Array<typeof away>(30).fill(away));
  assert.deepEqual(await followContainer({ engine, clock: manualClock() }, "c").ended, { code: null });
  assert.equal(asked.filter((one) => one === wait).length, 20);
});

test("a container is asked to go once, however often it is killed [X3]", async () => {
  const { engine, asked } = playEngine();
  const pending = { ...manualClock(), wait: () => new Promise<never>(() => {}) };
  const { kill } = followContainer({ engine, clock: pending }, "c");
  kill();
  kill();
  await nextLoop();
  assert.deepEqual(asked, [wait, remove]);
});

test("a container whose making was never confirmed is asked for until it is removed, or nobody is there who could have made it [X3]", async () => {
  const unknown = failed(callFault("refused", "no such container", 404));
  for (const [answers, questions] of [
    [[unknown, unknown, ok(undefined)], 3],
    [[away], 1],
    [Array<typeof unknown>(9).fill(unknown), 5],
  ] as const) {
    const asked: string[] = [];
    const left: Answer[] = [...answers];
    const engine: DockerEngine = {
      async ask(method, path) {
        asked.push(`${method} ${path}`);
        return left.shift() ?? assert.fail("it was enough");
      },
      attach: () => assert.fail("nobody attaches"),
    };
    await removeUnconfirmed({ engine, clock: manualClock() }, "c");
    assert.deepEqual(asked, Array<string>(questions).fill(remove));
  }
});
