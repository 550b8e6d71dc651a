import assert from "node:assert/strict";
import { test } from "node:test";
import { notingClock } from "../../../test/world/manual-clock.ts";
import { playApi } from "../../../test/world/played-api.ts";
import { openApi } from "./api.ts";
import { makeObject, removeObject } from "./objects.ts";

test("a cluster that is busy is asked again, later each time and never before it wants; what it refuses is not asked again [X3]", async (t) => {
  const { clock, waits } = notingClock();
  const answers: [status: number, retryAfter?: string][] = [
    ...([[429], [500], [503, "3"], [503, "0"], [429], [500], [500], [422]] as [number, string?][]),
  ];
  const { address, asked } = await playApi(t, {
    answer(_, response) {
      const [status, retryAfter] = answers.shift() ?? [200];
      response.writeHead(status, retryAfter === undefined ? {} : { "Retry-After": retryAfter });
      response.end(JSON.stringify({ message: `said ${status}` }));
    },
  });
  const api = openApi({ address, clock });
  const order = { path: "/pods", name: "one", body: {} };
  const refused = await makeObject({ api, clock }, order);
  assert.partialDeepStrictEqual(refused, { ok: false, failure: { status: 422, said: "said 422" } });
  assert.deepEqual(waits, [250, 500, 3000, 2000, 4000, 5000, 5000]);
  assert.equal((await makeObject({ api, clock }, order)).ok, true);
  assert.deepEqual(new Set(asked), new Set(["POST /pods"]));

  // Time is over while it is waited for: the last answer tells why.
  answers.push([503]);
  const late = new AbortController();
  const stopping = { ...clock, wait: async () => "aborted" as const };
  assert.partialDeepStrictEqual(await makeObject({ api, clock: stopping }, order, late.signal), {
    ...{ ok: false, failure: { why: "refused", status: 503 } },
  });
  answers.push([200], [404], [500]);
  asked.length = 0;
  const removed = [];
  for (let count = 0; count < 3; count += 1) removed.push(await removeObject({ api }, order));
  assert.deepEqual(removed, ["asked", "absent", "not_asked"]);
  assert.deepEqual(new Set(asked), new Set(["DELETE /pods/one?gracePeriodSeconds=1"]));
});
