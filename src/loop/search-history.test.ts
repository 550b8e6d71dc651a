import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { leftOver } from "./loop.testing.ts";
import type { Parts } from "./parts.ts";
import { searchHistory } from "./search-history.ts";

const said = (text: string, id = "m1"): NewEvent => ({ type: "message.user", id, text, mode: "queue" });

type More = { readonly heads?: readonly number[]; readonly msPerRead?: number };

/** Conversations `c0`, `c1` and so on, each a moment after the one before. The first one asks. */
async function talks(t: TestContext, logs: readonly (readonly NewEvent[])[], { heads, msPerRead = 0 }: More = {}) {
  const { parts: all, start, clock } = await leftOver(t);
  const rows: Awaited<ReturnType<typeof start>>[] = [];
  for (const [index, events] of logs.entries()) {
    clock.move(1);
    rows.push(await start(`c${index}`, ...events));
  }
  const read: number[] = [];
  const { log, lookup } = all;
  const parts: Pick<Parts, "log" | "clock" | "lookup"> = {
    clock,
    // Where it can be used is a story: test/stories/search-everything.test.ts.
    lookup: { ...lookup, said: async () => failure("index_unavailable", { why: "full" }) },
    log: {
      ...log,
      headOf: async (number) => heads?.[number - 1] ?? log.headOf(number),
      effective(number, to) {
        read.push(number - 1);
        clock.move(msPerRead);
        return log.effective(number, to);
      },
    },
  };
  const search = (words: readonly string[], hitsMax = 5, signal = new AbortController().signal) =>
    searchHistory(parts, rows[0] ?? assert.fail(), { words, hitsMax, signal });
  return { search, read };
}

test("without an index the newest 200 conversations are looked through, 100,000 events and ten seconds, to the last one; who stops it is heard [Z3][Q1]", async (t) => {
  const many = (count: number) => Array.from({ length: count }, () => [said("tea")]);
  const found = async (count: number, more: More = {}, signal?: AbortSignal) => {
    const { search } = await talks(t, many(count), more);
    const { conversations, isStopped } = await search(["tea"], 5, signal);
    return [conversations, isStopped];
  };
  assert.deepEqual(
    [await found(199), await found(200), await found(201)],
    [
      [199, false],
      [200, true],
      [201, true],
    ],
  );
  assert.deepEqual(await found(3, { heads: [1, 9_999, 90_000] }), [3, false]);
  assert.deepEqual(await found(3, { heads: [1, 10_000, 90_000] }), [2, true]);
  assert.deepEqual(await found(3, { msPerRead: 5_000 }), [3, false]);
  assert.deepEqual(await found(3, { msPerRead: 5_001 }), [2, true]);
  assert.deepEqual(await found(3, {}, AbortSignal.abort()), [1, true]);
});

test("what is found has all of the words, and is shown by the line that has most of them, with two lines before and behind it [Z3]", async (t) => {
  const lines = ["0", "1 tea", "2", "3", "4 tea and cake", "5", "6", "7 cake"];
  const { search } = await talks(t, [
    [said("only tea"), said(lines.join("\n"), "m2")],
    [said("cake"), said("cake, tea", "m2")],
  ]);
  const { hits, total } = await search(["tea", "cake"]);
  assert.deepEqual(
    [hits.map(({ text, conversation }) => [conversation?.id, text.split("\n")]), total],
    [
      [
        [undefined, ["2", "3", "4 tea and cake", "5", "6"]],
        ["c1", ["cake, tea"]],
      ],
      2,
    ],
  );
  const first = await (await talks(t, [[said("tea\n1\n2\n3")]])).search(["tea"]);
  assert.equal(first.hits[0]?.text, "tea\n1\n2");
});
