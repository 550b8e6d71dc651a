import assert from "node:assert/strict";
import { test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { allFrames, messagesOf, startChatYard } from "../world/chat.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { openAiYard } from "../world/openai.ts";
import { must, startYard } from "../world/yard.ts";

// Whoever stops something names it, and nothing else is stopped, however late the word comes.

const stalling = { text: "word0 word1 word2 word3", fault: { after: 2, kind: "stall" } } as const;

test("who stops a turn that is over by now does not stop the one that runs [C4][L6]", async () => {
  await using model = await modelServer([says("one"), stalling]);
  await using yard = await startYard({ model });
  const row = await must(yard.engine.create(localOwner, { id: "c" }));
  const send = (id: string) => must(yard.engine.send(row, { id, text: id, mode: "queue" }));
  await send("a");
  await yard.whenAtRest("c");
  await send("b");
  await until("the second runs", () => model.asked.length === 2);
  await send("w");
  const stop = async (which: Parameters<typeof yard.engine.cancel>[1]) => {
    const stopped = await yard.engine.cancel(row, which);
    return stopped.ok ? stopped.value : stopped.failure.code;
  };
  const over = "turn_not_running";
  assert.deepEqual(
    [await stop({ message: "a" }), await stop({ turn: 1 }), await stop({ message: "w", turn: 1 })],
    [over, over, over],
  );
  assert.deepEqual([await stop({ decision: "none" }), await stop({ message: "nobody" })], [over, over]);
  assert.deepEqual(all(await yard.events("c"), "cancel.asked"), []);
  assert.deepEqual([await stop({ message: "w" }), await stop({ message: "w" })], [{ turn: null }, over]);
  assert.deepEqual(await stop({ message: "b", turn: 2 }), { turn: 2 });
  const { events } = await yard.whenAtRest("c");
  assert.deepEqual(
    all(events, "turn.finished").map(({ outcome }) => outcome),
    ["done", "cancelled"],
  );
});

test("a message that waits is withdrawn by two at once, and the turn before it goes on [C4][L7]", async () => {
  await using model = await modelServer(() => stalling);
  await using world = await startChatYard({ model });
  const first = await world.stream({ query: "one", conversation_id: "c1", agent_run_id: "r1" });
  await until("the first runs", () => model.asked.length === 1);
  const second = await world.stream({ query: "two", conversation_id: "c1", agent_run_id: "r2" });
  const stop = { conversation_id: "c1", agent_run_id: "r2" };
  const stops = await Promise.all([1, 2, 3].map(() => world.call("POST", "chat/termination", stop)));
  assert.deepEqual(
    stops.map(({ status }) => status),
    [204, 204, 204],
  );
  await allFrames(second);
  assert.deepEqual(all(await world.yard.events("c1"), "cancel.asked"), []);
  const states = (await messagesOf(world, "c1")).map(({ run_state }) => run_state);
  assert.deepEqual(states, ["", "running"]);
  first.leave();
});

test("a client that gives every turn the same agent_run_id stops and reads the one that runs [C4]", async () => {
  await using model = await modelServer([says("one"), stalling]);
  await using world = await startChatYard({ model });
  const named = { conversation_id: "c1", agent_run_id: "mine" };
  await world.chat({ query: "first", ...named });
  const running = await world.stream({ query: "second", ...named });
  await until("the second runs", () => model.asked.length === 2);
  const reading = await world.stream(named, { path: "chat/resume" });
  assert.equal((await world.call("POST", "chat/termination", named)).status, 204);
  const [read] = await Promise.all([allFrames(reading), allFrames(running)]);
  assert.match(JSON.stringify(read), /"second"/);
  const statuses = async () => (await messagesOf(world, "c1")).map(({ status }) => status);
  assert.deepEqual(await statuses(), ["processed", "succeded", "processed", "cancelled"]);
  // When none runs, the newest is meant.
  const late = await allFrames(await world.stream(named, { path: "chat/resume" }));
  assert.match(JSON.stringify(late), /"second"/);
});

test("a program that waits behind the turn of another and goes away leaves that turn alone [C5][L7]", async () => {
  const released = Promise.withResolvers<void>();
  await using model = await modelServer(() => ({
    text: "one word after the other",
    heldAt: (part) => (part < 3 ? undefined : released.promise),
  }));
  await using server = await openAiYard({ model });
  const { openai, yard } = server;
  const types: string[] = [];
  let conversation = "";
  for await (const event of await openai.responses.create({ model: "general", input: "one", stream: true })) {
    types.push(event.type);
    if (event.type !== "response.created") continue;
    conversation = event.response.conversation?.id ?? "";
    const gone = new AbortController();
    const body = { model: "general", input: "two", previous_response_id: event.response.id };
    const second = openai.responses.create(body, { signal: gone.signal });
    const said = async () => all(await yard.events(conversation), "message.user").length;
    await until("the second waits", async () => (await said()) === 2);
    gone.abort();
    await assert.rejects(second);
    await until("it is withdrawn", async () => {
      const events = await yard.events(conversation);
      return events.some(({ type }) => type === "message.withdrawn" || type === "cancel.asked");
    });
    released.resolve();
  }
  assert.equal(types.at(-1), "response.completed");
  const { events } = await yard.whenAtRest(conversation);
  assert.deepEqual([all(events, "cancel.asked").length, all(events, "turn.started").length], [0, 1]);
});

test("a result that comes while its turn is being given up is not thrown away with it [C5]", async () => {
  await using model = await modelServer([calls(["look_up", {}]), says("done")]);
  await using yard = await startYard({ model });
  const row = await must(yard.engine.create(localOwner, { id: "c" }));
  const functions = [{ name: "look_up", description: "", parameters: {} }];
  await must(yard.engine.send(row, { text: "go", mode: "queue", callerPart: { functions } }));
  await until("it waits", async () => (await yard.engine.state(row)).status === "waiting");
  const { decisions } = await yard.engine.state(row);
  const decision = decisions[0]?.id ?? "";
  await must(yard.engine.decide(row, decision, { verdict: "answer", answer: "42", by: "local" }));
  const given = await yard.engine.cancel(row, { decision });
  assert.equal(given.ok ? "stopped" : given.failure.code, "turn_not_running");
  assert.equal((await yard.whenAtRest("c")).answer, "done");
});
