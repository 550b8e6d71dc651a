import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { defaultLimits } from "../../src/loop/loop.ts";
import { failure } from "../../src/protocol/failure.ts";
import { defineTool, foreignTool, type Tool, type ToolContext } from "../../src/tools/tools.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { deafTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

const { toolTimeoutMs } = defaultLimits;
const changeMsMax = 10_000;

test("when a call is over nothing of it runs on: no clock, no wait for its files, and a stop of the turn is none of its business [L5][L6]", async () => {
  const limits = new Set<() => void>();
  const waits: string[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      const end = systemClock.after(ms, action);
      if (ms !== toolTimeoutMs) return end;
      limits.add(action);
      return () => {
        limits.delete(action);
        end();
      };
    },
    async wait(ms, signal) {
      const end = await systemClock.wait(ms, signal);
      if (ms === changeMsMax) waits.push(end);
      return end;
    },
  };
  const contexts: ToolContext[] = [];
  const quick = defineTool({
    ...{ name: "quick", description: "Ends at once. For tests.", class: "pure", input: z.object({}) },
    async run(_, context) {
      contexts.push(context);
      return ok({ text: "there" });
    },
  });
  await using model = await modelServer([calls(["quick", {}]), calls(["deaf", {}])]);
  await using yard = await startYard({ model, tools: [quick, deafTool], clock });
  const { id } = await yard.start("c");
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("the second call runs", async () => all(await yard.events(id), "call.started").length === 2);
  assert.deepEqual([limits.size, waits], [1, ["aborted"]], "the clock of the one that runs");
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await yard.whenAtRest(id);
  assert.deepEqual([limits.size, waits], [0, ["aborted", "aborted"]]);
  assert.deepEqual(
    contexts.map(({ signal }) => signal.aborted),
    [false],
  );
});

test("calls that a server gives the same id are told apart by everything they leave behind: in the next step, in the next turn, and of another agent [L5][A2][Z4]", async () => {
  const keys: string[] = [];
  const note = defineTool({
    ...{ name: "note", description: "Notes. For tests.", class: "idempotent", input: z.object({}) },
    async run(_, { key, memory }) {
      keys.push(key);
      await memory.add(`fact ${keys.length}`);
      return ok({ text: "noted" });
    },
  });
  const same = (name: string, input: object = {}): Answer => ({
    calls: [{ id: "call", name, arguments: JSON.stringify(input) }],
  });
  let worked = 0;
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("part"))
      return lastOf(request).role === "user" ? same("note") : says(report("done"));
    worked += 1;
    return (
      [same("note"), same("note"), same("delegate_task", { task: "part 1" }), says("one"), same("note")][worked - 1] ??
      says("two")
    );
  });
  await using yard = await startYard({ model, tools: [note] });
  const { conversation } = await yard.ask("go");
  const { answer, events } = await yard.ask("once more", { conversation });
  const [spawned] = all(events, "agent.spawned");
  const root = `${conversation}/`;
  assert.equal(answer, "two");
  assert.deepEqual(keys, [
    ...[`${root}1/1/call`, `${root}1/2/call`, `${root}${spawned?.id}/1/1/call`, `${root}2/1/call`],
  ]);
  const { items } = await must(yard.client.call("listMemory"));
  assert.deepEqual(
    items.map(({ fact }) => fact),
    ["fact 1", "fact 2", "fact 3", "fact 4"],
  );
});

test("how long a call took is stored, also where it failed, and what it wrote before its own words could not be read is in the ledger [L5][W12]", async () => {
  let lateMs = 0;
  const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + lateMs };
  const slow = (name: string, isGood: boolean) =>
    defineTool({
      ...{ name, description: "Takes its time. For tests.", class: "pure", input: z.object({}) },
      async run() {
        lateMs += 50_000;
        return isGood ? ok({ text: "there" }) : failure("turn_not_running", {});
      },
    });
  // A tool of somebody else's need not keep to our types.
  const odd = Object.assign(slow("odd", true), {
    open: () =>
      ok({
        ask: undefined,
        async run({ workspace }: ToolContext) {
          await workspace.write("outputs/a.txt", "a", { key: "a" });
          return ok({ text: 5 });
        },
      }),
  });
  await using model = await modelServer([calls(["good", {}]), calls(["bad", {}]), calls(["odd", {}]), says("done")]);
  await using yard = await startYard({ model, tools: [slow("good", true), slow("bad", false), odd], clock });
  const { events } = await yard.ask("go");
  const results = all(events, "call.finished");
  assert.deepEqual(
    results.map(({ durationMs = 0, failure: why }) => [Math.floor(durationMs / 10_000), why?.code]),
    [
      [5, undefined],
      [5, "turn_not_running"],
      [0, "tool_crashed"],
    ],
  );
  assert.deepEqual(
    all(events, "file.changed").map(({ path, call }) => [path, call]),
    [["outputs/a.txt", results[2]?.call]],
  );
});

test("a tool hears of its calls of the same answer that have ended, and of none that run; what others offer is looked for before it is told of [T1][L5]", async () => {
  const ended = Promise.withResolvers<void>();
  const count = defineTool({
    ...{
      name: "count",
      description: "Counts its calls. For tests.",
      class: "pure",
      input: z.object({ n: z.number() }),
    },
    async run({ n }, { earlierCalls }) {
      if (n > 1) await ended.promise;
      const told = earlierCalls().map((call) => JSON.parse(call.arguments).n);
      return ok({ text: told.join(" ") || "none" });
    },
  });
  const late = foreignTool({
    ...{ name: "mcp__late__find", description: "Comes late. For tests.", parameters: {}, class: "pure" },
    run: async () => ok({ text: "found" }),
  });
  let found: readonly Tool[] = [];
  const source = {
    tools: () => found,
    async lookUp() {
      await new Promise((resolve) => setImmediate(resolve));
      found = [late];
    },
  };
  const seek = defineTool({
    ...{ name: "seek", description: "Looks for tools. For tests.", class: "pure", input: z.object({}) },
    run: async (_, { furtherTools }) =>
      ok({ text: (await furtherTools()).onDemand.some(({ name }) => name === late.name) ? "there" : "not there" }),
  });
  await using model = await modelServer([
    calls(["count", { n: 1 }], ["count", { n: 2 }]),
    calls(["seek", {}]),
    says("done"),
  ]);
  await using yard = await startYard({ model, tools: [count, seek], sources: [{ origin: "mcp", source }] });
  const { id } = await yard.start("c");
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  const results = async () => all(await yard.events(id), "call.finished").map(({ text }) => text);
  await until("the first has ended", async () => (await results()).length === 1);
  ended.resolve();
  await yard.whenAtRest(id);
  assert.deepEqual(await results(), ["none", "1", "there"]);
});
