import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool, type FormAnswer } from "../../src/tools/tools.ts";
import { inboxOf, say } from "../world/decisions.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("when something between turns breaks down in the middle, the conversation is free again, and what was said meanwhile is answered [L9][L7][Q2]", async () => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      if (!batch.events.some(({ type }) => type === "rewound")) return storage.append(batch);
      await meanwhile?.();
      throw new Error("the disk is gone");
    },
  });
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  meanwhile = () => must(yard.engine.send(row, { text: "and this", mode: "queue" }));
  await assert.rejects(yard.engine.reset(row), /the disk is gone/);
  assert.equal((await yard.whenAtRest("c")).answer, "fine");
});

test("why nothing can be done between turns is told: another server has the conversation, storage is full, or this one ends [L9][N1][Q2]", async () => {
  let isFull = false;
  let stored: Storage | undefined;
  const wrapStorage = (storage: Storage): Storage => {
    stored = storage;
    const claimLease: Storage["claimLease"] = async (...given) =>
      isFull ? failure("storage_full", {}) : storage.claimLease(...given);
    return { ...storage, claimLease };
  };
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  const reset = async () => {
    const done = await yard.engine.reset(row);
    return done.ok ? "done" : done.failure.code;
  };
  const lease = await stored?.claimLease(row.number, "another server", 60_000);
  const elsewhere = await reset();
  await stored?.releaseLease(row.number, { holder: "another server", epoch: lease?.ok ? lease.value.epoch : 0 });
  isFull = true;
  const full = await reset();
  isFull = false;
  const free = await reset();
  await yard.engine.close();
  assert.deepEqual(
    [elsewhere, full, free, await reset()],
    ["conversation_busy", "storage_full", "done", "conversation_busy"],
  );
});

test("a tool that asks in the middle of its call hears whether nobody could be asked, or somebody did not want to answer [H3][G1][Q2]", async () => {
  let isFull = true;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isRefused = isFull && batch.events.some(({ type }) => type === "decision.asked");
      return isRefused ? failure("storage_full", {}) : storage.append(batch);
    },
  });
  const answers: FormAnswer[] = [];
  const asking = defineTool({
    ...{ name: "book", description: "Books a table.", class: "unsafe", input: z.strictObject({}) },
    async run(_, { askForm }) {
      answers.push(await askForm({ question: "For how many?", fields: [] }));
      isFull = false;
      answers.push(await askForm({ question: "For how many?", context: "The room has 40 seats.", fields: [] }));
      return ok({ text: "booked" });
    },
  });
  await using model = await modelServer([calls(["book", {}]), says("booked")]);
  await using yard = await startYard({ model, tools: [asking], wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.engine.send(row, { text: "a table", mode: "queue" }));
  await until("somebody is asked", async () => (await inboxOf(yard)).length > 0);
  const [open, ...others] = await inboxOf(yard);
  assert.deepEqual([open?.tool, open?.context, others], ["book", "The room has 40 seats.", []]);
  assert.deepEqual(await say(yard, open, { verdict: "reject" }), []);
  await yard.whenAtRest("c");
  assert.deepEqual(answers, [{ action: "cancel" }, { action: "decline" }]);
});
