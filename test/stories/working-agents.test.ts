import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { bouncingAnswer, bouncingOrder } from "../world/bouncing.ts";
import { firstOf, isRoots, lastOf, textOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const spawn = (name: string): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }];

const say = (yard: TestYard, text: string) =>
  must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text, mode: "queue" } }));

const stop = (yard: TestYard, agent: string) => yard.client.call("stopAgent", { params: { id: "c", agent } });

test("an agent that waits for its place ends at once when it is stopped, and the main agent hears of it while all places are taken [A1][L6][L8]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("first")) return { ...says("the first is done"), heldUntil: held.promise };
    if (!isMade(textOf(request))) return calls(spawn("first"), spawn("second"));
    return says(lastOf(request).text.includes("was stopped") ? "I have heard it" : "they are at it");
  });
  const env = { AGENTYARD_AGENTS_AT_ONCE_MAX: "1" };
  await using yard = await startYard({ model, env, isOneProcess: true });
  await yard.start("c");
  await say(yard, "go");
  const isSaid = async (text: string) =>
    all(await yard.events("c"), "message.assistant").some((said) => isRoots(said) && said.text === text);
  await until("the main agent waits, and the first has the place", async () => {
    return (await isSaid("they are at it")) && model.asked.some((request) => firstOf(request) === "first it");
  });
  await must(stop(yard, "second"));
  await until("the main agent has heard of it", () => isSaid("I have heard it"));
  const events = await yard.events("c");
  const [, second] = all(events, "agent.spawned");
  const [{ seq: _, at: __, spent: ___, ...end } = assert.fail(), ...others] = all(events, "agent.ended");
  assert.deepEqual([end, others], [{ type: "agent.ended", id: second?.id, outcome: "terminated", steps: 0 }, []]);
  held.resolve();
  assert.equal((await yard.whenAtRest("c")).outcome, "done");
  assert.equal(model.asked.filter((request) => firstOf(request).startsWith("second")).length, 0);
});

test("of what a task has made 500 files are taken, and its parent is told how many were left out, also because there is no room for them [W2][W13]", async () => {
  let data = "";
  const fill = defineTool({
    ...{ name: "fill", description: "Makes files. For tests.", input: z.object({}) },
    async run(_, { agent = "" }) {
      const folder = join(data, "workspaces", agent, "outputs");
      mkdirSync(folder, { recursive: true });
      for (let count = 0; count < 502; count += 1) writeFileSync(join(folder, `${1_000 + count}.txt`), "");
      return ok({ text: "filled" });
    },
  });
  await using model = await modelServer((request) => {
    if (firstOf(request) === "maker it")
      return lastOf(request).role === "tool" ? says("all made") : calls(["fill", {}]);
    return isMade(textOf(request)) ? says("fine") : calls(spawn("maker"));
  });
  await using yard = await startYard({ model, tools: [fill], isOneProcess: true });
  data = yard.data;
  await yard.start("c");
  const folder = join(data, "workspace/c/outputs/maker");
  // A folder is in the way of one of them.
  mkdirSync(join(folder, "1007.txt/below"), { recursive: true });
  const { events } = await yard.ask("go", { conversation: "c" });
  const [mail] = all(events, "agent.mailed");
  assert.match(mail?.text ?? "", /is done\]\nall made\nIts files are in outputs\/maker\/; 3 were left out\.$/);
  assert.equal(readdirSync(folder).length, 500);
  assert.deepEqual([existsSync(join(folder, "1499.txt")), existsSync(join(folder, "1500.txt"))], [true, false]);
});

function isMade(said: string): boolean {
  return said.includes('"ok":true,"agent"');
}

