import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard, type TestYardOptions } from "../world/yard.ts";

const echo = (request: { body: { messages: readonly { role: string; content: unknown }[] } }) =>
  says(
    `heard: ${request.body.messages
      .filter(({ role }) => role === "user")
      .map(({ content }) => content)
      .join(" | ")}`,
  );

test("conversations are listed newest first and paged, found by the beginning of their id, renamed and deleted [L9]", async () => {
  await using model = await modelServer(echo);
  await using yard = await startYard({ model });
  const { client } = yard;
  for (const id of ["aa-1", "aa-2", "bb-1"]) await must(client.call("createConversation", { body: { id } }));
  await yard.ask("a very first question", { conversation: "aa-1" });
  const first = await must(client.call("listConversations", { query: { limit: 2 } }));
  assert.deepEqual(first.items.map(({ id, title, turns }) => ({ id, title, turns }))[0], {
    id: "aa-1",
    title: "a very first question",
    turns: 1,
  });
  const rest = await must(client.call("listConversations", { query: { limit: 2, before: first.next ?? "" } }));
  assert.deepEqual([...first.items, ...rest.items].map(({ id }) => id).sort(), ["aa-1", "aa-2", "bb-1"]);
  const found = async (id: string) => {
    const result = await client.call("getConversation", { params: { id }, query: { prefix: true } });
    return result.ok ? result.value.id : result.failure.code;
  };
  assert.deepEqual(
    [await found("b"), await found("aa-1"), await found("aa"), await found("x"), await found("../x")],
    ["bb-1", "aa-1", "conversation_ambiguous", "conversation_not_found", "conversation_not_found"],
  );
  const ambiguous = await client.call("getConversation", { params: { id: "aa" }, query: { prefix: true } });
  assert.match(ambiguous.ok ? "" : ambiguous.failure.detail, /aa-\d, aa-\d/);
  assert.equal(
    (await must(client.call("changeConversation", { params: { id: "bb-1" }, body: { title: "预算" } }))).title,
    "预算",
  );
  await must(client.call("deleteConversation", { params: { id: "bb-1" } }));
  assert.equal(await found("bb-1"), "conversation_not_found");
  const again = await client.call("createConversation", { body: { id: "bb-1" } });
  assert.equal(again.ok, false, "a deleted id stays gone");
});

test("a reset forgets the history but not the log, and the next turn starts afresh [L9]", async () => {
  await using model = await modelServer(echo);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("one");
  await yard.ask("two", { conversation });
  await must(yard.client.call("resetConversation", { params: { id: conversation } }));
  const { answer, events } = await yard.ask("three", { conversation });
  assert.equal(answer, "heard: three");
  assert.equal(events.filter(({ type }) => type === "turn.finished").length, 3, "the log keeps all three turns");
  assert.deepEqual(events.filter(({ type }) => type === "recipe.set").length, 2);
});

test("one can go back to any ended turn or saved place, and branch from it [L9]", async () => {
  await using model = await modelServer(echo);
  await using yard = await startYard({ model });
  const { client } = yard;
  const { conversation: id } = await yard.ask("one");
  const saved = await must(client.call("saveCheckpoint", { params: { id }, body: { name: "before two" } }));
  await yard.ask("two", { conversation: id });
  const { items } = await must(client.call("listCheckpoints", { params: { id } }));
  assert.deepEqual(
    items.map(({ name, parent }) => ({ name, parent })),
    [
      { name: "", parent: null },
      { name: "before two", parent: items[0]?.checkpoint },
      { name: "", parent: saved.checkpoint },
    ],
  );
  const branch = await must(client.call("branchConversation", { params: { id }, body: { at: saved.checkpoint } }));
  await must(client.call("restoreCheckpoint", { params: { id, checkpoint: saved.checkpoint } }));
  assert.equal((await yard.ask("other two", { conversation: id })).answer, "heard: one | other two");
  await must(client.call("deleteConversation", { params: { id } }));
  assert.equal(
    (await yard.ask("third", { conversation: branch.id })).answer,
    "heard: one | third",
    "a branch lives without its parent",
  );
  const unknown = await client.call("restoreCheckpoint", { params: { id: branch.id, checkpoint: 9_999 } });
  assert.equal(unknown.ok ? "" : unknown.failure.code, "checkpoint_not_found");
  const [place] = (await must(client.call("listCheckpoints", { params: { id: branch.id } }))).items;
  await must(client.call("deleteCheckpoint", { params: { id: branch.id, checkpoint: place?.checkpoint ?? 0 } }));
  const left = (await must(client.call("listCheckpoints", { params: { id: branch.id } }))).items;
  assert.equal(
    left.some(({ checkpoint }) => checkpoint === place?.checkpoint),
    false,
  );
});

