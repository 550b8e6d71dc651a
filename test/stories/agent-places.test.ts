import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { withoutMarks } from "../../src/words/words.ts";
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

test("a worker that a person stops is named by what its result is told under, and whoever gave it the work is told that it was stopped [A2][L6]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer((request) => {
    if (firstOf(request) === "part") return { ...says("never"), heldUntil: held.promise };
    return lastOf(request).role === "tool" ? says("fine") : calls(["delegate_task", { task: "part" }]);
  });
  await using yard = await startYard({ model, isOneProcess: true });
  await yard.start("c");
  await say(yard, "go");
  await until("the worker works", () => model.asked.some((request) => firstOf(request) === "part"));
  const [spawned] = all(await yard.events("c"), "agent.spawned");
  assert.deepEqual(await must(stop(yard, spawned?.context ?? "")), { agent: spawned?.id });
  const { answer, events } = await yard.whenAtRest("c");
  held.resolve();
  const told = all(events, "call.finished").map(({ text, outcome }) => [outcome, JSON.parse(withoutMarks(text))]);
  assert.deepEqual(
    [answer, told],
    ["fine", [["error", { ok: false, error: "it was stopped", context_id: spawned?.context, loops: 1 }]]],
  );
});

test("agents are named by their ids, too, whatever blanks stand around them, and what is not there is named in short [A1]", async () => {
  const long = `no\n\nbody ${"x".repeat(100)}`;
  await using model = await modelServer((request) => {
    const said = textOf(request);
    if (firstOf(request) !== "go") return says("done");
    const id = /"agent":"(task-\w+)"/.exec(said)?.[1] ?? "";
    if (id === "") return calls(spawn("first"));
    if (said.includes("[The agent first") && !said.includes("late"))
      return calls(["send_message", { to: id, text: "late" }], ["send_message", { to: long, text: "x" }]);
    if (!said.includes("thanks")) return calls(["send_message", { to: ` ${id}\n`, text: "thanks" }]);
    return says("fine");
  });
  await using yard = await startYard({ model, isOneProcess: true });
  const { events } = await yard.ask("go");
  const [first] = all(events, "agent.spawned");
  assert.deepEqual(
    all(events, "agent.mailed").flatMap(({ to, text, kind }) =>
      kind === undefined ? [[to, text.split("\n")[1]]] : [],
    ),
    [[first?.id, "thanks"]],
  );
  assert.deepEqual(
    all(events, "call.finished").flatMap(({ failure }) =>
      failure === undefined ? [] : [[failure.code, failure.params]],
    ),
    [
      ["agent_ended", { name: first?.id }],
      ["agent_unknown", { name: `no body ${"x".repeat(72)}` }],
    ],
  );
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

test("where no file of a task can be taken its parent is told that, too [W2][W13]", async () => {
  await using model = await modelServer((request) => {
    if (firstOf(request) === "maker it")
      return lastOf(request).role === "tool"
        ? says("made")
        : calls(["write_file", { path: "outputs/a.txt", content: "a" }]);
    return isMade(textOf(request)) ? says("fine") : calls(spawn("maker"));
  });
  await using yard = await startYard({ model, isOneProcess: true });
  await yard.start("c");
  mkdirSync(join(yard.data, "workspace/c/outputs"), { recursive: true });
  writeFileSync(join(yard.data, "workspace/c/outputs/maker"), "in the way");
  const { events } = await yard.ask("go", { conversation: "c" });
  const [[end], [mail]] = [all(events, "agent.ended"), all(events, "agent.mailed")];
  assert.equal(end?.folder, undefined);
  assert.match(mail?.text ?? "", /is done\]\nmade\nOf its files none could be taken; 1 was left out\.$/);
});

function isMade(said: string): boolean {
  return said.includes('"ok":true,"agent"');
}
