import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answer, step } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import { openDriver } from "./driver.ts";
import { leftOver } from "./left-over.testing.ts";
import type { SaidAgain } from "./loop.ts";
import { openSayAgain } from "./say-again.ts";

const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const turn = (number: number, message: string): NewEvent[] => [
  { type: "turn.started", turn: number, message, epoch: 1 },
  ...[step(1), answer(number, [])],
  { type: "turn.finished", turn: number, outcome: "done" },
];

/** A conversation in which this was said; `appended`: what was to be stored for saying it again. */
async function saying(t: TestContext, events: readonly NewEvent[], refuse?: (real: Storage) => Promise<unknown>) {
  const appended: Parameters<Storage["append"]>[0][] = [];
  const wrap = (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      if (batch.expectedHead === undefined) return real.append(batch);
      appended.push(batch);
      const refused = await refuse?.(real);
      return refused === undefined ? real.append(batch) : failure("storage_full", {});
    },
  });
  const { parts, start, clock, homes } = await leftOver(t, { wrap });
  const woken: string[] = [];
  // It lives with another server, which is asked for when it is woken.
  Object.assign(homes, { holds: async (key: string) => woken.push(key) < 0 });
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const row = await start("c", ...events);
  clock.move(8);
  const { sayAgain } = openSayAgain(parts, driver);
  const again = (message: string, wanted: Partial<SaidAgain> = {}) =>
    sayAgain(row, message, { cause: "regenerate", ...wanted });
  const last = async () => (await parts.log.read(row.number, { after: 0, limit: 100 })).at(-1);
  return { parts, row, again, appended, woken, last };
}

test("the way back and the message are stored at once, with what the list shows and the wish to be answered, and then it is answered [C4][L2]", async (t) => {
  const events = [said("a"), ...turn(1, "a"), said("b"), said("c"), ...turn(2, "b"), ...turn(3, "c")];
  const { again, appended, woken, parts, row } = await saying(t, events);
  const answered = await again("b", { id: "once", run: "r" });
  assert.deepEqual([answered, woken], [{ ok: true, value: { message: "b", seq: 19 } }, [`c:${row.number}`]]);
  const [batch, ...more] = appended;
  assert.deepEqual(
    [batch?.events.map(({ type, body }) => [type, JSON.parse(body)]), batch?.expectedHead, batch?.with, more],
    [
      [
        ["rewound", { to: 7, cause: "regenerate" }],
        ["message.withdrawn", { id: "b" }],
        ["message.withdrawn", { id: "c" }],
        ["message.user", { id: "b", text: "b", mode: "queue", run: "r" }],
      ],
      15,
      { row: { lastMessage: "answer 1", updatedAt: 8 }, received: "once", wake: { notBefore: 0 } },
      [],
    ],
  );
  assert.equal((await parts.log.find(row.owner, "c")).ok, true);
  assert.deepEqual(await again("b", { id: "once" }), answered, "under its id it was done before");
  assert.deepEqual([appended.length, woken.length], [1, 1]);
});

test("where others write before each look it is given up after fifty, and what cannot be stored is told at once; nobody is woken [C4][Q2]", async (t) => {
  const place = await saying(t, [said("a"), ...turn(1, "a")], async (real) => {
    const body = JSON.stringify({ title: "x" });
    const event = { type: "conversation.renamed" as const, version: 1, at: 0, body };
    await real.append({ number: 1, events: [event] });
  });
  const moved = await place.again("a");
  assert.deepEqual([moved.ok || moved.failure.code, place.appended.length, place.woken], ["log_moved", 50, []]);
  const full = await saying(t, [said("a"), ...turn(1, "a")], async () => "full");
  const refused = await full.again("a");
  assert.deepEqual([refused.ok || refused.failure.code, full.appended.length, full.woken], ["storage_full", 1, []]);
});

test("a message is said again as it was but for what is to be another, and is about code only where its files still are [C4][M2]", async (t) => {
  const chosen = ["/workspace/c/uploads/a.py"];
  const selected = { root: "/workspace/c/uploads/temparea/", session: "sess-local", files: chosen };
  const file = { path: "uploads/x.py", name: "x.py", type: "python", bytes: 3 };
  const first = { text: "go", mode: "steer", slot: "reasoning", run: "old", reply: "r", hints: ["code"] };
  const repeated = async (more: object, wanted: Partial<SaidAgain>) => {
    const { again, last, parts, row } = await saying(t, [said("a", { ...first, ...more }), ...turn(1, "a")]);
    assert.ok((await parts.workspaces.ofConversation(row).write("uploads/temparea/a.py", "1")).ok);
    assert.ok((await again("a", wanted)).ok);
    const { seq: _, at: __, ...event } = (await last()) ?? assert.fail();
    return event;
  };
  const kept = { type: "message.user", id: "a", text: "go", mode: "queue", slot: "reasoning", reply: "r" };
  assert.deepEqual(await repeated({}, {}), kept);
  assert.deepEqual(await repeated({ selected }, {}), { ...kept, selected, hints: ["code"] });
  assert.deepEqual(await repeated({ selected }, { selected: [] }), kept);
  assert.deepEqual(await repeated({}, { selected: ["a.py", "a.py"] }), {
    ...{ ...kept, hints: ["code"] },
    selected: { ...selected, files: ["/workspace/c/uploads/temparea/a.py"] },
  });
  const files = { files: [file], text: "go\n[x.py]", own: 2 };
  assert.deepEqual(await repeated(files, { text: "stay", run: "new" }), {
    ...{ ...kept, ...files, text: "stay\n[x.py]", own: 4, run: "new", hints: ["code"] },
  });
  assert.deepEqual(await repeated(files, {}), { ...kept, ...files, hints: ["code"] });
});

test("only what a turn of the main agent answered can be said again, and as it was said last [C4][A1]", async (t) => {
  const events: NewEvent[] = [
    ...[said("a"), ...turn(1, "a")],
    ...[{ type: "rewound", to: 0, cause: "edit" } as const, said("a", { text: "A" }), ...turn(2, "a")],
    ...[said("b"), { type: "turn.started", turn: 3, message: "b", epoch: 1 } as const],
    { type: "agent.spawned", id: "w", mode: "task", role: "writer", brief: "write" },
    { type: "turn.started", agent: "w", turn: 1, message: "w-brief", epoch: 1 },
    { type: "turn.finished", turn: 3, outcome: "done" },
  ];
  const { again, last, appended } = await saying(t, events);
  for (const id of ["w-brief", "c"]) {
    const unknown = await again(id);
    assert.deepEqual([unknown.ok || [unknown.failure.code, unknown.failure.params]], [["message_not_found", { id }]]);
  }
  assert.equal(appended.length, 0);
  assert.ok((await again("a")).ok);
  const message = await last();
  assert.equal(message?.type === "message.user" && message.text, "A");
});
