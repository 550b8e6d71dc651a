import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { Storage } from "../storage/storage.ts";
import { appendSeen, looksMax } from "./append-seen.ts";
import { openDriver } from "./driver.ts";
import type { Gates } from "./gates.ts";
import { openMessages } from "./messages.ts";
import { keepOne, mailed, said, spawned, started } from "./tenure.testing.ts";

const renamed = (title: string): NewEvent => ({ type: "conversation.renamed", title });

/** Others write before each of the first appends that rest on where the log stands. */
function moving(times: { left: number; write?: () => Promise<unknown> }) {
  return (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      if (batch.expectedHead !== undefined && times.left > 0) {
        times.left -= 1;
        await times.write?.();
      }
      return real.append(batch);
    },
  });
}

test("what follows from the log is stored behind what it follows from: where others wrote meanwhile it is looked at anew, with all agents [L2][L7]", async (t) => {
  const times: Parameters<typeof moving>[0] = { left: 2 };
  const before = [said("m1"), started, spawned("w1")];
  const { parts, number, log, others, tenure } = await keepOne(t, { wrap: moving(times), before });
  times.write = () => others(said("more"));
  const seen: unknown[] = [];
  const stored = await appendSeen(parts, number, (history, { root, agents }) => {
    seen.push([history.queue.length, root === history, [...agents.keys()]]);
    return ok({ events: [renamed(`after ${history.head}`)] });
  });
  assert.deepEqual(stored, { ok: true, value: { lastSeq: 6 } });
  assert.deepEqual(seen, [
    [0, true, ["w1"]],
    [1, true, ["w1"]],
    [2, true, ["w1"]],
  ]);
  const [last] = await log.read(number, { after: 5, limit: 10 });
  assert.deepEqual(last?.type === "conversation.renamed" && last.title, "after 5");
  await tenure.release();
});

test("where nothing is to be stored the log stands still, but rows beside it are stored; a refusal, and a storage that fails, are told at once [L2][Q2]", async (t) => {
  let isFull = false;
  let appends = 0;
  const wrap = (real: Storage): Storage => ({
    ...real,
    async append(batch) {
      appends += 1;
      return isFull ? failure("storage_full", {}) : real.append(batch);
    },
  });
  const { parts, number, real, others, tenure } = await keepOne(t, { wrap });
  const head = await others(said("m1"));
  appends = 0;
  const nothing = await appendSeen(parts, number, () => ok({ events: [] }));
  assert.deepEqual([nothing, appends], [{ ok: true, value: { lastSeq: head } }, 0]);
  const rows = await appendSeen(parts, number, () => ok({ events: [], with: { row: { title: "tea" } } }));
  assert.deepEqual([rows.ok, (await real.conversationByNumber(number))?.title], [true, "tea"]);
  appends = 0;
  const refused = await appendSeen(parts, number, () => failure("turn_not_running", {}));
  assert.deepEqual([refused.ok || refused.failure.code, appends], ["turn_not_running", 0]);
  isFull = true;
  const failed = await appendSeen(parts, number, () => ok({ events: [renamed("x")] }));
  assert.deepEqual([failed.ok || failed.failure.code, appends], ["storage_full", 1]);
  await tenure.release();
});

test("who finds the log moved three times goes alone from then on, and who finds it moved fifty times gives up and says so [L7][Q2]", async (t) => {
  const times: Parameters<typeof moving>[0] = { left: Number.POSITIVE_INFINITY };
  const { parts, number, others, tenure } = await keepOne(t, { wrap: moving(times) });
  times.write = () => others(said("more"));
  const ways: string[] = [];
  const gates: Gates = {
    among: () => assert.fail("what rests on where the log stands never passes beside others"),
    alone(where, work) {
      assert.equal(where, number);
      ways.push("alone");
      return parts.gates.alone(where, work);
    },
  };
  let looks = 0;
  const stored = await appendSeen({ ...parts, gates }, number, () => {
    looks += 1;
    return ok({ events: [renamed("never")] });
  });
  assert.equal(stored.ok || stored.failure.code, "log_moved");
  assert.deepEqual([looks, looksMax, ways], [50, 50, Array(47).fill("alone")]);
  await tenure.release();
});

test("a stale epoch stores nothing, however the log stands [L2][N1]", async (t) => {
  const { parts, number, log, tenure } = await keepOne(t, { before: [said("m1")] });
  const late = await appendSeen(parts, number, () => ok({ events: [renamed("x")], epoch: tenure.epoch - 1 }));
  assert.equal(late.ok || late.failure.code, "fenced");
  assert.equal((await log.read(number, { after: 0, limit: 10 })).length, 1);
  const now = await appendSeen(parts, number, () => ok({ events: [renamed("x")], epoch: tenure.epoch }));
  assert.ok(now.ok);
  await tenure.release();
});

test("who withdraws what waits withdraws their own words, and never what one agent wrote to another [L7][A1]", async (t) => {
  const before = [said("m1"), started, spawned("w1"), said("m2"), said("m3"), mailed("mail", "root", "w1")];
  const { parts, conversation, log, number, tenure } = await keepOne(t, { before });
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const { withdraw, cancel } = openMessages(parts, driver);
  const left = async () => (await log.history(number)).queue.map(({ id }) => id);
  const refused = await withdraw(conversation, "mail");
  assert.deepEqual([refused, await left()], [failure("message_not_found", { id: "mail" }), ["m2", "m3", "mail"]]);
  const stopped = await cancel(conversation, { message: "mail" });
  assert.deepEqual([stopped.ok || stopped.failure.code, await left()], ["turn_not_running", ["m2", "m3", "mail"]]);
  assert.deepEqual(await withdraw(conversation, "m2"), ok(undefined));
  assert.deepEqual(await cancel(conversation, { message: "m3" }), ok({ turn: null }));
  assert.deepEqual(await left(), ["mail"]);
  await tenure.release();
});
