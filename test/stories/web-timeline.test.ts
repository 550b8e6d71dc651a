import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { foldEvents } from "../../web/src/chat/fold.ts";
import { readBefore } from "../../web/src/chat/read-before.ts";
import { readTurns } from "../../web/src/timeline/read-turns.ts";
import { type Before, timeTurns } from "../../web/src/timeline/turns.ts";
import { must, startYard } from "../world/yard.ts";

// What the browser's timeline and its chat make of a part of the log.

const starts = (turn: number, agent?: string): NewEvent => ({
  ...{ type: "turn.started", turn, message: `m${turn}`, epoch: 1 },
  ...(agent !== undefined && { agent }),
});
const step = (turn: number, number: number, agent?: string): NewEvent => ({
  ...{ type: "step.started", turn, step: number, attempt: 1, slot: "base", model: "m", reason: "" },
  ...{ hash: "", bytes: 0, reused: 0, ...(agent !== undefined && { agent }) },
});
const spawned = (id: string, name: string): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "task", role: "r", name, brief: "look" },
});
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const said: NewEvent = { type: "message.user", id: "m", text: "go", mode: "queue" };

function shown(events: readonly NewEvent[], before?: Before) {
  // Tests give whole bodies.
  const logged = events.map((event, at) => ({ ...event, seq: at + 1, at: at + 1 }) as LogEvent);
  return timeTurns(logged, before).map(({ turn, outcome, startedAt, entries }) => [
    ...[turn, outcome, startedAt],
    ...entries.map(({ agent }) => agent ?? "main"),
  ]);
}

test("a turn that began before what was read is there with what is seen of it, and with its number [B1]", () => {
  const names = new Map([["task-a", "amber"]]);
  assert.deepEqual(shown([said, step(1, 7, "task-a"), step(1, 8, "task-b")], { names, turn: 4 }), [
    [4, "running", 2, "amber", "task-b"],
  ]);
  assert.deepEqual(shown([step(1, 7, "task-a"), step(3, 2), finished(3), said, starts(4), step(4, 1)]), [
    [3, "done", 1, "task-a", "main"],
    [4, "running", 5, "main"],
  ]);
  assert.deepEqual(shown([step(1, 7, "task-a"), starts(4), step(4, 1)], { names }), [
    [3, "running", 1, "amber"],
    [4, "running", 2, "main"],
  ]);
});

test("what happens between turns is none [B1]", () => {
  const renamed: NewEvent = { type: "conversation.renamed", title: "t" };
  assert.deepEqual(shown([said, renamed]), []);
  assert.deepEqual(shown([renamed, said, starts(2), step(2, 1)]), [[2, "running", 3, "main"]]);
});

test("a turn with more events than are read at once is shown while it runs, its agents under their names [B1][H4]", async () => {
  await using yard = await startYard();
  const { number } = await yard.start("busy");
  const steps = Array.from({ length: 1_100 }, (_, at) => step(1, at + 1, "task-a"));
  await yard.log.append(number, [said, starts(1), spawned("task-a", "amber"), starts(1, "task-a"), ...steps]);
  const [turn, ...others] = await must(readTurns(yard.client, "busy", steps.length + 4));
  assert.deepEqual([turn?.turn, turn?.outcome, turn?.steps, others], [1, "running", 1_000, []]);
  assert.deepEqual(new Set(turn?.entries.map(({ agent }) => agent)), new Set(["amber"]));
});

test("scrolling back to the beginning of a long conversation shows each message once, in order [B1]", async () => {
  await using yard = await startYard();
  const { number } = await yard.start("long");
  const ids = Array.from({ length: 150 }, (_, at) => `m${at + 1}`);
  const turns = ids.flatMap((id, at) => [{ ...said, id }, starts(at + 1), finished(at + 1)]);
  await must(yard.log.append(number, turns));
  const newest = await readBefore(yard.client, "long", turns.length + 1, 300);
  assert.deepEqual(
    newest.map(({ seq }) => seq),
    turns.map((_, at) => at + 1).slice(-300),
  );
  const older = await readBefore(yard.client, "long", newest[0]?.seq ?? 0, 300);
  const { items } = foldEvents([...older, ...newest]);
  assert.deepEqual(
    items.flatMap((item) => (item.kind === "user" ? item.id : [])),
    ids,
  );
});

test("where the log cannot be read, the timeline is told why [B1][P4]", async () => {
  const fetch = () => Promise.resolve(new Response(null, { status: 503 }));
  const client = createClient({ fetch, baseUrl: "http://yard.invalid", language: "en", newKey: () => "k" });
  const read = await readTurns(client, "busy", 4);
  assert.equal(read.ok ? "read" : read.failure.code, "answer_unreadable");
});
