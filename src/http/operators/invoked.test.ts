import assert from "node:assert/strict";
import { test } from "node:test";
import { invoked } from "./invoked.ts";

test("what a service answered is told as it is: bytes in base64, what was cut marked, an error in words [T4]", () => {
  const answer = { headers: { "x-own": "1" }, type: "", isCut: false, durationMs: 12 };
  const json = { kind: "json", value: { a: 1 }, text: '{"a":1}' } as const;
  const told = { headers: { "x-own": "1" }, error: "", duration_ms: 12 };
  assert.deepEqual(invoked({ ...answer, status: 200, content: json }), { ...told, status_code: 200, body: { a: 1 } });
  assert.deepEqual(invoked({ ...answer, status: 500, content: json }).error, "");
  const bytes = { kind: "bytes", base64: "AAAA", sizeBytes: 3 } as const;
  assert.deepEqual(invoked({ ...answer, status: 200, content: bytes, isCut: true }), {
    ...{ ...told, status_code: 200, body: "AAAA" },
    headers: { "x-own": "1", "x-agentyard-encoding": "base64", "x-agentyard-cut": "true" },
  });
  const text = { kind: "text", text: "x".repeat(501) } as const;
  const errors = [399, 400].map((status) => invoked({ ...answer, status, content: text }).error);
  assert.deepEqual(errors, ["", "x".repeat(500)]);
  assert.equal(invoked({ ...answer, status: 400, content: text }).body, text.text);
});