test("while a turn runs the history cannot be changed under its feet [L9]", async () => {
  await using model = await modelServer([{ text: "slow", fault: { after: 1, kind: "stall" } }]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  const refused = await yard.client.call("resetConversation", { params: { id } });
  assert.equal(refused.ok ? "" : refused.failure.code, "conversation_busy");
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await yard.whenAtRest(id);
  await must(yard.client.call("resetConversation", { params: { id } }));
});

test("a stored conversation replays to the very same requests [L2][L3]", async () => {
  await using model = await modelServer(echo);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("one");
  await yard.ask("two", { conversation });
  const report = await must(yard.client.call("replay", { params: { id: conversation } }));
  assert.deepEqual(report, { turns: 2, steps: 2, differences: [] });
});

test("a replay tells what another version, model or setting would do otherwise, and where [L2][L3]", async () => {
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(["now", {}]) : says("done")));
  await using first = await startYard({ model });
  const { conversation: id } = await first.ask("go");
  const differencesWith = async (options: TestYardOptions) => {
    await using yard = await startYard({ model, data: first.data, ...options });
    const { steps, differences } = await must(yard.client.call("replay", { params: { id } }));
    assert.equal(steps, 2);
    return differences.map(({ seq, what, recorded, now }) => ({ seq, what, recorded, now }));
  };
  const [recipe] = all(await first.events(id), "recipe.set");
  const [one, two] = all(await first.events(id), "step.started");
  const places = [one?.seq, two?.seq];
  assert.deepEqual(await differencesWith({ env: { MAX_LOOPS: "1" } }), [
    { seq: two?.seq, what: "move", recorded: "step.started", now: "finalize" },
  ]);
  assert.deepEqual(
    await differencesWith({ env: { MODEL_BASIC_ID: "another" } }),
    places.map((seq) => ({ seq, what: "model", recorded: model.wire.model, now: "another" })),
  );
  const bytes = await differencesWith({ env: { MODEL_BASIC_API: "anthropic" } });
  assert.deepEqual(
    bytes.map(({ seq, what, recorded }) => [seq, what, recorded]),
    [one, two].map((step) => [step?.seq, "bytes", `${step?.bytes} (${step?.hash})`]),
  );
  assert.ok(bytes.every(({ recorded, now }) => recorded !== now));
  const tool = defineTool({
    ...{ name: "weigh", description: "Weighs.", input: z.object({}) },
    run: () => ok({ text: "1 kg" }),
  });
  const tools = await differencesWith({ tools: [tool] });
  assert.deepEqual(
    tools.map(({ seq, what, recorded }) => [seq, what, recorded]),
    [[recipe?.seq, "tools", recipe?.tools]],
  );
  assert.ok(tools[0]?.now.includes('"weigh"'));
});

const said = (id: string): NewEvent => ({ type: "message.user", id, text: `the words of ${id}`, mode: "queue" });

const whole = (turn: number): NewEvent[] => [
  said(`m${turn}`),
  { type: "turn.started", turn, message: `m${turn}`, epoch: 1 },
  { type: "turn.finished", turn, outcome: "done" },
];

test("a place is saved once under its id, told as the list has it, and not while something waits to be answered; saving one counts as use [L9][L7]", async () => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  await using yard = await startYard({ clock, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, whole(1)));
  now += 5_000;
  const saved = await must(yard.engine.saveCheckpoint(row, "here", "once"));
  assert.deepEqual(saved, { checkpoint: 4, parent: 3, name: "here", at: now });
  assert.equal((await must(yard.log.find(localOwner, "c"))).updatedAt, now);
  now += 5_000;
  assert.deepEqual(await must(yard.engine.saveCheckpoint(row, "here", "once")), saved);
  const first = { checkpoint: 3, parent: null, name: "", at: 1_000_000 };
  assert.deepEqual(await yard.engine.checkpoints(row), [first, saved]);
  await must(yard.log.append(row.number, [said("m2")]));
  const refused = await yard.engine.saveCheckpoint(row, "there");
  assert.equal(refused.ok || refused.failure.code, "conversation_busy");
  const unknown = await yard.engine.deleteCheckpoint(row, 2);
  assert.equal(unknown.ok || unknown.failure.code, "checkpoint_not_found");
  assert.equal(await yard.log.headOf(row.number), 5);
});

test("whoever goes back finds the conversation listed with what was said last there and as used just now, and a place that was deleted stays deleted [L9]", async () => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  await using model = await modelServer(["one", "two", "three"].map((text) => says(text)));
  await using yard = await startYard({ model, clock, isOneProcess: true });
  const row = await yard.start("c");
  for (const text of ["first", "second", "third"]) await yard.ask(text, { conversation: row.id });
  const listed = async () => {
    const { lastMessage, updatedAt } = await must(yard.log.find(localOwner, row.id));
    const points = (await yard.engine.checkpoints(row)).map(({ checkpoint }) => checkpoint);
    return { lastMessage, updatedAt, points };
  };
  const [first = 0, second = 0, third] = (await listed()).points;
  await must(yard.engine.deleteCheckpoint(row, first));
  assert.deepEqual((await listed()).points, [second, third]);
  now += 5_000;
  await must(yard.engine.restoreCheckpoint(row, second));
  assert.deepEqual(await listed(), { lastMessage: "two", updatedAt: now, points: [second] });
  now += 5_000;
  await must(yard.engine.undo(row));
  assert.deepEqual(await listed(), { lastMessage: "one", updatedAt: now, points: [] });
});

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
