import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { failed, ok } from "../../base/result.ts";
import { callFault } from "../guest/http-call.ts";
import { countsFor } from "./counts.ts";
import type { DockerEngine } from "./engine.ts";

type Answer = Awaited<ReturnType<DockerEngine["ask"]>>;

/** An engine that tells this of every container. */
function telling(answer: Answer) {
  const asked: string[] = [];
  const engine: DockerEngine = {
    async ask(method, path) {
      asked.push(`${method} ${path}`);
      return answer;
    },
    attach: () => assert.fail("nobody attaches"),
  };
  return { engine, asked };
}

const stats = (memory: object, pids: object) =>
  ok({ memory_stats: memory, pids_stats: pids, cpu_stats: { cpu_usage: { total_usage: 5_500_000 } } });

test("what a container elsewhere uses is told by its engine, as far as that counts, and nothing of one that is gone [X3][X4]", async () => {
  for (const [answer, used] of [
    [stats({ usage: 7 }, { current: 2 }), { memoryBytes: 7, processes: 2, cpuMs: 5.5 }],
    [stats({}, {}), { memoryBytes: 0, processes: 0, cpuMs: 5.5 }],
    [failed(callFault("refused", "no such container", 404)), { memoryBytes: 0, processes: 0, cpuMs: 0 }],
  ] as const) {
    const { engine, asked } = telling(answer);
    // A process of this machine has its number, too.
    const { usage, near } = countsFor(engine, { container: "of-another-machine", pid: process.pid });
    assert.deepEqual([await usage(), near], [used, undefined]);
    assert.deepEqual(asked, ["GET /containers/of-another-machine/stats?stream=false&one-shot=true"]);
  }
});

test("what a container of this machine uses is told by the kernel, and its engine is not asked [X3][X4]", async () => {
  const { engine, asked } = telling(stats({}, {}));
  const container = readFileSync(`/proc/${process.pid}/cgroup`, "utf8").trim();
  const { usage, near } = countsFor(engine, { container, pid: process.pid });
  assert.ok(near);
  assert.deepEqual([Object.keys(await usage()).toSorted(), asked], [["cpuMs", "memoryBytes", "processes"], []]);
  assert.equal(countsFor(engine, { container, pid: 0 }).near, undefined);
});
