import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { step } from "../world/any-log.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard, type TestYard, type TestYardOptions } from "../world/yard.ts";

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

test("a place that was deleted stays deleted when one undoes a turn or goes back to an earlier place [L9]", async () => {
  await using model = await modelServer(echo);
  await using yard = await startYard({ model });
  const { client } = yard;
  const { conversation: id } = await yard.ask("one");
  const listed = async () =>
    (await must(client.call("listCheckpoints", { params: { id } }))).items.map(({ checkpoint }) => checkpoint);
  const saved = await must(client.call("saveCheckpoint", { params: { id }, body: { name: "here" } }));
  const [first = 0] = await listed();
  await yard.ask("two", { conversation: id });
  await must(client.call("deleteCheckpoint", { params: { id, checkpoint: first } }));
  await must(client.call("undoTurn", { params: { id } }));
  assert.deepEqual(await listed(), [saved.checkpoint]);
  await yard.ask("other two", { conversation: id });
  await must(client.call("restoreCheckpoint", { params: { id, checkpoint: saved.checkpoint } }));
  assert.deepEqual(await listed(), [saved.checkpoint]);
  await yard.ask("three", { conversation: id });
  const branch = await must(client.call("branchConversation", { params: { id }, body: {} }));
  const { items } = await must(client.call("listCheckpoints", { params: { id: branch.id } }));
  assert.deepEqual(
    items.map(({ name }) => name),
    ["here", ""],
    "in a branch, too",
  );
  const gone = await client.call("restoreCheckpoint", { params: { id, checkpoint: first } });
  assert.equal(gone.ok ? "" : gone.failure.code, "checkpoint_not_found");
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

/** A conversation of two turns, over a storage that others use in the moment in which it is taken for something. */
async function met(deed: (yard: TestYard, row: ConversationRow) => Promise<unknown>, at: "claim" | "rewound") {
  const meeting: { deed?: (() => Promise<unknown>) | undefined } = {};
  const meet = async () => {
    const now = meeting.deed;
    meeting.deed = undefined;
    await now?.();
  };
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async claimLease(...given) {
      if (at === "claim") await meet();
      return storage.claimLease(...given);
    },
    async append(batch) {
      if (at === "rewound" && batch.events.some(({ type }) => type === "rewound")) await meet();
      return storage.append(batch);
    },
  });
  const model = await modelServer(() => says("fine"));
  const yard = await startYard({ model, wrapStorage, isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, [...whole(1), ...whole(2)]));
  const [first] = await yard.engine.checkpoints(row);
  const before = await yard.log.headOf(row.number);
  meeting.deed = () => deed(yard, row);
  return {
    ...{ yard, row, place: first?.checkpoint ?? 0 },
    since: async () => (await yard.events("c")).filter(({ seq }) => seq > before),
    async [Symbol.asyncDispose]() {
      await yard[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

test("whoever goes back to a place that somebody deletes in that moment hears that it is not there, and nothing is left behind [L9]", async () => {
  await using here = await met((yard, row) => yard.engine.deleteCheckpoint(row, 3), "claim");
  const { yard, row, place, since } = here;
  assert.equal(place, 3);
  const gone = await yard.engine.restoreCheckpoint(row, place);
  assert.deepEqual(gone.ok || [gone.failure.code, gone.failure.params], ["checkpoint_not_found", { checkpoint: 3 }]);
  assert.deepEqual(
    (await since()).map(({ type }) => type),
    ["checkpoint.deleted"],
  );
});

test("whoever goes back while somebody says something is told that it is busy, and what was said is not lost [L9][L7]", async () => {
  await using here = await met((yard, row) => must(yard.log.append(row.number, [said("m3")])), "claim");
  const { yard, row, place, since } = here;
  const refused = await yard.engine.restoreCheckpoint(row, place);
  assert.equal(refused.ok || refused.failure.code, "conversation_busy");
  assert.deepEqual(
    (await since()).map(({ type }) => type),
    ["message.user"],
  );
});

test("a turn that another server begins in the moment in which one goes back keeps its ground, and one is told so [L9][N1]", async () => {
  const begun = whole(3).slice(0, 2);
  await using here = await met((yard, row) => must(yard.log.append(row.number, begun)), "rewound");
  const { yard, row, place, since } = here;
  const refused = await yard.engine.restoreCheckpoint(row, place);
  assert.equal(refused.ok || refused.failure.code, "conversation_busy");
  assert.deepEqual(all(await since(), "rewound"), []);
});

test("what is said in the moment in which one goes back is said once more after it, whole; what was said before that place and answered since is not said again [L9][L7]", async () => {
  const later: NewEvent = { type: "message.user", id: "m9", text: "and this", mode: "steer", hints: ["code"] };
  await using here = await met((yard, row) => must(yard.log.append(row.number, [later])), "rewound");
  const { yard, row } = here;
  // A place at which a message waited that was answered since.
  await must(yard.log.append(row.number, [said("m3"), { type: "checkpoint.saved", name: "waiting" }]));
  const [, , place] = await yard.engine.checkpoints(row);
  await must(yard.log.append(row.number, whole(3).slice(1)));
  const before = await yard.log.headOf(row.number);
  const back = await must(yard.engine.restoreCheckpoint(row, place?.checkpoint ?? 0));
  assert.deepEqual([back, back.name], [place, "waiting"]);
  const events = (await yard.events("c")).filter(({ seq }) => seq > before);
  assert.deepEqual(
    events.slice(0, 4).map(({ seq: _, at: __, ...event }) => event),
    [
      later,
      { type: "rewound", to: place?.checkpoint, cause: "checkpoint" },
      { type: "message.withdrawn", id: "m3" },
      later,
    ],
  );
});

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

const begun: NewEvent[] = [
  { type: "message.user", id: "m1", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
];

const answered = (agent?: string): NewEvent => ({
  ...{ type: "message.assistant", turn: 1, step: 1, text: "fine", finish: "stop", durationMs: 1 },
  ...{ usage: { input: 1, output: 1 }, ...(agent === undefined ? {} : { agent }) },
});

const asked: NewEvent = {
  ...{ type: "decision.asked", turn: 1, id: "d1", call: "c", tool: "look", kind: "approval", arguments: "{}" },
};

const compacted = (by: "window" | "tool" | "person"): NewEvent => ({
  ...{ type: "compacted", turn: 1, by, strategy: "trim", upTo: 0, summary: "", messagesBefore: 1, messagesAfter: 1 },
});

test("a replay names every event that this version would not have come to, with what it would do there, for each agent by its own history; what people did it leaves to them [L2]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const made: NewEvent = { type: "agent.spawned", id: "a", mode: "worker", role: "general", brief: "part" };
  const starts: NewEvent = { type: "turn.started", agent: "a", turn: 1, message: "a-brief", epoch: 1 };
  const recorded: [NewEvent, ...differences: [what: string, now: string][]][] = [
    ...begun.map((event): [NewEvent] => [event]),
    [{ type: "call.started", call: "c", class: "pure", attempt: 1 }, ["move", "step"]],
    [asked, ["move", "step"]],
    [{ type: "compaction.started", turn: 1, by: "window" }, ["move", "step"]],
    [compacted("window"), ["move", "step"]],
    [compacted("tool")],
    [compacted("person")],
    [made],
    [starts],
    [{ ...starts, turn: 2 }, ["move", "step"]],
    [step(1, { agent: "a", final: true }), ["move", "step"], ["model", "demo"]],
    [answered("a")],
    [step(1), ["model", "demo"]],
    [answered()],
    [step(2), ["move", "wait"], ["model", "demo"]],
  ];
  const stored = await must(
    yard.log.append(
      row.number,
      recorded.map(([event]) => event),
    ),
  );
  const first = stored.lastSeq - recorded.length + 1;
  const report = await yard.engine.replay(row);
  assert.deepEqual(
    report.differences.map(({ seq, what, now }) => [seq - first, what, now]),
    recorded.flatMap(([, ...differences], index) => differences.map(([what, now]) => [index, what, now])),
  );
  assert.deepEqual([report.turns, report.steps], [3, 3]);
});
