import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inBackground } from "./background.ts";
import { systemClock } from "./clock.ts";
import { systemCode, systemCodeOrThrow, thrownText, throwUnlessNetwork } from "./fault.ts";
import { parsedJson, parsedObject } from "./json.ts";
import { nearest } from "./nearest.ts";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("only what the system says has a code of the system; a mistake of ours is thrown on", () => {
  const missing = thrownBy(() => readFileSync("/nowhere/at/all"));
  const mistake = thrownBy(() => Reflect.apply(readFileSync, undefined, [{}]));
  assert.deepEqual([systemCode(missing), systemCodeOrThrow(missing)], ["ENOENT", "ENOENT"]);
  assert.equal(Reflect.get(Object(mistake), "code"), "ERR_INVALID_ARG_TYPE");
  assert.deepEqual([mistake, new Error("bare"), "text", undefined].map(systemCode), Array(4).fill(undefined));
  assert.throws(() => systemCodeOrThrow(mistake), /must be of type/);
  assert.deepEqual([new Error("bare"), "text", 3].map(thrownText), ["bare", "text", "3"]);
});

test("what the network did to a fetch, and what ended it, is told from a mistake of ours", async () => {
  const stopped = AbortSignal.abort("that is enough");
  const coded = (code: string) => Object.assign(new Error("gone"), { code });
  const refused: unknown = await fetch("http://127.0.0.1:1").catch((error: unknown) => error);
  const aborted: unknown = await fetch("http://127.0.0.1:1", { signal: stopped }).catch((error: unknown) => error);
  assert.equal(aborted, "that is enough");
  const worlds = [refused, coded("ECONNRESET"), coded("HPE_INVALID_CONSTANT"), coded("ERR_STREAM_PREMATURE_CLOSE")];
  const inBrowsers = ["Failed to fetch", "Load failed", "NetworkError when attempting to fetch resource."];
  for (const error of [
    ...worlds,
    ...inBrowsers.map((text) => new TypeError(text)),
    AbortSignal.abort().reason,
    aborted,
  ])
    assert.equal(throwUnlessNetwork(error, stopped), undefined);
  const mistakes = [new TypeError("x is not a function"), coded("ERR_INVALID_ARG_TYPE"), coded("ERR_SQLITE_ERROR")];
  for (const error of [...mistakes, "text", undefined])
    assert.equal(
      thrownBy(() => throwUnlessNetwork(error, stopped)),
      error,
    );
  assert.equal(
    thrownBy(() => throwUnlessNetwork(aborted)),
    aborted,
  );
});

test("a text that is no JSON is nothing, and null stays null", () => {
  assert.deepEqual(["{", "", "null", "3", "[1]"].map(parsedJson), [undefined, undefined, null, 3, [1]]);
  assert.deepEqual(['{"a":1}', "null", "3", "{"].map(parsedObject), [{ a: 1 }, undefined, undefined, undefined]);
});

test("work in the background that breaks is told in the log, and whoever waits for it goes on", async () => {
  const lines: unknown[] = [];
  const log = { error: (message: string, fields: object) => lines.push([message, fields]) };
  const error = new Error("broke");
  await inBackground(log, "it could not be done", Promise.resolve());
  await inBackground(log, "it could not be done", Promise.reject(error), { place: 3 });
  assert.deepEqual(lines, [["it could not be done", { place: 3, error }]]);
});

/** What setTimeout counts to; it takes a longer time for none. */
const mostMs = 2 ** 31 - 1;

test("a timer of many weeks waits for all of them, and can be called off at any time [X1]", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const seen: string[] = [];
  systemClock.after(2 * mostMs + 5, () => seen.push("after"));
  const cancel = systemClock.after(2 * mostMs + 5, () => seen.push("never"));
  const stop = new AbortController();
  const waits = [systemClock.wait(2 * mostMs + 5), systemClock.wait(2 * mostMs + 5, stop.signal)];
  for (const ms of [mostMs, mostMs, 4]) t.mock.timers.tick(ms);
  cancel();
  stop.abort();
  assert.deepEqual(seen, []);
  t.mock.timers.tick(1);
  assert.deepEqual([seen, await Promise.all(waits)], [["after"], ["elapsed", "aborted"]]);
});

const tools = ["ask_human", "now", "read_file", "todo_read", "todo_write"];
const settings = ["attempts_max", "level", "steps_max", "tool_timeout_seconds"];

const typed: readonly [word: string, names: readonly string[], meant: string][] = [
  ["nwo", tools, "now"],
  ["todo", tools, "todo_read"],
  ["write_todo", tools, "todo_write"],
  ["writeTodo", tools, "todo_write"],
  ["AskHuman", tools, "ask_human"],
  ["raed_file", tools, "read_file"],
  ["stpes_max", settings, "steps_max"],
  ["max_attempts", settings, "attempts_max"],
  ["toolTimeoutSeconds", settings, "tool_timeout_seconds"],
  ["lvl", settings, "level"],
  ["STEPS-MAX", settings, "steps_max"],
];

test("the name that was meant is found through typing errors, another word order and another case [R1][P5]", () => {
  assert.deepEqual(
    typed.map(([word, names]) => nearest(word, names, 1)[0]),
    typed.map(([, , meant]) => meant),
  );
});

test("the best names come first, as many as are wanted; equally near ones keep their order [R1]", () => {
  assert.deepEqual(nearest("todo_", tools, 2), ["todo_read", "todo_write"]);
  assert.deepEqual(nearest("x", [], 3), []);
});

test("another spelling of a name leads to it [P5]", () => {
  const spellings = (name: string) => (name === "loops" ? ["MAX_LOOPS", "steps"] : [name]);
  assert.deepEqual(nearest("max_loop", ["lang", "loops"], 1, { spellings }), ["loops"]);
});

test("where only likely names are wanted, a quite different word has none [U1]", () => {
  const likely = (word: string) => nearest(word, ["help", "sessions", "quit"], 1, { onlyLikely: true });
  assert.deepEqual([likely("hlep"), likely("sess"), likely("banana")], [["help"], ["sessions"], []]);
});

test("a word of any length is compared in a moment [Q2]", () => {
  assert.equal(nearest("x".repeat(5_000_000), tools, 5).length, 5);
});
