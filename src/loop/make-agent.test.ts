import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { makeAgent } from "./make-agent.ts";
import { defaultLimits, type LoopLimits } from "./parts.ts";
import { keepOne, said, started } from "./tenure.testing.ts";

async function maker(t: TestContext, more: readonly NewEvent[] = [], conversation: object = {}) {
  const kept = await keepOne(t, { before: [said("m1"), started, ...more] });
  const { budgets } = defaultLimits;
  const limits: LoopLimits = {
    ...{ ...defaultLimits, budgets: { ...budgets, conversation: { ...budgets.conversation, ...conversation } } },
  };
  const make = (
    call: string,
    wanted: { mode?: "task" | "worker" | "handoff"; name?: string; budget?: object } = {},
  ) => {
    const made = makeAgent(
      kept.tenure.root,
      { ...kept.parts, limits },
      {
        ...{ mode: "task", role: "writer", brief: "write", call, ...wanted },
      },
    );
    return made.ok ? made.value : made.failure;
  };
  return { ...kept, make };
}

const nameOf = (made: object) => ("name" in made ? made.name : made);

test("an agent has a name fit for a path, of forty characters at the most, unlike the others' and unlike those that mean somebody else [A1][W2]", async (t) => {
  const { make } = await maker(t);
  const named = (call: string, name: string) => nameOf(make(call, { name }));
  assert.deepEqual(
    [
      named("a", "  Ärzte & 医生 no. 7! "),
      named("b", "../.."),
      named("c", "Root"),
      named("d", "user"),
      named("e", "parent"),
    ],
    ["ärzte-医生-no-7", "task", "root-2", "user-2", "parent-2"],
  );
  assert.equal(named("f", "x".repeat(50)), "x".repeat(40));
  assert.deepEqual(
    [named("g", "x".repeat(41)), named("h", "x".repeat(41))],
    [`${"x".repeat(40)}-2`, `${"x".repeat(40)}-3`],
  );
  assert.equal(named("h", "x".repeat(41)), `${"x".repeat(40)}-3`, "run again it is the same one");
});

test("a name is taken by agents that were stored, by those of others, and by those that have ended in this turn [A1]", async (t) => {
  const spawned = (id: string, name: string, agent?: string): NewEvent => ({
    ...{ type: "agent.spawned", id, name, mode: "task", role: "r", brief: "b" },
    ...(agent === undefined ? {} : { agent }),
  });
  const { make } = await maker(t, [
    ...[spawned("one", "ann"), spawned("two", "bob", "one")],
    ...[spawned("three", "cleo"), { type: "agent.ended", id: "three", outcome: "done" } as const],
  ]);
  assert.deepEqual(
    ["ann", "bob", "cleo", "dora"].map((name) => nameOf(make(name, { name }))),
    ["ann-2", "bob-2", "cleo-2", "dora"],
  );
  assert.equal(nameOf(make("x", { mode: "handoff", name: "ann" })), "ann", "who takes over the user keeps its own");
});

test("what is about to be made counts as made: of calls side by side only so many get an agent as there may be, and a call that is run again takes no second place [A4]", async (t) => {
  const { make, tenure } = await maker(t, [], { agents: 2 });
  const outcomes = ["a", "b", "c", "a"].map((call) => {
    const made = make(call);
    return "code" in made ? made.code : made.type;
  });
  assert.deepEqual(outcomes, ["agent.spawned", "agent.spawned", "budget_short", "agent.spawned"]);
  assert.deepEqual([...tenure.root.expected.keys()], ["a", "b"]);
  tenure.root.expected.delete("b");
  assert.equal("code" in make("c"), false);
});

test("an agent's id follows from who wants it, in which turn and step, and by which call [A1][L2]", async (t) => {
  const { make, tenure } = await maker(t);
  const idOf = (call: string, mode: "task" | "worker" = "task") => {
    const made = make(call, { mode });
    return "id" in made ? String(made.id) : assert.fail();
  };
  const ids = [idOf("a"), idOf("b"), idOf("a", "worker")];
  const { turn } = tenure.root.history;
  assert.ok(turn !== undefined);
  turn.step += 1;
  ids.push(idOf("a"));
  Object.assign(turn, { step: turn.step - 1, turn: 2 });
  ids.push(idOf("a"));
  assert.equal(new Set(ids).size, 5);
  Object.assign(turn, { turn: 1 });
  assert.deepEqual([idOf("a"), /^task-[0-9a-f]{12}$/.test(ids[0] ?? "")], [ids[0], true]);
});