const sent = { attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;

const written = { finish: "stop", durationMs: 1 } as const;

test("who looks at the agents of a conversation sees for whom each works, what it was made for and when, with whose files, and who waits for a person [A1][A2][W2]", async () => {
  let now = 1_000;
  await using yard = await startYard({ isOneProcess: true, clock: { ...systemClock, now: () => now } });
  const row = await yard.start("c");
  now = 2_000;
  const made = (id: string, mode: "task" | "worker", agent?: string): NewEvent => ({
    ...{ type: "agent.spawned", id, mode, role: `role of ${id}`, name: id, brief: `${id} it` },
    ...(agent === undefined ? {} : { agent }),
  });
  const asks = { turn: 1, id: "d", call: "x", kind: "question", tool: "ask_human", question: "Well?" } as const;
  const calls = [{ id: "x", name: "ask_human", arguments: '{"question":"Well?"}' }];
  const usage = { input: 1, output: 1 };
  await must(
    yard.log.append(row.number, [
      { type: "message.user", id: "m1", text: "go", mode: "queue" },
      { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
      ...[made("task", "task"), made("below", "worker", "task"), made("worker", "worker")],
      { type: "turn.started", agent: "below", turn: 1, message: "below-brief", epoch: 1 },
      { type: "step.started", agent: "below", turn: 1, step: 1, ...sent },
      { type: "message.assistant", agent: "below", turn: 1, step: 1, text: "", ...written, usage, calls },
      { type: "decision.asked", agent: "below", ...asks },
    ]),
  );
  const agents = await yard.engine.agentTree(row);
  assert.deepEqual(
    agents.map(({ id, parent, mode, brief, workspace, madeAt }) => [id, parent, mode, brief, workspace, madeAt]),
    [
      ["root", null, "main", "", null, 1_000],
      ["task", "root", "task", "task it", "task", 2_000],
      ["below", "task", "worker", "below it", "task", 2_000],
      ["worker", "root", "worker", "worker it", null, 2_000],
    ],
  );
  assert.deepEqual(
    agents.slice(1).map(({ role, state }) => [role, state]),
    [
      ["role of task", "working"],
      ["role of below", "waiting_person"],
      ["role of worker", "working"],
    ],
  );
});

const atOnce = 8;

const roles = [...Array<string>(7).fill("painter"), "Root", "user", " Parent!", "…", "Über-Maler 2"];

const names = [
  ...["painter", "painter-2", "painter-3", "painter-4", "painter-5", "painter-6", "painter-7"],
  ...["root-2", "user-2", "parent-2", "task", "über-maler-2"],
];

test("of many agents eight work at once, the next when one ends; each has a name of its own, and the list says who works and who waits [A1][L8]", async () => {
  const [one, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let held = 0;
  let most = 0;
  await using model = await modelServer((request) => {
    const { role, text } = lastOf(request);
    if (firstOf(request).startsWith("part")) {
      held += 1;
      most = Math.max(most, held);
      return { ...says("my part"), heldUntil: firstOf(request) === "part 0" ? one.promise : others.promise };
    }
    if (text.startsWith("[The agent painter ")) return calls(["send_message", { to: "painter", text: "thanks" }]);
    const tasks = roles.map((name, n): [string, unknown] => ["spawn_agent", { role: name, task: `part ${n}` }]);
    return role === "user" ? calls(...tasks) : says("they are at it");
  });
  await using yard = await startYard({ model });
  await yard.start("c");
  const listed = async () => (await must(yard.client.call("listConversationAgents", { params: { id: "c" } }))).items;
  await must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
  await until("eight are at work", () => held >= atOnce);
  await until("the main agent waits for them", async () => (await listed())[0]?.state === "waiting_agents");
  const [, ...made] = await listed();
  assert.deepEqual([made.map(({ name }) => name).toSorted(), most], [names.toSorted(), atOnce]);
  assert.ok(made.every(({ state, endedAt }) => state === "working" && endedAt === null));
  held -= 1;
  one.resolve();
  await until("the next one works", () => held >= atOnce);
  await until("the one that has ended was thanked", async () =>
    all(await yard.events("c"), "message.assistant").some(({ text }, at) => at > 0 && text === "they are at it"),
  );
  const [ended] = all(await yard.events("c"), "agent.ended");
  const painter = (await listed()).find(({ name }) => name === "painter");
  assert.deepEqual([painter?.state, painter?.endedAt, painter?.result], ["done", ended?.at, "my part"]);
  await must(yard.client.call("cancelTurn", { params: { id: "c" } }));
  const { events } = await yard.whenAtRest("c");
  others.resolve();
  assert.equal(most, atOnce);
  assert.deepEqual(
    all(events, "call.finished").flatMap(({ failure }) => failure?.code ?? []),
    ["agent_ended"],
  );
  assert.equal(all(events, "agent.ended").length, roles.length);
});

test("two agents that write to each other without end are ended with what they have, and their siblings go on [A1][A4]", async () => {
  await using model = await modelServer(bouncingAnswer("same"));
  // Whatever is asked is approved: the rule asks nobody.
  await using yard = await startYard({ model, approves: true });
  const { answer, outcome, events } = await yard.ask(bouncingOrder);
  assert.deepEqual([answer, outcome], ["pair, quiet are done", "done"]);
  const names = new Map(all(events, "agent.spawned").map(({ id, name = "" }) => [id, name]));
  const named = (id: string | undefined) => names.get(id ?? "") ?? "root";
  const between = all(events, "agent.mailed").filter(({ agent, to }) => /p[io]ng/.test(named(agent) + named(to)));
  assert.equal(between.filter(({ kind }) => kind === undefined).length, 5);
  assert.equal(between.filter(({ kind }) => kind === "circle").length, 1);
  const ends = Object.fromEntries(all(events, "agent.ended").map((ended) => [named(ended.id), ended]));
  assert.deepEqual(
    Object.entries(ends).map(([name, { outcome, failure }]) => `${name} ${outcome} ${failure?.code ?? ""}`.trim()),
    Object.keys(ends).map((name) => (/^p[io]ng$/.test(name) ? `${name} limit mail_in_circles` : `${name} done`)),
  );
  assert.deepEqual(
    ["ping", "pong"].map((name) => ends[name]?.result),
    ["ping came so far", "pong came so far"],
  );
  assert.equal(ends.quiet?.steps, 2, "who is no part of it does its work to the end");
  // Their parent is told why, and people read it in their language.
  const told = all(events, "agent.mailed").filter(
    ({ kind, text }) => kind === "result" && text.includes("came so far"),
  );
  assert.ok(told.length === 2 && told.every(({ text }) => text.includes("mail_in_circles")));
  const failure = ends.ping?.failure ?? assert.fail();
  assert.match(failureWords(wordsFor("en"), failure)[0], /^p[io]ng and p[io]ng only write to each other/);
  assert.match(failureWords(wordsFor("zh"), failure)[0], /^p[io]ng 和 p[io]ng 只是在互相写消息/);
});

test("a main agent that asks the same again and again loses that agent and goes on; the second time its turn ends [A1][A4]", async () => {
  await using model = await modelServer(bouncingAnswer("root"));
  await using yard = await startYard({ model });
  const { answer, outcome, events } = await yard.ask(bouncingOrder);
  assert.deepEqual([answer, outcome], ["root came so far", "limit"]);
  const names = new Map(all(events, "agent.spawned").map(({ id, name }) => [id, name]));
  const ends = new Map(all(events, "agent.ended").map(({ id, outcome }) => [names.get(id), outcome]));
  assert.deepEqual([ends.get("ping"), ends.get("quiet"), ends.get("pong")], ["limit", "done", "limit"]);
  assert.equal(all(events, "turn.finished").findLast(isRoots)?.failure?.code, "mail_in_circles");
  assert.deepEqual(
    all(events, "call.finished").flatMap(({ agent = "root", failure }) => (failure ? [[agent, failure.code]] : [])),
    [
      ["root", "mail_in_circles"],
      ["root", "mail_in_circles"],
    ],
  );
});

const senders = ["amber", "blue", "coral"];

const words = ["north", "east", "south", "west"];

test("what agents write at the same time is read once each, in the order of the log, also where a person speaks in between [A1][L7]", async () => {
  await using model = await modelServer((request) => {
    const [who = ""] = firstOf(request).split(" ");
    if (who !== "go")
      return lastOf(request).role === "tool"
        ? says(`${who} is done`)
        : calls(...words.map((word): [string, unknown] => ["send_message", { to: "parent", text: `${who} ${word}` }]));
    if (textOf(request).includes('"agent"')) return says("waiting");
    return calls(...senders.map((name): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }]));
  });
  await using yard = await startYard({ model });
  await yard.start("c");
  const say = (text: string, mode: "queue" | "steer") =>
    must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text, mode } }));
  await say("go", "queue");
  await Promise.all(["one", "two", "three"].map((text) => say(`by the way ${text}`, "steer")));
  const { outcome, events } = await yard.whenAtRest("c");
  assert.equal(outcome, "done");
  const sent = all(events, "agent.mailed").filter(({ to, kind }) => to === "root" && kind === undefined);
  assert.equal(sent.length, senders.length * words.length);
  for (const name of senders)
    assert.deepEqual(
      sent.flatMap(({ text }) => text.split("\n").slice(1)).filter((text) => text.startsWith(`${name} `)),
      words.map((word) => `${name} ${word}`),
    );
  // The main agent has read all of it, each once, in the order in which it is stored.
  const [last] = model.asked.filter((request) => firstOf(request).startsWith("go")).slice(-1);
  const read = (last?.body.messages ?? []).flatMap(({ role, content }) =>
    role === "user"
      ? [...String(content).matchAll(/^(amber|blue|coral) (north|east|south|west)$/gm)].map(([all]) => all)
      : [],
  );
  assert.deepEqual(
    read,
    sent.flatMap(({ text }) => text.split("\n").slice(1, 2)),
  );
  assert.deepEqual(all(events, "message.user").filter(isRoots).length, 4);
});

