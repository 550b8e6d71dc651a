import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result } from "../../src/base/result.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { type Failure, failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const said = (id: string): NewEvent => ({ type: "message.user", id, text: `the words of ${id}`, mode: "queue" });

const started = (turn: number, message: string, agent?: string): NewEvent => ({
  ...{ type: "turn.started", turn, message, epoch: 1 },
  ...(agent === undefined ? {} : { agent }),
});

const finished = (turn: number, agent?: string): NewEvent => ({
  ...{ type: "turn.finished", turn, outcome: "done" },
  ...(agent === undefined ? {} : { agent }),
});

const whole = (turn: number, message: string) => [said(message), started(turn, message), finished(turn)];

type AppendBatch = Parameters<Storage["append"]>[0];

const isRewound = ({ events }: AppendBatch) => events.some(({ type }) => type === "rewound");

/** Something that others do in the moment in which this server takes the conversation for something between turns. */
function meeting() {
  const met: { deed?: (() => Promise<unknown>) | undefined } = {};
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      const { deed } = met;
      met.deed = undefined;
      await deed?.();
      return storage.claimLease(...given);
    },
  });
  return { met, wrapStorage };
}

test("a turn in which helpers had turns of their own is undone as a whole, up to the words that began it [W12][A1]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const helper: NewEvent = { type: "agent.spawned", id: "w1", mode: "worker", role: "writer", brief: "write" };
  await must(yard.log.append(row.number, whole(1, "m1")));
  const before = await yard.log.headOf(row.number);
  const inside = [helper, started(1, "w1-brief", "w1"), finished(1, "w1")];
  const ended: NewEvent = { type: "agent.ended", id: "w1", outcome: "done" };
  await must(yard.log.append(row.number, [said("m2"), started(2, "m2"), ...inside, ended, finished(2)]));
  const undone = await must(yard.engine.undo(row));
  assert.deepEqual(undone, { turn: 2, message: "the words of m2", restored: [], left: [] });
  assert.deepEqual(
    all(await yard.events("c"), "rewound").map(({ to }) => to),
    [before],
  );
});

test("a turn that came and went, or is about to come, while a conversation is taken for undo is not undone in place of the one that was meant [W12][L7]", async () => {
  for (const meanwhile of [whole(2, "m2"), [said("m2")]]) {
    const { met, wrapStorage } = meeting();
    await using yard = await startYard({ wrapStorage, isOneProcess: true });
    const row = await yard.start("c");
    await must(yard.log.append(row.number, whole(1, "m1")));
    met.deed = () => must(yard.log.append(row.number, meanwhile));
    const undone = await yard.engine.undo(row);
    assert.deepEqual(
      [undone.ok || undone.failure.code, all(await yard.events("c"), "rewound")],
      ["conversation_busy", []],
    );
  }
});

test("a conversation is deleted when its turn has ended; where that cannot be stored it is said so, and it is still there [L9][L2][Q2]", async () => {
  const order: string[] = [];
  const released = Promise.withResolvers<void>();
  const releasing = Promise.withResolvers<void>();
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isDeleted = batch.events.some(({ type }) => type === "conversation.deleted");
      if (isDeleted && isFull) return failure("storage_full", {});
      if (isDeleted) order.push("deleted");
      return storage.append(batch);
    },
    async releaseLease(...given) {
      releasing.resolve();
      await released.promise;
      order.push("let go");
      return storage.releaseLease(...given);
    },
  });
  const asked = Promise.withResolvers<void>();
  await using model = await modelServer(() => {
    asked.resolve();
    return { text: "never", fault: { after: 1, kind: "stall" } };
  });
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const other = await yard.start("other");
  isFull = true;
  const refused = await yard.engine.remove(other);
  assert.equal(refused.ok || refused.failure.code, "storage_full");
  await must(yard.log.find(other.owner, "other"));
  isFull = false;
  const row = await yard.start("c");
  await must(yard.engine.send(row, { text: "go", mode: "queue" }));
  await asked.promise;
  const gone = yard.engine.remove(row);
  await releasing.promise;
  await new Promise((resolve) => setImmediate(resolve));
  const before = [...order];
  released.resolve();
  await must(gone);
  assert.deepEqual([before, order], [[], ["let go", "deleted"]]);
});

test("where others write without end, saying it again gives up and says why [C4][Q2]", async () => {
  let tries = 0;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      if (!isRewound(batch)) return storage.append(batch);
      tries += 1;
      return tries > 500 ? failure("storage_full", {}) : failure("log_moved", {});
    },
  });
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, whole(1, "m1")));
  const again = await yard.engine.sayAgain(row, "m1", { cause: "regenerate" });
  assert.equal(again.ok || again.failure.code, "log_moved");
});

type Answered = { readonly ok: true } | { readonly ok: false; readonly failure: { readonly code: string } };

