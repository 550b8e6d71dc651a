import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result } from "../../src/base/result.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { type Failure, failure } from "../../src/protocol/failure.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { all, until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

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
