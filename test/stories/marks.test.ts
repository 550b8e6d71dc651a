import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { must, startYard } from "../world/yard.ts";

test("what a user marks is no change of the conversation, and nobody has looked at what is still to come [B1][L9]", async () => {
  await using yard = await startYard();
  const { client } = yard;
  const { conversation: id } = await yard.ask("hello");
  const params = { id };
  const change = (body: object) => client.call("changeConversation", { params, body });
  const before = await must(client.call("getConversation", { params }));
  assert.deepEqual([before.pinned, before.seenAt], [false, null]);
  const { updatedAt } = before;
  const marked = { ...before, pinned: true, seenAt: updatedAt };
  assert.deepEqual(await must(change({ pinned: true, seenAt: updatedAt })), marked);
  assert.deepEqual((await must(client.call("getState", { params }))).conversation, marked);
  await yard.ask("another one");
  const listed = await must(client.call("listConversations", { query: { limit: 9, pinned: true } }));
  assert.deepEqual(listed, { items: [marked], next: null });

  assert.equal((await must(change({ seenAt: updatedAt - 1 }))).seenAt, updatedAt);
  const { seenAt, pinned } = await must(change({ seenAt: Number.MAX_SAFE_INTEGER, pinned: false }));
  assert.ok(seenAt !== null && seenAt >= updatedAt && seenAt <= Date.now());
  assert.equal(pinned, false);
  assert.deepEqual(await must(client.call("listConversations", { query: { limit: 9, pinned: true } })), {
    ...{ items: [], next: null },
  });
  const codeOf = async (asked: ReturnType<typeof change>) => {
    const answer = await asked;
    return answer.ok ? undefined : answer.failure.code;
  };
  for (const body of [{}, { pinned: "yes" }, { seenAt: -1 }, { seenAt: 1.5 }, { title: "" }, { pinnd: true }])
    assert.equal(await codeOf(change(body)), "bad_request", JSON.stringify(body));
  assert.equal(
    await codeOf(client.call("changeConversation", { params: { id: "nowhere" }, body: { pinned: true } })),
    "conversation_not_found",
  );
});

test("their own title is nothing new to whoever had looked, and hides nothing that they had not seen [B1]", async () => {
  let now = Date.now();
  await using yard = await startYard({ clock: { ...systemClock, now: () => now } });
  const { conversation: id } = await yard.ask("hello");
  const change = (body: object) => must(yard.client.call("changeConversation", { params: { id }, body }));
  const later = () => {
    now += 1_000;
  };
  later();
  assert.equal((await change({ title: "never looked at" })).seenAt, null);
  const { updatedAt } = await change({ seenAt: now });
  later();
  const renamed = await change({ title: "looked at" });
  assert.deepEqual([renamed.updatedAt, renamed.seenAt], [now, now]);
  assert.deepEqual(await must(yard.client.call("getConversation", { params: { id } })), renamed);
  assert.ok(now > updatedAt);
  later();
  await yard.ask("and more", { conversation: id });
  later();
  assert.equal((await change({ title: "not looked at since" })).seenAt, renamed.seenAt);
});
