import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { noWorkspace } from "../../workspace/workspace.ts";
import { openMarks } from "../marks.ts";
import { keepOne, said, spawned, started } from "../tenure.testing.ts";
import { wordsOf } from "./circle.ts";
import { toolAgents } from "./tool-agents.ts";

const task = (id: string, agent?: string): NewEvent => ({
  ...{ type: "agent.spawned", id, name: `the-${id}`, mode: "task", role: "writer", brief: `be ${id}` },
  ...(agent === undefined ? {} : { agent }),
});

/** Two tasks, of which one has a task and a worker of its own; the main agent has a worker besides. */
async function company(t: TestContext, more: readonly NewEvent[] = []) {
  const before = [said("m1"), started, task("one"), task("two"), task("below", "one"), task("deep", "below")];
  const kept = await keepOne(t, { before: [...before, spawned("w1", "one"), spawned("w2"), ...more] });
  const { limits, clock } = kept.parts;
  const parts = {
    ...{ limits, clock, marks: openMarks(systemIds), agents: () => [] },
    workspaces: {
      assignTask: () => assert.fail("nothing is handed over"),
      taskOf: () => assert.fail("nothing is handed over"),
    },
  };
  const workspace = noWorkspace("c", makeFailure("workspace_not_assigned", { agent: "a" }));
  const of = (agent: string, call = "call") =>
    toolAgents(agent === "root" ? kept.tenure.root : kept.agent(agent), parts, {
      ...{ call, workspace, noting: (files) => files },
    });
  const reaches = (from: string, to: string) => {
    const sent = of(from).send({ to, text: "hello", awaits: false });
    return sent.ok
      ? sent.value.events?.map((event) => event.type === "agent.mailed" && event.to)[0]
      : sent.failure.code;
  };
  return { ...kept, of, reaches, parts };
}

test("agents write to those of their task, their parent and the main agent's tasks by name or id; not to themselves, the user or another task's [A1]", async (t) => {
  const { reaches } = await company(t);
  const [far, none] = ["agent_out_of_reach", "agent_unknown"];
  const expected: readonly [from: string, outcomes: Readonly<Record<string, string>>][] = [
    ["root", { one: "one", " the-two\n": "two", deep: "deep", root: far, parent: none, user: none }],
    ["one", { parent: "root", root: "root", "the-deep": "deep", one: far, two: far }],
    ["two", { below: far }],
    ["below", { parent: "one", root: far }],
    ["deep", { one: "one", two: far }],
  ];
  assert.deepEqual(
    expected.map(([from, to]) => [from, Object.fromEntries(Object.keys(to).map((one) => [one, reaches(from, one)]))]),
    expected,
  );
});

test("a mail says who wrote it, whether an answer is awaited, and that it may carry text from outside; each call, step and turn has a mail of its own, and a call that is run again the same [A1][R1]", async (t) => {
  const { of, agent, tenure } = await company(t);
  const mail = (from: string, call: string, awaits: boolean) => {
    const sent = of(from, call).send({ to: "one", text: "Hello, you!", awaits });
    assert.ok(sent.ok);
    const [event, ...others] = sent.value.events ?? [];
    assert.ok(event?.type === "agent.mailed" && others.length === 0);
    return { event, text: sent.value.text };
  };
  const { event, text } = mail("root", "a", true);
  assert.deepEqual(event, {
    ...{ type: "agent.mailed", to: "one", id: event.id, words: wordsOf("Hello, you!"), awaits: true },
    text: "[Message from the agent root (root); it waits for your answer: send_message]\nHello, you!",
  });
  assert.equal(text, "Delivered to the-one. You do not end before it answers.");
  agent("below").history.isTainted = true;
  const { event: other } = mail("below", "a", false);
  const { id, text: told, ...rest } = other;
  assert.deepEqual(rest, { type: "agent.mailed", to: "one", words: wordsOf("Hello, you!"), untrusted: true });
  assert.match(
    told,
    /^\[Message from the agent the-below \(below\)\]\n<data [^>]*source="the-below"[^>]*>\nHello, you!\n<\/data/,
  );
  const ids = [event.id, mail("root", "a", false).event.id, mail("root", "b", false).event.id, id];
  const { turn } = tenure.root.history;
  assert.ok(turn !== undefined);
  turn.step += 1;
  ids.push(mail("root", "a", false).event.id);
  Object.assign(turn, { step: turn.step - 1, turn: 2 });
  ids.push(mail("root", "a", false).event.id);
  assert.equal(ids[0], ids[1]);
  assert.deepEqual([new Set(ids).size, ids.every((one) => /^mail-[0-9a-f]{12}$/.test(one))], [5, true]);
});

test("an agent ends whoever works for it, however far below, and nobody else; who has ended is named as such [A1]", async (t) => {
  const { of, tenure } = await company(t, [{ type: "agent.ended", id: "two", outcome: "done" }]);
  const ends = (from: string, agent: string) => {
    const ended = of(from).terminate({ agent });
    return ended.ok ? ended.value : ended.failure.code;
  };
  const ending = (by: string) => ({
    text: "the-deep is being ended, with everything that works for it.",
    events: [{ type: "cancel.asked", agent: "deep", turn: 1, by }],
  });
  assert.deepEqual([ends("root", "deep"), ends("one", "the-deep")], [ending("root"), ending("one")]);
  assert.deepEqual(
    [ends("below", "one"), ends("one", "root"), ends("deep", "deep"), ends("root", "two"), ends("root", "three")],
    ["agent_not_yours", "agent_not_yours", "agent_out_of_reach", "agent_ended", "agent_unknown"],
  );
  assert.equal(tenure.runs.has("two"), false);
});

test("a worker has the role of who gives it the work unless another is named, its limit of steps, and an answer of its own name; a task's task has the task's files [A2][W3]", async (t) => {
  const { of, tenure } = await company(t);
  const delegated = of("one", "x").delegate({ task: "count", loops: 7 });
  assert.ok(delegated.ok);
  const { worker = "", events = [], text } = delegated.value;
  const [event] = events;
  assert.ok(event?.type === "agent.spawned");
  const { context = "", budget, ...made } = event;
  assert.deepEqual(
    [text, made],
    [
      "",
      {
        ...{ type: "agent.spawned", agent: "one", id: worker, name: worker, mode: "worker", role: "writer" },
        ...{ brief: "count", call: "x", loops: 7 },
      },
    ],
  );
  assert.match(`${worker} ${context}`, /^worker-[0-9a-f]{12} subagent-[0-9a-f]{8}$/);
  assert.deepEqual(budget, { agents: 9, depth: 4 }, "a share of what there is, and a place less below it");
  const named = of("root", "y").delegate({ task: "count", loops: 3, role: "counter" });
  assert.deepEqual(named.ok && named.value.events?.map((one) => one.type === "agent.spawned" && one.role), ["counter"]);
  const below = await of("one", "z").spawn({ role: "Very Odd: Role!", brief: "b", files: ["uploads/a.txt"] });
  assert.ok(below.ok);
  const [task] = below.value.events ?? [];
  assert.ok(task?.type === "agent.spawned");
  assert.deepEqual(
    [task.name, task.mode, task.agent, task.call, "context" in task],
    [...["very-odd-role", "task", "one", "z", false]],
  );
  assert.equal(JSON.parse(below.value.text.split("\n")[0] ?? "").files, undefined);
  assert.deepEqual([...tenure.root.expected.keys()], ["y"]);
});
