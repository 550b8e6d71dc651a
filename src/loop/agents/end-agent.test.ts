import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answer, step } from "../../../test/world/any-log.ts";
import { systemIds } from "../../base/ids.ts";
import type { NewEvent, TurnOutcome } from "../../protocol/events.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { openMarks } from "../marks.ts";
import { keepOne, said, soon, started } from "../tenure.testing.ts";
import { endChildren, endOf, stageEnds } from "./end-agent.ts";

const made = (id: string, mode: "task" | "worker", agent?: string): NewEvent => ({
  ...{ type: "agent.spawned", id, name: `the-${id}`, mode, role: "writer", brief: `be ${id}` },
  ...(agent === undefined ? {} : { agent }),
});
const works = (agent: string, text: string): NewEvent[] => [
  { type: "turn.started", agent, turn: 1, message: `${agent}-brief`, epoch: 1 },
  step(1, { agent }),
  Object.assign(answer(1, []), { agent, text }),
];

/** A task below a task: it shares the files of the one above, so that none are collected at its end. */
async function company(t: TestContext, more: readonly NewEvent[] = [], text = "all of it") {
  const before = [
    said("m1"),
    started,
    made("top", "task"),
    made("below", "task", "top"),
    made("w1", "worker", "below"),
  ];
  const kept = await keepOne(t, { before: [...before, ...works("below", text), ...works("w1", text), ...more] });
  const { limits, clock } = kept.parts;
  const workspaces = { taskOf: () => assert.fail("it has none"), ofConversation: () => assert.fail("it has none") };
  const parts = { limits, clock, marks: openMarks(systemIds), workspaces };
  const end = (agent: string, outcome: TurnOutcome, failure?: ReturnType<typeof makeFailure>) =>
    endOf(kept.agent(agent), parts, { outcome, failure });
  return { ...kept, end };
}

test("the end of an agent tells its parent how it ended, what came of it and what it spent; a worker's is its result, without another word [A1][A2][A4]", async (t) => {
  const { end } = await company(t);
  const ended = { type: "agent.ended", agent: "top", id: "below", steps: 1 };
  const [done, mail, ...others] = await end("below", "done");
  assert.ok(done?.type === "agent.ended" && mail?.type === "agent.mailed");
  assert.deepEqual({ ...done, spent: undefined }, { ...ended, outcome: "done", result: "all of it", spent: undefined });
  assert.deepEqual([done.spent?.tokens, done.spent?.steps, done.spent?.agents], [11, 1, 0]);
  assert.deepEqual(
    [mail, others],
    [
      {
        ...{ type: "agent.mailed", agent: "below", to: "top", id: mail.id, kind: "result" },
        text: "[The agent the-below (below) is done]\nall of it",
      },
      [],
    ],
  );
  assert.match(mail.id, /^mail-[0-9a-f]{12}$/);
  const [worker, ...more] = await end("w1", "limit");
  assert.ok(worker?.type === "agent.ended");
  assert.deepEqual(
    [worker.agent, worker.id, worker.outcome, worker.result, more],
    ["below", "w1", "limit", "all of it", []],
  );
});

test("who failed, broke down or was stopped has no result, and its parent is told why; who said nothing is told as such [A1]", async (t) => {
  const { end } = await company(t);
  const told = async (outcome: TurnOutcome, failure?: ReturnType<typeof makeFailure>) => {
    const [ended, mail] = await end("below", outcome, failure);
    assert.ok(ended?.type === "agent.ended" && mail?.type === "agent.mailed");
    return [ended.outcome, ended.result, ended.failure?.code, mail.kind, mail.text.split("\n").slice(0, 1)];
  };
  const head = (how: string) => [`[The agent the-below (below) ${how}]`];
  const crash = makeFailure("turn_crashed", { times: 3 });
  assert.deepEqual(await told("limit"), [
    ...["limit", "all of it", undefined, "result", head("reached its limit; this is how far it came")],
  ]);
  assert.deepEqual(await told("failed", crash), ["failed", undefined, "turn_crashed", "failure", head("failed")]);
  assert.deepEqual(await told("crashed", crash), ["failed", undefined, "turn_crashed", "failure", head("failed")]);
  assert.deepEqual(await told("cancelled"), ["terminated", undefined, undefined, "failure", head("was stopped")]);
  const silent = await company(t, [], " \n");
  const [, mail] = await silent.end("below", "done");
  assert.deepEqual(mail?.type === "agent.mailed" && [mail.kind, mail.text], [
    "silence",
    "[The agent the-below (below) is done]\nIt said nothing.",
  ]);
});

