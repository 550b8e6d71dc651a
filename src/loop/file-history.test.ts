import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { failed, ok } from "../base/result.ts";
import type { NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openFileHistory } from "./file-history.ts";
import { keepOne } from "./tenure.testing.ts";

const state = (hash: string, bytes = 1) => ({ hash, bytes, mode: 0o644 });
const changed = (path: string, more: Partial<Extract<NewEvent, { type: "file.changed" }>> = {}): NewEvent => ({
  ...{ type: "file.changed", path, by: "tool", after: state("h"), ...more },
});

/** The history of a conversation with these events, over files that are given back so. */
async function historyOf(t: TestContext, events: readonly NewEvent[], restore?: Workspace["restore"]) {
  const { log, clock, conversation, tenure, number } = await keepOne(t, { before: events });
  await tenure.release();
  const { workspace } = await testWorkspace(t);
  const noticed: string[] = [];
  const history = openFileHistory({
    ...{ log, clock },
    workspaces: { ofConversation: () => ({ ...workspace, ...(restore && { restore }) }) },
    documents: { notice: (_, path) => void noticed.push(path) },
  });
  const of = (path: string | undefined, limit = 10) => history.fileHistory(conversation, { path, limit });
  return { ...history, of, conversation, noticed, log, clock, number };
}

test("the history of a file is told newest first: what became of it, by whom, in which turn, and whether a state can be had again [W12]", async (t) => {
  const started: NewEvent = { type: "turn.started", turn: 3, message: "m1", epoch: 1 };
  const workers: NewEvent = { ...started, turn: 1, agent: "w1" };
  const finished: NewEvent = { type: "turn.finished", turn: 3, outcome: "done" };
  const { of } = await historyOf(t, [
    ...[changed("a", { by: "upload", after: state("1", 5) }), started, workers],
    changed("a", { before: state("1", 5), after: state("2", 6), program: true, agent: "w1" }),
    { ...finished, turn: 1, agent: "w1" },
    changed("a", { before: state("2", 6), after: state("3"), lost: "too_large" }),
    ...[finished, changed("b", { by: "person" }), changed("a", { workspace: "t1", before: state("3") })],
    changed("a", { by: "person", before: state("3"), after: undefined }),
    changed("folder", { by: "person", after: undefined }),
  ]);
  const version = (seq: number, change: string, more: object = {}) => ({
    ...{ seq, at: 1, path: "a", by: "tool", turn: null, change, bytes: null, canRestore: false, ...more },
  });
  const versions = [
    version(10, "removed", { by: "person" }),
    version(6, "changed", { turn: 3, bytes: 1, canRestore: true }),
    version(4, "changed", { turn: 3, bytes: 6, agent: "w1", program: true }),
    version(1, "made", { by: "upload", bytes: 5, canRestore: true }),
  ];
  assert.deepEqual(await of("a"), versions);
  assert.deepEqual(await of("a", 2), versions.slice(0, 2));
  const newest = [versions[0], version(8, "made", { path: "b", by: "person", bytes: 1 })];
  assert.deepEqual(await of(undefined), newest);
  assert.deepEqual([await of(undefined, 1), await of("nobody")], [newest.slice(0, 1), []]);
});

test("the history of files is whole, however long a conversation is [W12][Q2]", async (t) => {
  const many = Array.from({ length: 4_001 }, (_, n) => changed(`f${n}`));
  const { of } = await historyOf(t, many);
  const all = await of(undefined, 10_000);
  assert.deepEqual([all.length, all[0]?.path, all.at(-1)?.path], [4_001, "f4000", "f0"]);
});

test("only a state of this very file that the ledger tells of is brought back, and that is told, shown in the list and found by search [W12]", async (t) => {
  const back = { path: "a", before: undefined, after: state("1"), lost: undefined };
  const asked: unknown[] = [];
  const restore: Workspace["restore"] = async (...given) => {
    asked.push(given);
    return ok(back);
  };
  const events = [
    ...[changed("a", { after: state("1") }), changed("b"), changed("a", { workspace: "t1" })],
    ...[changed("a", { before: state("1"), after: undefined }), { type: "conversation.renamed", title: "x" } as const],
  ];
  const { restoreFile, conversation, noticed, log, clock, number } = await historyOf(t, events, restore);
  for (const seq of [0, 2, 3, 4, 5, 6]) {
    const refused = await restoreFile(conversation, { path: "a", seq });
    assert.deepEqual(refused, failed(makeFailure("content_not_kept", { path: "a" })), `of ${seq}`);
  }
  assert.deepEqual([asked, noticed], [[], []]);
  clock.move(9);
  assert.deepEqual(await restoreFile(conversation, { path: "a", seq: 1 }), ok(back));
  assert.deepEqual([asked, noticed], [[["a", state("1")]], ["a"]]);
  const [line] = await log.read(number, { after: 5, limit: 10 });
  assert.deepEqual(line, { type: "file.changed", path: "a", after: state("1"), by: "person", seq: 6, at: 10 });
  const found = await log.find(conversation.owner, "c");
  assert.equal(found.ok && found.value.updatedAt, 10);
});

test("who wants a state back hears whether its bytes are gone, or something else stands in the way, and nothing is told to the ledger [W12][Q2]", async (t) => {
  const gone = makeFailure("read_failed", { path: "a", why: "io" });
  const hindered = makeFailure("not_a_file", { path: "a" });
  for (const [reason, told] of [
    [gone, makeFailure("content_not_kept", { path: "a" })],
    [hindered, hindered],
  ] as const) {
    const { restoreFile, conversation, noticed, log, number } = await historyOf(t, [changed("a")], async () =>
      failed(reason),
    );
    assert.deepEqual(await restoreFile(conversation, { path: "a", seq: 1 }), failed(told));
    assert.deepEqual([noticed, await log.headOf(number)], [[], 1]);
  }
});
