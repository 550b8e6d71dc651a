import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import type { OutgoingMessage } from "../../src/loop/loop.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { replicaCount } from "../world/replicas.ts";
import { dot } from "../world/torture-plan.ts";
import { newConversation } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

test("a question gets the model's answer, and every step of it is in the log [L1][L2]", async () => {
  await using model = await modelServer([says("Hello to you.")]);
  await using yard = await startYard({ model });
  const { answer, outcome, events } = await yard.ask("hello");
  assert.deepEqual({ answer, outcome }, { answer: "Hello to you.", outcome: "done" });
  assert.deepEqual(
    events.map((event) => event.type),
    ["message.user", "turn.started", "recipe.set", "step.started", "message.assistant", "turn.finished"],
  );
  const [said] = all(events, "message.assistant");
  const { firstTokenMs = -1, durationMs = -1 } = said ?? {};
  assert.ok(firstTokenMs >= 0 && firstTokenMs <= durationMs, "it is known how long the first word took, and all of it");
  assert.equal(said?.usageEstimated, undefined);
});

test("a conversation is listed by its first words, or by the title it was given, with what was said last and how many turns it has [L9]", async () => {
  await using model = await modelServer((request) => says(`Answer ${request.body.messages.length}.`));
  await using yard = await startYard({ model });
  const { id: titled } = await must(yard.client.call("createConversation", { body: { title: "Mine" } }));
  const listed = async () =>
    (await must(yard.client.call("listConversations", {}))).items.map(({ title, lastMessage, turns }) => [
      ...[title, lastMessage, turns],
    ]);
  await yard.ask("first\n words", { conversation: titled });
  const { conversation } = await yard.ask("first\n words");
  await yard.ask(`then ${"more ".repeat(40)}`, { conversation });
  assert.deepEqual(await listed(), [
    ["first words", "Answer 4.", 2],
    ["Mine", "Answer 2.", 1],
  ]);
  const held = Promise.withResolvers<void>();
  model.answerWith([{ ...says("done"), heldUntil: held.promise }]);
  const long = `also ${"more ".repeat(40)}`;
  await must(yard.client.call("sendMessage", { params: { id: titled }, body: { text: long, mode: "queue" } }));
  await until("the model is asked", () => model.asked.length === 4);
  assert.deepEqual((await listed())[0], ["Mine", `${long.slice(0, 119)}…`, 1]);
  held.resolve();
  await yard.whenAtRest(titled);
});

test("an answer of a server that does not count has an estimate, and says so [M3]", async () => {
  await using model = await modelServer([{ ...says("Hello to you."), usage: null }]);
  await using yard = await startYard({ model });
  const [said] = all((await yard.ask("hello")).events, "message.assistant");
  assert.deepEqual([said?.usageEstimated, (said?.usage.input ?? 0) > 0], [true, true]);
});

