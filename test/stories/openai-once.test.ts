import assert from "node:assert/strict";
import { test } from "node:test";
import { modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

test("a streamed response under a key is given again from its beginning, also where nothing was to be stored [C6][C3]", async () => {
  await using model = await modelServer([says("only once")]);
  await using yard = await startYard({ model });
  const ask = async () => {
    const answer = await yard.fetch("http://localhost/v1/responses", {
      ...{ method: "POST", body: JSON.stringify({ model: "general", input: "hi", store: false, stream: true }) },
      headers: { "content-type": "application/json", "idempotency-key": "the-one" },
    });
    return [answer.status, /"type":"response\.completed".*only once/.test(await answer.text())];
  };
  assert.deepEqual([await ask(), await ask()], Array(2).fill([200, true]));
  assert.equal(model.asked.length, 1);
});
