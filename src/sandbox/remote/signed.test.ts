import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { createVerifier, signRequest } from "./signed.ts";

const [secret, request] = ["of servers and hosts", { method: "POST", path: "/sandbox-host/end", body: "{}" }];

test("a request counts once, for a minute before and after its time, and is remembered for as long as it could be sent again [X3][Q1]", () => {
  const clock = manualClock();
  const verify = createVerifier(secret, clock);
  const signedAt = (at: number) =>
    signRequest(secret, request, { clock: { ...clock, now: () => at }, ids: systemIds }).authorization;
  const verdict = (authorization: string) => {
    const told = verify(authorization, request);
    return typeof told === "string" ? told : "good";
  };
  clock.move(100_000);
  const early = signedAt(160_000);
  assert.deepEqual([verdict(signedAt(160_001)), verdict(early), verdict(early)], ["wrong_clock", "good", "repeated"]);
  assert.deepEqual([verdict(signedAt(39_999)), verdict(signedAt(40_000))], ["wrong_clock", "good"]);
  clock.move(120_000);
  assert.equal(verdict(early), "repeated");
  clock.move(1);
  assert.equal(verdict(early), "wrong_clock");
});

test("who listens to a server and its host can use nothing of it for another question, another time, another answer or another stream [X3][Q1]", () => {
  const clock = manualClock();
  const verify = createVerifier(secret, clock);
  const sign = () => signRequest(secret, request, { clock, ids: systemIds });
  const [one, two] = [sign(), sign()];
  const changes: [header: string, asked: Partial<typeof request>][] = [
    [one.authorization, { method: "GET" }],
    [one.authorization, { path: "/sandbox-host/look" }],
    [one.authorization, { body: "[]" }],
    [one.authorization.replace(" 0.", " 1."), {}],
    [one.authorization.replace(/\.[0-9a-f]{32}\./, `.${systemIds.hex(32)}.`), {}],
  ];
  assert.deepEqual(
    changes.map(([header, asked]) => verify(header, { ...request, ...asked })),
    changes.map(() => "wrong_secret"),
  );
  const [first, second] = [one, two].map(({ authorization }) => verify(authorization, request));
  assert.ok(typeof first === "object" && typeof second === "object");
  const proof = first.prove("{}");
  assert.deepEqual(
    [one.isProven(proof, "{}"), two.isProven(proof, "{}"), one.isProven(proof, ""), one.isProven(undefined, "{}")],
    [true, false, false, false],
  );
  assert.deepEqual([first.keys, second.keys], [one.keys, two.keys]);
  assert.equal(new Set([one, two].flatMap(({ keys }) => Object.values(keys))).size, 4);
});
