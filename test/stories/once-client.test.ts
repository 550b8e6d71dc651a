import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type Fetch, inProcessFetch } from "../../src/client/client.ts";
import { manualClock } from "../world/manual-clock.ts";
import { smallYard } from "../world/small-yard.ts";

test("a creating call whose answer is lost on the way is sent again under its key, and done once [C6][C7]", async () => {
  const yard = smallYard();
  const direct = inProcessFetch(yard.app);
  const keys: (string | undefined)[] = [];
  const fetch: Fetch = async (url, init) => {
    keys.push(init.headers["idempotency-key"]);
    const response = await direct(url, init);
    if (keys.length % 2 === 1) throw new Error("the line is cut");
    return response;
  };
  const fresh = ["key-1", "key-2"];
  const client = createClient({ fetch, clock: manualClock(), newKey: () => fresh.shift() ?? "none" });
  const created = await client.call("createConversation", { body: { title: "once" } });
  assert.ok(created.ok);
  const uploaded = await client.upload(created.value.id, "a.txt", Buffer.from("text"), { keep: true });
  assert.equal(uploaded.ok && uploaded.value.name, "a.txt");
  assert.deepEqual(keys, ["key-1", "key-1", "key-2", "key-2"]);
  const listed = await yard.client.call("listConversations", {});
  assert.deepEqual(listed.ok && listed.value.items.map(({ title }) => title), ["once"]);
  assert.deepEqual([...yard.files.keys()], ["uploads/a.txt"]);

  const looked = await client.call("listConversations", {});
  assert.equal(!looked.ok && looked.failure.code, "network", "what makes nothing is not repeated by itself");
});
