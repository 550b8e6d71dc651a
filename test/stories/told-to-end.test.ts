import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { firstOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { cannotStore } from "../world/postgres-server.ts";
import { heldTool } from "../world/tools.ts";
import { startTwo } from "../world/two-yards.ts";
import { must, startYard } from "../world/yard.ts";

// Whoever starts a server says how long its end may take, and kills it then: nothing that can wait for the next one is waited for.

test("a server that is told to end while it looks for what another one left lets go of its own at once, and takes nothing more over [N1][L2]", {
  skip: cannotStore,
  timeout: 300_000,
}, async () => {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const [looked, released]: [number[], number[]] = [[], []];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async conversationByNumber(number) {
      if (isHeld) {
        looked.push(number);
        await held.promise;
      }
      return storage.conversationByNumber(number);
    },
    releaseLease(number, lease) {
      released.push(number);
      return storage.releaseLease(number, lease);
    },
  });
  await using model = await modelServer(() => ({ text: "never", fault: { after: 3, kind: "stall" } }));
  await using two = await startTwo({ model, wrapStorage });
  const { one, other } = two;
  await other.yard.engine.recover({ ageMsMax: Number.MAX_SAFE_INTEGER });
  for (const { client } of [one, one, one, other]) {
    const { id } = await must(client.call("createConversation", { body: {} }));
    await must(client.call("sendMessage", { params: { id }, body: { text: "hi" } }));
  }
  await until("all are being answered", () => model.asked.length === 4);
  isHeld = true;
  await one.close();
  await until("the other one looks", () => looked.length === 1);
  released.length = 0;
  const closed = other.close();
  await until("it has let go of its own", () => released.length === 1).finally(held.resolve);
  await closed;
  assert.equal(looked.length, 1);
});

test("an agent that is stored in the moment its server is told to end is left to the next one [L2][A1]", {
  timeout: 300_000,
}, async () => {
  const held = Promise.withResolvers<void>();
  let isComing = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      if (batch.events.some(({ type }) => type === "agent.spawned")) {
        isComing = true;
        await held.promise;
      }
      return storage.append(batch);
    },
  });
  await using model = await modelServer((request) =>
    firstOf(request).startsWith("go") ? calls(["delegate_task", { task: "dig" }]) : says("dug"),
  );
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  await yard.start("c");
  await must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
  await until("the agent is on its way to the disk", () => isComing);
  const closed = yard.engine.close();
  held.resolve();
  await closed;
  assert.equal(all(await yard.events("c"), "agent.spawned").length, 1);
  assert.equal(model.asked.length, 1, "nobody is asked for the new one");
});

test("what takes long at the end of a server is named in its log [Q2][O1]", { timeout: 300_000 }, async () => {
  const held = Promise.withResolvers<void>();
  let isEnding = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async close() {
      await held.promise;
      await storage.close();
    },
  });
  const clock = {
    ...systemClock,
    after: (ms: number, action: () => void) => systemClock.after(isEnding && ms === 30_000 ? 100 : ms, action),
  };
  await using yard = await startYard({ clock, wrapStorage });
  const { logsDir } = yard.config.paths;
  isEnding = true;
  const closed = yard.close();
  const line = "it takes long to end: storage is still closing after 0 s";
  await until("the log names it", async () => {
    await yard.faults();
    return globSync(join(logsDir, "*.log")).some((file) => readFileSync(file, "utf8").includes(line));
  }).finally(held.resolve);
  await closed;
});

test("a server that is told to end while a stopped turn waits for its agents ends at once, and the next one ends them [L2][L6][A1]", async (t) => {
  const slow = heldTool("slow");
  const data = folderWith(t, {});
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("part")) return calls(["slow", {}]);
    return stepOf(request) === 0 ? calls(["spawn_agent", { role: "helper", task: "part" }]) : says("it is at it");
  });
  const first = await startYard({ model, data, tools: [slow.tool], clock: endlessClock, isOneProcess: true });
  const { id } = await first.start("c");
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("the tool of the other agent runs", () => slow.isHeld());
  await must(first.client.call("cancelTurn", { params: { id } }));
  await until("it is to end, too", async () => all(await first.events(id), "cancel.asked").length === 2);
  const closed = first.engine.close();
  slow.release();
  await closed;
  await first[Symbol.asyncDispose]();
  await using yard = await startYard({ model, data, tools: [slow.tool], isOneProcess: true });
  const { outcome, events } = await yard.whenAtRest(id);
  assert.deepEqual([outcome, all(events, "agent.ended").map((end) => end.outcome)], ["cancelled", ["terminated"]]);
});
