import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../protocol/events.ts";
import { StreamCursor } from "../protocol/stream.ts";
import { openPlace, type PlacedFrame, readCursor } from "./cursor.ts";

const attempt = { turn: 1, step: 2, attempt: 1 };

function at(cursor: string) {
  const start = readCursor(cursor);
  assert.ok(start !== undefined, cursor);
  return openPlace(start, undefined);
}

function output(call: string, text: string, of: { readonly offset?: number; readonly agent?: string } = {}) {
  return { frame: "output", call, offset: 0, text, ...of } as const;
}

function finished(call: string, of: object = {}) {
  return { frame: "event", event: { type: "call.finished", seq: 9, at: 1, call, ...of } as LogEvent } as const;
}

function heard(frames: readonly PlacedFrame[]) {
  return frames.map(({ id, body }) => [id, "text" in body && "offset" in body ? [body.offset, body.text] : body.frame]);
}

test("of what a program says a reader who comes back gets the rest, each program's by itself, until its call is over [C3]", () => {
  const place = at("5,call_1:4,a%2Fcall_1:2");
  assert.deepEqual(heard(place.pass(output("call_1", "0123456"))), [["5,call_1:7,a%2Fcall_1:2", [4, "456"]]]);
  assert.deepEqual(heard(place.pass(output("call_1", "0123456"))), [], "what it has does not come again");
  const ofHelper = output("call_1", "cd", { offset: 2, agent: "a" });
  assert.deepEqual(heard(place.pass(ofHelper)), [["5,call_1:7,a%2Fcall_1:4", [2, "cd"]]]);
  assert.deepEqual(heard(place.pass(finished("call_1"))), [["9,a%2Fcall_1:4", "event"]]);
  assert.deepEqual(heard(place.pass(finished("call_1", { agent: "a" }))), [["9", "event"]]);
});

test("a place in a stream is never longer than one that is taken back, however many programs speak [C3]", () => {
  const place = at("1");
  for (let number = 1; number <= 9; number += 1) place.pass(output(`call_${number}`, "x"));
  const eight = [2, 3, 4, 5, 6, 7, 8, 9].map((number) => `call_${number}:1`);
  assert.equal(place.cursor(), ["1", ...eight].join(","));
  const [longest, longer] = ["x".repeat(200), "x".repeat(201)];
  for (const call of [longer, longest]) place.pass(output(call, "x"));
  assert.equal(place.cursor(), ["1", ...eight.slice(1), `${longest}:1`].join(","));
  assert.ok(StreamCursor.safeParse(place.cursor()).success);
  assert.deepEqual(readCursor(place.cursor())?.outputs.get(longest), 1);
});

test("a long text comes in pieces that take no character apart, and each says where it stands [C3]", () => {
  const place = at("3~1.2.1.r5t1");
  const text = `${"x".repeat(10_000)}🌍${"y".repeat(10)}`;
  const pieces = place.pass({ frame: "delta", ...attempt, kind: "text", offset: 0, text });
  assert.deepEqual(heard(pieces), [
    ["3~1.2.1.r5t10000", [1, text.slice(1, 10_000)]],
    ["3~1.2.1.r5t10012", [10_000, `🌍${"y".repeat(10)}`]],
  ]);
  const reasoning = place.pass({ frame: "delta", ...attempt, kind: "reasoning", offset: 0, text: "why not" });
  assert.deepEqual(heard(reasoning), [["3~1.2.1.r7t10012", [5, "ot"]]]);
});

test("what is said in another attempt is new to a reader, and the place of the attempt before it is given up [C3]", () => {
  const place = at("3~1.2.1.t4");
  const again = { ...attempt, attempt: 2 };
  const started = { type: "step.started", seq: 4, at: 1, ...again } as LogEvent;
  assert.deepEqual(heard(place.pass({ frame: "event", event: started })), [["4", "event"]]);
  assert.deepEqual(place.open(), again);
  const anew = place.pass({ frame: "delta", ...again, kind: "text", offset: 0, text: "anew" });
  assert.deepEqual(heard(anew), [["4~1.2.2.t4", [0, "anew"]]]);
  assert.deepEqual(heard(place.pass({ frame: "caught_up", head: 7 })), [["7~1.2.2.t4", "caught_up"]]);
  assert.deepEqual(heard(place.pass({ frame: "ping" })), [[undefined, "ping"]]);
});

test("of what helpers write a reader gets each word once, thoughts and words apart, and all of another attempt [C3][A2]", () => {
  const place = at("3");
  const said = (text: string, of: object = {}) =>
    heard(place.pass({ frame: "delta", ...attempt, kind: "text", offset: 0, agent: "a", text, ...of })).map(
      ([, piece]) => piece,
    );
  assert.deepEqual(said("one"), [[0, "one"]]);
  assert.deepEqual(said("why", { kind: "reasoning" }), [[0, "why"]]);
  assert.deepEqual(said("one two"), [[3, " two"]], "though it thought meanwhile");
  assert.deepEqual(said("why not", { kind: "reasoning" }), [[3, " not"]]);
  assert.deepEqual(said("one", { agent: "b" }), [[0, "one"]], "another one's words are its own");
  assert.deepEqual(said("anew", { attempt: 2 }), [[0, "anew"]]);
  assert.equal(place.cursor(), "3", "who comes back gets these from their beginning");
});

test("which answer each helper is writing follows from what a reader has of the log [C3][A2]", () => {
  const start = readCursor("3");
  assert.ok(start !== undefined);
  const place = openPlace(start, undefined, new Map([["b", attempt]]));
  const logged = (type: LogEvent["type"], of: object) =>
    place.pass({ frame: "event", event: { type, seq: 4, at: 1, ...attempt, ...of } as LogEvent });
  logged("step.started", { agent: "a" });
  assert.deepEqual([place.open("a"), place.open("b"), place.open()], [attempt, attempt, undefined]);
  logged("message.assistant", { agent: "b" });
  assert.deepEqual([place.open("a"), place.open("b")], [attempt, undefined]);
});

test("text whose beginning a reader lacks is told from where it stands [C3]", () => {
  const place = at("3~1.2.1.t2");
  const pieces = place.pass({ frame: "delta", ...attempt, kind: "text", offset: 5, text: "words" });
  assert.deepEqual(heard(pieces), [["3~1.2.1.t10", [5, "words"]]]);
});
