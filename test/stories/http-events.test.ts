import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../src/base/result.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { waitingIn } from "../world/decisions.ts";
import { renames, stepStarted } from "../world/http-reading.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { writingYard } from "../world/writing-yard.ts";
import { must, startYard } from "../world/yard.ts";

test("the events of one agent are those that mean something to it, from the one that made it on [A1][C7]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  const spawned: NewEvent = {
    type: "agent.spawned",
    id: "task-a",
    mode: "task",
    role: "r",
    name: "amber",
    brief: "look",
  };
  const other: NewEvent = { ...spawned, id: "task-b", name: "blue" };
  await yard.append(
    row,
    ...renames(1),
    spawned,
    other,
    stepStarted(1, { agent: "task-b" }),
    stepStarted(1, { agent: "task-a" }),
  );
  const read = async (query: { agent?: string; after?: number; limit?: number }) => {
    const page = await must(yard.client.call("readEvents", { params: { id: "c" }, query }));
    return [page.items.map(({ seq }) => seq), page.next];
  };
  assert.deepEqual(await read({}), [[1, 2, 3, 4, 5], null]);
  assert.deepEqual(await read({ agent: "task-a" }), [[2, 5], null]);
  assert.deepEqual(await read({ agent: "task-a", limit: 4 }), [[2], 4], "a page is one of all events");
  assert.deepEqual(await read({ agent: "task-a", after: 4, limit: 4 }), [[5], null]);
});

/** A yard in which a question waits, as if the process had died after each call and before its answer was written down. */
async function asking() {
  const model = await modelServer([calls(["ask_human", { question: "Well?" }]), says("done")]);
  const yard = await startYard({
    ...{ model, isOneProcess: true },
    wrapStorage: (storage) => ({ ...storage, endOnce: async () => ok(undefined) }),
  });
  const { conversation: id } = await yard.ask("hello");
  const [decision] = await waitingIn(yard, id);
  const row = await must(yard.log.find(localOwner, id));
  const decide = async () => {
    const answer = await yard.fetch(`http://localhost/api/v1/conversations/${id}/decisions/${decision?.id}`, {
      ...{ method: "POST", body: JSON.stringify({ verdict: "answer", answer: "Well." }) },
      headers: { "content-type": "application/json", "idempotency-key": "the-one" },
    });
    return [answer.status, Object(await answer.json())] as const;
  };
  const close = async () => {
    await yard[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  };
  return { yard, row, decision: decision?.id ?? "", decide, [Symbol.asyncDispose]: close };
}

test("a decision whose answer was lost is told again under its key, wherever it stands in a long log [C6][H2]", async () => {
  await using asked = await asking();
  const { yard, row, decide } = asked;
  const rename = async (count: number) => must(yard.log.append(row.number, renames(count)));
  await rename(300);
  const first = await decide();
  assert.equal(first[0], 200, JSON.stringify(first));
  await yard.whenAtRest(row.id);
  assert.deepEqual(await decide(), first, "behind more events than are read at once");
  await rename(300);
  assert.deepEqual(await decide(), first, "and before them");
});

test("a decision that somebody else has made is not told as one's own, however often it is tried [C6][H2]", async () => {
  await using asked = await asking();
  const { yard, row, decision, decide } = asked;
  await must(yard.engine.decide(row, decision, { verdict: "answer", answer: "Theirs.", by: OwnerId.parse("ann") }));
  await yard.whenAtRest(row.id);
  for (const what of ["first", "again"]) {
    const [status, { code }] = await decide();
    assert.deepEqual([status, code], [404, "decision_not_found"], what);
  }
});
