import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { Append, Storage } from "../../src/storage/storage.ts";
import { inboxOf, say, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Meanwhile = (batch: Append, storage: Storage) => ReturnType<Storage["append"]>;

/**
 * A yard in which conversation `one` asks about the payments a, a and b, and `two` about a and a. What people decide is
 * stored by `meanwhile`, once it is set.
 */
async function payments(t: TestContext) {
  const moment: { meanwhile: Meanwhile | undefined } = { meanwhile: undefined };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append(batch) {
      const isDecided = batch.epoch === undefined && batch.events.some(({ type }) => type === "decision.made");
      return (isDecided ? moment.meanwhile : undefined)?.(batch, storage) ?? storage.append(batch);
    },
  });
  const model = await modelServer((request) => {
    const marks = String(request.body.messages.findLast(({ role }) => role === "user")?.content).match(/\b[ab]\b/g);
    return stepOf(request) > 0
      ? says("done")
      : calls(...(marks ?? []).map((mark): [string, unknown] => ["pay", { mark }]));
  });
  t.after(() => model.close());
  const tools = [effectTool("pay", "unsafe", join(folderWith(t, {}), "marks"), { asks: true })];
  const yard = await startYard({ model, tools, wrapStorage, isOneProcess: true });
  t.after(() => yard[Symbol.asyncDispose]());
  const [one, two] = [await yard.start("one"), await yard.start("two")];
  await yard.ask("a a b", { conversation: "one" });
  await yard.ask("a a", { conversation: "two" });
  const [first, second, third] = await waitingIn(yard, "one");
  const others = await waitingIn(yard, "two");
  return { yard, moment, one, two, first, second, third, others };
}

const verdictsIn = async (yard: TestYard, id: string) =>
  all(await yard.events(id), "decision.made").map(({ id: decision, by, verdict }) => [decision, by, verdict]);

const always = { verdict: "approve", always: { scope: "user" } } as const;

test("what a new rule answers here and elsewhere is named once and waits nowhere any more, also where the logs moved on in that moment [H2][H4]", async (t) => {
  const { yard, moment, one, two, first, second, third, others } = await payments(t);
  const moved = new Set<number>();
  moment.meanwhile = async (batch, storage) => {
    const row = [one, two].find(({ number }) => number === batch.number && !moved.has(number));
    moved.add(batch.number);
    if (row !== undefined) await must(yard.engine.setBudget(row, { steps: 40 }));
    return storage.append(batch);
  };
  const [left] = others;
  assert.deepEqual(await say(yard, first, always), [second?.id, ...others.map(({ id }) => id)]);
  assert.deepEqual([moved.size, (await inboxOf(yard)).map(({ id }) => id)], [2, [third?.id]]);
  assert.deepEqual((await verdictsIn(yard, "two"))[0], [left?.id, "rule", "approve"]);
});

test("what somebody decides elsewhere in the moment in which a rule would answer it stays as they decided [H2]", async (t) => {
  const { yard, moment, two, first, second, others } = await payments(t);
  const [left, right] = others;
  moment.meanwhile = async (batch, storage) => {
    if (batch.number !== two.number) return storage.append(batch);
    moment.meanwhile = undefined;
    assert.deepEqual(await say(yard, left, { verdict: "reject", reason: "not this one" }), []);
    return storage.append(batch);
  };
  assert.deepEqual(await say(yard, first, always), [second?.id, right?.id]);
  assert.deepEqual(await verdictsIn(yard, "two"), [
    [left?.id, "local", "reject"],
    [right?.id, "rule", "approve"],
  ]);
});

test("where the answer of a rule cannot be stored elsewhere, it is not told to be answered: a person is still asked there [H2][Q2]", async (t) => {
  const { yard, moment, two, first, second, third, others } = await payments(t);
  moment.meanwhile = async (batch, storage) =>
    batch.number === two.number ? failure("storage_full", {}) : storage.append(batch);
  assert.deepEqual(await say(yard, first, always), [second?.id]);
  const waits = (await inboxOf(yard)).map(({ id }) => id);
  assert.deepEqual(waits.toSorted(), [third, ...others].map((open) => open?.id).toSorted());
});

test("a decision that storage broke down at does not take along the one that was made behind it [H2][Q2]", async (t) => {
  const { yard, moment, one, first, third } = await payments(t);
  moment.meanwhile = async () => {
    moment.meanwhile = undefined;
    throw new Error("the disk is gone");
  };
  const decide = (id = "") => yard.engine.decide(one, id, { verdict: "reject", by: "local" });
  const [broken, behind] = await Promise.allSettled([decide(first?.id), decide(third?.id)]);
  assert.deepEqual([broken.status, behind.status === "fulfilled" && behind.value.ok], ["rejected", true]);
  assert.deepEqual(await verdictsIn(yard, "one"), [[third?.id, "local", "reject"]]);
});
