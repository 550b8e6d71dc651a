import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { asked, partsWith } from "./handling.testing.ts";
import { observeHandlers } from "./observe.ts";

test("however many ask whether the server is ready, the database is tried once a second; one that leaves does not try [O1][Q1]", async () => {
  const clock = manualClock();
  let looks = 0;
  let found: Result<void, Failure> = ok(undefined);
  const { ready } = observeHandlers(
    partsWith({
      clock,
      storage: {
        async check() {
          looks += 1;
          return found;
        },
      },
    }),
  );
  const leaving = new AbortController();
  const told = async () => {
    const answer = await ready(asked("ready", { leaving: leaving.signal }));
    const status = answer.ok ? answer.value.status : Object(answer.failure.params).why;
    return [status, answer.headers?.["retry-after"], looks];
  };
  assert.deepEqual(await Promise.all([told(), told()]), [
    ["ready", undefined, 1],
    ["ready", undefined, 1],
  ]);
  found = failed(makeFailure("storage_busy", {}));
  clock.move(999);
  assert.deepEqual(await told(), ["ready", undefined, 1]);
  clock.move(1);
  assert.deepEqual(await told(), ["passing", "1", 2]);
  found = failed(makeFailure("storage_broken", { why: "damaged" }));
  clock.move(1_000);
  assert.deepEqual(await told(), ["broken", undefined, 3], "it does not come back by itself");
  found = ok(undefined);
  clock.move(1_000);
  leaving.abort();
  assert.deepEqual(await told(), ["passing", "1", 3]);
});
