import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type Fetch } from "../../src/client/client.ts";
import { manualClock } from "../world/manual-clock.ts";
import { must, startYard } from "../world/yard.ts";

test("a creating call whose answer is lost on the way is sent again under its key, and done once [C6][C7]", async () => {
  await using yard = await startYard();
  const keys: (string | undefined)[] = [];
  const fetch: Fetch = async (url, init) => {
    keys.push(init.headers["idempotency-key"]);
    const response = await yard.fetch(url, init);
    if (keys.length % 2 === 1) throw new TypeError("fetch failed");
    return response;
  };
  const fresh = ["key-1", "key-2"];
  const client = createClient({ fetch, clock: manualClock(), newKey: () => fresh.shift() ?? "none" });
  const { id } = await must(client.call("createConversation", { body: { title: "once" } }));
  assert.equal((await must(client.upload(id, "a.txt", Buffer.from("text"), { keep: true }))).name, "a.txt");
  assert.deepEqual(keys, ["key-1", "key-1", "key-2", "key-2"]);
  const { items } = await must(yard.client.call("listConversations"));
  assert.deepEqual(
    items.map(({ title }) => title),
    ["once"],
  );
  const files = await must(yard.client.call("listFiles", { params: { id }, query: { path: "uploads" } }));
  assert.deepEqual(
    files.items.map(({ path }) => path),
    ["uploads/a.txt"],
  );

  const looked = await client.call("listConversations", {});
  assert.equal(!looked.ok && looked.failure.code, "network", "what makes nothing is not repeated by itself");
});
