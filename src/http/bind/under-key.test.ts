import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../../test/world/database.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { failed, ok } from "../../base/result.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";
import { noBytes } from "../bytes.ts";
import { openDoOnce } from "./do-once.ts";
import { type Responded, underKey } from "./under-key.ts";

const json = { "content-type": "application/json", "content-language": "en" };

/** What becomes of a call that is repeated under its key: how often it was done, and what the repeat was told. */
function asking(doOnce: ReturnType<typeof openDoOnce>) {
  return async (key: string, answer: Responded["answer"], body = "{}", headers: Record<string, string> = {}) => {
    let done = 0;
    const ask = () =>
      underKey(
        doOnce,
        {
          ...{ key, owner: localOwner, json: {}, bytes: noBytes, signal: new AbortController().signal },
          request: new Request("http://localhost/api/v1/conversations", { method: "POST" }),
        },
        async () => {
          done += 1;
          return { response: new Response(body, { status: 201, headers: { ...json, ...headers } }), answer };
        },
      );
    assert.ok((await ask()).ok);
    const again = await ask();
    assert.ok(again.ok);
    return { done, before: "before" in again.value ? again.value.before : undefined };
  };
}

test("a call that may go better another time is done again under its key, and what was said for good is told again [C6]", async (t) => {
  const clock = manualClock();
  const repeated = asking(openDoOnce({ storage: openDatabase(t, clock), clock }));
  const refusals: readonly (readonly [Failure, times: number])[] = [
    [makeFailure("conversation_exists", { id: "c" }), 1],
    [makeFailure("bad_request", { what: "x" }), 1],
    [makeFailure("rate_limited", { retryAfterSeconds: 1 }), 2],
    [makeFailure("write_failed", { path: "a", why: "broken_off" }), 2],
    [makeFailure("execution_running", { id: "e", seconds: 1, why: "slow" }), 2],
    [makeFailure("internal", { id: "r" }), 2],
  ];
  const done = [];
  for (const [reason] of refusals)
    done.push([reason, (await repeated(JSON.stringify(reason).replaceAll(/\W/g, ""), failed(reason))).done]);
  assert.deepEqual(done, refusals);
  assert.equal((await repeated("stream", ok(new ReadableStream()))).done, 2, "a stream is not kept");
});

test("an answer is kept with how it is to be read and where what was made is, without cookies and secrets; a very long one is not [C6][Q1]", async (t) => {
  const clock = manualClock();
  const repeated = asking(openDoOnce({ storage: openDatabase(t, clock), clock }));
  const headers = { location: "/made", "set-cookie": "agentyard=secret", "x-request-id": "r" };
  const made = { ok: true, value: {}, headers: { Location: "/made", "Set-Cookie": "agentyard=secret" } } as const;
  const kept = await repeated("a", made, '{"a":1}', headers);
  const told = { status: 201, headers: { ...json, Location: "/made" }, body: '{"a":1}' };
  assert.deepEqual(kept, { done: 1, before: told });
  const secret = await repeated(
    "b",
    { ok: true, value: { key: "ay_secret" }, again: { key: null } },
    '{"key":"ay_secret"}',
  );
  assert.equal(secret.before?.body, '{"key":null}');
  const longest = `${"世".repeat(349_525)}x`;
  assert.equal(Buffer.byteLength(longest), 1024 * 1024);
  assert.deepEqual(
    [(await repeated("c", ok({}), longest)).done, (await repeated("d", ok({}), `${longest}x`)).done],
    [1, 2],
  );
});
