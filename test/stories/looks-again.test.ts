import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { firstOf, report } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const spawn = (task: string) => calls(["spawn_agent", { role: "painter", task }]);

for (const [passedMs, looks] of [
  [999, 4],
  [1_000, 5],
] as const) {
  test(`an agent that goes on ${passedMs} ms after another one did ${looks === 4 ? "shares its look" : "looks anew"} at settings, tools and skills; who begins always looks [P5][A1]`, async () => {
    let now = 0;
    let looked = 0;
    const clock: Clock = { ...systemClock, monotonic: () => now };
    const reload = async () => {
      looked += 1;
      return undefined;
    };
    // It waits for each of two tasks in turn, and goes on when that has ended.
    const plan = [() => spawn("paint one"), () => says("I wait."), goOn, () => says("I wait."), () => says("done")];
    function goOn(): Answer {
      now += passedMs;
      return spawn("paint two");
    }
    await using model = await modelServer((request) =>
      firstOf(request).startsWith("paint") ? says(report("painted")) : (plan.shift()?.() ?? says("too many")),
    );
    await using yard = await startYard({ model, clock, reload, isOneProcess: true });
    const row = await yard.start("c");
    looked = 0;
    await must(yard.engine.send(row, { text: "go", mode: "queue" }));
    const isOver = async () =>
      all(await yard.events(row.id), "turn.finished").some(
        ({ agent, outcome }) => agent === undefined && outcome === "done",
      );
    await until("the turn is over", isOver);
    assert.deepEqual([looked, plan.length], [looks, 0]);
  });
}