test("what an agent says that has read text from outside is marked for its parent; who was ended by another agent tells nobody, who was stopped by a person does [A1][R1]", async (t) => {
  const tainted = await company(t);
  tainted.agent("below").history.isTainted = true;
  const [ended, mail] = await tainted.end("below", "done");
  assert.ok(ended?.type === "agent.ended" && mail?.type === "agent.mailed");
  assert.deepEqual([ended.untrusted, ended.result, mail.untrusted], [true, "all of it", true]);
  assert.match(
    mail.text,
    /^\[The agent the-below \(below\) is done\]\n<data [^>]*source="the-below"[^>]*>\nall of it\n<\/data/,
  );
  const [, failed] = await tainted.end("below", "failed", makeFailure("turn_crashed", { times: 3 }));
  assert.ok(failed?.type === "agent.mailed" && !failed.text.includes("<data"));
  const stop = (by?: string): NewEvent => ({
    ...{ type: "cancel.asked", agent: "below", turn: 1, ...(by === undefined ? {} : { by }) },
  });
  const byAgent = await company(t, [stop("top")]);
  const byPerson = await company(t, [stop()]);
  const typesOf = (events: readonly NewEvent[]) => events.map(({ type }) => type);
  assert.deepEqual(typesOf(await byAgent.end("below", "cancelled")), ["agent.ended"]);
  assert.deepEqual(typesOf(await byPerson.end("below", "cancelled")), ["agent.ended", "agent.mailed"]);
});

test("who ends waits until all who work for it have ended; where they were not told, or it is told to stop, it does not end [A1][L6]", async (t) => {
  const { agent, others, log, number, tenure } = await company(t);
  const ending = endChildren(agent("top"));
  let isOver: boolean | undefined;
  void ending.then((end) => {
    isOver = end;
  });
  const asked = async () =>
    (await log.read(number, { after: 0, limit: 100 })).flatMap((event) =>
      event.type === "cancel.asked" ? [[event.agent, event.turn, event.by]] : [],
    );
  while ((await asked()).length === 0) await soon();
  assert.deepEqual(await asked(), [["below", 1, "top"]]);
  // Something else reaches it: that is no end.
  await others({ type: "agent.mailed", agent: "below", to: "top", id: "mail-1", text: "a moment" });
  for (let turns = 0; turns < 5; turns += 1) await soon();
  assert.equal(isOver, undefined);
  await others({ type: "agent.ended", agent: "top", id: "below", outcome: "terminated" });
  assert.equal(await ending, true);
  assert.equal(await endChildren(agent("w1")), true, "who has made nobody ends at once");
  const { tenure: stopped, agent: other } = await company(t);
  const broken = endChildren(other("top"));
  stopped.close();
  assert.equal(await broken, false);
  tenure.close();
});

test("where a conversation cannot go on all its agents end with it, those below first, each turn before its agent, and who has ended already is left alone [Q2][A1]", async (t) => {
  const over: NewEvent = { type: "agent.ended", id: "other", outcome: "done" };
  const { tenure, log, number } = await company(t, [made("other", "task"), over]);
  const { root } = tenure;
  const { head } = root.history;
  stageEnds(root);
  await root.commit();
  const events = await log.read(number, { after: head, limit: 100 });
  assert.deepEqual(
    events.map((event) => {
      if (event.type === "turn.finished") return ["turn", event.agent, event.turn, event.outcome];
      return event.type === "agent.ended" ? ["agent", event.agent, event.id, event.outcome] : [event.type];
    }),
    [
      ...[
        ["turn", "w1", 1, "failed"],
        ["agent", "below", "w1", "terminated"],
      ],
      ...[
        ["turn", "below", 1, "failed"],
        ["agent", "top", "below", "terminated"],
      ],
      ["agent", undefined, "top", "terminated"],
    ],
  );
});
