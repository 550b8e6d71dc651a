import assert from "node:assert/strict";
import { test } from "node:test";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { startChatYard } from "../world/chat.ts";
import { firstOf, lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { callEnds, openAiYard } from "../world/openai.ts";
import { must, startYard } from "../world/yard.ts";

// What becomes of a turn that does not come to its own end, as those see it who wait for it.

const stuck: Answer = { text: "never", fault: { after: 0, kind: "stall" } };

test("a turn during which the process ended three times is parked, with what to do in both languages [L2][Q2]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer(() => stuck);
  await using first = await startYard({ data, model });
  const { id } = await must(first.client.call("createConversation", { body: {} }));
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  const isAsked = (times: number) => until(`the model was asked ${times} times`, () => model.asked.length === times);
  await isAsked(1);
  // Each of them takes the conversation over as after the end of the one before.
  await using others = new AsyncDisposableStack();
  for (const times of [2, 3]) {
    others.use(await startYard({ data, model }));
    await isAsked(times);
  }
  await using last = await startYard({ data, model });
  const { outcome, events } = await last.whenAtRest(id);
  const reason = all(events, "turn.finished").at(-1)?.failure;
  assert.deepEqual([outcome, reason?.code, model.asked.length], ["crashed", "turn_crashed", 3]);
  const told = (["en", "zh"] as const).map((language) => reason && failureWords(wordsFor(language), reason).join(" "));
  assert.match(told[0] ?? "", /^This turn ended the process 3 times and was parked\. Change the request/);
  assert.match(told[1] ?? "", /^这个回合已经让程序意外退出 3 次，现已搁置。 请换一种说法/);
});

test("a turn that only waited for a person while the process ended three times is not parked; the agent that was at work is [L2][H4][A1]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("part")) return stuck;
    if (lastOf(request).role === "tool" || lastOf(request).text.startsWith("[The agent")) return says("done");
    return calls(["ask_human", { question: "Well?" }], ["spawn_agent", { role: "helper", task: "part" }]);
  });
  await using first = await startYard({ data, model });
  const { id } = await first.start("c");
  await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await using others = new AsyncDisposableStack();
  for (const times of [2, 3, 4]) {
    await until(`the model was asked ${times} times`, () => model.asked.length === times);
    if (times < 4) others.use(await startYard({ data, model }));
  }
  await using last = await startYard({ data, model });
  const waiting = await last.whenAtRest(id);
  const [ended] = all(waiting.events, "agent.ended");
  assert.deepEqual([waiting.status, ended?.outcome, ended?.failure?.code], ["waiting", "failed", "turn_crashed"]);
  const [open] = (await must(last.client.call("listDecisions", {}))).items;
  const params = { id, decision: open?.id ?? "" };
  await must(last.client.call("decide", { params, body: { verdict: "answer", answer: "well" } }));
  const { answer, outcome } = await last.whenAtRest(id);
  assert.deepEqual([answer, outcome], ["done", "done"]);
});

test("a turn that goes on when a person has decided goes on with the settings of that moment [P5][H4]", async () => {
  let looks = 0;
  const reload = async () => {
    looks += 1;
    return undefined;
  };
  await using model = await modelServer([calls(["ask_human", { question: "Well?" }]), says("done")]);
  await using yard = await startYard({ model, reload });
  const { conversation: id } = await yard.ask("go");
  const before = looks;
  const [open] = (await must(yard.client.call("listDecisions", {}))).items;
  const params = { id, decision: open?.id ?? "" };
  await must(yard.client.call("decide", { params, body: { verdict: "answer", answer: "well" } }));
  const { answer } = await yard.whenAtRest(id);
  assert.deepEqual([answer, looks], ["done", before + 1]);
});

test("who waits for an answer over /v1 is told when somebody stops the turn [C5][L6]", async () => {
  await using model = await modelServer(() => stuck);
  await using server = await openAiYard({ model });
  for (const [stream, conversation] of [
    [false, "whole"],
    [true, "streamed"],
  ] as const) {
    const before = model.asked.length;
    const ends = callEnds(server.openai.responses.create({ model: "general", input: "go", conversation, stream }));
    await until("the model was asked", () => model.asked.length > before);
    await must(server.yard.client.call("cancelTurn", { params: { id: conversation } }));
    assert.deepEqual(await ends, [409, "invalid_request_error", "turn_cancelled"]);
  }
});

test("reading on in a turn that never was is refused with what there is to do [C3][P4]", async () => {
  await using model = await modelServer([says("hello")]);
  await using world = await startChatYard({ model });
  await world.chat({ query: "hi", conversation_id: "c1", agent_run_id: "r1" });
  const { status, json } = await world.call("POST", "chat/resume", { conversation_id: "c1", agent_run_id: "r2" });
  assert.deepEqual(
    [status, json.error_code, Object(json.error_details).code, json.description],
    [404, "AgentAPP.Agent.ResumeFailed", "run_not_found", "There is no such turn in conversation c1"],
  );
});
