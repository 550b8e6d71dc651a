import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { createVerifier, signRequest } from "./signed.ts";

test("a request counts once, for a minute before and after its time, and is remembered for as long as it could be sent again [X3][Q1]", () => {
  const clock = manualClock();
  const [secret, request] = ["of servers and hosts", { method: "POST", path: "/sandbox-host/end", body: "{}" }];
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
