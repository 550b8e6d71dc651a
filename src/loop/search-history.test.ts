import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { leftOver } from "./left-over.testing.ts";
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

test("without an index: this conversation comes first, then the others, in each the newest; what is not shown is counted [Z3]", async (t) => {
  const { search, read } = await talks(t, [
    [said("tea one"), said("coffee", "m2"), said("Tea two", "m3")],
    [said("tea three")],
    [said("tea four")],
  ]);
  const { hits, ...found } = await search(["TEA"], 3);
  assert.deepEqual(
    hits.map(({ conversation, text }) => [conversation?.id, text]),
    [
      [undefined, "Tea two"],
      [undefined, "tea one"],
      ["c2", "tea four"],
    ],
  );
  assert.deepEqual(found, { total: 4, conversations: 3, isStopped: false });
  assert.deepEqual(read, [0, 2, 1]);
});

test("a search ends after some time, and before logs that are too long; its own is always read [Z3]", async (t) => {
  const logs = [[said("tea")], [said("tea")], [said("tea")]];
  const slow = await (await talks(t, logs, { msPerRead: 6_000 })).search(["tea"]);
  assert.deepEqual([slow.total, slow.conversations, slow.isStopped], [2, 2, true]);
  const long = await (await talks(t, logs, { heads: [500_000, 1, 1] })).search(["tea"]);
  assert.deepEqual([long.total, long.conversations, long.isStopped], [1, 1, true]);
});

test("of very long lines only the part around the word is shown, never half a character [Z3]", async (t) => {
  const { search } = await talks(t, [[said(`${"😀".repeat(5_000)} tea ${"汉".repeat(5_000)}`)]]);
  const [hit] = (await search(["tea"])).hits;
  assert.ok(hit?.text.includes(" tea ") && hit.text.isWellFormed() && hit.text.length < 310);
});

test("what tools only repeated, and messages that were withdrawn, are not found [Z3]", async (t) => {
  const usage = { input: 1, output: 1 };
  const answer = { turn: 1, step: 1, text: "", finish: "tool_calls", usage, durationMs: 1 } as const;
  const call = (id: string, name: string) => ({ id, name, arguments: "{}" });
  const { search } = await talks(t, [
    [
      said("tea taken back"),
      { type: "message.withdrawn", id: "m1" },
      { type: "message.assistant", ...answer, calls: [call("1", "look"), call("2", "search_history")] },
      { type: "call.finished", call: "1", outcome: "ok", text: "tea in a file" },
      { type: "call.finished", call: "2", outcome: "ok", text: "tea again" },
    ],
  ]);
  assert.deepEqual((await search(["tea"])).hits, [
    { conversation: undefined, at: 1, who: { tool: "look" }, text: "tea in a file" },
  ]);
});

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
