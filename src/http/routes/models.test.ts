import assert from "node:assert/strict";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { modelServer, says } from "../../../test/world/model-server.ts";
import { must, startYard } from "../../../test/world/yard.ts";

test("a model that was entered under another key is told with what is the matter in words, and of no slot that nobody knows [P4]", async (t) => {
  const model = await modelServer(() => says("heard"));
  t.after(() => model.close());
  const data = folderWith(t, {});
  const body = { baseUrl: model.url, model: "m", apiKey: "sk-1" };
  const params = { slot: "code" };
  {
    await using first = await startYard({ data, env: { AGENTYARD_KEY: "a".repeat(64) } });
    assert.equal((await must(first.client.call("enterModel", { params, body }))).broken, null);
  }
  await using later = await startYard({ data, env: { AGENTYARD_KEY: "b".repeat(64) } });
  const { broken } = await must(later.client.call("getModel", { params }));
  assert.match(broken ?? "", /^The stored secret model\/code was sealed under another key .*\. Send the secret anew, /);
  const unknown = await later.client.call("getModel", { params: { slot: "x".repeat(99) } });
  assert.match(unknown.ok ? "" : `${unknown.failure.code} ${unknown.failure.detail}`, /^slot_unknown .*\bx{80}\b/);
});