test("calls of one answer run side by side and their results go back in the order of the calls [L5]", async () => {
  const [begun, ended]: [Set<string>, string[]] = [new Set(), []];
  // Each waits until all three run, and then for the one that is to end before it.
  const slowFirst = defineTool({
    name: "pause",
    description: "Waits. For tests.",
    class: "pure",
    input: z.object({ name: z.string(), after: z.string().optional() }),
    async run({ name, after }) {
      begun.add(name);
      await until(`${name} may end`, () => begun.size === 3 && (after === undefined || ended.includes(after)));
      ended.push(name);
      return ok({ text: `waited ${name}` });
    },
  });
  await using model = await modelServer([
    calls(["pause", { name: "a", after: "c" }], ["pause", { name: "b" }], ["pause", { name: "c", after: "b" }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, tools: [slowFirst] });
  const { answer } = await yard.ask("go");
  assert.equal(answer, "done");
  assert.deepEqual(ended, ["b", "c", "a"], "they ran at the same time");
  const results = model.asked[1]?.body.messages
    .filter((message) => message.role === "tool")
    .map((message) => message.content);
  assert.deepEqual(results, ["waited a", "waited b", "waited c"]);
});

test("of many calls of one answer no more run at once than the operator allows, and the next starts when one ends [L5]", async () => {
  const begun = new Set<number>();
  // Each ends when the next has begun, so that there is always one at work.
  const relay = defineTool({
    name: "relay",
    description: "Waits for the next one. For tests.",
    class: "pure",
    input: z.object({ place: z.number() }),
    async run({ place }) {
      begun.add(place);
      await until(`${place} may end`, () => place === 6 || begun.has(place + 1));
      return ok({ text: `ran ${place}` });
    },
  });
  await using model = await modelServer([
    calls(...[1, 2, 3, 4, 5, 6].map((place): [string, object] => ["relay", { place }])),
    says("done"),
  ]);
  await using yard = await startYard({ model, tools: [relay], env: { AGENTYARD_PARALLEL_CALLS_MAX: "2" } });
  const { answer, events } = await yard.ask("go");
  const open = new Set<string>();
  const atOnce = events.flatMap((event) => {
    if (event.type === "call.started") return [open.add(event.call).size];
    if (event.type === "call.finished") open.delete(event.call);
    return [];
  });
  assert.deepEqual({ answer, atOnce }, { answer: "done", atOnce: [1, 2, 2, 2, 2, 2] });
});

test("a tool that does not exist, arguments that are not JSON and arguments that do not fit are answered with what to do, and the turn goes on [L5][R1]", async () => {
  await using model = await modelServer([
    calls(["nwo", {}], ["now", "{broken"], ["now", { timezone: "Mars/Base" }], ["ask_human", {}]),
    says("I see."),
  ]);
  await using yard = await startYard({ model });
  const { answer } = await yard.ask("go");
  assert.equal(answer, "I see.");
  const results = model.asked[1]?.body.messages.filter((message) => message.role === "tool") ?? [];
  const texts = results.map((message) => String(message.content));
  assert.equal(texts.length, 4);
  assert.match(texts[0] ?? "", /^Error: tool_not_found: There is no tool nwo\. Use one of: now/);
  assert.match(texts[1] ?? "", /^Error: tool_arguments_/);
  assert.match(texts[2] ?? "", /^Error: timezone_unknown: .*Asia\/Shanghai/);
  assert.match(texts[3] ?? "", /^Error: tool_arguments_unfit: .*question/);
});

test("at the step limit the calls asked for are not run and the model gives its final answer without tools [L8][L1]", async () => {
  await using model = await modelServer((request) =>
    request.body.tool_choice === "none"
      ? says("This far I came.")
      : calls(["now", { timezone: `Etc/GMT+${stepOf(request)}` }]),
  );
  await using yard = await startYard({ model, env: { MAX_LOOPS: "3" } });
  const { answer, outcome, events } = await yard.ask("go");
  assert.deepEqual({ answer, outcome }, { answer: "This far I came.", outcome: "limit" });
  assert.equal(model.asked.length, 4);
  const last = all(events, "call.finished").at(-1);
  assert.deepEqual([last?.outcome, last?.failure?.code], ["not_run", "tool_not_run"]);
  assert.match(last?.text ?? "", /not run: step limit/);
  const final = model.asked[3]?.body;
  assert.ok((final?.tools?.length ?? 0) > 0, "the tools stay in the request");
  assert.match(String(final?.messages.at(-1)?.content), /<system_reminder>\n.*limit of 3 steps/);
});

test("a call that keeps giving the same result is pointed out at the third time and refused at the fifth [R1]", async () => {
  await using model = await modelServer((request) =>
    request.body.tool_choice === "none" ? says("I stop.") : calls(["todo_read", {}]),
  );
  await using yard = await startYard({ model });
  const { answer, outcome, events } = await yard.ask("go");
  assert.deepEqual({ answer, outcome }, { answer: "I stop.", outcome: "done" });
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome, failure }) => failure?.code ?? outcome),
    ["ok", "ok", "ok", "ok", "tool_repeated"],
  );
  const reminders = all(events, "step.started").map((event) => event.reminder ?? "");
  assert.match(reminders[3] ?? "", /same result for the same arguments 3 times/);
});

test("a message sent while a turn runs waits for its own turn, and one sent as steering joins at the next step [L7]", async () => {
  const [runs, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pause = defineTool({
    name: "pause",
    description: "Waits. For tests.",
    class: "pure",
    input: z.object({}),
    async run() {
      runs.resolve();
      await goOn.promise;
      return ok({ text: "waited" });
    },
  });
  await using model = await modelServer((request) => {
    const newest = request.body.messages.findLast((message) => message.role === "user");
    return stepOf(request) === 0 && newest?.content === "first"
      ? calls(["pause", {}])
      : says(`answer to ${newest?.content}`);
  });
  await using yard = await startYard({ model, tools: [pause] });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const send = (text: string, mode: "queue" | "steer") =>
    must(yard.client.call("sendMessage", { params: { id }, body: { text, mode } }));
  await send("first", "queue");
  await runs.promise;
  await send("later", "queue");
  const taken = await send("never", "queue");
  await send("steered", "steer");
  await must(yard.client.call("withdrawMessage", { params: { id, message: taken.message } }));
  goOn.resolve();
  const { events } = await yard.whenAtRest(id);
  const said = all(events, "message.assistant").map((event) => event.text);
  // Of several servers, the one that drives may hear of it only when the next step has begun: then it joins the one after.
  const isLate = replicaCount > 1 && said[1] === "answer to first";
  assert.deepEqual(said.toSpliced(1, isLate ? 1 : 0), ["", "answer to steered", "answer to later"]);
  assert.equal(all(events, "turn.started").length, 2);
  const again = await yard.client.call("withdrawMessage", { params: { id, message: taken.message } });
  assert.equal(again.ok ? "" : again.failure.code, "message_not_found");
});

test("who names with @ what is not there is told so, with at most three names that were probably meant [L4]", async () => {
  const paints = ["a", "b", "c", "d", "e"].map((letter) =>
    defineTool({
      ...{ name: `paint_${letter}`, description: "Paints. For tests.", input: z.object({}) },
      run: () => ok({ text: "painted" }),
    }),
  );
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, tools: paints });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const body = { text: "ask @paint_x and @nobody, or @paint_a", mode: "queue" } as const;
  const { unknownMentions = [] } = await must(yard.client.call("sendMessage", { params: { id }, body }));
  assert.deepEqual(
    unknownMentions.map(({ name, near }) => [name, near.length]),
    [
      ["paint_x", 3],
      ["nobody", 0],
    ],
  );
  await yard.whenAtRest(id);
});

