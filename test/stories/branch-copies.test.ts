import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Workspaces } from "../../src/workspace/workspace.ts";
import { must, startYard } from "../world/yard.ts";

const sent = { attempt: 1, slot: "base", model: "m", reason: "r", hash: "", bytes: 0, reused: 0 } as const;
const written = { finish: "stop", usage: { input: 1, output: 1 }, durationMs: 1 } as const;
const room = { turn: 1, strategy: "trim", summary: "", messagesBefore: 1, messagesAfter: 1 } as const;
const call = { id: "c1", name: "look", arguments: "{}" };
const state = (text: string) => ({
  ...{ bytes: text.length, mode: 0o644, hash: createHash("sha256").update(text).digest("hex") },
});
const changed = { type: "file.changed", path: "outputs/a.txt", by: "tool" } as const;
const waiting: NewEvent = { type: "message.user", id: "later", text: "later", mode: "queue" };

/** What a branch leaves behind, each with where it stands. */
const left = {
  ofTask: { ...changed, agent: "task-1", workspace: "task-1", before: state("of a task") },
  toOther: { type: "agent.mailed", agent: "w1", to: "w2", id: "e3", text: "psst" },
  ofWorker: { type: "turn.started", agent: "w1", turn: 1, message: "brief", epoch: 1 },
  limits: { type: "budget.set", limits: { steps: 7 }, by: "person" },
} as const satisfies Record<string, NewEvent>;

/** The log of the parent behind the choice of its agent, which stands first. */
const turn: readonly NewEvent[] = [
  { type: "message.user", id: "m1", text: "look", mode: "queue" },
  { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
  { type: "step.started", turn: 1, step: 1, ...sent },
  { type: "message.assistant", turn: 1, step: 1, text: "", calls: [call], ...written },
  left.ofTask,
  { type: "call.finished", call: call.id, outcome: "ok", text: "seen" },
  { ...changed, before: state("of a tool"), after: state("new") },
  { ...changed, by: "person", before: state("of a person"), after: state("newer") },
  left.toOther,
  { type: "agent.mailed", to: "w1", id: "e1", text: "go on" },
  { type: "agent.mailed", agent: "w1", to: "root", id: "e2", text: "I do" },
  left.ofWorker,
  left.limits,
];
const seqOf = (index: number) => index + 2;
const trims = (result: number) => [
  { seq: result, text: "in short" },
  { seq: -1, text: "given" },
];
/** `at`: where the result, the answer, the place and the compaction stand. */
const rest = (at: { result: number; answer: number; place: number; compacted: number }): NewEvent[] => [
  { type: "compacted", ...room, upTo: at.answer, trims: trims(at.result) },
  { type: "checkpoint.saved", name: "gone" },
  { type: "checkpoint.deleted", checkpoint: at.place },
  { type: "compaction.undone", compacted: at.compacted, by: localOwner },
];
const end: NewEvent = { type: "turn.finished", turn: 1, outcome: "done" };

const bodies = (events: readonly LogEvent[]) => events.map(({ seq: _, at: __, ...event }) => event);

test("a branch has all that counts of the main agent's log under its new numbers, behind whose it is, and the limits of now at its end [L9][A3][Z2]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await must(yard.engine.create(localOwner, { id: "c", agent: { agentId: "01J", appKey: "shop" } }));
  const head = seqOf(turn.length);
  const parent = rest({ result: seqOf(5), answer: seqOf(3), place: head + 1, compacted: head });
  await must(yard.log.append(row.number, [...turn, ...parent, waiting, end]));
  const forgotten: NewEvent[] = [
    { type: "message.user", id: "m2", text: "undone", mode: "queue" },
    { type: "turn.started", turn: 2, message: "m2", epoch: 1 },
    { type: "turn.finished", turn: 2, outcome: "done" },
  ];
  const lastSeq = await yard.log.headOf(row.number);
  await must(yard.log.append(row.number, [...forgotten, { type: "rewound", to: lastSeq, cause: "undo" }]));
  const { conversation: branch } = await must(yard.engine.branch(row, undefined, "b"));
  const { conversation: again } = await must(yard.engine.branch(branch, undefined, "d"));
  const gone: ReadonlySet<NewEvent> = new Set<NewEvent>(Object.values(left));
  const copied = turn.filter((event) => !gone.has(event));
  // Behind `branched` and `agent.chosen`; of what stood before the result one line is not there any more.
  const places = { result: 3 + 4, answer: 3 + 3, place: 3 + copied.length + 1, compacted: 3 + copied.length };
  const expected = (from: string, place: number) => [
    { type: "branched", parent: from, place, copiedUpTo: 2 + copied.length + 5 },
    { type: "agent.chosen", role: "general", agentId: "01J", appKey: "shop" },
    ...[...copied, ...rest(places), end, left.limits],
  ];
  assert.deepEqual(bodies(await yard.events("b")), expected("c", lastSeq));
  assert.deepEqual(bodies(await yard.events("d")), expected("b", 2 + copied.length + 5));
  assert.deepEqual(
    [branch, again].map(({ agentId, appKey }) => [agentId, appKey]),
    [
      ["01J", "shop"],
      ["01J", "shop"],
    ],
  );
});

test("a branch of a conversation in which nothing was said yet begins at nothing, and a place that is not there is refused [L9]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  await must(yard.log.append(row.number, [waiting]));
  const refused = await yard.engine.branch(row, 1);
  assert.deepEqual(refused.ok || refused.failure, failure("checkpoint_not_found", { checkpoint: 1 }).failure);
  await must(yard.engine.branch(row, undefined, "b"));
  assert.deepEqual(bodies(await yard.events("b")), [{ type: "branched", parent: "c", place: 0, copiedUpTo: 1 }]);
});

test("a branch is given what undo would give back there, and where no file can be copied that is said and in the log file [L9][W12][O1]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await must(yard.engine.create(localOwner, { id: "c", title: "Numbers" }));
  await must(yard.log.append(row.number, [...turn, end]));
  const given: unknown[] = [];
  const copy: Workspaces["copy"] = async (from, to, kept) => {
    given.push([from.id, to.id, kept]);
    return failure("write_failed", { path: ".", why: "full" });
  };
  yard.workspaces.copy = copy;
  const { conversation, leftOut } = await must(yard.engine.branch(row, undefined, "b"));
  assert.deepEqual([leftOut, conversation.title, given], [["."], "Numbers", [["c", "b", [state("of a tool")]]]]);
  assert.deepEqual(await yard.faults(), ["the files of c were not copied"]);
});
