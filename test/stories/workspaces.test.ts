import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { writes } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const dayMs = 86_400_000;

test("a conversation that waits for a person keeps its files, however long it takes [W10]", async (t) => {
  const clock = movableClock();
  await using model = await modelServer([
    calls(writes("outputs/a.md", "x")),
    calls(["ask_human", { question: "Which one?" }]),
    says("that one, then"),
  ]);
  await using yard = await startYard({ model, data: dataFolder(t), clock });
  const { conversation, status } = await yard.ask("go");
  assert.equal(status, "waiting");
  clock.move(90 * dayMs);
  const clean = () => must(yard.client.call("cleanWorkspaces", { body: {} }));
  assert.equal((await clean()).workspaces, 0);
  const [decision] = (await must(yard.client.call("listDecisions"))).items;
  const answer = { verdict: "answer", answer: "the first" } as const;
  await must(yard.client.call("decide", { params: { id: conversation, decision: decision?.id ?? "" }, body: answer }));
  await yard.whenAtRest(conversation);
  assert.equal((await clean()).workspaces, 0, "it was just used");
  clock.move(8 * dayMs);
  await until("its turn is over for good", async () => (await clean()).workspaces === 1);
});

test("what an agent makes in one conversation does not exist in another [W1][W5]", async () => {
  await using model = await modelServer([
    ...[calls(writes("outputs/secret.md", "mine")), says("done")],
    calls(
      ["read_file", { path: "outputs/secret.md" }],
      ["read_file", { path: "../first/outputs/secret.md" }],
      ["find_files", { pattern: "**/*" }],
      ["list_files", { path: "outputs" }],
    ),
    says("nothing there"),
  ]);
  await using yard = await startYard({ model });
  for (const id of ["first", "second"]) await must(yard.client.call("createConversation", { body: { id } }));
  await yard.ask("write", { conversation: "first" });
  await yard.ask("look around", { conversation: "second" });
  const results = model.asked[3]?.body.messages.filter((message) => message.role === "tool") ?? [];
  const texts = results.map((message) => String(message.content));
  assert.equal(texts.length, 4);
  assert.match(texts[0] ?? "", /^Error: file_not_found/);
  assert.match(texts[1] ?? "", /^Error: path_traversal_blocked/);
  for (const text of texts) assert.doesNotMatch(text, /mine/);
});

function dataFolder(t: TestContext): string {
  const data = mkdtempSync(join(tmpdir(), "agentyard-workspaces-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

/** The real clock, put forward. */
function movableClock() {
  let ahead = 0;
  const at = systemClock.now();
  const move = (ms: number) => {
    ahead += ms;
  };
  return { ...systemClock, now: () => at + ahead, move };
}

test("of an earlier state it is said whether it can be had again: not where its bytes were lost, or nobody has replaced it yet [W12][F3]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const state = (hash: string) => ({ bytes: 3, mode: 0o644, hash });
  const changed = (change: Partial<NewEvent & { type: "file.changed" }>): NewEvent => ({
    ...{ type: "file.changed", path: "uploads/a.txt", by: "upload" },
    ...change,
  });
  await must(
    yard.log.append(row.number, [
      changed({ after: state("one") }),
      changed({ before: state("one"), after: state("two") }),
      changed({ before: state("two"), after: state("three"), lost: "too_large" }),
      changed({ before: state("three"), by: "tool", program: true }),
      changed({ path: "outputs/b.txt", after: state("b"), workspace: "task-1" }),
    ]),
  );
  const versions = await yard.engine.fileHistory(row, { path: "uploads/a.txt", limit: 10 });
  assert.deepEqual(
    versions.map(({ seq, change, canRestore, program }) => [seq, change, canRestore, program]),
    [
      [4, "removed", false, true],
      [3, "changed", true, undefined],
      [2, "changed", false, undefined],
      [1, "made", true, undefined],
    ],
  );
  const all = await yard.engine.fileHistory(row, { limit: 10 });
  assert.deepEqual(
    all.map(({ path, seq }) => [path, seq]),
    [["uploads/a.txt", 4]],
  );
  for (const seq of [0, 4, 5]) {
    const restored = await yard.engine.restoreFile(row, { path: "uploads/a.txt", seq });
    assert.equal(restored.ok ? "restored" : restored.failure.code, "content_not_kept", `${seq}`);
  }
});

test("whoever changes a file and cannot be written down in the ledger hears that, and not that all is well [W12][Q2]", async () => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append: async (batch) => (isFull ? failure("storage_full", {}) : storage.append(batch)),
  });
  await using yard = await startYard({ wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  const deeds = deedsOf(yard, row, "uploads/a.txt");
  await must<unknown>(deeds[0]());
  await must<unknown>(deeds[1]());
  isFull = true;
  const told: string[] = [];
  for (const deed of deeds) {
    const done = await deed();
    told.push(done.ok ? "done" : done.failure.code);
  }
  isFull = false;
  assert.deepEqual(told, Array(deeds.length).fill("storage_full"));
  assert.equal((await yard.engine.fileHistory(row, { path: "uploads/a.txt", limit: 10 })).length, 2);
});

/** All that a person does to a file: two uploads, the first one back, away with it, and with all others. */
function deedsOf({ engine }: TestYard, row: ConversationRow, path: string) {
  const put = (text: string) => {
    const chunks = (async function* () {
      yield Buffer.from(text);
    })();
    return engine.upload(row, { name: "a.txt", chunks, keep: false });
  };
  return [
    () => put("one"),
    () => put("two"),
    () => engine.restoreFile(row, { path, seq: 1 }),
    () => engine.removeFile(row, path),
    () => engine.emptyFolder(row, "uploads"),
  ] as const;
}
