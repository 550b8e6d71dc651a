import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import type { Operators } from "../../operators/operators.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { asked, partsWith } from "../routes/handling.testing.ts";
import { operatorHandlers } from "../routes/operators.ts";
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

const ann = OwnerId.parse("ann");
const caller = { signedIn: ann, scopes: ["chat"] } as const;
type Invoke = Operators["invoke"];
const answer = {
  status: 200,
  headers: {},
  type: "text/plain",
  content: { kind: "text", text: "yes" },
  durationMs: 3,
  isCut: false,
} as const;

function calling(invoke: Invoke) {
  const clock = manualClock();
  const { invokeTool } = operatorHandlers(partsWith({ ...{ clock, ids: systemIds }, operators: { invoke } }));
  const of = {
    caller,
    owner: ann,
    params: { box_id: "b", tool_id: "t" },
    query: { mode: "sync", stream: false },
  } as const;
  return { clock, invoke: (body: object = {}) => invokeTool(asked("invokeTool", { ...of, body })) };
}

test("a call of a tool is waited for as long as its caller says, half a minute otherwise, and never more than two [T1]", async () => {
  const waited = async (body: object, ms: number) => {
    const calls = calling(async (_, __, signal) => {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return failure("model_network", { model: "m", server: "s", said: "too slow" });
    });
    let told: unknown;
    const over = calls.invoke(body).then((one) => {
      told = one;
    });
    await settle();
    calls.clock.move(ms - 1);
    await settle();
    assert.equal(told, undefined, `${ms} ms are not over`);
    calls.clock.move(1);
    await over;
    const { duration_ms, status_code } = Object(Object(told).value);
    return [duration_ms, status_code, calls.clock.timers()];
  };
  assert.deepEqual(await waited({}, 30_000), [30_000, 502, 0]);
  assert.deepEqual(await waited({ timeout: 5 }, 5_000), [5_000, 502, 0]);
  assert.deepEqual(await waited({ timeout: 500 }, 120_000), [120_000, 502, 0]);
  const quick = calling(async () => ok(answer));
  assert.equal((await quick.invoke()).ok, true);
  assert.equal(quick.clock.timers(), 0, "nothing waits for a call that is over");
});
