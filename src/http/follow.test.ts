import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { writtenTurn } from "../../test/world/written-turn.ts";
import { failed } from "../base/result.ts";
import type { NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import { follow } from "./follow.ts";

type Written = Awaited<ReturnType<typeof writtenTurn>>;

/** Reads in the background from a place in the log on; `news` has the kinds of frames that came since the last time. */
function reading({ view }: Pick<Written, "view">, seq: number) {
  const [gone, closing] = [new AbortController(), new AbortController()];
  const after = { seq, answer: undefined, outputs: new Map<string, number>() };
  const seen: string[] = [];
  const done = (async () => {
    const frames = follow({ ...view, after, signal: gone.signal, closing: closing.signal });
    for await (const batch of frames) seen.push(...batch.map(({ frame }) => frame));
  })();
  return {
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