test("the same message sent twice under one id is stored once [L2]", async () => {
  await using model = await modelServer([says("one"), says("two")]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const body = { id: "m-1", text: "hello", mode: "queue" as const };
  const first = await must(yard.client.call("sendMessage", { params: { id }, body }));
  const second = await must(yard.client.call("sendMessage", { params: { id }, body }));
  assert.deepEqual(second, first);
  const { events } = await yard.whenAtRest(id);
  assert.equal(all(events, "message.user").length, 1);
});

test("a message that nobody can see is not taken, with a word on why; an image or a file may come with one [Z3][P1]", async () => {
  await using model = await modelServer(() => says("I see."));
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  for (const text of [" ", "\n \t", "\u200b", "\u3000\u2060", "\u0007"]) {
    const sent = await yard.client.call("sendMessage", { params: { id }, body: { text } });
    assert.deepEqual([sent.ok, !sent.ok && sent.failure.code], [false, "message_blank"], JSON.stringify(text));
  }
  assert.equal(model.asked.length, 0);
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: " ", images: [dot] } }));
  assert.equal((await yard.whenAtRest(id)).outcome, "done");
  await must(yard.client.upload(id, "a.txt", Buffer.from("text")));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: " ", files: ["uploads/a.txt"] } }));
  assert.equal((await yard.whenAtRest(id)).outcome, "done");
});

test("all that comes with a message is stored with it, and nothing that was not said [L2][C1]", async () => {
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, isOneProcess: true });
  const row = await yard.start("c");
  const stored = async (message: OutgoingMessage) => {
    const { seq } = await must(yard.engine.send(row, message));
    const event = all(await yard.events("c"), "message.user").find((one) => one.seq === seq);
    assert.ok(event !== undefined);
    const { seq: _, at: __, ...body } = event;
    await yard.whenAtRest("c");
    return body;
  };
  const images = [{ mime: "image/png", base64: "AA==" }];
  const instead = [{ role: "user", text: "before" }] as const;
  const full: OutgoingMessage = {
    ...{ id: "m1", text: "go", mode: "queue", slot: "code", budget: { tokens: 90_000, steps: 3 }, images },
    ...{ reply: "reply-1", run: "run-1", instead: [...instead], inputs: { colour: "green" } },
  };
  const callerPart = { instructions: "Be brief." };
  assert.deepEqual(await stored({ ...full, callerPart }), { type: "message.user", ...full, program: callerPart });
  const plain = { id: "m2", text: "more", mode: "steer" } as const;
  assert.deepEqual(await stored({ ...plain, images: [], inputs: {}, files: [], selected: [] }), {
    ...{ type: "message.user", ...plain },
  });
  const others = { id: "m3", text: "mine, not mine", mode: "queue" } as const;
  assert.deepEqual(await stored({ ...others, own: 4 }), { type: "message.user", ...others, own: 4, untrusted: true });
  const own = { id: "m4", text: "mine", mode: "queue" } as const;
  assert.deepEqual(await stored({ ...own, own: 4 }), { type: "message.user", ...own });
  assert.deepEqual(await stored({ ...own, id: "m5", own: 99 }), { type: "message.user", ...own, id: "m5" });
  await must(yard.engine.upload(row, { name: "a.txt", keep: false, chunks: Readable.from([Buffer.from("a")]) }));
  const attached = await stored({ ...own, id: "m6", own: 99, files: ["uploads/a.txt"] });
  assert.deepEqual([attached.own, attached.text.slice(0, 4), attached.untrusted], [4, "mine", undefined]);
  const again = await must(yard.engine.send(row, { ...own, id: "m5" }));
  const first = all(await yard.events("c"), "message.user").find(({ id }) => id === "m5");
  assert.deepEqual(again, { message: "m5", seq: first?.seq }, "sent twice it is stored once");
});