type Deed = {
  readonly name: string;
  /** Of the event that it stores. */
  readonly type: string;
  readonly does: (engine: TestYard["engine"], row: ConversationRow) => Promise<Answered>;
};

const newestPlace = async (engine: TestYard["engine"], row: ConversationRow) =>
  (await engine.checkpoints(row)).at(-1)?.checkpoint ?? 0;

/** What people do between turns, each as it can be done after those above it. */
const deeds: readonly Deed[] = [
  { name: "save a place", type: "checkpoint.saved", does: (engine, row) => engine.saveCheckpoint(row, "here") },
  {
    ...{ name: "go back to a place", type: "rewound" },
    does: async (engine, row) => engine.restoreCheckpoint(row, await newestPlace(engine, row)),
  },
  {
    ...{ name: "delete a place", type: "checkpoint.deleted" },
    does: async (engine, row) => engine.deleteCheckpoint(row, await newestPlace(engine, row)),
  },
  { name: "make room", type: "compacted", does: (engine, row) => engine.compact(row, { strategy: "summarize" }) },
  { name: "undo that", type: "compaction.undone", does: (engine, row) => engine.undoCompaction(row) },
  { name: "set a budget", type: "budget.set", does: (engine, row) => engine.setBudget(row, { steps: 9 }) },
  { name: "name an agent", type: "agent.chosen", does: (engine, row) => engine.chooseAgent(row, { appKey: "shop" }) },
  { name: "undo the last turn", type: "rewound", does: (engine, row) => engine.undo(row) },
  { name: "forget everything", type: "rewound", does: (engine, row) => engine.reset(row) },
];

/** So many that there is something to sum up. */
const turns = 10;

/** The same once more, as another turn. */
const asTurn =
  (turn: number) =>
  ({ seq: _, at: __, ...event }: LogEvent): NewEvent => {
    if (event.type === "message.user") return { ...event, id: `m${turn}` };
    if (event.type === "turn.started") return { ...event, turn, message: `m${turn}` };
    return "turn" in event ? { ...event, turn } : event;
  };

/** The codes that each of them is answered with while storage goes wrong at what it stores, and when it is tried again. */
async function answersOf(chosen: readonly Deed[], goesWrong: (storage: Storage) => GoingWrong) {
  let wrong: string | undefined;
  const wrapStorage = (storage: Storage): Storage => {
    const { append, ...others } = goesWrong(storage);
    const isMeant = (type: string) => type === wrong;
    return {
      ...{ ...storage, ...others },
      append: (batch) => (batch.events.some(({ type }) => isMeant(type)) ? append(batch) : storage.append(batch)),
    };
  };
  await using model = await modelServer(() => says("I see. ".repeat(200)));
  await using yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  const { events } = await yard.ask("part", { conversation: "c" });
  for (let turn = 2; turn <= turns; turn += 1) await must(yard.log.append(row.number, events.map(asTurn(turn))));
  const codes: Record<string, string[]> = {};
  for (const { name, type, does } of chosen) {
    const before = await yard.events("c");
    wrong = type;
    const refused = await does(yard.engine, row);
    assert.deepEqual(await yard.events("c"), before, `${name}: nothing was stored`);
    wrong = undefined;
    const again = await does(yard.engine, row);
    codes[name] = [refused, again].map((answer) => (answer.ok ? "done" : answer.failure.code));
  }
  return codes;
}

type GoingWrong = Pick<Storage, "append"> & Partial<Storage>;

test("what people do between turns and cannot be stored is told to them as the failure that it is, and can be done again [L9][Q2][Z2]", async () => {
  const codes = await answersOf(deeds, () => ({ append: async () => failure("storage_full", {}) }));
  assert.deepEqual(codes, Object.fromEntries(deeds.map(({ name }) => [name, ["storage_full", "done"]])));
});

test("what another server has taken over meanwhile is not changed by the one that had it, whatever a person does there between turns [L2][L9][N1][Z2]", async () => {
  const takenOver = (storage: Storage): GoingWrong => {
    let mine = { holder: "", epoch: 0 };
    return {
      async claimLease(number, holder, ttlMs) {
        const claimed = await storage.claimLease(number, holder, ttlMs);
        if (claimed.ok) mine = { holder, epoch: claimed.value.epoch };
        return claimed;
      },
      async append(batch) {
        await storage.releaseLease(batch.number, mine);
        const theirs = await must(storage.claimLease(batch.number, "another server", 60_000));
        const stored = await storage.append(batch);
        await storage.releaseLease(batch.number, { holder: "another server", epoch: theirs.epoch });
        return stored;
      },
    };
  };
  const held = deeds.filter(({ type }) => ["rewound", "compacted", "compaction.undone"].includes(type));
  const codes = await answersOf(held, takenOver);
  assert.deepEqual(codes, Object.fromEntries(held.map(({ name }) => [name, ["fenced", "done"]])));
});

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
