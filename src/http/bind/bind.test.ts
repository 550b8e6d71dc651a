import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { openDatabase } from "../../../test/world/database.ts";
import { endlessClock, manualClock } from "../../../test/world/manual-clock.ts";
import { failed, ok } from "../../base/result.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";
import { BrokenOff } from "../../workspace/workspace.ts";
import { noBytes } from "../bytes.ts";
import { openDoOnce } from "./do-once.ts";
import { fingerprintOf, hashed, hashOf } from "./fingerprint.ts";
import { type Responded, underKey } from "./under-key.ts";

const kept = { status: 201, headers: {}, body: "made" };

/** Calls under one key: each is begun when it is let go on, and says how it was answered. */
function openCalls(t: TestContext) {
  const storage = openDatabase(t);
  const waits: number[] = [];
  let [now, waiting] = [0, 0];
  const clock: typeof endlessClock = {
    ...{ ...endlessClock, now: () => now, monotonic: () => now },
    async wait(ms, signal) {
      waits.push(ms);
      waiting += 1;
      const ended = await endlessClock.wait(ms, signal);
      waiting -= 1;
      return ended;
    },
  };
  const doOnce = openDoOnce({ storage, clock });
  const begun: { readonly end: (is: typeof kept | undefined) => void; readonly fail: (error: Error) => void }[] = [];
  return {
    ...{ waits, begun },
    waiting: () => waiting,
    move: (ms: number) => (now += ms),
    async ask(fingerprint = "f", signal = new AbortController().signal): Promise<string> {
      const answer = await doOnce({ owner: localOwner, key: "k", fingerprint, signal }, async () => {
        const { promise, resolve, reject } = Promise.withResolvers<typeof kept | undefined>();
        begun.push({ end: resolve, fail: reject });
        return { kept: await promise };
      });
      if (!answer.ok) return answer.failure.code;
      return "done" in answer.value ? "done" : `before: ${answer.value.before.body}`;
    },
  };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await settle();
}

test("of calls that waited one goes on where nothing was kept, and the rest wait no longer than they would have [C6]", async (t) => {
  const calls = openCalls(t);
  const all = [calls.ask(), calls.ask(), calls.ask()];
  await settled();
  calls.move(4_000);
  calls.begun[0]?.end(undefined);
  await settled();
  assert.deepEqual([calls.begun.length, calls.waits], [2, [10_000, 10_000, 6_000]]);
  calls.begun[1]?.end(kept);
  assert.deepEqual((await Promise.all(all)).toSorted(), ["before: made", "done", "done"]);
});

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

const form = (boundary: string) => `multipart/form-data; boundary=${boundary}`;

test("the same form under another boundary is the same call, in whatever pieces it comes [Q2]", async () => {
  const one = await hashOf(hashed(sent(["--ab\r\nfile\r\n--", "a", "b--"]), form("ab")));
  assert.equal(await hashOf(hashed(sent(["--xyz\r\nfile\r\n--xyz--"]), form('"xyz"'))), one);
  assert.notEqual(await hashOf(hashed(sent(["--xyz\r\nfilE\r\n--xyz--"]), form("xyz"))), one);
});

test("a repeat that breaks off is not the same call, and a mistake of ours is not taken for that [Q2]", async () => {
  const gone = hashed(sent(["half"], new BrokenOff("the caller broke off")), "application/pdf");
  assert.equal(await hashOf(gone), undefined);
  const mistake = new TypeError("of ours");
  await assert.rejects(hashOf(hashed(sent(["half"], mistake), "application/pdf")), mistake);
});

test("another method, address, body or header that tells what to do is another call, and no other header is [C6]", () => {
  const url = "http://localhost/api/v1/sessions?if_exists=fail";
  const asked = (headers: Record<string, string> = {}, method = "POST", at = url) =>
    fingerprintOf(new Request(at, { method, headers }), { a: 1 });
  const telling = ["conversation_id", "x-conversation-id", "x-business-domain", "upload-length", "upload-metadata"];
  const prints = [
    asked(),
    ...telling.map((name) => asked({ [name]: "1" })),
    asked({}, "PUT"),
    asked({}, "POST", url.replace("sessions", "users")),
    asked({}, "POST", url.replace("fail", "return")),
    fingerprintOf(new Request(url, { method: "POST" }), { a: 2 }),
  ];
  assert.equal(new Set(prints).size, prints.length);
  assert.equal(
    asked({ "x-request-id": "2", "accept-language": "zh" }, "POST", url.replace("localhost", "yard")),
    asked(),
  );
});

function sent(pieces: readonly string[], end?: Error) {
  async function* chunks() {
    for (const piece of pieces) yield Buffer.from(piece);
    if (end !== undefined) throw end;
  }
  return { chunks: chunks(), announced: undefined };
}
