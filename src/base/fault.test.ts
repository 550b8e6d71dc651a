import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inBackground } from "./background.ts";
import { systemCode, systemCodeOrThrow, thrownText } from "./fault.ts";
import { parsedJson, parsedObject } from "./json.ts";

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