test("when a turn is stopped nothing below goes on: no model is asked, no tool works, nothing is stored and nobody is asked [L6][A1][H4]", async () => {
  const held = Promise.withResolvers<void>();
  let ticks = 0;
  const tick = defineTool({
    name: "tick",
    description: "Works until it is stopped. For tests.",
    input: z.object({}),
    async run(_, { clock, signal }) {
      for (; !signal.aborted; ticks += 1) await clock.wait(1, signal);
      return ok({ text: "stopped" });
    },
  });
  await using model = await modelServer((request) => {
    const [who = ""] = firstOf(request).split(" ");
    const { text } = lastOf(request);
    if (text === "again") return says("fresh");
    const isMade = textOf(request).includes('"agent"');
    if (who === "go") return isMade ? says("waiting") : calls(spawn("boss"), spawn("asker"), spawn("waiter"));
    // One below another, and each in the middle of something else.
    if (who === "boss") return calls(spawn("deep"), ["delegate_task", { task: "worker it" }]);
    if (who === "worker") return calls(["tick", {}]);
    if (who === "asker") return calls(["ask_human", { question: "And?" }]);
    if (who === "waiter" && !text.includes("Delivered"))
      return calls(["send_message", { to: "parent", text: "well?", wait_for_answer: true }]);
    if (who === "waiter") return says("I wait");
    return { ...says("never"), heldUntil: held.promise };
  });
  await using yard = await startYard({ model, tools: [tick] });
  await yard.start("c");
  await must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
  await until("everybody is in the middle of something", async () => {
    const said = all(await yard.events("c"), "message.assistant").map(({ text }) => text);
    const { items } = await must(yard.client.call("listDecisions", {}));
    const isAsked = model.asked.some((request) => firstOf(request).startsWith("deep"));
    return ticks > 0 && isAsked && items.length === 1 && said.includes("I wait");
  });
  await must(yard.client.call("cancelTurn", { params: { id: "c" } }));
  const { outcome, events } = await yard.whenAtRest("c");
  const [ticked, asked] = [ticks, model.asked.length];
  held.resolve();
  assert.equal(outcome, "cancelled");
  const made = all(events, "agent.spawned");
  const ends = all(events, "agent.ended");
  assert.deepEqual(made.length, 5);
  assert.deepEqual(new Set(ends.map(({ id }) => id)), new Set(made.map(({ id }) => id)));
  assert.ok(ends.every(({ outcome }) => outcome === "terminated"));
  for (const { id, agent } of made.filter(({ agent }) => agent !== undefined))
    assert.ok(ends.findIndex((end) => end.id === id) < ends.findIndex((end) => end.id === agent), "from the bottom up");
  const begun = all(events, "call.started").map(({ agent = "root", call }) => `${agent} ${call}`);
  const finished = all(events, "call.finished").map(({ agent = "root", call }) => `${agent} ${call}`);
  assert.deepEqual(
    begun.filter((call) => !finished.includes(call)),
    [],
    "each call has its end",
  );
  assert.ok(events.at(-1)?.type === "turn.finished" && isRoots(events.at(-1) ?? assert.fail()));
  assert.deepEqual((await must(yard.client.call("listDecisions", {}))).items, []);
  // A whole turn later it is still so.
  const next = await yard.ask("again", { conversation: "c" });
  assert.equal(next.answer, "fresh");
  assert.deepEqual([ticks, model.asked.length], [ticked, asked + 1]);
  assert.ok(next.events.slice(events.length).every(isRoots));
});
