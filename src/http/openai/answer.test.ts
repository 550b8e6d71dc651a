import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventOf } from "../../protocol/events.ts";
import type { Finish } from "../../protocol/message.ts";
import type { TurnRest } from "../chat/follow-message.ts";
import { failureOf, finishOf, opened } from "./answer.ts";
import { conversationNoted, waitingNote } from "./note.ts";
import type { End, Piece } from "./pieces.ts";
import { openResponse } from "./response.ts";

// How a turn ended, in the words of each of OpenAI's protocols.

const usage = { input: 10, output: 4, cachedInput: 3, reasoning: 2 };
const ended = (state: TurnRest, finish: Finish = "stop", more: Partial<End> = {}): End => ({
  ...{ state, finish, usage, at: 9_900, open: [], failure: undefined, retryAfterMs: undefined, ...more },
});
const asked = (id: string, kind: "function" | "approval"): End["open"][number] => ({
  ...{ type: "decision.asked", seq: 1, at: 1, turn: 1, id, call: "c1", kind, tool: "look", arguments: '{"n":1}' },
});
const conversation = "00000000-0000-4000-8000-000000000000";

test("why an answer ended is told in OpenAI's words [C5]", () => {
  const network = { code: "model_network", params: { model: "m", server: "s", said: "gone" } };
  const ends: [End, finish: string, failure: string | undefined][] = [
    [ended("done"), "stop", undefined],
    [ended("done", "length"), "length", undefined],
    [ended("done", "content_filter"), "content_filter", undefined],
    [ended("limit"), "length", undefined],
    [
      ended("waiting", "tool_calls", { open: [asked("d1", "approval"), asked("d2", "function")] }),
      "tool_calls",
      undefined,
    ],
    [ended("waiting", "tool_calls", { open: [asked("d1", "approval")] }), "stop", undefined],
    [ended("waiting", "length", { open: [asked("d1", "approval")] }), "stop", undefined],
    [ended("waiting", "content_filter", { open: [asked("d1", "approval")] }), "stop", undefined],
    [ended("cancelled"), "stop", "turn_cancelled"],
    [ended("withdrawn"), "stop", "turn_cancelled"],
    [ended("deleted"), "stop", "conversation_not_found"],
    [ended("failed", "stop", { failure: network }), "stop", "model_network"],
    [ended("crashed"), "stop", "turn_crashed"],
    [ended("failed", "stop", { failure: { code: "of another version", params: {} } }), "stop", "turn_crashed"],
  ];
  for (const [end, finish, code] of ends)
    assert.deepEqual([finishOf(end), failureOf(end, conversation)?.code], [finish, code], JSON.stringify(end));
});

test("a response says how it ended, with its times in seconds and all that it cost [C5]", () => {
  const told = (end: End) => {
    const response = openResponse({
      ...{ id: "resp_1", conversation, model: "general", callerPart: {}, previous: null, metadata: {} },
      ...{ toolChoice: "auto", store: true, errorFor: ({ code }) => ({ code, message: "" }) },
    });
    const pieces: Piece[] = [
      { piece: "begin", at: 1_900 },
      { piece: "text", part: 1, text: "half" },
      { piece: "end", ...end },
    ];
    const events = pieces.flatMap(response.take);
    const { created_at, completed_at, status, error, incomplete_details, output, usage: cost } = response.ended(end);
    assert.deepEqual(cost, {
      ...{ input_tokens: 10, output_tokens: 4, total_tokens: 14 },
      input_tokens_details: { cached_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 2 },
    });
    assert.equal(created_at, 1);
    const [item] = output;
    const of = item !== undefined && "status" in item ? item.status : undefined;
    return [events.at(-1)?.type, status, completed_at, error?.code, incomplete_details?.reason, of, output.length];
  };
  const done = ["response.completed", "completed", 9, undefined, undefined, "completed"];
  assert.deepEqual(told(ended("done")), [...done, 1]);
  assert.deepEqual(told(ended("waiting", "stop", { open: [asked("d1", "approval")] })), [...done, 1]);
  assert.deepEqual(told(ended("waiting", "tool_calls", { open: [asked("d1", "function")] })), [...done, 2]);
  const cut = (reason: string, item: string) => {
    return ["response.incomplete", "incomplete", null, undefined, reason, item, 1];
  };
  assert.deepEqual(told(ended("limit")), cut("max_output_tokens", "incomplete"));
  assert.deepEqual(told(ended("done", "length")), cut("max_output_tokens", "completed"));
  assert.deepEqual(told(ended("done", "content_filter")), cut("content_filter", "completed"));
  const failed = (status: string, code: string) => {
    return ["response.failed", status, null, code, undefined, "incomplete", 1];
  };
  assert.deepEqual(told(ended("cancelled")), failed("cancelled", "turn_cancelled"));
  assert.deepEqual(told(ended("withdrawn")), failed("cancelled", "turn_cancelled"));
  assert.deepEqual(told(ended("deleted")), failed("failed", "conversation_not_found"));
  assert.deepEqual(told(ended("crashed")), failed("failed", "turn_crashed"));
});

const line = (...batches: Piece[][]) =>
  (async function* () {
    yield* batches;
  })();
const begin: Piece = { piece: "begin", at: 1 };
const word = (text: string, part = 1): Piece => ({ piece: "text", part, text });

test("a caller is answered once there is something to say, a sign of life or the end, and nothing of it is lost [C5]", async () => {
  const left = async (...batches: Piece[][]) => {
    const pieces = line(...batches);
    const first = await opened(pieces);
    const rest: Piece[] = [];
    for await (const batch of pieces) rest.push(...batch);
    return [first.map(({ piece }) => piece).join(" "), rest.map(({ piece }) => piece).join(" ")];
  };
  assert.deepEqual(await left([begin], [word("a")], [word("b")]), ["begin text", "text"]);
  assert.deepEqual(await left([begin, word("a")], [{ piece: "ping" }]), ["begin text", "ping"]);
  assert.deepEqual(await left([begin], [{ piece: "ping" }], [word("a")]), ["begin ping", "text"]);
  assert.deepEqual(await left([begin]), ["begin", ""]);
  assert.deepEqual(await left([begin], [{ piece: "end", ...ended("failed") }]), ["begin end", ""]);
});

const waits = (id: string, more: Partial<EventOf<"decision.asked">>): EventOf<"decision.asked"> => ({
  ...{ type: "decision.asked", seq: 1, at: 1, turn: 1, id, call: "c1", kind: "approval", tool: "pay", ...more },
});

test("a note that is sent back names its conversation, if one thing was said since [C5]", () => {
  const answer = { role: "assistant", text: `I pay.\n\n${waitingNote("c-1", [waits("d1", {})], "zh")}` } as const;
  const user = { role: "user", text: "and now?" } as const;
  assert.equal(conversationNoted([user, answer, user]), "c-1");
  assert.equal(conversationNoted([answer]), undefined);
  assert.equal(conversationNoted([answer, user, user]), undefined, "the last answer is another one");
  assert.equal(conversationNoted([answer, { role: "assistant", text: "done" }]), undefined);
  assert.equal(conversationNoted([{ role: "user", text: answer.text }, user]), undefined, "a user wrote it");
  assert.equal(conversationNoted([{ ...answer, text: `${answer.text}\nmore` }, user]), undefined);
});
