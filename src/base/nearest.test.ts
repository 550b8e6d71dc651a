import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

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
