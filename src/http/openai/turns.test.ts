import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { endOfTurn, eventsAfter, newestTurn, saidSoFar } from "./turns.ts";

// Turns that are longer than what is read of a log at once.

const row = { number: 1 } as ConversationRow;
const usage = { input: 1, output: 1 };
const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", ...more },
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const made = (id: string): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "answer", by: "me", argumentsHash: "", previous: "" },
});
const answered = (text: string, more: object = {}): NewEvent => ({
  ...{ type: "message.assistant", turn: 1, step: 1, text, finish: "stop", usage, durationMs: 1, ...more },
});
const many = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, at) => ({ type: "conversation.renamed", title: `${at}` }));

function logOf(...written: readonly NewEvent[]) {
  const events = written.map((event, index): LogEvent => ({ ...event, seq: index + 1, at: index }));
  return {
    headOf: async () => events.length,
    effective: async () => events,
    read: async (_: number, { after, limit, upTo }: { after: number; limit: number; upTo: number }) =>
      events.slice(after, Math.min(upTo, after + limit)),
  };
}

test("the newest turn is found however long it is, with what was decided in it and nothing of the one before [C5]", async () => {
  const helper: NewEvent[] = [
    { type: "turn.started", agent: "h1", turn: 1, message: "h1-brief", epoch: 1 },
    { type: "turn.finished", agent: "h1", turn: 2, outcome: "done" },
  ];
  const log = logOf(
    ...[said("a"), started(1, "a"), said("b"), made("d0"), ...many(300), finished(1), started(2, "b"), made("d1")],
    ...[...many(199), ...helper, made("d2"), ...many(199), finished(2)],
  );
  assert.deepEqual(await newestTurn(log, row), { message: { id: "b", seq: 3 }, decided: ["d1", "d2"] });
  assert.equal(await newestTurn(logOf(said("a"), ...many(3)), row), undefined);
  const queued = logOf(said("a"), said("b"), started(1, "a"), finished(1), started(2, "b"));
  assert.deepEqual((await newestTurn(queued, row))?.message, { id: "b", seq: 2 }, "it waited for the turn before");
  const head = await log.headOf();
  assert.equal(await endOfTurn(log, 1, { id: "a", seq: 1 }), 305);
  assert.equal(await endOfTurn(log, 1, { id: "b", seq: 3 }), head, "the end of a helper's turn is not its own");
  const read: number[] = [];
  for await (const { seq } of eventsAfter(log, 1, 2)) read.push(seq);
  assert.deepEqual(
    read,
    Array.from({ length: head - 2 }, (_, at) => at + 3),
  );
});

test("what was said so far has each message where it was taken up, and nothing of what helpers say [C5][A2]", async () => {
  const image = { mime: "image/png", base64: "AAAA" };
  const call = { id: "c1", name: "look", arguments: "{}" };
  const joined: NewEvent = {
    ...{ type: "step.started", turn: 1, step: 2, attempt: 1, slot: "base", model: "m", reason: "r" },
    ...{ hash: "", bytes: 0, reused: 0, joined: ["s"] },
  };
  const { messages, hasGiven } = await saidSoFar(
    logOf(
      ...[said("a", { images: [image], own: 1 }), said("b"), said("s", { mode: "steer" }), started(1, "a")],
      ...[answered("", { calls: [call] }), answered("of a helper", { agent: "h1" })],
      { type: "call.finished", agent: "h1", call: "c1", outcome: "ok", text: "of a helper" },
      { type: "call.finished", call: "c1", outcome: "ok", text: "seen" },
      ...[joined, answered("done"), finished(1), started(2, "b")],
    ),
    row,
  );
  assert.deepEqual(messages, [
    { role: "user", text: "a", own: 1, images: [image] },
    { role: "assistant", text: "", toolCalls: [call] },
    { role: "tool", toolCallId: "c1", text: "seen" },
    { role: "user", text: "s" },
    { role: "assistant", text: "done" },
    { role: "user", text: "b" },
  ]);
  assert.equal(hasGiven, false);
  const silent = await saidSoFar(logOf(said("a", { text: "", images: [image] }), started(1, "a")), row);
  assert.deepEqual(silent.messages, [{ role: "user", text: "", images: [image] }], "an image says something");
  const instead = [{ role: "user", text: "before" }];
  const given = await saidSoFar(
    logOf(said("a"), started(1, "a"), answered("x"), said("b", { instead }), started(2, "b"), answered("y")),
    row,
  );
  assert.deepEqual(given, {
    hasGiven: true,
    messages: [...instead, { role: "user", text: "b" }, { role: "assistant", text: "y" }],
  });
});
