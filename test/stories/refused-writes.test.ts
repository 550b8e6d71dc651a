import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result } from "../../src/base/result.ts";
import { type Failure, failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const codeOf = async (done: Promise<Result<unknown, Failure>>) => {
  const { ok, ...how } = await done;
  return ok || !("failure" in how) ? "done" : how.failure.code;
};

test("who says something, withdraws it, stops a turn or loads a tool and cannot be written down hears that, and nothing of it has happened [Q2][L6][L7]", async () => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append: async (batch) => (isFull ? failure("storage_full", {}) : storage.append(batch)),
  });
  const held = Promise.withResolvers<void>();
  await using model = await modelServer(() => ({ ...says("fine"), heldUntil: held.promise }));
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const { engine } = yard;
  const row = await yard.start("c");
  await must(engine.send(row, { id: "one", text: "one", mode: "queue" }));
  await until("the model is asked", () => model.asked.length === 1);
  await must(engine.send(row, { id: "two", text: "two", mode: "queue" }));
  isFull = true;
  const told = [
    await codeOf(engine.send(row, { id: "three", text: "three", mode: "queue" })),
    await codeOf(engine.withdraw(row, "two")),
    await codeOf(engine.cancel(row, { message: "two" })),
    await codeOf(engine.cancel(row, { turn: 1 })),
    await codeOf(engine.cancel(row)),
    await codeOf(engine.loadTool(row, "search_history")),
  ];
  isFull = false;
  assert.deepEqual(told, Array(told.length).fill("storage_full"));
  held.resolve();
  await until("both are answered", async () => all(await yard.events(row.id), "turn.finished").length === 2);
  const events = await yard.events(row.id);
  assert.deepEqual(
    [all(events, "message.user").map(({ id }) => id), all(events, "turn.finished").map(({ outcome }) => outcome)],
    [
      ["one", "two"],
      ["done", "done"],
    ],
  );
});

test("a memory that cannot be stored, changed or deleted is told as such to whoever tries, and the list is as before [Z4][Q2]", async () => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    putMemory: async (row) => (isFull ? failure("storage_full", {}) : storage.putMemory(row)),
    dropMemory: async (...which) => (isFull ? failure("storage_full", {}) : storage.dropMemory(...which)),
  });
  await using model = await modelServer([calls(["remember", { fact: "likes coffee" }]), says("sorry")]);
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const { engine } = yard;
  const { id } = await must(engine.addMemory(localOwner, "likes tea"));
  const before = await engine.memory(localOwner);
  isFull = true;
  const told = [
    await codeOf(engine.addMemory(localOwner, "likes milk")),
    await codeOf(engine.changeMemory(localOwner, id, "likes water")),
    await codeOf(engine.forgetMemory(localOwner, id)),
  ];
  await yard.start("c");
  const { events } = await yard.ask("remember it", { conversation: "c" });
  isFull = false;
  assert.deepEqual(told, Array(told.length).fill("storage_full"));
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome, failure: why }) => [outcome, why?.code]),
    [["error", "storage_full"]],
  );
  assert.deepEqual(await engine.memory(localOwner), before);
});

test("a stop that is written down while its turn ends by itself leaves the next turn alone [L6][L7]", async () => {
  let next: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (batch.events.some(({ type }) => type === "cancel.asked")) await next?.();
      return stored;
    },
  });
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using model = await modelServer(() => ({
    ...says("fine"),
    heldUntil: held[model.asked.length - 1]?.promise ?? Promise.resolve(),
  }));
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.engine.send(row, { text: "one", mode: "queue" }));
  await until("the model is asked", () => model.asked.length === 1);
  await must(yard.engine.send(row, { text: "two", mode: "queue" }));
  next = () => {
    held[0]?.resolve();
    return until("the next turn is at work", () => model.asked.length === 2);
  };
  assert.deepEqual(await must(yard.engine.cancel(row, { turn: 1 })), { turn: 1 });
  held[1]?.resolve();
  await until("both are over", async () => all(await yard.events(row.id), "turn.finished").length === 2);
  const last = all(await yard.events(row.id), "turn.finished").at(-1);
  assert.deepEqual([last?.turn, last?.outcome, model.asked.length], [2, "done", 2], "its model is asked once");
});

test("a turn that ends while a message waits leaves the conversation to be taken up, and the last one does not; the list is told of the main agent's turns alone [L2][L7][A2]", async () => {
  const ends: unknown[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const end = batch.events.find(({ type }) => type === "turn.finished");
      const doneAtHead = await storage.headOf(batch.number);
      const { wake, row } = batch.with ?? {};
      const isDone = wake !== undefined && "doneAtHead" in wake && wake.doneAtHead === doneAtHead;
      if (end !== undefined) ends.push([JSON.parse(end.body).agent === undefined, row?.turns, wake && isDone]);
      return storage.append(batch);
    },
  });
  const held = Promise.withResolvers<void>();
  await using model = await modelServer(({ body }) => {
    const text = JSON.stringify(body.messages.at(-1));
    if (text.includes("delegate")) return calls(["delegate_task", { task: "look" }]);
    return { ...says("fine. ".repeat(60)), heldUntil: held.promise };
  });
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.engine.send(row, { text: "delegate", mode: "queue" }));
  await until("the worker is at work", () => model.asked.length === 2);
  await must(yard.engine.send(row, { text: "two", mode: "queue" }));
  held.resolve();
  await until("all is done", async () => ends.length === 3);
  assert.deepEqual(ends, [
    [false, undefined, undefined],
    [true, 1, undefined],
    [true, 2, true],
  ]);
});
