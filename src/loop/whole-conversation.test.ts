import assert from "node:assert/strict";
import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { ok } from "../base/result.ts";
import { fileChanged, type NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openDriver } from "./driver.ts";
import { openFileHistory } from "./file-history.ts";
import { leftOver } from "./left-over.testing.ts";
import type { Parts } from "./parts.ts";
import { openWhole } from "./whole-conversation.ts";

const full = failure("storage_full", {});

/** A conversation, and what is asked of the parts that it lives in, which do it; `met.isFull`: nothing can be stored. */
async function living(t: TestContext) {
  const met = { isFull: false };
  const wrap = (real: Storage): Storage => ({
    ...real,
    append: async (batch) => (met.isFull ? full : real.append(batch)),
  });
  const left = await leftOver(t, { wrap });
  const { parts: all, clock, start } = left;
  const row = await start("c");
  clock.move(5);
  const done: unknown[] = [];
  const { log, documents, lookup, sandbox } = all;
  const parts: Parts = {
    ...all,
    log: {
      ...log,
      append(number, events, options) {
        done.push([number, ...events.map(({ type }) => type), options?.with]);
        return log.append(number, events, options);
      },
    },
    documents: {
      ...documents,
      forget(workspace, path) {
        done.push(["documents", workspace.id, path]);
        documents.forget(workspace, path);
      },
      notice(workspace, path) {
        done.push(["notice", workspace.id, path]);
        documents.notice(workspace, path);
      },
    },
    lookup: {
      ...lookup,
      forget(conversation) {
        done.push(["lookup", conversation.id]);
        lookup.forget(conversation);
      },
    },
    sandbox: {
      ...sandbox,
      leave(number) {
        done.push(["programs", number]);
        return sandbox.leave(number);
      },
    },
    sweepSoon: () => void done.push("sweep"),
  };
  return { ...left, parts, row, met, done };
}

test("of a conversation that is deleted nothing is found or runs any more, and one whose end is not stored stays as it is [S6][D2]", async (t) => {
  const deleting = async (more: (place: Awaited<ReturnType<typeof living>>) => Partial<Parts> = () => ({})) => {
    const place = await living(t);
    const { parts: all, row, done, real } = place;
    const parts: Parts = { ...all, ...more(place) };
    const driver = openDriver(parts);
    t.after(() => driver.close());
    const where = { owner: localOwner, conversation: row.number, workspace: undefined, agent: "root" };
    const program = await parts.sandbox.run(where, { language: "bash", code: "sleep", timeoutMs: 60_000 });
    assert.ok(program.ok);
    const stop = (number: number) => {
      done.push(["stop", number]);
      return driver.stop(number);
    };
    const answer = await openWhole(parts, { ...driver, stop }).remove(row);
    await settle();
    return {
      ...place,
      answer,
      program: program.value,
      deletedAt: (await real.conversationByNumber(row.number))?.deletedAt,
    };
  };
  const ends = [
    ["stop", 1],
    [1, "conversation.deleted", { deleted: { at: 5 } }],
  ];
  const all = [...ends, ["programs", 1], ["documents", "c", "."], ["lookup", "c"], "sweep"];
  const gone = await deleting();
  assert.deepEqual([gone.answer, gone.done, gone.deletedAt], [ok(undefined), all, 5]);
  assert.equal((await gone.program.report).how, "cancelled");
  const stays = await deleting(({ met }) => {
    met.isFull = true;
    return {};
  });
  assert.deepEqual([stays.answer, stays.done, stays.deletedAt], [full, ends, undefined]);
  const broken = await deleting(({ parts: { sandbox } }) => ({
    sandbox: { ...sandbox, leave: () => Promise.reject(new Error("no way")) },
  }));
  const others = all.filter(([what]) => what !== "programs");
  assert.deepEqual(
    [broken.answer, broken.done],
    [ok(undefined), others],
    "whoever deletes it does not wait for programs",
  );
  assert.deepEqual(
    broken.warned.map(([message]) => message),
    ["programs of c could not be ended"],
  );
});

/** A file that was written twice, with its lines in the log: the first state is kept. */
async function written(t: TestContext) {
  const place = await living(t);
  const { parts, row, done } = place;
  const files = parts.workspaces.ofConversation(row);
  const [first, second] = [
    await files.write("uploads/a.txt", "one"),
    await files.write("uploads/a.txt", "2", { keeps: true }),
  ];
  assert.ok(first.ok && second.ok);
  const changes = [first.value, second.value].map((change) => fileChanged(change, { by: "tool" }));
  const add = async (...events: NewEvent[]) => {
    const stored = await parts.log.append(row.number, events);
    assert.ok(stored.ok);
    done.length = 0;
    return stored.value.lastSeq;
  };
  await add(...changes);
  const { restoreFile } = openFileHistory(parts);
  const restore = (seq: number, path = "uploads/a.txt") => restoreFile(row, { path, seq });
  const text = async () => {
    const read = await files.read("uploads/a.txt", { bytesMax: 9 });
    return read.ok && Buffer.from(read.value.bytes).toString();
  };
  return { ...place, restore, text, add, state: first.value, change: changes[0] ?? assert.fail() };
}

test("a file that is brought back is found again, and its line says that a person did it; one that is not kept changes nothing [W12][D2]", async (t) => {
  const { restore, text, done, state, parts, row, met, add, change, dataDir } = await written(t);
  const back = await restore(1);
  assert.deepEqual(back.ok && [back.value.path, back.value.after, await text()], ["uploads/a.txt", state.after, "one"]);
  const noted = ["notice", "c", "uploads/a.txt"];
  const line = [row.number, "file.changed", { row: { updatedAt: 5 } }];
  assert.deepEqual(done.splice(0), [noted, line]);
  const [told] = await parts.log.read(row.number, { after: 2, limit: 9 });
  assert.deepEqual(told?.type === "file.changed" && [told.by, told.path, told.after], [
    "person",
    state.path,
    state.after,
  ]);
  met.isFull = true;
  assert.deepEqual([await restore(2), done.splice(0)], [full, [noted, line]]);
  met.isFull = false;

  const none = failure("content_not_kept", { path: "uploads/a.txt" });
  const lost = { hash: "0".repeat(64), bytes: 3, mode: 0o644 };
  for (const event of [
    { ...change, after: lost },
    { ...change, path: "uploads/b.txt" },
    { ...change, after: undefined, before: state.after },
    { ...change, workspace: "other" },
    { type: "conversation.renamed", title: "t" },
  ] as NewEvent[])
    assert.deepEqual([await restore(await add(event)), done], [none, []], JSON.stringify(event));
  assert.deepEqual([await restore(99), done], [none, []]);

  const uploads = join(dataDir, "workspace/c/uploads");
  renameSync(uploads, `${uploads}-away`);
  symlinkSync("/etc", uploads);
  const refused = await restore(1);
  assert.deepEqual([refused.ok || refused.failure.code, done], ["permission_denied", []]);
});
