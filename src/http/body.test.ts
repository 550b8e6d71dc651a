import assert from "node:assert/strict";
import { test } from "node:test";
import { readBody } from "./body.ts";

/** What is read of a body, or why it is not. */
async function read(body: string, method = "POST"): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const answer = await readBody(new Request("http://127.0.0.1/", { method, headers, body }), 100_000);
  return answer.ok ? answer.value.json : answer.failure;
}

test("things that stand beside each other are not deep, however many there are and of whichever kind [Q1]", async () => {
  const rows = Array.from({ length: 300 }, (_, index) => ({ index, list: [[index], {}] }));
  assert.deepEqual(await read(JSON.stringify(rows)), rows);
});

test("each way to send something is read, and its bytes are kept as they came [C7]", async () => {
  for (const method of ["POST", "PATCH", "PUT"]) assert.deepEqual(await read('{"a":1}', method), { a: 1 }, method);
  const sent = Buffer.from('{ "a": 1 }');
  const headers = { "content-type": "application/json; charset=utf-8" };
  const answer = await readBody(new Request("http://127.0.0.1/", { method: "PUT", headers, body: sent }), sent.length);
  assert.ok(answer.ok);
  assert.deepEqual(answer.value, { json: { a: 1 }, raw: sent });
  const empty = await readBody(new Request("http://127.0.0.1/", { method: "POST" }), 0);
  assert.ok(empty.ok);
  assert.deepEqual(empty.value, { json: {}, raw: Buffer.alloc(0) });
});
