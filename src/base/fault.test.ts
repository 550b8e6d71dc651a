import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inBackground } from "./background.ts";
import { systemCode, systemCodeOrThrow, thrownText, throwUnlessNetwork } from "./fault.ts";
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
