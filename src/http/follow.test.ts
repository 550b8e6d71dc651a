import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { writtenTurn } from "../../test/world/written-turn.ts";
import { failed } from "../base/result.ts";
import type { NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { PlacedFrame } from "./cursor.ts";
import { follow, pageEvents } from "./follow.ts";

type Written = Awaited<ReturnType<typeof writtenTurn>>;

/** Reads in the background from a place in the log on; `news` has the kinds of frames that came since the last time. */
function reading({ view }: Pick<Written, "view">, seq: number) {
  const [gone, closing] = [new AbortController(), new AbortController()];
  const after = { seq, answer: undefined, outputs: new Map<string, number>() };
  const seen: string[] = [];
  const whole: PlacedFrame[] = [];
  const done = (async () => {
    const frames = follow({ ...view, after, signal: gone.signal, closing: closing.signal });
    for await (const batch of frames) {
      seen.push(...batch.map(({ frame }) => frame));
      whole.push(...batch);
    }
  })();
  return {
    ...{ closing, done, whole },
    async news() {
      for (let turns = 0; turns < 10; turns += 1) await settle();
      return seen.splice(0);
    },
    async leave() {
      gone.abort();
      await done;
    },
  };
}

test("a stream of a conversation says once in fifteen seconds that it is there [C3]", async () => {
  await using yard = await writtenTurn();
  const reader = reading(yard, 0);
  assert.deepEqual(await reader.news(), ["caught_up"]);
  for (const _ of [1, 2]) {
    yard.clock.move(15_000);
    assert.deepEqual([await reader.news(), await reader.news()], [["ping"], []]);
  }
  await reader.leave();
  assert.equal(yard.left(), 0);
});

test("who comes back far in a long log hears the answer that is being written there [C3]", async () => {
  await using yard = await writtenTurn();
  const renamed = Array.from({ length: 100 }, (_, at): NewEvent => ({ type: "conversation.renamed", title: `${at}` }));
  await yard.append(
    ...renamed,
    { type: "message.user", id: "a", text: "a", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    {
      ...{ type: "step.started", turn: 1, step: 1, attempt: 1, slot: "base", model: "m", reason: "r" },
      ...{ hash: "", bytes: 0, reused: 0 },
    },
  );
  yard.begin({ turn: 1, step: 1, attempt: 1 });
  yard.say("so far");
  const reader = reading(yard, 103);
  assert.deepEqual(await reader.news(), ["caught_up", "delta"]);
  await reader.leave();
});

test("a conversation whose log is gone ends its streams as deleted [C3][S6]", async () => {
  await using yard = await writtenTurn();
  await yard.append({ type: "conversation.renamed", title: "t" });
  const missing = failed(makeFailure("conversation_not_found", { id: "c" }));
  const log = { ...yard.view.log, read: async () => [], find: async () => missing };
  const reader = reading({ view: { ...yard.view, log } }, 0);
  assert.deepEqual(await reader.news(), ["deleted"]);
  await reader.leave();
});

const named = (count: number) =>
  Array.from({ length: count }, (_, at): NewEvent => ({ type: "conversation.renamed", title: `${at}` }));

test("a log comes page by page, each event once and in order, whether it ends with a page or not [C3]", async () => {
  for (const count of [pageEvents - 1, pageEvents, pageEvents + 1, 2 * pageEvents]) {
    await using yard = await writtenTurn();
    await yard.append(...named(count));
    const head = (await yard.events()).length;
    for (const from of [0, 1, head - 1]) {
      const reader = reading(yard, from);
      await reader.news();
      const told = reader.whole.map(({ id }) => id);
      const rest = Array.from({ length: head - from }, (_, at) => `${from + at + 1}`);
      assert.deepEqual(told, [...rest, `${head}`], "and where now begins is said behind all of them");
      assert.deepEqual(reader.whole.at(-1)?.body, { frame: "caught_up", head });
      await reader.leave();
    }
    const ahead = reading(yard, head + 5);
    assert.deepEqual(await ahead.news(), ["caught_up"], "who says to have more than there is waits for that");
    assert.deepEqual(ahead.whole[0]?.id, `${head + 5}`);
    await ahead.leave();
    assert.equal(yard.left(), 0);
  }
});

test("a reader is told where to go on when the server ends, whether it waits or reads, and nobody listens any more [C3]", async () => {
  await using yard = await writtenTurn();
  await yard.append(...named(3));
  const waiting = reading(yard, 0);
  assert.deepEqual(await waiting.news(), ["event", "event", "event", "caught_up"]);
  waiting.closing.abort();
  await waiting.done;
  assert.deepEqual(waiting.whole.at(-1)?.body, { frame: "closing", after: "3" });
  const late = reading(yard, 1);
  late.closing.abort();
  await late.done;
  assert.deepEqual(
    late.whole.map(({ body }) => body),
    [{ frame: "closing", after: "1" }],
  );
  assert.equal(yard.left(), 0);
});

test("a stream ends when its conversation is deleted, and a hole in a log is no end [C3][S6]", async () => {
  await using yard = await writtenTurn();
  await yard.append(...named(2));
  const reader = reading(yard, 0);
  await reader.news();
  await yard.append(...named(1), { type: "conversation.deleted", by: "me" });
  await reader.done;
  assert.deepEqual(await reader.news(), ["event", "event", "deleted"]);
  assert.equal(yard.left(), 0);
  await using other = await writtenTurn();
  await other.append(...named(3));
  const { log } = other.view;
  const broken = {
    ...log,
    read: async (...of: Parameters<typeof log.read>) => (of[1].after === 0 ? [] : log.read(...of)),
  };
  const torn = reading({ view: { ...other.view, log: broken } }, 0);
  assert.deepEqual(await torn.news(), ["caught_up"]);
  await other.append(...named(1));
  assert.deepEqual(await torn.news(), ["event"], "what comes later is told");
  await torn.leave();
});

test("what is appended in the moment in which a stream begins comes once, and is behind the reader where now begins [C3]", async () => {
  await using yard = await writtenTurn();
  await yard.append(...named(1));
  const { log } = yard.view;
  const headOf = async (number: number) => {
    const head = await log.headOf(number);
    await yard.append(...named(1));
    return head;
  };
  const reader = reading({ view: { ...yard.view, log: { ...log, headOf } } }, 0);
  assert.deepEqual(await reader.news(), ["event", "event", "caught_up"]);
  assert.deepEqual(reader.whole.at(-1), { frame: "caught_up", body: { frame: "caught_up", head: 2 }, id: "2" });
  await reader.leave();
  assert.equal(yard.left(), 0);
});
