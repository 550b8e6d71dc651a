import assert from "node:assert/strict";
import { test } from "node:test";
import { noted } from "../../test/world/partly.ts";
import { systemClock } from "../base/clock.ts";
import type { LogEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId, localOwner } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { searchHistory } from "./search-history.ts";

type Parts = Parameters<typeof searchHistory>[0];

const rowOf = (number: number): ConversationRow => ({
  ...{ number, owner: localOwner, id: ConversationId.parse(`c${number}`), title: "", lastMessage: "" },
  ...{
    turns: 1,
    createdAt: 0,
    updatedAt: 0,
    deletedAt: undefined,
    origin: "person",
    isPassing: false,
    agentId: undefined,
    appKey: undefined,
    readIndex: 0,
    isPinned: false,
    seenAt: undefined,
    cursor: "",
  },
});
const said = (seq: number, text: string): LogEvent => ({
  ...{ type: "message.user", seq, at: seq, id: `m${seq}`, text, mode: "queue" },
});

/** The first conversation is the one that asks. */
function partsOf(logs: readonly (readonly LogEvent[])[], more: { heads?: readonly number[]; msPerRead?: number } = {}) {
  const read: number[] = [];
  let now = 0;
  const parts: Parts = {
    clock: { ...systemClock, monotonic: () => now },
    lookup: noIndex,
    log: {
      ...unused,
      list: async () => logs.map((_, index) => rowOf(index)).toReversed(),
      headOf: async (number) => more.heads?.[number] ?? logs[number]?.length ?? 0,
      async effective(number) {
        read.push(number);
        now += more.msPerRead ?? 0;
        return [...(logs[number] ?? [])];
      },
    },
  };
  return { parts, read };
}

/** Where it can be used is a story: test/stories/search-everything.test.ts. */
const noIndex: Parts["lookup"] = {
  find: () => assert.fail("only what was said is looked for"),
  said: async () => failure("index_unavailable", { why: "full" }),
  forget: () => {},
  close: async () => {},
};

const never = () => assert.fail("only read");
const unused: Parts["log"] = {
  ...{ append: never, read: never, headOf: never, onAppend: never, history: never, apply: never, insert: never },
  tree: never,
  ...{ effective: never, createConversation: never, find: never, findByPrefix: never, list: never, rename: never },
  mark: never,
  markRead: never,
};

const search = (parts: Parts, words: readonly string[], hitsMax = 5) =>
  searchHistory(parts, rowOf(0), { words, hitsMax, signal: new AbortController().signal });

test("without an index: this conversation comes first, then the others, in each the newest; what is not shown is counted [Z3]", async () => {
  const { parts, read } = partsOf([
    [said(1, "tea one"), said(2, "coffee"), said(3, "Tea two")],
    [said(1, "tea three")],
    [said(1, "tea four")],
  ]);
  const { hits, ...found } = await search(parts, ["TEA"], 3);
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

test("a search ends after some time, and before logs that are too long; its own is always read [Z3]", async () => {
  const logs = [[said(1, "tea")], [said(1, "tea")], [said(1, "tea")]];
  const slow = await search(partsOf(logs, { msPerRead: 6_000 }).parts, ["tea"]);
  assert.deepEqual([slow.total, slow.conversations, slow.isStopped], [2, 2, true]);
  const long = await search(partsOf(logs, { heads: [500_000, 1, 1] }).parts, ["tea"]);
  assert.deepEqual([long.total, long.conversations, long.isStopped], [1, 1, true]);
});

test("of very long lines only the part around the word is shown, never half a character [Z3]", async () => {
  const { parts } = partsOf([[said(1, `${"😀".repeat(5_000)} tea ${"汉".repeat(5_000)}`)]]);
  const [hit] = (await search(parts, ["tea"])).hits;
  assert.ok(hit?.text.includes(" tea ") && hit.text.isWellFormed() && hit.text.length < 310);
});

test("what tools only repeated, and messages that were taken back, are not found [Z3]", async () => {
  const usage = { input: 1, output: 1 };
  const answer = { turn: 1, step: 1, text: "", finish: "tool_calls", usage, durationMs: 1 } as const;
  const call = (id: string, name: string) => ({ id, name, arguments: "{}" });
  const { parts } = partsOf([
    [
      said(1, "tea taken back"),
      { type: "message.withdrawn", seq: 2, at: 2, id: "m1" },
      { type: "message.assistant", seq: 3, at: 3, ...answer, calls: [call("1", "look"), call("2", "search_history")] },
      { type: "call.finished", seq: 4, at: 4, call: "1", outcome: "ok", text: "tea in a file" },
      { type: "call.finished", seq: 5, at: 5, call: "2", outcome: "ok", text: "tea again" },
    ],
  ]);
  assert.deepEqual((await search(parts, ["tea"])).hits, [
    { conversation: undefined, at: 4, who: { tool: "look" }, text: "tea in a file" },
  ]);
});

test("without an index the newest 200 conversations are looked through, 100,000 events and ten seconds, to the last one; who stops it is heard [Z3][Q1]", async () => {
  const many = (count: number) => Array.from({ length: count }, () => [said(1, "tea")]);
  const listed = async (count: number) => {
    const { parts } = partsOf(many(count));
    const { list } = parts.log;
    const asked: unknown[] = [];
    const log = { ...parts.log, list: (...given: Parameters<typeof list>) => noted(asked, given, list(...given)) };
    const { isStopped, conversations } = await search({ ...parts, log }, ["tea"]);
    assert.deepEqual(asked, [[localOwner, { limit: 200 }]]);
    return [conversations, isStopped];
  };
  assert.deepEqual(
    [await listed(199), await listed(200)],
    [
      [199, false],
      [200, true],
    ],
  );
  const readOf = async (more: Parameters<typeof partsOf>[1], signal = new AbortController().signal) => {
    const { parts } = partsOf(many(3), more);
    const found = await searchHistory(parts, rowOf(0), { words: ["tea"], hitsMax: 5, signal });
    return [found.conversations, found.isStopped];
  };
  assert.deepEqual(await readOf({ heads: [1, 9_999, 90_000] }), [3, false]);
  assert.deepEqual(await readOf({ heads: [1, 10_000, 90_000] }), [2, true]);
  assert.deepEqual(await readOf({ msPerRead: 5_000 }), [3, false]);
  assert.deepEqual(await readOf({ msPerRead: 5_001 }), [2, true]);
  assert.deepEqual(await readOf({}, AbortSignal.abort()), [1, true]);
});

test("what is found has all of the words, and is shown by the line that has most of them, with two lines before and behind it [Z3]", async () => {
  const lines = ["0", "1 tea", "2", "3", "4 tea and cake", "5", "6", "7 cake"];
  const { parts } = partsOf([
    [said(1, "only tea"), said(2, lines.join("\n"))],
    [said(1, "cake"), said(2, "cake, tea")],
  ]);
  const { hits, total } = await search(parts, ["tea", "cake"]);
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
  const first = await search(partsOf([[said(1, "tea\n1\n2\n3")]]).parts, ["tea"]);
  assert.equal(first.hits[0]?.text, "tea\n1\n2");
});
